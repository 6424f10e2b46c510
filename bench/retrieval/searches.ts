import type { Memory, Scope } from "../../src/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { countWords, createBm25 } from "./bm25.js";
import { type Cited, isPerson, textOf } from "./load-conversations.js";
import type { Found } from "./measures.js";
import type { RetrievalContext } from "./retrieval-context.js";
import type { RetrievalConversation } from "./retrieval-data.js";

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
export type Searches = Readonly<Partial<Record<SearchName, Search>>>;

export const isSearchName = (name: string): name is SearchName => name in searchTitles;

/** Hits of a search: the tenth is the last one that is measured. */
const topK = 10;

/** A thread without messages, as each new conversation. */
const threadId = "a new thread";

interface Line {
  readonly text: string;
  readonly ids: readonly string[];
}

const foundOf = (lines: readonly Line[]): Found => ({
  hits: lines.map(({ ids }) => ids),
  tokens: lines.reduce((sum, { text }) => sum + estimateTokens(`- ${text}`), 0),
});

/** The searches that a conversation has data for. */
export async function searchesOf(
  context: RetrievalContext,
  conversation: RetrievalConversation,
  scope: Scope,
  cited: Cited,
): Promise<Searches> {
  const { memory, unfiltered } = context;
  const { turns, observations, speakers } = conversation;
  const asLines = turns.map((turn) => ({ text: textOf(turn), ids: [turn.id] }));
  const withNames = turns.map((turn) => ({
    text: `${turn.speaker}: ${textOf(turn)}`,
    ids: [turn.id],
  }));
  const facts = observations.map(({ text, evidence }) => ({ text, ids: evidence }));
  return {
    ...(turns.length > 0 && {
      transcript: searchTranscript(memory, scope),
      transcript0: searchTranscript(memory, scope, 0),
      ...(speakers.every(isPerson) && { bm25Names: await searchPlainly(context, withNames) }),
      bm25: await searchPlainly(context, asLines),
    }),
    ...(observations.length > 0 && {
      facts: searchFacts(memory, scope, cited),
      facts0: searchFacts(memory, scope, cited, 0),
      factsBm25: await searchPlainly(context, facts),
      recall: recallFitting(memory, scope, cited),
      recall0: recallFitting(unfiltered, scope, cited),
      prompt: promptLines(memory, scope, cited),
    }),
  };
}

function searchTranscript(memory: Memory, scope: Scope, threshold?: number): Search {
  return async (query) => {
    const hits = await memory.transcript.search({ scope, query, topK, threshold });
    return foundOf(hits.map(({ text, messageId }) => ({ text, ids: [messageId] })));
  };
}

function searchFacts(memory: Memory, scope: Scope, cited: Cited, threshold?: number): Search {
  return async (query) => {
    const hits = await memory.query({ scope, query, topK, threshold });
    return foundOf(hits.map((hit) => lineOf(hit.memory, cited)));
  };
}

function recallFitting(memory: Memory, scope: Scope, cited: Cited): Search {
  return async (query) => {
    const { memories } = await memory.recall({ scope, threadId, query });
    if (memories.timedOut) throw new Error(`The recall of "${query}" was stopped.`);
    return foundOf(memories.relevant.map((hit) => lineOf(hit.memory, cited)));
  };
}

/** All memories of the prompt, whatever they are shown for; tokens with its headings. */
function promptLines(memory: Memory, scope: Scope, cited: Cited): Search {
  return async (query) => {
    const { text, shown } = await memory.promptFor({ scope, threadId, query });
    const ids = Object.values(shown.parts ?? {}).flat();
    return {
      hits: ids.map((id) => cited.get(id) ?? []),
      tokens: estimateTokens(text ?? ""),
    };
  };
}

const lineOf = ({ id, text }: { id: string; text: string }, cited: Cited): Line => ({
  text,
  ids: cited.get(id) ?? [],
});

async function searchPlainly({ pool }: RetrievalContext, lines: readonly Line[]): Promise<Search> {
  const index = createBm25<Line>();
  const words = await countWords(
    pool,
    lines.map(({ text }) => text),
  );
  for (const [place, line] of lines.entries()) index.add(line, words[place] ?? new Map());
  return async (question) => {
    const [asked = new Map()] = await countWords(pool, [question]);
    return foundOf(index.search(asked, topK));
  };
}
