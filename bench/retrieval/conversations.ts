import { printTable } from "../report.js";
import { askUser } from "./ask-user.js";
import { type Answer, type Measures, measure } from "./measure.js";
import type { RetrievalConversation } from "./retrieval-data.js";
import type { RetrievalContext } from "./searches.js";

/** What was measured, by the type of question and the search. */
export type MeasuresByType = Readonly<Record<string, Readonly<Record<string, Measures>>>>;

/** Loads `conversations`, asks all questions, and prints what was found for each type of them. */
export async function measureConversations(
  context: RetrievalContext,
  name: string,
  conversations: readonly RetrievalConversation[],
): Promise<MeasuresByType> {
  const answers: Answer[] = [];
  for (const conversation of conversations) {
    const scope = { tenantId: name, userId: conversation.id };
    answers.push(...(await askUser(context, conversation, scope)));
  }
  const sum = (list: "turns" | "observations" | "questions") =>
    conversations.reduce((all, conversation) => all + conversation[list].length, 0);
  console.log(
    `\n${name}: ${conversations.length} users, ${sum("turns")} messages, ` +
      `${sum("observations")} memories, ${sum("questions")} questions`,
  );
  const measures: Record<string, Record<string, Measures>> = {};
  for (const type of new Set(answers.flatMap(({ question }) => question.types))) {
    const ofType = answers.filter(({ question }) => question.types.includes(type));
    const searches = [...new Set(ofType.map(({ searched }) => searched))];
    const rows = searches.map((search) => ({
      searched: search,
      ...measure(ofType.filter(({ searched }) => searched === search)),
    }));
    printTable(`${name}: ${type}`, rows);
    measures[type] = Object.fromEntries(rows.map((row) => [row.searched, row]));
  }
  return measures;
}
