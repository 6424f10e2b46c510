import type { Memory } from "../api-types.js";
import { When } from "../parts/texts.js";
import { hrefOf, paramsOf } from "../place.js";

/** The values that a slot had, in one row, oldest first. */
export function SlotValues({
  values,
  current,
}: Readonly<{ values: readonly Memory[]; current: string }>) {
  return (
    <ol class="slot">
      {values.map(({ id, scope, value, text, state, validFrom }) => (
        <li key={id} class={state} aria-current={id === current ? "true" : undefined}>
          <a href={hrefOf({ view: "memory", params: { ...paramsOf(scope), id } })}>
            <bdi>{(value ?? text).slice(0, 60)}</bdi>
          </a>
          <span class="faint">
            since <When at={validFrom} />
          </span>
        </li>
      ))}
    </ol>
  );
}
