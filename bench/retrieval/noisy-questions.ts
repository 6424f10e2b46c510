import { printTable } from "../report.js";
import type { AskedUser } from "./ask-user.js";
import { type Answer, measure } from "./measures.js";
import { aroundQuestions, plainChat } from "./other-texts.js";
import { type SearchName, searchTitles } from "./searches.js";

/** Every third question is asked with noise. */
const every = 3;

const noisySearches: readonly SearchName[] = [
  "transcript",
  "bm25Names",
  "bm25",
  "facts",
  "factsBm25",
  "recall",
];

/** A question as people write it; null where it has no word to change. */
type Noise = (question: string, place: number, names: ReadonlySet<string>) => string | null;

const surroundedBy =
  (chat: readonly (readonly [before: string, after: string])[]): Noise =>
  (question, place) => {
    const [before = "", after = ""] = chat[place % chat.length] ?? [];
    return `${before} ${question} ${after}`.trim();
  };

const noises: Readonly<Record<string, Noise>> = {
  chitChat: surroundedBy(plainChat),
  chitChatWithQuestions: surroundedBy(aroundQuestions),
  chitChatUnmarked: (question, ...rest) =>
    surroundedBy(plainChat)(question.replace(/\?\s*$/, "."), ...rest),
  letterSwapped: swapLetters,
};

/** Words of five letters and more that no question is about. */
const functionWords = new Set(
  (
    "about after before being between could during first might other should their there these " +
    "those under until where which while whose would"
  ).split(" "),
);

/** Swaps two letters in one word that the question is about: neither the first nor the last. */
function swapLetters(question: string, place: number, names: ReadonlySet<string>): string | null {
  const words = [...question.matchAll(/\b[A-Za-z]{5,}\b/g)].filter(([word]) => {
    return !names.has(word.toLowerCase()) && !functionWords.has(word.toLowerCase());
  });
  const swapped = words.flatMap(({ 0: word, index }) => {
    const misspelt = word.replace(/(?<=.)(.)(?!\1)(.)(?=.)/, "$2$1");
    if (misspelt === word) return [];
    return `${question.slice(0, index)}${misspelt}${question.slice(index + word.length)}`;
  });
  return swapped[place % Math.max(1, swapped.length)] ?? null;
}

/** Prints by how many points of R@10 each noise lowers each search, and returns that. */
export async function measureNoise(name: string, users: readonly AskedUser[]): Promise<object> {
  const costs: Record<string, Record<string, number>> = {};
  const rows: Record<string, string | number>[] = [];
  for (const [noise, change] of Object.entries(noises)) {
    const cost: Record<string, number> = {};
    for (const search of noisySearches) {
      const [clean, noisy] = await askNoisily(users, search, change);
      if (clean.questions === 0) continue;
      cost[search] = clean.r10 - noisy.r10;
      rows.push({
        noise,
        searched: searchTitles[search],
        questions: clean.questions,
        "R@10": clean.r10,
        "with noise": noisy.r10,
        cost: clean.r10 - noisy.r10,
      });
    }
    costs[noise] = cost;
  }
  printTable(`${name}: what noise in questions costs`, rows);
  return costs;
}

/** The answers to the same questions without noise and with it. */
async function askNoisily(users: readonly AskedUser[], search: SearchName, change: Noise) {
  const clean: Answer[] = [];
  const noisy: Answer[] = [];
  for (const { conversation, searches, answers } of users) {
    const speakers = conversation.turns.map(({ speaker }) => speaker.toLowerCase());
    const names = new Set(speakers.flatMap((speaker) => speaker.split(" ")));
    const some = answers
      .filter(({ question }) => !question.isAdversarial)
      .filter((_, index) => index % every === 0);
    for (const [place, { question, found }] of some.entries()) {
      const text = change(question.text, place, names);
      const [before, ask] = [found[search], searches[search]];
      if (text === null || !before || !ask) continue;
      clean.push(before);
      noisy.push({ ...question, ...(await ask(text)) });
    }
  }
  return [measure(clean), measure(noisy)] as const;
}
