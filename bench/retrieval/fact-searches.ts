import type { Memory, Scope } from "../../src/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { createBm25 } from "./bm25.js";
import { foundOf, type RetrievalContext, type Search } from "./retrieval-context.js";
import { type Observation, type RetrievalConversation, type Turn, utc } from "./retrieval-data.js";

/** A thread without messages, as each new conversation. */
const threadId = "a new thread";

const hiddenOutcomes = ["rejected", "quarantined", "proposed", "refused"];

/** What searches what was learned about a user, and what adds that. */
export function openFacts(
  { memory, unfiltered, database }: RetrievalContext,
  { turns, observations, topK = 10 }: RetrievalConversation,
  scope: Scope,
) {
  const facts = createBm25(database, `${scope.tenantId} ${scope.userId} facts`);
  /** Memory id → ids of what the memory stands for. */
  const cited = new Map<string, readonly string[]>();
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
  const searches: Record<string, Search> = {
    query: query(),
    "query, threshold 0": query(0),
    "facts, BM25": async ({ question }) => {
      const lines = await facts.search(question, topK);
      return foundOf(lines.map(({ text, id }) => ({ text, ids: idsOf(id) })));
    },
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
  return {
    searches: observations.length > 0 ? searches : {},
    /** Throws if more than a tenth of the memories cannot be found. */
    async learn(): Promise<void> {
      const drafts = observations.map((observation) => draftOf(observation, turns));
      const outcomes = await memory.memories.add(drafts, { scope });
      const hidden = outcomes.filter(({ outcome }) => hiddenOutcomes.includes(outcome));
      if (hidden.length > outcomes.length / 10)
        throw new Error(`${hidden.length} of ${outcomes.length} memories cannot be found.`);
      for (const [index, { id, further = [] }] of outcomes.entries()) {
        const { text = "", evidence = [] } = observations[index] ?? {};
        // Two texts may become one memory, which then stands for the evidence of both.
        for (const each of [id, ...further.map((more) => more.id)])
          if (each !== null) cited.set(each, [...idsOf(each), ...evidence]);
        cited.set(text, evidence);
      }
      await facts.add(observations.map(({ text }) => ({ text, id: text })));
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
