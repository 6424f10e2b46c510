import type { Scope } from "../../src/index.js";
import { printTable } from "../report.js";
import {
  type Cited,
  checkOutcomes,
  loadConversation,
  type OutcomeCounts,
} from "./load-conversations.js";
import { type Answer, measure, recallColumns, shownColumns } from "./measures.js";
import { measureNoise } from "./noisy-questions.js";
import type { RetrievalContext } from "./retrieval-context.js";
import type { Question, RetrievalConversation } from "./retrieval-data.js";
import {
  isSearchName,
  type Searches,
  type SearchName,
  searchesOf,
  searchTitles,
} from "./searches.js";
import { measureSilences } from "./silences.js";

/** A conversation that is loaded, with all that was found for its questions. */
export interface AskedConversation {
  readonly conversation: RetrievalConversation;
  readonly searches: Searches;
  readonly answers: readonly AnsweredQuestion[];
}

export interface AnsweredQuestion {
  readonly question: Question;
  readonly found: Readonly<Partial<Record<SearchName, Answer>>>;
}

/** What is measured beside the questions of a benchmark. */
export interface Besides {
  /** What chit-chat and misspelt words cost. */
  readonly noise?: boolean;
  /** What is found for questions that the data do not answer. */
  readonly silences?: boolean;
}

/** Loads `conversations`, asks all questions, prints tables, and returns figures for programs. */
export async function measureConversations(
  context: RetrievalContext,
  name: string,
  conversations: readonly RetrievalConversation[],
  { noise, silences }: Besides = {},
): Promise<object> {
  const asked = await askAll(context, await loadAll(context, name, conversations));
  const answers = asked.flatMap((conversation) => conversation.answers);
  const expected = conversations.reduce((sum, { questions }) => sum + questions.length, 0);
  if (answers.length !== expected || expected === 0)
    throw new Error(`${name}: ${answers.length} of ${expected} questions were asked.`);
  return {
    ...printMeasures(name, answers),
    ...(noise && { noise: await measureNoise(name, asked) }),
    ...(silences && { silences: await measureSilences(name, asked) }),
  };
}

interface Loaded {
  readonly conversation: RetrievalConversation;
  readonly scope: Scope;
  readonly cited: Cited;
}

async function loadAll(
  { memory, vacuum }: RetrievalContext,
  name: string,
  conversations: readonly RetrievalConversation[],
): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  const counts: OutcomeCounts = {};
  for (const conversation of conversations) {
    const scope = { tenantId: name, userId: conversation.id };
    const cited = await loadConversation(memory, conversation, scope, counts);
    loaded.push({ conversation, scope, cited });
  }
  const turns = conversations.reduce((sum, conversation) => sum + conversation.turns.length, 0);
  console.log(`\n${name}: ${conversations.length} users, ${turns} messages recorded`);
  checkOutcomes(name, counts);
  await vacuum();
  return loaded;
}

async function askAll(
  context: RetrievalContext,
  loaded: readonly Loaded[],
): Promise<AskedConversation[]> {
  const asked: AskedConversation[] = [];
  for (const { conversation, scope, cited } of loaded) {
    const searches = await searchesOf(context, conversation, scope, cited);
    const answers: AnsweredQuestion[] = [];
    for (const question of conversation.questions) {
      const found: Partial<Record<SearchName, Answer>> = {};
      for (const [name, search] of Object.entries(searches)) {
        if (!isSearchName(name)) continue;
        found[name] = { ...(await search(question.question)), evidence: question.evidence };
      }
      answers.push({ question, found });
    }
    asked.push({ conversation, searches, answers });
  }
  return asked;
}

/** Prints tables, and returns figures of all questions, and R@10 by type of question. */
function printMeasures(name: string, answered: readonly AnsweredQuestion[]): object {
  const names = Object.keys(searchTitles)
    .filter(isSearchName)
    .filter((search) => answered.some(({ found }) => found[search]));
  const measured = (search: SearchName, wanted: (question: Question) => boolean) =>
    measure(
      answered.flatMap(({ question, found }) => (wanted(question) ? (found[search] ?? []) : [])),
    );
  const totals = names.map(
    (search) => [search, measured(search, ({ isTotalled }) => isTotalled)] as const,
  );
  printTable(
    `${name}: recall of the evidence in percent`,
    totals.map(([search, total]) => ({
      searched: searchTitles[search],
      ...recallColumns(total),
      ...shownColumns(total),
    })),
  );
  const types = [...new Set(answered.map(({ question }) => question.type))].toSorted();
  const r10ByType = types.map((type) => {
    const r10 = names.map((search) => {
      const { r10, rAll } = measured(search, (question) => question.type === type);
      return [search, search === "prompt" ? rAll : r10] as const;
    });
    return [type, Object.fromEntries(r10)] as const;
  });
  printTable(
    `${name}: R@10 by type of question (of promptFor, R of all)`,
    r10ByType.map(([type, r10]) => ({
      type,
      questions: answered.filter(({ question }) => question.type === type).length,
      ...r10,
    })),
  );
  const figures = totals.map(([search, { r5, r10, ndcg10, rAll, lines, tokens }]) => [
    search,
    { r5, r10, ndcg10, rAll, lines, tokens },
  ]);
  return { ...Object.fromEntries(figures), r10ByType: Object.fromEntries(r10ByType) };
}
