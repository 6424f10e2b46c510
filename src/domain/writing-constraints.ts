import type { MemoryKind } from "./memory.js";

/** Longest text of each kind, in characters. Seed 004 §3 and §9; notes: seed 003; episodes and steps hold more than one sentence's worth. */
export const maxCharacters: Readonly<Record<MemoryKind, number>> = {
  fact: 280,
  insight: 280,
  note: 200,
  episode: 600,
  procedure: 4_000,
};

/** Why a text may not be stored as it is. */
export type WritingProblem = "empty" | "too_long" | "pronoun_subject" | "instruction" | "not_steps";

const pronounSubject =
  /^(?:i|i['’]m|i['’]ve|i['’]d|i['’]ll|my|we|we['’]re|our|you|your|he|his|she|her|it|its|they|their|this|that)\b/i;

/** Phrases that address a model rather than state something. OWASP Agentic ASI06, "memory poisoning". */
const instruction =
  /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|any|your)\b.{0,40}\b(?:instruction|prompt|rule|message|guideline)s?\b|\b(?:system|developer)\s+prompt\b|\byou\s+(?:must|should|are\s+now|will)\s+(?:always|never|now|act|obey|reveal|respond|answer|pretend)\b/i;

/** Whether `text` reads as instructions to a model. */
export function readsAsInstruction(text: string): boolean {
  return instruction.test(text);
}

/**
 * What is wrong with `text` as a memory of `kind`; empty when nothing is.
 *
 * Self-contained, third person, no pronoun as subject, short, no instructions to a model (seed 004 §9).
 * Sentences are not counted: length bounds them, and abbreviations and versions would be miscounted.
 */
export function writingProblems(kind: MemoryKind, text: string): WritingProblem[] {
  const trimmed = text.trim();
  const problems: WritingProblem[] = [];
  if (!/[\p{L}\p{N}]/u.test(trimmed)) return ["empty"];
  if (trimmed.length > maxCharacters[kind]) problems.push("too_long");
  if ((kind === "fact" || kind === "insight") && pronounSubject.test(trimmed))
    problems.push("pronoun_subject");
  if (readsAsInstruction(trimmed)) problems.push("instruction");
  if (kind === "procedure" && !/^\s*1[.)]\s+\S/m.test(trimmed)) problems.push("not_steps");
  return problems;
}

/** `text` cut after its last whole sentence within the kind's length, or null when not even one fits. */
export function trimToLength(kind: MemoryKind, text: string): string | null {
  const most = maxCharacters[kind];
  const trimmed = text.replaceAll("\u0000", "").trim();
  if (trimmed.length <= most) return trimmed;
  const head = trimmed.slice(0, most);
  const ends = [...head.matchAll(/[.!?。！？](?=\s|$)/gu)];
  const last = ends.at(-1);
  return last ? head.slice(0, last.index + 1) : null;
}
