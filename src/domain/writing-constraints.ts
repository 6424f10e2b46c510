import type { MemoryKind } from "./memory.js";
import { hasPronounSubject } from "./pronoun-subjects.js";
import { sentencesOf } from "./sentences.js";
import { visibleText } from "./storable-text.js";

/** Longest text of each kind, in characters. Two sentences of a fact, a lesson of a note; episodes and steps hold more than one sentence's worth. */
export const maxCharacters: Readonly<Record<MemoryKind, number>> = {
  fact: 280,
  insight: 280,
  note: 200,
  episode: 600,
  procedure: 4_000,
};

/** Most sentences of each kind: what is told in more is several memories. Steps are no sentences. */
const mostSentences: Readonly<Record<MemoryKind, number>> = {
  fact: 2,
  insight: 2,
  note: 4,
  episode: 2,
  procedure: Number.POSITIVE_INFINITY,
};

/** Why a text may not be stored as it is; "instruction" is found by `memoryInstructs`. */
export type WritingProblem =
  | "empty"
  | "too_long"
  | "too_many_sentences"
  | "pronoun_subject"
  | "instruction"
  | "not_steps";

/** Kinds that are read without what was said around them: a pronoun in them is nobody. */
const namesItsSubject = (kind: MemoryKind) => kind === "fact" || kind === "insight";

/**
 * What is wrong with `text` as a memory of `kind`; empty when nothing is.
 *
 * Self-contained, third person, no pronoun as the subject of any sentence, few sentences, short.
 */
export function writingProblems(kind: MemoryKind, text: string): Exclude<WritingProblem, "instruction">[] {
  const trimmed = text.trim();
  if (!/[\p{L}\p{N}]/u.test(trimmed)) return ["empty"];
  // Nothing else is asked of it: patterns take their time.
  if (trimmed.length > maxCharacters[kind]) return ["too_long"];
  if (kind === "procedure") return /^[ \t]{0,20}1[.)][ \t]{1,20}\S/m.test(trimmed) ? [] : ["not_steps"];
  const sentences = sentencesOf(trimmed);
  return [
    ...(sentences.length > mostSentences[kind] ? (["too_many_sentences"] as const) : []),
    ...(namesItsSubject(kind) && sentences.some(hasPronounSubject) ? (["pronoun_subject"] as const) : []),
  ];
}

/**
 * `text`, visible, cut after the last whole sentence that the kind's length and number of sentences leave room for, and
 * before one whose subject is a pronoun, the first excepted; null when not even one sentence fits.
 */
export function trimToLength(kind: MemoryKind, text: string): string | null {
  const most = maxCharacters[kind];
  const trimmed = visibleText(text).trim();
  if (trimmed.length <= most) return firstSentences(kind, trimmed);
  const head = trimmed.slice(0, most);
  const ends = [...head.matchAll(/[.!?。！？](?=\s|$)/gu)];
  const last = ends.at(-1);
  return last ? firstSentences(kind, head.slice(0, last.index + 1)) : null;
}

function firstSentences(kind: MemoryKind, text: string): string {
  if (kind === "procedure") return text;
  const sentences = sentencesOf(text);
  const vague = namesItsSubject(kind)
    ? sentences.findIndex((each, index) => index > 0 && hasPronounSubject(each))
    : -1;
  const kept = Math.min(mostSentences[kind], vague < 0 ? sentences.length : vague);
  return kept === sentences.length ? text : sentences.slice(0, kept).join("").trim();
}
