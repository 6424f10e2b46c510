import { fitsDate, type NamedDate } from "./question-dates.js";
import { aboveFloor } from "./rank-memories.js";
import { substanceCharacters, retrievalWeights as weights } from "./retrieval-weights.js";

/** What its final rank adds to a message. */
export interface TranscriptRank {
  /**
   * Share of the question's words that it has or that were said around it, 0 to 1; rare ones count more. At least 0.3
   * if it was said at a time that the question names.
   */
  readonly similarity: number;
  /** What it is ranked by; comparable within one search. */
  readonly score: number;
  /** Whether someone who is asked about said it. */
  readonly named: boolean;
}

/** A message as its final rank needs it: see `TranscriptCandidate`. */
export interface RankedMessage {
  readonly threadId: string;
  readonly seq: number;
  readonly actor: string | null;
  readonly text: string;
  readonly saidAt: Date;
  readonly fit: number;
  readonly own: number;
  readonly score: number;
}

/**
 * `candidates` in their final order: what a named speaker said, what was said at a named date, what says a time when
 * one is asked for, what answers a question that fits, and what says more than a few words gains; what only asks loses.
 *
 * Those below the threshold are left out, so the answer may be empty: see `aboveFloor`.
 */
export function rankTranscript<Candidate extends RankedMessage>(
  candidates: readonly Candidate[],
  question: {
    readonly dates: readonly NamedDate[];
    readonly names: (actor: string) => boolean;
    /** Whether a text says a time, if one is asked for. */
    readonly when: (text: string) => boolean;
  },
  threshold: number | undefined,
): (Candidate & TranscriptRank)[] {
  const asked = new Map<string, Map<number, number>>();
  for (const { threadId, seq, text, own } of candidates) {
    if (!asks(text)) continue;
    const thread = asked.get(threadId) ?? new Map<number, number>();
    asked.set(threadId, thread.set(seq, own));
  }
  const ranked = candidates.map((candidate) => {
    const { actor, text, saidAt } = candidate;
    const named = actor !== null && question.names(actor);
    const before = asked.get(candidate.threadId)?.get(candidate.seq - 1) ?? 0;
    const found = candidate.score + weights.answer * before;
    const dated = question.dates.some((date) => fitsDate(saidAt, date)) ? weights.date : 0;
    const score =
      found * (named ? 1 + weights.speaker : 1) +
      dated +
      (question.when(text) ? weights.when : 0) +
      weights.substance * Math.min(1, text.length / substanceCharacters) -
      (asks(text) ? weights.question : 0);
    return {
      ...candidate,
      named,
      score,
      similarity: Math.max(dated, Math.min(1, candidate.fit * (1 + weights.message.k1))),
    };
  });
  return aboveFloor(ranked, threshold).toSorted((first, second) => second.score - first.score);
}

function asks(text: string): boolean {
  return /[?？؟]\s*$/u.test(text);
}
