import type { MemoryItem } from "../memories/item/memory.js";
import { memoryInstructs } from "../memories/write/writing-constraints.rule.js";
import { contentHash } from "../text/normal-value.js";
import { clipped, onOneLine, visibleText } from "../text/storable-text.js";
import { noteText } from "./note-text.rule.js";

/** What a model proposes: notes by their numbers in the list that it was given, from 1. */
export interface SaidDecision {
  readonly action: "delete" | "edit";
  readonly target: number;
  readonly with: number | null;
  readonly text: string | null;
  readonly reason: string;
}

/** What makes an app's notes one fewer. */
export type CompactionDecision = {
  readonly reason: string;
  /** The note that goes, or into which another is merged. */
  readonly target: MemoryItem;
} & (
  | { readonly action: "delete"; readonly by: "model" | "oldest" }
  /** `merged` goes, and `target` says what is worth keeping of both. */
  | { readonly action: "edit"; readonly by: "model"; readonly merged: MemoryItem; readonly text: string }
);

/** Why a decision cannot be carried out, for log lines. */
export interface InvalidDecision {
  readonly invalid: string;
}

/** Longest reason kept, in characters: a sentence or two. */
const mostReasonCharacters = 300;

/**
 * What a model's decision means for `notes`, oldest first, as they were numbered. Nothing that is pinned goes or changes,
 * and an edit merges two: one that does not would leave as many notes as there were.
 */
export function readDecision(
  said: SaidDecision,
  notes: readonly MemoryItem[],
): CompactionDecision | InvalidDecision {
  const reason = clipped(onOneLine(visibleText(said.reason)).trim(), mostReasonCharacters);
  const target = notes[said.target - 1];
  if (!target) return { invalid: `there is no note ${said.target}` };
  if (target.pinned) return { invalid: `note ${said.target} is pinned` };
  if (said.action === "delete") return { action: "delete", by: "model", target, reason };

  const merged = said.with === null ? undefined : notes[said.with - 1];
  if (!merged) return { invalid: "an edit must merge another note that there is" };
  if (merged === target) return { invalid: "an edit must merge two notes" };
  if (merged.pinned) return { invalid: `note ${said.with} is pinned` };
  const text = mergedText(said.text, target);
  if (text === null) return { invalid: "the merged text cannot be a note" };
  const others = notes.filter((note) => note !== target && note !== merged);
  if (others.some((note) => contentHash(note.text) === contentHash(text)))
    return { invalid: "another note says the merged text already" };
  return { action: "edit", by: "model", target, merged, text, reason };
}

/** Null for what may not be stored as the text of `target`. */
function mergedText(said: string | null, target: MemoryItem): string | null {
  try {
    const text = noteText(said ?? "");
    return text !== null && !memoryInstructs({ ...target, text }) ? text : null;
  } catch {
    return null;
  }
}

/** The oldest of `notes` that is not pinned goes. @param notes oldest first; not all of them pinned. */
export function oldestGoes(notes: readonly MemoryItem[], reason: string): CompactionDecision {
  const target = notes.find(({ pinned }) => !pinned) as MemoryItem;
  return { action: "delete", by: "oldest", target, reason };
}
