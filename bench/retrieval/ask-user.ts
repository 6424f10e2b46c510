import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory, Scope } from "../../src/index.js";
import { vacuumSchema } from "../bench-database.js";
import { createBm25 } from "./bm25.js";
import type { Answer } from "./measure.js";
import type { Question, RetrievalConversation, Turn } from "./retrieval-data.js";
import type { RetrievalContext } from "./run-retrieval.js";
import {
  type Line,
  promptLines,
  recallFitting,
  type Search,
  searchFacts,
  searchFactsPlainly,
  searchTranscript,
  searchTurnsPlainly,
} from "./searches.js";

/** An answer, and which search gave it. */
export interface SearchedAnswer extends Answer {
  readonly searched: string;
}

/** How many memories came to which outcome. */
export type OutcomeCounts = Record<string, number>;

/**
 * Loads what one user said and what was learned from it, and asks every search every question.
 *
 * @param counts counts what became of the memories.
 */
export async function askUser(
  context: RetrievalContext,
  conversation: RetrievalConversation,
  scope: Scope,
  counts: OutcomeCounts,
): Promise<SearchedAnswer[]> {
  const { memory, unfiltered, database } = context;
  const { turns, observations, questions, topK = 10, ranksSessions = false } = conversation;
  const createIndex = (of: string) =>
    createBm25<Line>(database, `${scope.tenantId} ${scope.userId} ${of}`);
  const texts = createIndex("turns");
  const namedTexts = createIndex("turns with names");
  const facts = createIndex("facts");
  const cited = new Map<string, string[]>();
  const ofTurns = { memory, scope, topK, ranksSessions };
  const ofFacts = { memory, scope, topK, cited };
  const searches: Readonly<Record<string, Search>> = {
    ...(turns.length > 0 && {
      "transcript.search": searchTranscript(ofTurns),
      "transcript.search, threshold 0": searchTranscript(ofTurns, 0),
      "turns, BM25": searchTurnsPlainly(texts, topK),
      ...(turns.every(isPersons) && {
        "turns, BM25 with names": searchTurnsPlainly(namedTexts, topK),
      }),
    }),
    ...(observations.length > 0 && {
      query: searchFacts(ofFacts),
      "query, threshold 0": searchFacts(ofFacts, 0),
      "facts, BM25": searchFactsPlainly(facts, topK),
      "recall, lines that fit": recallFitting(ofFacts, memory),
      "recall, threshold 0": recallFitting(ofFacts, unfiltered),
      "promptFor, all lines": promptLines(ofFacts),
    }),
  };
  const answers: SearchedAnswer[] = [];
  const ask = async (before?: string) => {
    for (const question of questions.filter((each) => each.before === before))
      for (const [searched, search] of Object.entries(searches))
        answers.push({ ...countedOf(question, await search(question)), searched });
  };
  for (const session of new Set(turns.map((turn) => turn.session))) {
    await ask(session);
    const said = turns.filter((turn) => turn.session === session);
    await record(memory, said, scope);
    const lines = said.map((turn) => ({
      text: textOf(turn),
      named: `${turn.speaker}: ${textOf(turn)}`,
      ids: [ranksSessions ? session : turn.id],
    }));
    await texts.add(lines);
    await namedTexts.add(lines.map(({ named, ids }) => ({ text: named, ids })));
  }
  await learn(memory, conversation, scope, { counts, cited });
  await facts.add(observations.map(({ text, evidence }) => ({ text, ids: evidence })));
  await vacuumSchema(database.pool, database.schema);
  await ask();
  return answers;
}

const isPersons = ({ speaker }: Turn) => speaker !== "user" && speaker !== "assistant";

const textOf = ({ text, caption }: Turn) =>
  caption === undefined ? text : `${text} [shares ${caption}]`;

const dateOf = (date: string) => new Date(`${date}:00Z`);

function countedOf(question: Question, { hits, tokens }: Omit<Answer, "question">): Answer {
  if (!question.found) return { question, hits, tokens };
  const { without, most } = question.found;
  const found = [...new Set(hits.flat())].filter((id) => !without.has(id)).slice(0, most);
  return { question, hits: found.map((id) => [id]), tokens };
}

/** Records the turns of a session, and throws unless all are new. */
async function record(memory: Memory, turns: readonly Turn[], scope: Scope): Promise<void> {
  const messages = turns.map((turn) => {
    const { id, speaker } = turn;
    const content = textOf(turn);
    if (speaker === "assistant") return new AIMessage({ id, content });
    return new HumanMessage({ id, content, ...(isPersons(turn) && { name: speaker }) });
  });
  const { session: threadId = "", date = "" } = turns[0] ?? {};
  const saidAt = dateOf(date);
  const { recorded } = await memory.record({ scope, threadId, messages, saidAt });
  if (recorded !== turns.length)
    throw new Error(`${recorded} of ${turns.length} turns were recorded in ${threadId}.`);
}

/** Adds the observations. */
async function learn(
  memory: Memory,
  { turns, observations }: RetrievalConversation,
  scope: Scope,
  { counts, cited }: { counts: OutcomeCounts; cited: Map<string, string[]> },
): Promise<void> {
  const drafts = observations.map(({ text, date, speaker, evidence, draft }) => {
    const source = sourceOf(turns, evidence);
    const validFrom = dateOf(date);
    return { text, actorId: speaker, validFrom, ...(source && { source }), ...draft };
  });
  const outcomes = await memory.memories.add(drafts, { scope });
  for (const [index, { outcome, id, further = [] }] of outcomes.entries()) {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    const evidence = observations[index]?.evidence ?? [];
    // Two texts may become one memory, which then stands for the evidence of both.
    for (const each of [id, ...further.map((more) => more.id)])
      if (each !== null) cited.set(each, [...(cited.get(each) ?? []), ...evidence]);
  }
}

/** Of the turns that an observation rests on, those in the first one's session. */
function sourceOf(turns: readonly Turn[], evidence: readonly string[]) {
  const session = turns.find(({ id }) => id === evidence[0])?.session;
  const ids = turns.filter((turn) => turn.session === session).map(({ id }) => id);
  const seqs = evidence.map((id) => ids.indexOf(id)).filter((seq) => seq >= 0);
  return session === undefined ? undefined : { threadId: session, seqs };
}
