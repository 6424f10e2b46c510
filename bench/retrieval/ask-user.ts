import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory, Scope } from "../../src/index.js";
import { vacuumSchema } from "../bench-database.js";
import { createBm25 } from "./bm25.js";
import type { Answer } from "./measure.js";
import type { Observation, RetrievalConversation, Turn } from "./retrieval-data.js";
import {
  type Line,
  type RetrievalContext,
  type Search,
  searchesOfFacts,
  searchesOfTurns,
} from "./searches.js";

/**
 * Loads what one user said and what was learned from it, and asks every search every question.
 * Throws unless all messages were recorded, nearly all memories stored, and all questions asked.
 */
export async function askUser(
  context: RetrievalContext,
  conversation: RetrievalConversation,
  scope: Scope,
): Promise<Answer[]> {
  const { memory, database } = context;
  const { turns, observations, questions, ranksSessions } = conversation;
  const createIndex = (of: string) =>
    createBm25<Line>(database, `${scope.tenantId} ${scope.userId} ${of}`);
  const texts = createIndex("turns");
  const namedTexts = turns.every(isPersons) ? createIndex("turns with names") : null;
  const facts = createIndex("facts");
  const cited = new Map<string, string[]>();
  const searches: Readonly<Record<string, Search>> = {
    ...(turns.length > 0 && searchesOfTurns(context, conversation, scope, { texts, namedTexts })),
    ...(observations.length > 0 && searchesOfFacts(context, conversation, scope, { facts, cited })),
  };
  const answers: Answer[] = [];
  const ask = async (before?: string) => {
    for (const question of questions.filter((each) => each.before === before))
      for (const [searched, search] of Object.entries(searches))
        answers.push(counted({ searched, question, ...(await search(question)) }));
  };
  for (const session of new Set(turns.map((turn) => turn.session))) {
    await ask(session);
    const said = turns.filter((turn) => turn.session === session);
    await record(memory, said, { scope, threadId: session });
    const idOf = (turn: Turn) => (ranksSessions ? session : turn.id);
    await texts.add(said.map((turn) => ({ text: textOf(turn), ids: [idOf(turn)] })));
    await namedTexts?.add(
      said.map((turn) => ({ text: `${turn.speaker}: ${textOf(turn)}`, ids: [idOf(turn)] })),
    );
  }
  const drafts = observations.map((observation) => draftOf(observation, turns));
  const outcomes = await memory.memories.add(drafts, { scope });
  const hidden = outcomes.filter(({ outcome }) => hiddenOutcomes.has(outcome));
  if (hidden.length > outcomes.length / 10)
    throw new Error(`${hidden.length} of ${outcomes.length} memories were not stored.`);
  for (const [index, { id, further = [] }] of outcomes.entries()) {
    const evidence = observations[index]?.evidence ?? [];
    // Two texts may become one memory, which then stands for the evidence of both.
    for (const each of [id, ...further.map((more) => more.id)])
      if (each !== null) cited.set(each, [...(cited.get(each) ?? []), ...evidence]);
  }
  await facts.add(observations.map(({ text, evidence }) => ({ text, ids: evidence })));
  await vacuumSchema(database.pool, database.schema);
  await ask();
  if (answers.length !== questions.length * Object.keys(searches).length)
    throw new Error(`${answers.length} answers to ${questions.length} questions.`);
  return answers;
}

const hiddenOutcomes: ReadonlySet<string> = new Set([
  "rejected",
  "quarantined",
  "proposed",
  "refused",
]);

const isPersons = ({ speaker }: Turn) => speaker !== "user" && speaker !== "assistant";

const textOf = ({ text, caption }: Turn) =>
  caption === undefined ? text : `${text} [shares ${caption}]`;

const dateOf = (date: string) => new Date(`${date}:00Z`);

function counted(answer: Answer): Answer {
  const { found } = answer.question;
  if (!found) return answer;
  const ids = [...new Set(answer.hits.flat())].filter((id) => !found.without.includes(id));
  return { ...answer, hits: ids.slice(0, found.most).map((id) => [id]) };
}

/** Records the turns of a session, and throws unless all are new. */
async function record(
  memory: Memory,
  turns: readonly Turn[],
  thread: { readonly scope: Scope; readonly threadId: string },
): Promise<void> {
  const messages = turns.map((turn) => {
    const message = { id: turn.id, content: textOf(turn) };
    if (turn.speaker === "assistant") return new AIMessage(message);
    return new HumanMessage({ ...message, ...(isPersons(turn) && { name: turn.speaker }) });
  });
  const saidAt = dateOf(turns[0]?.date ?? "");
  const { recorded } = await memory.record({ ...thread, messages, saidAt });
  if (recorded !== turns.length)
    throw new Error(`${recorded} of ${turns.length} turns were recorded in ${thread.threadId}.`);
}

/** Its source are the turns of its evidence, of one session. */
function draftOf({ text, date, speaker, evidence, draft }: Observation, turns: readonly Turn[]) {
  const threadId = turns.find(({ id }) => id === evidence[0])?.session;
  const ids = turns.filter(({ session }) => session === threadId).map(({ id }) => id);
  const seqs = evidence.map((id) => ids.indexOf(id)).filter((seq) => seq >= 0);
  const source = threadId === undefined ? undefined : { threadId, seqs };
  return { text, actorId: speaker, validFrom: dateOf(date), source, ...draft };
}
