import { clipped } from "./clip-text.js";
import type { MemoryItem } from "./memory.js";
import { onOneLine } from "./storable-text.js";

/** What happened to a memory, as the delta header tells it. */
export type ChangeEvent = "created" | "updated" | "merged" | "deleted" | "soft_deleted" | "restored";

/** What stands for the words of a memory that was purged. */
const goneForGood = "(no longer kept)";

/** Longest text shown in one line of the header. */
const mostCharacters = 160;

/** `category` for people: "app_notes" → "App notes". */
function categoryLabel(category: string): string {
  const words = category.replaceAll(/[_-]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The line of a change, without its sign: "[Personal] Preferred name is Ana (imp=2)". */
export function changeLine(
  event: ChangeEvent,
  memory: Pick<MemoryItem, "category" | "text" | "importance" | "seenCount">,
): string {
  const text = clipped(onOneLine(memory.text), mostCharacters);
  // What is gone for good is not brought up again.
  if (event === "deleted") return `[${categoryLabel(memory.category)}] ${goneForGood}`;
  if (event === "merged") return `Combined ${memory.seenCount} notes: ${text}`;
  const importance = event === "created" ? ` (imp=${Math.round(memory.importance)})` : "";
  return `[${categoryLabel(memory.category)}] ${text}${importance}`;
}
