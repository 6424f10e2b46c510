import type { MemoryKind } from "./memory.js";
import { visibleText } from "./storable-text.js";

/** Longest text of each kind, in characters. Two sentences of a fact, a lesson of a note; episodes and steps hold more than one sentence's worth. */
export const maxCharacters: Readonly<Record<MemoryKind, number>> = {
  fact: 280,
  insight: 280,
  note: 200,
  episode: 600,
  procedure: 4_000,
};

/** Why a text may not be stored as it is; "instruction" is found by `memoryInstructs`. */
export type WritingProblem = "empty" | "too_long" | "pronoun_subject" | "instruction" | "not_steps";

const pronounSubject =
  /^(?:i|i['’]m|i['’]ve|i['’]d|i['’]ll|my|we|we['’]re|our|you|your|he|his|she|her|it|its|they|their|this|that)\b/i;

/**
 * What is wrong with `text` as a memory of `kind`; empty when nothing is.
 *
 * Self-contained, third person, no pronoun as subject, short.
 * Sentences are not counted: length bounds them, and abbreviations and versions would be miscounted.
 */
export function writingProblems(kind: MemoryKind, text: string): Exclude<WritingProblem, "instruction">[] {
  const trimmed = text.trim();
  if (!/[\p{L}\p{N}]/u.test(trimmed)) return ["empty"];
  // Nothing else is asked of it: patterns take their time.
  if (trimmed.length > maxCharacters[kind]) return ["too_long"];
  const problems: Exclude<WritingProblem, "instruction">[] = [];
  if ((kind === "fact" || kind === "insight") && pronounSubject.test(trimmed))
    problems.push("pronoun_subject");
  if (kind === "procedure" && !/^[ \t]{0,20}1[.)][ \t]{1,20}\S/m.test(trimmed)) problems.push("not_steps");
  return problems;
}

/** `text`, visible, cut after its last whole sentence within the kind's length, or null when not even one fits. */
export function trimToLength(kind: MemoryKind, text: string): string | null {
  const most = maxCharacters[kind];
  const trimmed = visibleText(text).trim();
  if (trimmed.length <= most) return trimmed;
  const head = trimmed.slice(0, most);
  const ends = [...head.matchAll(/[.!?。！？](?=\s|$)/gu)];
  const last = ends.at(-1);
  return last ? head.slice(0, last.index + 1) : null;
}
