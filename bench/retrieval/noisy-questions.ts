import { printTable } from "../report.js";
import type { AnsweredQuestion, AskedConversation } from "./conversations.js";
import { type Answer, measure } from "./measures.js";
import { aroundQuestions, plainChat } from "./other-texts.js";
import { type Searches, type SearchName, searchTitles } from "./searches.js";

/** Every third question is asked with noise. */
const every = 3;

/** Adversarial questions, and searches without a floor, say nothing more. */
const noisySearches = [
  "transcript",
  "bm25Names",
  "bm25",
  "facts",
  "factsBm25",
  "recall",
] as const satisfies SearchName[];

/** Questions as people write them; null where a question has no word to change. */
const noises: Readonly<
  Record<string, (question: string, place: number, speakers: readonly string[]) => string | null>
> = {
  chitChat: (question, place) => surrounded(question, plainChat, place),
  chitChatWithQuestions: (question, place) => surrounded(question, aroundQuestions, place),
  chitChatUnmarked: (question, place) =>
    surrounded(question.replace(/\?\s*$/, "."), plainChat, place),
  letterSwapped: swapLetters,
};

type Chat = readonly (readonly [before: string, after: string])[];

function surrounded(question: string, chat: Chat, place: number): string {
  const [before = "", after = ""] = chat[place % chat.length] ?? [];
  return `${before} ${question} ${after}`.trim();
}

/** Words of five letters and more that few questions are about. */
const functionWords = new Set(
  (
    "about after before being between could during first might other should their there these " +
    "those under until where which while whose would"
  ).split(" "),
);

/** Swaps two letters within one word that the question is about: neither first nor last letter. */
function swapLetters(question: string, place: number, speakers: readonly string[]): string | null {
  const names = new Set(speakers.flatMap((speaker) => speaker.toLowerCase().split(" ")));
  const swapped = [...question.matchAll(/\b[A-Za-z]{5,}\b/g)].flatMap(({ 0: word, index }) => {
    const lower = word.toLowerCase();
    if (names.has(lower) || functionWords.has(lower)) return [];
    const places = [...word.slice(1, -2)].flatMap((letter, at) =>
      letter === word[at + 2] ? [] : at + 1,
    );
    const at = places[place % Math.max(1, places.length)];
    if (at === undefined) return [];
    const misspelt = `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
    return `${question.slice(0, index)}${misspelt}${question.slice(index + word.length)}`;
  });
  return swapped[place % Math.max(1, swapped.length)] ?? null;
}

interface NoisyQuestion extends AnsweredQuestion {
  readonly text: string;
  readonly searches: Searches;
}

function noisyQuestions(asked: readonly AskedConversation[], noise: string): NoisyQuestion[] {
  return asked.flatMap(({ conversation, searches, answers }) =>
    answers
      .filter(({ question }) => question.isTotalled)
      .filter((_, place) => place % every === 0)
      .flatMap((answered, place) => {
        const text = noises[noise]?.(answered.question.question, place, conversation.speakers);
        return text === null || text === undefined ? [] : { ...answered, text, searches };
      }),
  );
}

/** Prints by how many points of R@10 each noise lowers each search, and returns that. */
export async function measureNoise(
  name: string,
  asked: readonly AskedConversation[],
): Promise<Record<string, Record<string, number>>> {
  const rows: Record<string, string | number>[] = [];
  const costs: Record<string, Record<string, number>> = {};
  for (const noise of Object.keys(noises)) {
    const questions = noisyQuestions(asked, noise);
    const cost: Record<string, number> = {};
    for (const search of noisySearches) {
      const { before, after } = await askAgain(questions, search);
      if (before.questions === 0) continue;
      cost[search] = before.r10 - after.r10;
      rows.push({
        noise,
        searched: searchTitles[search],
        questions: before.questions,
        "R@10": before.r10,
        "with noise": after.r10,
        cost: before.r10 - after.r10,
      });
    }
    costs[noise] = cost;
  }
  printTable(`${name}: what noise in questions costs`, rows);
  return costs;
}

async function askAgain(questions: readonly NoisyQuestion[], search: SearchName) {
  const before: Answer[] = [];
  const after: Answer[] = [];
  for (const { question, found, text, searches } of questions) {
    const [clean, ask] = [found[search], searches[search]];
    if (!clean || !ask) continue;
    before.push(clean);
    after.push({ ...(await ask(text)), evidence: question.evidence });
  }
  return { before: measure(before), after: measure(after) };
}
