import { vacuumSchema } from "../bench-database.js";
import { printTable } from "../report.js";
import { withoutNoise } from "./extra-questions.js";
import { type Answer, type Line, measure } from "./measure.js";
import type { Question, RetrievalConversation } from "./retrieval-data.js";
import { openFacts, openTurns, type RetrievalContext, type Search } from "./searches.js";

/** What was measured, by the type of question, the search, and the column. */
export type MeasuresByType = Record<string, Record<string, Record<string, number>>>;

/** Loads `conversations`, asks all questions, and prints what was found for each type of them. */
export async function measureConversations(
  context: RetrievalContext,
  name: string,
  conversations: readonly RetrievalConversation[],
): Promise<MeasuresByType> {
  const answers: Answer[] = [];
  for (const conversation of conversations)
    answers.push(...(await askUser(context, name, conversation)));
  const questions = conversations.flatMap((conversation) => conversation.questions);
  console.log(`\n${name}: ${conversations.length} users, ${questions.length} questions`);
  const searches = [...new Set(answers.map(({ searched }) => searched))];
  const types = [...new Set(questions.flatMap((question) => question.types))];
  const measures: MeasuresByType = {};
  for (const type of types) {
    const ofType = answers.filter(({ question }) => question.types.includes(type));
    const asked = searches.filter((search) => ofType.some(({ searched }) => searched === search));
    const rows = asked.map((search) => {
      const columns = measure(ofType.filter(({ searched }) => searched === search));
      const clean = measures[withoutNoise]?.[search]?.["R@10"] ?? 0;
      const lost = type.startsWith("noise: ") && { "R@10 lost": clean - columns["R@10"] };
      return { searched: search, ...columns, ...lost };
    });
    printTable(`${name}: ${type}`, rows);
    measures[type] = Object.fromEntries(rows.map(({ searched, ...row }) => [searched, row]));
  }
  return measures;
}

/** Loads what one user said and what was learned from it, and asks every search every question. */
async function askUser(
  context: RetrievalContext,
  tenantId: string,
  conversation: RetrievalConversation,
): Promise<Answer[]> {
  const scope = { tenantId, userId: conversation.id };
  const turns = openTurns(context, conversation, scope);
  const facts = openFacts(context, conversation, scope);
  const searches = Object.entries<Search>({ ...turns.searches, ...facts.searches });
  const { questions } = conversation;
  const answers: Answer[] = [];
  const ask = async (before?: string) => {
    for (const question of questions.filter((each) => each.before === before))
      for (const [searched, search] of searches)
        answers.push({ searched, question, found: counted(question, await search(question)) });
  };
  for (const session of new Set(conversation.turns.map((turn) => turn.session))) {
    await ask(session);
    await turns.record(session);
  }
  await facts.learn();
  await vacuumSchema(context.database.pool, context.database.schema);
  await ask();
  if (answers.length !== questions.length * searches.length)
    throw new Error(`${answers.length} answers to ${questions.length} questions.`);
  return answers;
}

function counted({ counts }: Question, lines: readonly Line[]): readonly Line[] {
  if (!counts) return lines;
  const ids = [...new Set(lines.flatMap((line) => line.ids))];
  return ids
    .filter((id) => !counts.without.includes(id))
    .slice(0, counts.most)
    .map((id) => ({ text: lines.find((line) => line.ids.includes(id))?.text ?? "", ids: [id] }));
}
