import type { Memory } from "../api-types.js";
import { MemoryLink } from "../parts/layout.js";
import { When } from "../parts/texts.js";

/** A value that a slot had; a refuted one was taken back by an edit. */
export type SlotValue = Omit<Memory, "state"> & { readonly state: Memory["state"] | "refuted" };

/** The values that a slot had, in one row, oldest first; those that no longer hold are struck. */
export function SlotValues({ values, current }: { values: readonly SlotValue[]; current: string }) {
  return (
    <ol class="slot">
      {values.map(({ id, scope, value, text, state, validFrom }) => (
        <li class={state} aria-current={id === current && state !== "refuted"}>
          <MemoryLink id={id} owner={scope}>
            {(value ?? text).slice(0, 60)}
          </MemoryLink>
          <span class="faint">
            {state === "refuted" ? "refuted; said since " : "since "}
            <When at={validFrom} />
          </span>
        </li>
      ))}
    </ol>
  );
}
