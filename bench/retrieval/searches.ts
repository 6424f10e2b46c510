import type { Memory, Scope } from "../../src/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import type { BenchDatabase } from "../bench-database.js";
import type { Bm25 } from "./bm25.js";
import type { Answer } from "./measure.js";
import type { Question, RetrievalConversation } from "./retrieval-data.js";

/** The product that is measured. */
export interface RetrievalContext {
  readonly database: BenchDatabase;
  /** With the defaults of retrieval. */
  readonly memory: Memory;
  /** The same data; its recalls have threshold 0. */
  readonly unfiltered: Memory;
}

export type Search = (question: Question) => Promise<Pick<Answer, "hits" | "tokens">>;

export interface Line {
  readonly text: string;
  readonly ids: readonly string[];
}

const foundOf = (lines: readonly Line[]) => ({
  hits: lines.map(({ ids }) => ids),
  tokens: lines.reduce((sum, { text }) => sum + estimateTokens(`- ${text}`), 0),
});

/** Several hits of one session count where the first does. */
const foundTurns = (lines: readonly Line[]) =>
  foundOf(
    lines.filter(({ ids: [id] }, place) => lines.findIndex(({ ids }) => ids[0] === id) === place),
  );

const defaultTopK = 10;

export function searchesOfTurns(
  { memory }: RetrievalContext,
  { topK = defaultTopK, ranksSessions }: RetrievalConversation,
  scope: Scope,
  { texts, namedTexts }: { readonly texts: Bm25<Line>; readonly namedTexts: Bm25<Line> | null },
): Record<string, Search> {
  const search =
    (threshold?: number): Search =>
    async ({ question: query }) => {
      const hits = await memory.transcript.search({ scope, query, topK, threshold });
      const idOf = (hit: (typeof hits)[number]) => (ranksSessions ? hit.threadId : hit.messageId);
      return foundTurns(hits.map((hit) => ({ text: hit.text, ids: [idOf(hit)] })));
    };
  const plainly =
    (index: Bm25<Line>): Search =>
    async ({ question }) =>
      foundTurns(await index.search(question, topK));
  return {
    "transcript.search": search(),
    "transcript.search, threshold 0": search(0),
    "turns, BM25": plainly(texts),
    ...(namedTexts && { "turns, BM25 with names": plainly(namedTexts) }),
  };
}

/** A thread without messages, as each new conversation. */
const threadId = "a new thread";

/** @param cited memory id → ids of what the memory stands for */
export function searchesOfFacts(
  { memory, unfiltered }: RetrievalContext,
  { topK = defaultTopK }: RetrievalConversation,
  scope: Scope,
  { facts, cited }: { readonly facts: Bm25<Line>; readonly cited: ReadonlyMap<string, string[]> },
): Record<string, Search> {
  const idsOf = (id: string) => cited.get(id) ?? [];
  const found = (hits: readonly { readonly memory: { id: string; text: string } }[]) =>
    foundOf(hits.map((hit) => ({ text: hit.memory.text, ids: idsOf(hit.memory.id) })));
  const query =
    (threshold?: number): Search =>
    async ({ question, filters = [{}] }) => {
      const request = { scope, query: question, topK, threshold };
      const hits = filters.map((each) => memory.query({ ...request, filters: each }));
      return found((await Promise.all(hits)).flat());
    };
  const recall =
    (asked: Memory): Search =>
    async ({ question }) => {
      const { memories } = await asked.recall({ scope, threadId, query: question });
      if (memories.timedOut) throw new Error(`The recall of "${question}" was stopped.`);
      return found(memories.relevant);
    };
  return {
    query: query(),
    "query, threshold 0": query(0),
    "facts, BM25": async ({ question }) => foundOf(await facts.search(question, topK)),
    "recall, lines that fit": recall(memory),
    "recall, threshold 0": recall(unfiltered),
    /** Whatever they are shown for; tokens with headings. */
    "promptFor, all lines": async ({ question }) => {
      const { text, shown } = await memory.promptFor({ scope, threadId, query: question });
      const hits = Object.values(shown.parts ?? {})
        .flat()
        .map(idsOf);
      return { hits, tokens: estimateTokens(text ?? "") };
    },
  };
}
