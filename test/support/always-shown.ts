import type { MemoryItem } from "../../src/index.js";

const shownWhole = ["profile", "preferences", "constraints", "instructions"];
const minSlotImportance = 2.5;

/** Whether prompts have it whatever is asked, by the default settings. */
export function isAlwaysShown({
  kind,
  state,
  category,
  key,
  importance,
  pinned,
}: Pick<MemoryItem, "kind" | "state" | "category" | "key" | "importance" | "pinned">): boolean {
  if (state !== "active") return false;
  const isSlot = key !== null && importance >= minSlotImportance;
  return pinned || kind === "note" || shownWhole.includes(category) || isSlot;
}
