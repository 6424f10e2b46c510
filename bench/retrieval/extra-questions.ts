import { aroundQuestions, moreRequests, plainChat, requests } from "./other-texts.js";
import { type Question, type RetrievalConversation, total } from "./retrieval-data.js";

/** Every third question is asked with noise. */
const every = 3;

/** The type of the questions that others have with noise. */
export const withoutNoise = "as written";

/** Adds some of the questions as people write them. */
export function withNoise(conversation: RetrievalConversation): RetrievalConversation {
  const noisy = totalledOf(conversation)
    .filter((_, index) => index % every === 0)
    .flatMap((each, place) => {
      const { question } = each;
      const changed = {
        [withoutNoise]: question,
        "noise: chit-chat": surround(question, plainChat, place),
        "noise: chit-chat that asks": surround(question, aroundQuestions, place),
        "noise: chit-chat, unmarked": surround(question.replace(/\?$/, "."), plainChat, place),
        "noise: two letters swapped": swapLetters(question, place),
      };
      return Object.entries(changed).map(([type, text]) => {
        return { ...each, types: [type], question: text };
      });
    });
  return { ...conversation, questions: [...conversation.questions, ...noisy] };
}

const totalledOf = ({ questions }: RetrievalConversation) =>
  questions.filter(({ types }) => types.includes(total));

const speakersOf = ({ turns }: RetrievalConversation) => [
  ...new Set(turns.map(({ speaker }) => speaker)),
];

function surround(
  question: string,
  /** Texts before and after it. */
  chat: readonly (readonly string[])[],
  place: number,
): string {
  const [before = "", after = ""] = chat[place % chat.length] ?? [];
  return `${before} ${question} ${after}`.trim();
}

/** Words of five letters and more that no question is about. */
const functionWords =
  "about after before being between could during first might other should their there these those " +
  "under until where which while whose would";

/**
 * Swaps two letters, neither the first nor the last, of one word that the question is about and that
 * is no name. The few questions without such a word stay as they are.
 */
function swapLetters(question: string, place: number): string {
  const swapped = [...question.matchAll(/\b[a-z]{5,}\b/g)].flatMap(({ 0: word, index }) => {
    const at = 1 + (place % (word.length - 3));
    const misspelt = `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
    if (functionWords.includes(word) || misspelt === word) return [];
    return `${question.slice(0, index)}${misspelt}${question.slice(index + word.length)}`;
  });
  return swapped[place % Math.max(1, swapped.length)] ?? question;
}

/** Questions about strangers that each user is asked, from all parts of a conversation. */
const strangersEach = 24;

/** Adds questions about whom other users know, and requests to any assistant. */
export function withSilences(
  conversation: RetrievalConversation,
  index: number,
  all: readonly RetrievalConversation[],
): RetrievalConversation {
  const other = all[(index + 2) % all.length] ?? conversation;
  const known = totalledOf(other);
  const step = Math.ceil(known.length / strangersEach);
  const strangers = known.filter((_, place) => place % step === 0).map(({ question }) => question);
  const names = speakersOf(conversation);
  const withOwnNames = strangers.map((question) =>
    speakersOf(other).reduce(
      (text, stranger, at) => text.replaceAll(stranger, names[at] ?? stranger),
      question,
    ),
  );
  const asked = {
    "about strangers": strangers,
    "about strangers by known names": withOwnNames.filter((text) => !strangers.includes(text)),
    requests,
    "more requests": moreRequests,
  };
  const questions = Object.entries(asked).flatMap(([type, texts]) =>
    texts.map((question): Question => ({ question, types: [type], evidence: [] })),
  );
  return { ...conversation, questions: [...conversation.questions, ...questions] };
}

/**
 * What users asked an assistant to do always, as memories, and the questions that it is for. "R of
 * all" of "recall, all lines" has to be 100.
 */
export function instructionsOf(all: readonly RetrievalConversation[]): RetrievalConversation[] {
  return all.map(({ id, turns, questions }) => {
    const types = ["standing instructions"];
    const asked = questions.filter((each) => each.types.includes("instruction_following"));
    const evidence = new Set(asked.map((each) => each.evidence[0]));
    const observations = turns
      .filter((turn) => evidence.has(turn.id))
      .map(({ id: turn, text, date }) => {
        return { text, date, evidence: [turn], draft: { category: "instructions" } };
      });
    return {
      id: `${id}, instructions`,
      turns: [],
      observations,
      questions: asked.map((each) => ({ ...each, types, evidence: each.evidence.slice(0, 1) })),
    };
  });
}
