import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory, Scope } from "../../src/index.js";
import { createBm25 } from "./bm25.js";
import type { Answer } from "./measures.js";
import type { RetrievalContext } from "./retrieval-context.js";
import type { Observation, Question, RetrievalConversation, Turn } from "./retrieval-data.js";
import {
  type Line,
  promptLines,
  recallFitting,
  type Searches,
  type SearchName,
  searchFacts,
  searchNames,
  searchPlainly,
  searchTranscript,
} from "./searches.js";

export interface AnsweredQuestion {
  readonly question: Question;
  readonly found: Readonly<Partial<Record<SearchName, Answer>>>;
}

/** A user whose data are loaded, with all that was found for the questions. */
export interface AskedUser {
  readonly conversation: RetrievalConversation;
  readonly searches: Searches;
  readonly answers: readonly AnsweredQuestion[];
}

/** How many memories came to which outcome. */
export type OutcomeCounts = Record<string, number>;

/** Loads what one user said and what was learned from it, and asks every question. */
export async function askUser(
  { memory, unfiltered, pool, vacuum }: RetrievalContext,
  conversation: RetrievalConversation,
  scope: Scope,
  counts: OutcomeCounts,
): Promise<AskedUser> {
  const { turns, observations, questions, ranksThreads = false } = conversation;
  const cited = new Map<string, readonly string[]>();
  const texts = createBm25<Line>(pool);
  const namedTexts = createBm25<Line>(pool);
  const facts = createBm25<Line>(pool);
  const searches: Searches = {
    ...(turns.length > 0 && {
      transcript: searchTranscript(memory, scope, ranksThreads),
      transcript0: searchTranscript(memory, scope, ranksThreads, 0),
      bm25: searchPlainly(texts, ranksThreads),
      ...(turns.every(({ speaker }) => isPerson(speaker)) && {
        bm25Names: searchPlainly(namedTexts),
      }),
    }),
    ...(observations.length > 0 && {
      facts: searchFacts(memory, scope, cited),
      facts0: searchFacts(memory, scope, cited, 0),
      factsBm25: searchPlainly(facts),
      recall: recallFitting(memory, scope, cited),
      recall0: recallFitting(unfiltered, scope, cited),
      prompt: promptLines(memory, scope, cited),
    }),
  };
  const answers: AnsweredQuestion[] = [];
  const ask = async (before?: string) => {
    for (const question of questions) {
      if (question.before === before) answers.push(await answerOf(question, searches));
    }
  };
  for (const threadId of new Set(turns.map((turn) => turn.threadId))) {
    await ask(threadId);
    const said = turns.filter((turn) => turn.threadId === threadId);
    await record(memory, said, scope);
    const lines = said.map(({ id, text, speaker }) => ({
      text,
      speaker,
      ids: [ranksThreads ? threadId : id],
    }));
    await texts.add(lines);
    await namedTexts.add(
      lines.map(({ text, speaker, ids }) => ({ text: `${speaker}: ${text}`, ids })),
    );
  }
  const learned = await learn(memory, conversation, scope, counts);
  for (const [id, evidence] of learned) cited.set(id, evidence);
  await facts.add(observations.map(({ draft, evidence }) => ({ text: draft.text, ids: evidence })));
  await vacuum();
  await ask();
  return { conversation, searches, answers };
}

const isPerson = (speaker: string) => speaker !== "user" && speaker !== "assistant";

async function answerOf(question: Question, searches: Searches): Promise<AnsweredQuestion> {
  const found: Partial<Record<SearchName, Answer>> = {};
  for (const name of searchNames) {
    const hits = await searches[name]?.(question.text);
    if (hits) found[name] = { ...question, ...hits };
  }
  return { question, found };
}

/** Records the turns of a thread, and throws unless all are new. */
async function record(memory: Memory, turns: readonly Turn[], scope: Scope): Promise<void> {
  const [first] = turns;
  if (!first) return;
  const messages = turns.map(({ id, speaker, text: content }) => {
    if (speaker === "assistant") return new AIMessage({ id, content });
    return new HumanMessage({ id, content, ...(isPerson(speaker) && { name: speaker }) });
  });
  const { threadId, saidAt } = first;
  const { recorded } = await memory.record({ scope, threadId, messages, saidAt });
  if (recorded !== turns.length)
    throw new Error(`${recorded} of ${turns.length} turns were recorded in ${threadId}.`);
}

/** Adds the observations, and returns what each memory stands for. */
async function learn(
  memory: Memory,
  { turns, observations }: RetrievalConversation,
  scope: Scope,
  counts: OutcomeCounts,
): Promise<Map<string, string[]>> {
  const cited = new Map<string, string[]>();
  const drafts = observations.map(({ draft, evidence }) => {
    const source = sourceOf(turns, evidence);
    return source ? { ...draft, source } : draft;
  });
  const outcomes = await memory.memories.add(drafts, { scope });
  for (const [index, { outcome, id, further = [] }] of outcomes.entries()) {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    const evidence = observations[index]?.evidence ?? [];
    // Two texts may become one memory, which then stands for the evidence of both.
    for (const each of [id, ...further.map((more) => more.id)])
      if (each !== null) cited.set(each, [...(cited.get(each) ?? []), ...evidence]);
  }
  return cited;
}

/** Of the messages that an observation rests on, those in the first one's thread. */
function sourceOf(turns: readonly Turn[], evidence: Observation["evidence"]) {
  const threadId = turns.find(({ id }) => id === evidence[0])?.threadId;
  if (threadId === undefined) return;
  const thread = turns.filter((turn) => turn.threadId === threadId);
  const seqs = evidence
    .map((each) => thread.findIndex(({ id }) => id === each))
    .filter((seq) => seq >= 0);
  return { threadId, seqs };
}
