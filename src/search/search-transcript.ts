import { z } from "zod";
import type { Connection } from "../postgres/connection.js";
import { parseScoped, type Scope, scopeField } from "../scope/scope.js";
import { parseThreadId } from "../scope/thread-id.js";
import type { MessageRole } from "../text/message-text.js";
import { rankTranscript } from "./rank-transcript.js";
import { readQuestion } from "./read-question.js";
import { searchTranscript as findCandidates } from "./transcript-candidates.js";

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
export interface TranscriptHit {
  readonly threadId: string;
  readonly seq: number;
  readonly messageId: string;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly text: string;
  readonly saidAt: Date;
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
  threadId: z.unknown().optional(),
  topK: z.int().min(1).max(200).default(10),
  threshold: z.number().min(0).max(1).optional(),
});

/** Candidates ranked for each hit wanted: the final signals reorder the head of the list only. */
const candidatesPerHit = 4;

/**
 * The messages that fit `query` best, best first: by their own words, what was said around them, their whole
 * thread, the facts learned from them, their speaker and their date. One round trip.
 */
export async function searchTranscript(
  { db }: { db: Connection },
  input: TranscriptQuery,
): Promise<TranscriptHit[]> {
  const asks = parseScoped(querySchema, input, "search");
  const { scope, query, topK, threshold } = asks;
  const question = readQuestion(query, db.language);
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
