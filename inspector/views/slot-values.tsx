import type { Memory } from "../api-types.js";
import { When } from "../parts/texts.js";
import { hrefOf, paramsOf } from "../place.js";

/** The values that a slot had, in one row, oldest first; those that no longer hold are struck. */
export function SlotValues({
  values,
  current,
}: Readonly<{ values: readonly Memory[]; current: string }>) {
  return (
    <ol class="slot">
      {values.map(({ id, scope, value, text, state, validFrom }, place) => (
        <li
          key={`${id} ${place}`}
          class={state}
          aria-current={id === current && state !== "refuted" ? "true" : undefined}
        >
          <a href={hrefOf({ view: "memory", params: { ...paramsOf(scope), id } })}>
            <bdi>{(value ?? text).slice(0, 60)}</bdi>
          </a>
          <span class="faint">
            {state === "refuted" ? "refuted; said since " : "since "}
            <When at={validFrom} />
          </span>
        </li>
      ))}
    </ol>
  );
}
