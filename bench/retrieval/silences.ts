import { printTable } from "../report.js";
import type { AskedConversation } from "./conversations.js";
import { type Answer, measure } from "./measures.js";
import { moreRequests, requests } from "./other-texts.js";
import { type SearchName, searchTitles } from "./searches.js";

/** Questions about strangers, asked of each user. */
const strangersEach = 24;

const silenceSearches = ["facts", "transcript", "recall", "prompt"] as const satisfies SearchName[];

/** Asks what the data of a user do not answer. The best search finds nothing. */
export async function measureSilences(
  name: string,
  asked: readonly AskedConversation[],
): Promise<object> {
  const kinds: Record<string, readonly (readonly string[])[]> = {
    strangers: asked.map((_, index) => strangersOf(asked, index).map(({ question }) => question)),
    strangersOwnNames: asked.map((_, index) =>
      strangersOf(asked, index).flatMap(({ question, withOwnNames }) =>
        withOwnNames === question ? [] : withOwnNames,
      ),
    ),
    requests: asked.map(() => requests),
    moreRequests: asked.map(() => moreRequests),
  };
  const rows: Record<string, string | number>[] = [];
  const figures: Record<string, object> = {};
  for (const [kind, questions] of Object.entries(kinds)) {
    const found: Record<string, object> = {};
    for (const search of silenceSearches) {
      const {
        questions: n,
        silent,
        lines,
        tokens,
      } = measure(await askKind(asked, search, questions));
      found[search] = { silent, lines, tokens };
      rows.push({
        kind,
        searched: searchTitles[search],
        questions: n,
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
 * Questions of a benchmark's user about whom this one never spoke, and the same with the names of
 * those whom this one knows.
 */
function strangersOf(asked: readonly AskedConversation[], index: number) {
  const own = asked[index]?.conversation;
  const other = asked[(index + 2) % asked.length]?.conversation;
  if (!own || !other || own === other) return [];
  const questions = other.questions.filter(({ isTotalled }) => isTotalled);
  return Array.from({ length: strangersEach }, (_, place) => {
    const question =
      questions[Math.floor((place * questions.length) / strangersEach)]?.question ?? "";
    const withOwnNames = other.speakers.reduce(
      (text, speaker, at) => text.replaceAll(speaker, own.speakers[at] ?? speaker),
      question,
    );
    return { question, withOwnNames };
  });
}

async function askKind(
  asked: readonly AskedConversation[],
  search: SearchName,
  questions: readonly (readonly string[])[],
) {
  const answers: Answer[] = [];
  for (const [index, { searches }] of asked.entries()) {
    for (const question of questions[index] ?? []) {
      const found = await searches[search]?.(question);
      if (found) answers.push({ ...found, evidence: [] });
    }
  }
  return answers;
}
