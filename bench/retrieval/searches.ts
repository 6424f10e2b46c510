import type { Memory, Scope } from "../../src/index.js";
import { memoryParts, ofPart, shownIn } from "../../src/prompt/recalled.js";
import type { BlockPart } from "../../src/transcript/shown-turns.js";
import type { BenchDatabase } from "../bench-database.js";
import { createBm25 } from "./bm25.js";
import type { Line } from "./measure.js";
import {
  isPerson,
  type Observation,
  type Question,
  type RetrievalConversation,
  type Turn,
  utc,
} from "./retrieval-data.js";
import { fused, type VectorStore } from "./vectors.js";

/** The product that is measured. */
export interface RetrievalContext {
  readonly database: BenchDatabase;
  /** With the defaults of retrieval. */
  readonly memory: Memory;
  /** The same data; its recalls have threshold 0. */
  readonly unfiltered: Memory;
  /** With vectors: the same data, searched without them. */
  readonly wordsOnly?: Memory | undefined;
  /** With vectors: what searches them alone. */
  readonly store?: VectorStore | undefined;
}

/** What is found, best first. */
export type Search = (question: Question) => Promise<readonly Line[]>;

/** What searches a user's turns, and what records those of a session. */
export function openTurns(
  { memory, database }: RetrievalContext,
  { turns, topK = 10, ranksSessions }: RetrievalConversation,
  scope: Scope,
) {
  const texts = createBm25(database, `${scope.tenantId} ${scope.userId} turns`);
  const namedTexts = createBm25(database, `${scope.tenantId} ${scope.userId} names`);
  /** A session ranks where its best turn does. */
  const firstOfEach = (lines: readonly Line[]) =>
    lines.filter(({ ids: [id] }, place) => lines.findIndex(({ ids }) => ids[0] === id) === place);
  const search =
    (threshold?: number): Search =>
    async ({ question: query }) => {
      const hits = await memory.transcript.search({ scope, query, topK, threshold });
      return firstOfEach(
        hits.map(({ text, threadId, messageId }) => {
          return { text, ids: [ranksSessions ? threadId : messageId] };
        }),
      );
    };
  const plainly =
    (index: typeof texts): Search =>
    async ({ question }) =>
      firstOfEach(await index.search(question, topK));
  const searches: Record<string, Search> = {
    "transcript.search": search(),
    "transcript.search, threshold 0": search(0),
    "turns, BM25": plainly(texts),
    ...(turns.every(({ speaker }) => isPerson(speaker)) && {
      "turns, BM25 with names": plainly(namedTexts),
    }),
  };
  return {
    searches: turns.length > 0 ? searches : {},
    /** Throws unless all are new. */
    async record(session: string): Promise<void> {
      const said = turns.filter((turn) => turn.session === session);
      const messages = said.map(({ id, speaker, text }) => ({
        id,
        role: speaker === "assistant" ? speaker : "user",
        content: text,
        ...(isPerson(speaker) && { name: speaker }),
      }));
      const saidAt = utc(said[0]?.date ?? "");
      const { recorded } = await memory.record({ scope, threadId: session, messages, saidAt });
      if (recorded !== said.length)
        throw new Error(`${recorded} of ${said.length} turns were recorded in ${session}.`);
      const idOf = (id: string) => (ranksSessions ? session : id);
      await texts.add(said.map(({ id, text }) => ({ text, ids: [idOf(id)] })));
      await namedTexts.add(
        said.map(({ id, speaker, text }) => ({ text: `${speaker}: ${text}`, ids: [idOf(id)] })),
      );
    },
  };
}

/** A thread without messages, as each new conversation. */
const threadId = "a new thread";

/** Hits of each list that are fused. */
const fusedEach = 50;

const hiddenOutcomes = ["rejected", "quarantined", "proposed", "refused"];

/** What searches what was learned about a user, and what adds that. */
export function openFacts(
  { memory, unfiltered, wordsOnly, database, store }: RetrievalContext,
  { turns, observations, topK = 10 }: RetrievalConversation,
  scope: Scope,
) {
  const facts = createBm25(database, `${scope.tenantId} ${scope.userId} facts`);
  const namespace = [scope.tenantId ?? "", scope.userId ?? ""].map((label) =>
    // The store refuses these.
    label.replaceAll(/[.%_]/g, "-"),
  );
  /** Memory id → ids of what the memory stands for. */
  const cited = new Map<string, readonly string[]>();
  const idsOf = (id: string) => cited.get(id) ?? [];
  const lineOf = ({ id, text }: { id: string; text: string }) => ({ text, ids: idsOf(id) });
  const query =
    (asked: Memory, threshold?: number): Search =>
    async ({ question, filters = [{}] }) => {
      const request = { scope, query: question, topK, threshold };
      const hits = filters.map((each) => asked.query({ ...request, filters: each }));
      return (await Promise.all(hits)).flat().map((hit) => lineOf(hit.memory));
    };
  const recall =
    (asked: Memory, parts: readonly BlockPart[]): Search =>
    async ({ question }) => {
      const { memories } = await asked.recall({ scope, threadId, query: question });
      if (memories.timedOut) throw new Error(`The recall of "${question}" was stopped.`);
      return parts.flatMap((part) => ofPart(shownIn(memories), part)).map(lineOf);
    };
  const searches: Record<string, Search> = {
    query: query(memory),
    "query, threshold 0": query(memory, 0),
    ...(wordsOnly && { "query, words alone": query(wordsOnly) }),
    "facts, BM25": ({ question }) => facts.search(question, topK),
    ...(store && {
      "facts, vectors alone": ({ question }) => store.search(namespace, question, topK),
      "facts, both by ranks": async ({ question }) =>
        fused(
          [
            await facts.search(question, fusedEach),
            await store.search(namespace, question, fusedEach),
          ],
          topK,
        ),
    }),
    "recall, lines that fit": recall(memory, ["relevant"]),
    "recall, threshold 0": recall(unfiltered, ["relevant"]),
    "recall, all lines": recall(memory, memoryParts),
  };
  return {
    searches: observations.length > 0 ? searches : {},
    /** Throws if more than a tenth of the memories cannot be found. */
    async learn(): Promise<void> {
      const drafts = observations.map((observation) => draftOf(observation, turns));
      const outcomes = await memory.memories.add({ scope, memories: drafts });
      const hidden = outcomes.filter(({ outcome }) => hiddenOutcomes.includes(outcome));
      if (hidden.length > outcomes.length / 10)
        throw new Error(`${hidden.length} of ${outcomes.length} memories cannot be found.`);
      for (const [index, { id, further = [] }] of outcomes.entries()) {
        const evidence = observations[index]?.evidence ?? [];
        // Two texts may become one memory, which then stands for the evidence of both.
        for (const each of [id, ...further.map((more) => more.id)])
          if (each !== null) cited.set(each, [...idsOf(each), ...evidence]);
      }
      const lines = observations.map(({ text, evidence }) => ({ text, ids: evidence }));
      await facts.add(lines);
      await store?.add(namespace, lines);
    },
  };
}

/** Its source are the turns of its evidence, of one session. */
function draftOf({ text, date, speaker, evidence, draft }: Observation, turns: readonly Turn[]) {
  const session = turns.find(({ id }) => id === evidence[0])?.session;
  const ids = turns.filter((turn) => turn.session === session).map(({ id }) => id);
  const seqs = evidence.map((id) => ids.indexOf(id)).filter((seq) => seq >= 0);
  const source = session === undefined ? undefined : { threadId: session, seqs };
  return { text, actorId: speaker, validFrom: utc(date), source, ...draft };
}
