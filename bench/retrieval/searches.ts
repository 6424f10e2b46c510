import type { Memory, Scope } from "../../src/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import type { Bm25 } from "./bm25.js";
import type { Found } from "./measure.js";
import type { Question } from "./retrieval-data.js";

export type Search = (question: Question) => Promise<Found>;

/** Memory id → ids of what the memory stands for. */
export type Cited = ReadonlyMap<string, readonly string[]>;

export interface Line {
  readonly text: string;
  readonly ids: readonly string[];
}

const foundOf = (lines: readonly Line[]): Found => ({
  hits: lines.map(({ ids }) => ids),
  tokens: lines.reduce((sum, { text }) => sum + estimateTokens(`- ${text}`), 0),
});

/** Several hits of one session count where the first does. */
const foundTurns = (lines: readonly Line[]): Found =>
  foundOf(
    lines.filter(({ ids: [id] }, place) => lines.findIndex(({ ids }) => ids[0] === id) === place),
  );

interface TranscriptSearch {
  readonly memory: Memory;
  readonly scope: Scope;
  readonly topK: number;
  readonly ranksSessions: boolean;
}

export const searchTranscript =
  ({ memory, scope, topK, ranksSessions }: TranscriptSearch, threshold?: number): Search =>
  async ({ question: query }) => {
    const hits = await memory.transcript.search({ scope, query, topK, threshold });
    return foundTurns(
      hits.map((hit) => ({ text: hit.text, ids: [ranksSessions ? hit.threadId : hit.messageId] })),
    );
  };

export const searchTurnsPlainly =
  (index: Bm25<Line>, topK: number): Search =>
  async ({ question }) =>
    foundTurns(await index.search(question, topK));

export const searchFactsPlainly =
  (index: Bm25<Line>, topK: number): Search =>
  async ({ question }) =>
    foundOf(await index.search(question, topK));

interface FactSearch {
  readonly memory: Memory;
  readonly scope: Scope;
  readonly topK: number;
  readonly cited: Cited;
}

export const searchFacts =
  ({ memory, scope, topK, cited }: FactSearch, threshold?: number): Search =>
  async ({ question: query, filters = [{}] }) => {
    const lines: Line[] = [];
    for (const filter of filters) {
      const hits = await memory.query({ scope, query, topK, threshold, filters: filter });
      lines.push(...hits.map((hit) => lineOf(hit.memory, cited)));
    }
    return foundOf(lines);
  };

/** A thread without messages, as each new conversation. */
const threadId = "a new thread";

export const recallFitting =
  ({ scope, cited }: FactSearch, memory: Memory): Search =>
  async ({ question: query }) => {
    const { memories } = await memory.recall({ scope, threadId, query });
    if (memories.timedOut) throw new Error(`The recall of "${query}" was stopped.`);
    return foundOf(memories.relevant.map((hit) => lineOf(hit.memory, cited)));
  };

/** All memories of the prompt, whatever they are shown for; tokens with its headings. */
export const promptLines =
  ({ memory, scope, cited }: FactSearch): Search =>
  async ({ question: query }) => {
    const { text, shown } = await memory.promptFor({ scope, threadId, query });
    const ids = Object.values(shown.parts ?? {}).flat();
    return { hits: ids.map((id) => cited.get(id) ?? []), tokens: estimateTokens(text ?? "") };
  };

const lineOf = ({ id, text }: { id: string; text: string }, cited: Cited): Line => ({
  text,
  ids: cited.get(id) ?? [],
});
