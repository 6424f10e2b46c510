import type { Memory, Scope } from "../../src/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import type { Bm25 } from "./bm25.js";
import type { Found } from "./measures.js";

export type Search = (question: string) => Promise<Found>;

/** What tables call the searches. */
export const searchTitles = {
  transcript: "transcript.search, defaults",
  transcript0: "transcript.search, threshold 0",
  bm25Names: "turns, BM25 with speakers' names",
  bm25: "turns, BM25",
  facts: "query, defaults",
  facts0: "query, threshold 0",
  factsBm25: "facts, BM25",
  recall: "recall: lines that fit, defaults",
  recall0: "recall: lines that fit, threshold 0",
  prompt: "promptFor: all lines, defaults",
} as const;

export type SearchName = keyof typeof searchTitles;
export const searchNames = Object.keys(searchTitles) as SearchName[];

/** Those that a user has data for. */
export type Searches = Readonly<Partial<Record<SearchName, Search>>>;

/** Memory id → ids of what the memory stands for. */
export type Cited = ReadonlyMap<string, readonly string[]>;

/** The tenth hit is the last one that is measured. */
const topK = 10;

/** Messages whose threads are ranked. */
const messagesOfThreads = 50;

/** A thread without messages, as each new conversation. */
const threadId = "a new thread";

export interface Line {
  readonly text: string;
  readonly ids: readonly string[];
}

const foundOf = (lines: readonly Line[]): Found => ({
  hits: lines.map(({ ids }) => ids),
  tokens: lines.reduce((sum, { text }) => sum + estimateTokens(`- ${text}`), 0),
});

/** A thread ranks where its best message does. */
const threadsOf = (lines: readonly Line[]): Line[] =>
  lines.filter(({ ids: [id] }, place) => lines.findIndex(({ ids }) => ids[0] === id) === place);

export function searchTranscript(
  memory: Memory,
  scope: Scope,
  ranksThreads: boolean,
  threshold?: number,
): Search {
  return async (query) => {
    const most = ranksThreads ? messagesOfThreads : topK;
    const hits = await memory.transcript.search({ scope, query, topK: most, threshold });
    const lines = hits.map((hit) => ({
      text: hit.text,
      ids: [ranksThreads ? hit.threadId : hit.messageId],
    }));
    return foundOf(ranksThreads ? threadsOf(lines) : lines);
  };
}

/** The lines of `index` stand for threads, or for messages or facts. */
export function searchPlainly(index: Bm25<Line>, ranksThreads = false): Search {
  return async (question) => {
    const lines = await index.search(question, ranksThreads ? messagesOfThreads : topK);
    return foundOf(ranksThreads ? threadsOf(lines) : lines);
  };
}

export function searchFacts(
  memory: Memory,
  scope: Scope,
  cited: Cited,
  threshold?: number,
): Search {
  return async (query) => {
    const hits = await memory.query({ scope, query, topK, threshold });
    return foundOf(hits.map((hit) => lineOf(hit.memory, cited)));
  };
}

export function recallFitting(memory: Memory, scope: Scope, cited: Cited): Search {
  return async (query) => {
    const { memories } = await memory.recall({ scope, threadId, query });
    if (memories.timedOut) throw new Error(`The recall of "${query}" was stopped.`);
    return foundOf(memories.relevant.map((hit) => lineOf(hit.memory, cited)));
  };
}

/** All memories of the prompt, whatever they are shown for; tokens with its headings. */
export function promptLines(memory: Memory, scope: Scope, cited: Cited): Search {
  return async (query) => {
    const { text, shown } = await memory.promptFor({ scope, threadId, query });
    const ids = Object.values(shown.parts ?? {}).flat();
    return { hits: ids.map((id) => cited.get(id) ?? []), tokens: estimateTokens(text ?? "") };
  };
}

const lineOf = ({ id, text }: { id: string; text: string }, cited: Cited): Line => ({
  text,
  ids: cited.get(id) ?? [],
});
