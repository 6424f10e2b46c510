import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Answer } from "../api-types.js";
import { go, type Params, useHere } from "../place.js";
import { valuesIn } from "./ask-first.js";

/** A form whose fields become the place; what is typed stays in them whatever the answer is. */
export function PlaceForm({ children }: { children: ComponentChildren }) {
  const { view, owner } = useHere();
  const apply = (form: HTMLFormElement) => {
    const fields = Object.entries(valuesIn(form)).map(([name, value]) => [name, value.trim()]);
    go(view, { ...owner, ...Object.fromEntries(fields) });
  };
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
      onChange={({ target, currentTarget }) => {
        if ((target as HTMLElement).matches("select, input[type^=date]")) apply(currentTarget);
      }}
    >
      {children}
    </form>
  );
}

/** A search box and filters, on a phone behind a button. */
export function Filters({
  name,
  label,
  does = "Search",
  children,
}: {
  name: string;
  label: string;
  does?: string;
  children: ComponentChildren;
}) {
  const value = useHere().params[name] ?? "";
  const [isOpen, setOpen] = useState(false);
  return (
    <PlaceForm>
      <input
        class="search"
        name={name}
        type="search"
        key={value}
        defaultValue={value}
        placeholder={`${label}   ( / )`}
        aria-label={label}
        dir="auto"
      />
      <button type="submit" class="primary">
        {does}
      </button>
      <button type="button" class="more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters
      </button>
      <div class={isOpen ? "fields open" : "fields"}>{children}</div>
    </PlaceForm>
  );
}

/** A field of a filter: the param `name`. */
export function Field({
  label,
  name,
  type = "text",
}: {
  label: string;
  name: string;
  type?: "text" | "date" | "datetime-local" | "number";
}) {
  const value = useHere().params[name] ?? "";
  return (
    <label>
      {label}
      <input
        {...({ type } as object)}
        name={name}
        defaultValue={value}
        size={10}
        placeholder="all"
      />
    </label>
  );
}

/** One of some words; the first where the param `name` is missing. */
export function Choice({
  name,
  label,
  words,
}: {
  name: string;
  label: string;
  words: readonly string[];
}) {
  const chosen = useHere().params[name] ?? words[0];
  return (
    <label>
      {label}
      <select name={name}>
        {words.map((word) => (
          <option value={word} selected={word === chosen}>
            {word.replaceAll("_", " ") || "all"}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Buttons to the next page and back to the first; pages are named by where they begin. */
export function Pages({
  next,
  name = "after",
  rows,
}: {
  /** Where the next page begins; null when there is none. */
  next: string | null;
  /** The param that holds it. */
  name?: string;
  /** Rows of this page, where the param `row` says which its first one is. */
  rows?: number;
}) {
  const { view, params } = useHere();
  const at = params[name] ?? "";
  if (at === "" && next === null) return null;
  const goTo = (page: string, row: string) => go(view, { ...params, [name]: page, row });
  const nextRow = rows === undefined ? "" : String(Number(params.row ?? 1) + rows);
  return (
    <div class="pages">
      <button type="button" disabled={at === ""} onClick={() => history.back()}>
        ← Back
      </button>
      <button type="button" disabled={at === ""} onClick={() => goTo("", "")}>
        First page
      </button>
      <button type="button" disabled={next === null} onClick={() => goTo(next ?? "", nextRow)}>
        Next page →
      </button>
    </div>
  );
}

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
