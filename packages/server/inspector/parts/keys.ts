import { useEffect } from "preact/hooks";

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** Goes to the next row, or the one before. */
function step(event: KeyboardEvent, at: HTMLElement): void {
  const by = steps[event.key];
  // Arrows scroll as ever until somebody is in a list.
  if (by === undefined || (event.key.startsWith("Arrow") && !at.closest(".rows, .turn-line")))
    return;
  const rows = [...document.querySelectorAll<HTMLElement>("main a.row")];
  const now = rows.findIndex((row) => row === at || row.parentElement?.contains(at));
  const row = rows[Math.max(0, Math.min(rows.length - 1, now + by))];
  event.preventDefault();
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

/** Goes to the search box of the view, where it has one. */
function search(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  if (event.key !== "/" || !field) return;
  event.preventDefault();
  field.select();
}

function isElsewhere({ ctrlKey, metaKey, altKey, defaultPrevented }: KeyboardEvent): boolean {
  const isOver = document.querySelector("dialog[open], :popover-open") !== null;
  return isOver || ctrlKey || metaKey || altKey || defaultPrevented;
}

/**
 * Keys of every view: / searches, j and k or arrows go from row to row, Enter opens, Esc leaves a
 * field or goes up.
 */
export function useKeys(goUp: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const at = event.target;
      if (!(at instanceof HTMLElement) || isElsewhere(event)) return;
      const isTyping = at.matches("input:not([type=checkbox]), textarea, select");
      if (event.key === "Escape" && isTyping) at.blur();
      else if (event.key === "Escape") goUp();
      else if (!isTyping) {
        step(event, at);
        search(event);
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}
