import { printTable } from "../report.js";
import { type AnsweredQuestion, type AskedUser, askUser, type OutcomeCounts } from "./ask-user.js";
import { type Measures, measure } from "./measures.js";
import { measureNoise } from "./noisy-questions.js";
import type { RetrievalContext } from "./retrieval-context.js";
import type { Question, RetrievalConversation } from "./retrieval-data.js";
import { searchNames, searchTitles } from "./searches.js";
import { measureSilences } from "./silences.js";

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
  { noise, silences }: Besides,
): Promise<object> {
  const asked: AskedUser[] = [];
  const counts: OutcomeCounts = {};
  for (const conversation of conversations) {
    const scope = { tenantId: name, userId: conversation.id };
    asked.push(await askUser(context, conversation, scope, counts));
  }
  const answers = asked.flatMap((user) => user.answers);
  checkLoaded(name, conversations, answers.length, counts);
  return {
    ...printMeasures(name, answers),
    ...(noise && { noise: await measureNoise(name, asked) }),
    ...(silences && { silences: await measureSilences(name, asked) }),
  };
}

/**
 * Prints what was measured. Throws unless all questions were asked, and if more than one memory in
 * fifty cannot be found.
 */
function checkLoaded(
  name: string,
  conversations: readonly RetrievalConversation[],
  answers: number,
  counts: OutcomeCounts,
): void {
  const sum = (count: (conversation: RetrievalConversation) => number) =>
    conversations.reduce((total, conversation) => total + count(conversation), 0);
  const questions = sum((conversation) => conversation.questions.length);
  if (questions === 0 || answers !== questions)
    throw new Error(`${name}: ${answers} of ${questions} questions were asked.`);
  const memories = sum(({ observations }) => observations.length);
  const { rejected = 0, quarantined = 0, proposed = 0, refused = 0 } = counts;
  if (rejected + quarantined + proposed + refused > memories / 50)
    throw new Error(`${name}: memories were not stored: ${JSON.stringify(counts)}.`);
  const messages = sum(({ turns }) => turns.length);
  console.log(
    `\n${name}: ${conversations.length} users, ${messages} messages, ${memories} memories` +
      `${memories > 0 ? ` (${JSON.stringify(counts)})` : ""}, ${questions} questions`,
  );
}

/** Prints tables, and returns figures of all questions, and R@10 by type of question. */
function printMeasures(name: string, answered: readonly AnsweredQuestion[]): object {
  const names = searchNames.filter((search) => answered.some(({ found }) => found[search]));
  const measured = (wanted: (question: Question) => boolean) => {
    const some = answered.filter(({ question }) => wanted(question));
    return names.map((search) => {
      return [search, measure(some.flatMap(({ found }) => found[search] ?? []))] as const;
    });
  };
  const totals = measured(({ isAdversarial }) => !isAdversarial);
  printTable(
    `${name}: recall of the evidence in percent`,
    totals.map(([search, total]) => ({
      searched: searchTitles[search],
      questions: total.questions,
      "R@5": total.r5,
      "R@10": total.r10,
      "nDCG@10": total.ndcg10,
      "R of all": total.rAll,
      lines: total.lines,
      tokens: total.tokens,
      "evidence % of lines": total.evidenceLines,
      "silent %": total.silent,
    })),
  );
  const types = [...new Set(answered.map(({ question }) => question.type))].toSorted();
  const byType = (title: string, value: (measures: Measures) => number) => {
    const rows = types.map((type) => {
      const its = measured((question) => question.type === type);
      const values = its.map(([search, measures]) => [search, value(measures)] as const);
      return { type, questions: its[0]?.[1].questions ?? 0, ...Object.fromEntries(values) };
    });
    printTable(`${name}: ${title} by type of question`, rows);
    return rows;
  };
  const figures = totals.map(([search, { r5, r10, ndcg10, rAll, lines }]) => [
    search,
    { r5, r10, ndcg10, rAll, lines },
  ]);
  return {
    ...Object.fromEntries(figures),
    r10ByType: byType("R@10", ({ r10 }) => r10),
    ...(answered.some(({ question }) => question.outdated) && {
      newestFirstByType: byType("newest first in percent", ({ newestFirst }) => newestFirst),
    }),
  };
}
