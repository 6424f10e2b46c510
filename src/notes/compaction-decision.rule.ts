import type { MemoryItem } from "../memories/item/memory.js";
import { newFigure } from "../text/figures.js";
import { contentHash } from "../text/normal-value.js";
import { clipped, onOneLine, visibleText } from "../text/storable-text.js";
import { isOperators } from "./note-block.rule.js";
import { noteText } from "./note-text.rule.js";

/** A model's proposal: notes by their numbers in the prompt, from 1. */
export interface SaidDecision {
  readonly action: "delete" | "edit";
  readonly target: number;
  readonly with: number | null;
  readonly text: string | null;
  readonly reason: string;
}

export type CompactionDecision = { readonly reason: string; readonly target: MemoryItem } & (
  | { readonly action: "delete"; readonly by: "model" | "oldest" }
  /** `merged` goes, and `text` replaces both. */
  | { readonly action: "edit"; readonly by: "model"; readonly merged: MemoryItem; readonly text: string }
);

const mostReasonCharacters = 300;

/** Whether compaction leaves a note as it is: it is pinned, or an operator's. */
export function stays(note: Pick<MemoryItem, "pinned" | "trust">): boolean {
  return note.pinned || isOperators(note);
}

/** `notes` were numbered oldest first. An edit must merge two: else as many notes would remain. */
export function readDecision(
  said: SaidDecision,
  notes: readonly MemoryItem[],
): CompactionDecision | { readonly invalid: string } {
  const reason = clipped(onOneLine(visibleText(said.reason)).trim(), mostReasonCharacters);
  const target = notes[said.target - 1];
  if (!target) return { invalid: `there is no note ${said.target}` };
  if (stays(target)) return { invalid: `note ${said.target} is to stay` };
  if (said.action === "delete") return { action: "delete", by: "model", target, reason };

  const merged = said.with === null ? undefined : notes[said.with - 1];
  if (!merged) return { invalid: "an edit must merge another note that there is" };
  if (merged === target) return { invalid: "an edit must merge two notes" };
  if (stays(merged)) return { invalid: `note ${said.with} is to stay` };
  const text = mergedText(said.text);
  if (text === null) return { invalid: "the merged text cannot be a note" };
  const figure = newFigure(text, [target.text, merged.text]);
  if (figure !== undefined) return { invalid: `the merged text says ${figure}, which neither note does` };
  const others = notes.filter((note) => note !== target && note !== merged);
  if (others.some((note) => contentHash(note.text) === contentHash(text)))
    return { invalid: "another note says the merged text already" };
  return { action: "edit", by: "model", target, merged, text, reason };
}

/** Null for a text that must not be stored. */
function mergedText(said: string | null): string | null {
  try {
    return noteText(said ?? "");
  } catch {
    return null;
  }
}

/** @param notes oldest first; not all of them stay. */
export function oldestGoes(notes: readonly MemoryItem[], reason: string): CompactionDecision {
  const target = notes.find((note) => !stays(note)) as MemoryItem;
  return { action: "delete", by: "oldest", target, reason };
}
