import { printTable } from "../report.js";
import type { AskedUser } from "./ask-user.js";
import { type Answer, measure } from "./measures.js";
import { moreRequests, requests } from "./other-texts.js";
import { type SearchName, searchTitles } from "./searches.js";

/** Questions about strangers, asked of each user. */
const strangersEach = 24;

const silenceSearches: readonly SearchName[] = ["facts", "transcript", "recall", "prompt"];

/** Asks what the data of a user do not answer. The best search finds nothing. */
export async function measureSilences(name: string, users: readonly AskedUser[]): Promise<object> {
  const strangers = users.map((user, index) =>
    strangersOf(user, users[(index + 2) % users.length] ?? user),
  );
  const kinds = {
    strangers: strangers.map((asked) => asked.map(({ question }) => question)),
    strangersOwnNames: strangers.map((asked) =>
      asked.map(({ withOwnNames }) => withOwnNames).filter((text) => text !== null),
    ),
    requests: users.map(() => requests),
    moreRequests: users.map(() => moreRequests),
  };
  const rows: Record<string, string | number>[] = [];
  const figures: Record<string, Record<string, object>> = {};
  for (const [kind, texts] of Object.entries(kinds)) {
    const found: Record<string, object> = {};
    for (const search of silenceSearches) {
      const answers = await askEach(users, search, texts);
      const { questions, silent, lines, tokens } = measure(answers);
      found[search] = { silent, lines };
      rows.push({
        kind,
        searched: searchTitles[search],
        questions,
        "silent %": silent,
        lines,
        tokens,
      });
    }
    figures[kind] = found;
  }
  printTable(`${name}: what is found for questions that the user's data do not answer`, rows);
  return figures;
}

/**
 * Questions about people of whom the user never spoke, and the same with the names of those whom
 * the user knows; null where they name nobody.
 */
function strangersOf({ conversation: own }: AskedUser, { conversation: other }: AskedUser) {
  if (own === other) return [];
  const [ownNames, names] = [own, other].map(({ turns }) => [
    ...new Set(turns.map(({ speaker }) => speaker)),
  ]);
  const questions = other.questions.filter(({ isAdversarial }) => !isAdversarial);
  return Array.from({ length: strangersEach }, (_, place) => {
    const question = questions[Math.floor((place * questions.length) / strangersEach)]?.text ?? "";
    const changed = names?.reduce(
      (text, stranger, at) => text.replaceAll(stranger, ownNames?.[at] ?? stranger),
      question,
    );
    return { question, withOwnNames: changed === question ? null : (changed ?? null) };
  });
}

/** @param texts of each user */
async function askEach(
  users: readonly AskedUser[],
  search: SearchName,
  texts: readonly (readonly string[])[],
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const [index, { searches }] of users.entries()) {
    for (const text of texts[index] ?? []) {
      const found = await searches[search]?.(text);
      if (found) answers.push({ ...found, evidence: [] });
    }
  }
  return answers;
}
