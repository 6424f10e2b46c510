import { printTable } from "../report.js";
import { askUser, type OutcomeCounts, type SearchedAnswer } from "./ask-user.js";
import { type Measures, measure } from "./measure.js";
import type { RetrievalConversation } from "./retrieval-data.js";
import type { RetrievalContext } from "./run-retrieval.js";

/** What was measured, by the type of question and the search. */
export type MeasuresByType = ReadonlyMap<string, ReadonlyMap<string, Measures>>;

/** The questions that count, of all types. */
export const total = "all questions";

/** Loads `conversations`, asks all questions, and prints what was found for each type of them. */
export async function measureConversations(
  context: RetrievalContext,
  name: string,
  conversations: readonly RetrievalConversation[],
): Promise<MeasuresByType> {
  const counts: OutcomeCounts = {};
  const answers: SearchedAnswer[] = [];
  for (const conversation of conversations) {
    const scope = { tenantId: name, userId: conversation.id };
    answers.push(...(await askUser(context, conversation, scope, counts)));
  }
  checkCounts(name, conversations, answers, counts);
  const types = [...new Set(answers.map(({ question }) => question.type))];
  const measures = new Map([
    [total, measureSearches(answers.filter(({ question }) => !question.isApart))],
    ...types.map((type) => {
      const some = answers.filter(({ question }) => question.type === type);
      return [type, measureSearches(some)] as const;
    }),
  ]);
  for (const [type, searches] of measures) {
    const rows = [...searches].map(([searched, figures]) => ({ searched, ...figures }));
    printTable(`${name}: ${type}`, rows);
  }
  return measures;
}

function measureSearches(answers: readonly SearchedAnswer[]): ReadonlyMap<string, Measures> {
  const searches = new Set(answers.map(({ searched }) => searched));
  return new Map(
    [...searches].map((search) => {
      return [search, measure(answers.filter(({ searched }) => searched === search))];
    }),
  );
}

/**
 * Prints what was loaded and asked. Throws unless all questions were asked, and if more than one
 * memory in fifty was not stored.
 */
function checkCounts(
  name: string,
  conversations: readonly RetrievalConversation[],
  answers: readonly SearchedAnswer[],
  counts: OutcomeCounts,
): void {
  const sum = (count: (conversation: RetrievalConversation) => number) =>
    conversations.reduce((all, conversation) => all + count(conversation), 0);
  const questions = sum((conversation) => conversation.questions.length);
  const asked = new Set(answers.map(({ question }) => question)).size;
  if (questions === 0 || asked !== questions)
    throw new Error(`${name}: ${asked} of ${questions} questions were asked.`);
  const memories = sum(({ observations }) => observations.length);
  const { rejected = 0, quarantined = 0, proposed = 0, refused = 0 } = counts;
  if (rejected + quarantined + proposed + refused > memories / 50)
    throw new Error(`${name}: memories were not stored: ${JSON.stringify(counts)}.`);
  const messages = sum(({ turns }) => turns.length);
  console.log(
    `\n${name}: ${conversations.length} users, ${messages} messages, ${memories} memories ` +
      `${JSON.stringify(counts)}, ${questions} questions`,
  );
}
