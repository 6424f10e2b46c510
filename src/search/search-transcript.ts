import { z } from "zod";
import type { Clock } from "../clock.js";
import type { Connection } from "../postgres/connection.js";
import { parseScoped, parseThreadId, type Scope, scopeField, threadField } from "../scope/scope.js";
import { aboveFloor } from "./rank-memories.rule.js";
import { type Question, readQuestion, timeOf } from "./read-question.js";
import { substanceCharacters, retrievalWeights as weights } from "./retrieval-options.js";
import { fitsTime } from "./time-span.rule.js";
import { searchTranscript as findCandidates, type TranscriptCandidate } from "./transcript-candidates.js";

export type RankedMessage = Omit<TranscriptCandidate, "messageId" | "role">;

/** Those below the threshold are left out: see `aboveFloor`. */
export function rankTranscript<Candidate extends RankedMessage>(
  candidates: readonly Candidate[],
  question: Pick<Question, "dates" | "names" | "when">,
  threshold: number | undefined,
): (Candidate & Pick<TranscriptHit, "similarity" | "score"> & { readonly named: boolean })[] {
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
    const dated = question.dates.some((date) => fitsTime(saidAt, date)) ? weights.date : 0;
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

const asks = (text: string) => /[?？؟]\s*$/u.test(text);

/** What to look for in what was said. */
export interface TranscriptQuery {
  readonly scope: Scope;
  readonly query: string;
  /** Only this thread. @default every thread of the scope */
  readonly threadId?: string | undefined;
  /** 1 to 200. @default 10 */
  readonly topK?: number | undefined;
  /** Least similarity of a hit, 0 to 1. @default 0.05, and nothing at all when even the best hit is below 0.1 */
  readonly threshold?: number | undefined;
}

/** A message that was found. */
export interface TranscriptHit extends Omit<TranscriptCandidate, "fit" | "own" | "score"> {
  /**
   * Share of the question's words that it has or that were said around it, 0 to 1; rare ones count more. At least 0.3
   * if it was said at a time that the question names.
   */
  readonly similarity: number;
  /** What it is ranked by; comparable within one search. */
  readonly score: number;
  /** Why it was found. */
  readonly reason: string;
}

const querySchema = z.strictObject({
  scope: scopeField,
  query: z.string().max(10_000),
  threadId: threadField,
  topK: z.int().min(1).max(200).default(10),
  threshold: z.number().min(0).max(1).optional(),
});

/** The final signals reorder the head of the list only. */
const candidatesPerHit = 4;

/** The messages that fit `query` best, by words, neighbours, thread, facts learned, speaker and date. One round trip. */
export async function searchTranscript(
  { db, clock }: { readonly db: Connection; readonly clock?: Clock | undefined },
  input: TranscriptQuery,
): Promise<TranscriptHit[]> {
  const asks = parseScoped(querySchema, input, "search");
  const { scope, query, topK, threshold } = asks;
  const question = readQuestion(query, db.language, timeOf({ clock }));
  const candidates = await findCandidates(db, question, {
    scope,
    threadId: asks.threadId === undefined ? undefined : parseThreadId(asks.threadId),
    limit: Math.max(200, topK * candidatesPerHit),
  });
  return rankTranscript(candidates, question, threshold)
    .slice(0, topK)
    .map(({ own, fit, named, ...hit }) => ({ ...hit, reason: reasonOf({ own, fit, named }) }));
}

function reasonOf({ own, fit, named }: { own: number; fit: number; named: boolean }): string {
  const words = own > 0 ? "its words" : fit > 0 ? "what was said around it" : "the time it was said at";
  return named ? `${words}; said by who is asked about` : words;
}
