import { useEffect } from "preact/hooks";

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** Goes to the next row, or the one before. */
function step(event: KeyboardEvent, at: HTMLElement): void {
  const by = steps[event.key];
  // Arrows scroll as ever until somebody is in a list.
  if (by === undefined || (event.key.startsWith("Arrow") && !at.closest(".rows, .turn-line")))
    return;
  const rows = [...document.querySelectorAll<HTMLElement>("main a.row, main .rows > [tabindex]")];
  const now = rows.findIndex((row) => row.closest("li, article")?.contains(at));
  const row = rows[Math.max(0, Math.min(rows.length - 1, now + by))];
  event.preventDefault();
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

/** Goes to the search box of the view on "/", where it has one; else to the one of everything. */
function search(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  const all = document.getElementById("whose");
  event.preventDefault();
  if (event.key === "/" && field) field.select();
  else if (all) all.showPopover();
  else field?.select();
}

/** Clicks the button with this key: of the last deed, of all that is ticked, or of the row that is chosen. */
function decide(key: string, at: HTMLElement): void {
  const part = key === "u" ? ".deed" : ".bulk";
  const row = document.querySelector(part) ?? at.closest("li");
  row?.querySelector<HTMLElement>(`[aria-keyshortcuts="${key}"]`)?.click();
}

/** Whether the page below is out of reach, or the browser acts. */
const isElsewhere = ({ altKey, defaultPrevented }: KeyboardEvent) =>
  altKey || defaultPrevented || document.querySelector("dialog[open], :popover-open") !== null;

function press(event: KeyboardEvent, goUp: () => void): void {
  const { target: at, key, ctrlKey, metaKey } = event;
  if (!(at instanceof HTMLElement) || isElsewhere(event)) return;
  if (ctrlKey || metaKey) {
    if (key === "k") search(event);
    return;
  }
  const isTyping = at.matches("input:not([type=checkbox]), textarea, select");
  if (key === "Escape" && isTyping) at.blur();
  else if (key === "Escape") goUp();
  else if (isTyping) return;
  else if (key === "/") search(event);
  else if (["a", "r", "u"].includes(key)) decide(key, at);
  else step(event, at);
}

/**
 * Keys of every view: Ctrl-K and / search, j and k or arrows go from row to row, Enter opens, a
 * and r decide about a row, u undoes, Esc leaves a field or goes up.
 */
export function useKeys(goUp: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => press(event, goUp);
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}
