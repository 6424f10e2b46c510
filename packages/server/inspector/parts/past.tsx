import type { Answer } from "../api-types.js";
import { type Params, useHere } from "../place.js";
import { Field } from "./filters.js";

/** Picks a past time in the reader's own time zone: the param `asOf`. */
export function AsOfField() {
  return <Field label="As of" name="asOf" type="datetime-local" />;
}

/** The picked time for the API; undefined for today. @throws RangeError for no time */
export const pastTime = ({ asOf }: Params) => asOf && new Date(asOf).toISOString();

type Past = Pick<Answer<"/memories">, "asOf" | "missing"> & {
  readonly byWords?: number | undefined;
};

/** Says that the page shows the past, and what of it is not kept any more. */
export function PastNotice({ asOf, missing = [], byWords = 0 }: Past) {
  const { params } = useHere();
  if (!asOf) return null;
  return (
    <div class="note" role="note">
      <p>
        This is what was known at {params.asOf?.replace("T", " ")}, and was true then. Links lead to
        today’s memories.
      </p>
      {byWords > 0 && (
        <p>Compared by words alone, since their texts changed: {byWords} memories.</p>
      )}
      {missing.map(({ detail }) => (
        <p>Not complete: {detail}</p>
      ))}
    </div>
  );
}
