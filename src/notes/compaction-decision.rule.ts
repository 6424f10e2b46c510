import type { MemoryItem } from "../memories/item/memory.js";
import { newFigure } from "../text/figures.js";
import { contentHash } from "../text/normal-value.js";
import { clipped, onOneLine, visibleText } from "../text/storable-text.js";
import { isOperators } from "./note-block.rule.js";
import { noteText } from "./note-text.rule.js";

/** A model's proposal: numbers of notes in the prompt, from 1. */
export interface ProposedDecision {
  readonly action: "delete" | "edit";
  readonly target: number;
  readonly with: number | null;
  readonly text: string | null;
  readonly reason: string;
}

export type CompactionDecision = { readonly reason: string; readonly target: MemoryItem } & (
  | { readonly action: "delete"; readonly by: "model" | "oldest" }
  /** Removes `merged`, and gives `target` the text. */
  | {
      readonly action: "edit";
      readonly by: "model";
      readonly merged: MemoryItem;
      readonly text: string;
    }
);

const maxDecisionCharacters = 300;

/** Whether compaction may not touch a note: it is pinned, or an operator's. */
export function stays(note: Pick<MemoryItem, "pinned" | "trust">): boolean {
  return note.pinned || isOperators(note);
}

/** @param notes in the order of the prompt */
export function readDecision(
  proposed: ProposedDecision,
  notes: readonly MemoryItem[],
): CompactionDecision | { readonly invalid: string } {
  const reason = clipped(onOneLine(visibleText(proposed.reason)).trim(), maxDecisionCharacters);
  const target = notes[proposed.target - 1];
  if (!target) return { invalid: `there is no note ${proposed.target}` };
  if (stays(target)) return { invalid: `note ${proposed.target} is to stay` };
  if (proposed.action === "delete") return { action: "delete", by: "model", target, reason };

  const merged = proposed.with === null ? undefined : notes[proposed.with - 1];
  if (!merged) return { invalid: "an edit must merge another note that there is" };
  if (merged === target) return { invalid: "an edit must merge two notes" };
  if (stays(merged)) return { invalid: `note ${proposed.with} is to stay` };
  const text = mergedText(proposed.text);
  if (text === null) return { invalid: "the merged text cannot be a note" };
  const figure = newFigure(text, [target.text, merged.text]);
  if (figure !== undefined)
    return { invalid: `the merged text says ${figure}, which neither note does` };
  const others = notes.filter((note) => note !== target && note !== merged);
  if (others.some((note) => contentHash(note.text) === contentHash(text)))
    return { invalid: "another note says the merged text already" };
  return { action: "edit", by: "model", target, merged, text, reason };
}

/** Null for a text that is not a valid note. */
function mergedText(text: string | null): string | null {
  try {
    return noteText(text ?? "");
  } catch {
    return null;
  }
}

/** @param notes oldest first; at least one must be removable */
export function deleteOldest(notes: readonly MemoryItem[], reason: string): CompactionDecision {
  const target = notes.find((note) => !stays(note)) as MemoryItem;
  return { action: "delete", by: "oldest", target, reason };
}
