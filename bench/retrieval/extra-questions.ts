import { aroundQuestions, moreRequests, plainChat, requests } from "./other-texts.js";
import { type Question, type RetrievalConversation, total } from "./retrieval-data.js";

/** Every third question is asked with noise. */
const every = 3;

/** Types of questions that compare the same ones, with noise and without. */
export const noiseTypes = {
  none: "as written",
  chitChat: "in a hundred words of chit-chat",
  chitChatThatAsks: "in chit-chat with questions",
  withoutMark: "in chit-chat, without a question mark",
  slip: "with two letters swapped",
} as const;

/** Adds some of the questions as people write them. */
export function withNoise(conversation: RetrievalConversation): RetrievalConversation {
  const names = speakersOf(conversation).flatMap((name) => name.toLowerCase().split(" "));
  const noisy = totalledOf(conversation)
    .filter((_, index) => index % every === 0)
    .flatMap((each, place) => {
      const { question } = each;
      const changed = {
        [noiseTypes.none]: question,
        [noiseTypes.chitChat]: surround(question, plainChat, place),
        [noiseTypes.chitChatThatAsks]: surround(question, aroundQuestions, place),
        [noiseTypes.withoutMark]: surround(question.replace(/\?\s*$/, "."), plainChat, place),
        [noiseTypes.slip]: swapLetters(question, names, place),
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
  chat: readonly (readonly [before: string, after: string])[],
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
 * Swaps two letters, neither the first nor the last, of one word that the question is about. The few
 * questions without such a word stay as they are.
 */
function swapLetters(question: string, names: readonly string[], place: number): string {
  const kept = new Set([...names, ...functionWords.split(" ")]);
  const swapped = [...question.matchAll(/\b[A-Za-z]{5,}\b/g)].flatMap(({ 0: word, index }) => {
    const misspelt = word.replace(/(?<=.)(.)(?!\1)(.)(?=.)/, "$2$1");
    if (kept.has(word.toLowerCase()) || misspelt === word) return [];
    return `${question.slice(0, index)}${misspelt}${question.slice(index + word.length)}`;
  });
  return swapped[place % Math.max(1, swapped.length)] ?? question;
}

/** Types of questions that the user's data do not answer: the best search finds nothing. */
export const silenceTypes = {
  strangers: "about strangers",
  ownNames: "about strangers, by the names of people whom the user knows",
  requests: "requests to any assistant",
  moreRequests: "more of them, in four languages",
} as const;

const strangersEach = 24;

/** Adds questions about whom other users know, and requests to any assistant. */
export function withSilences(
  conversation: RetrievalConversation,
  index: number,
  all: readonly RetrievalConversation[],
): RetrievalConversation {
  const other = all[(index + 2) % all.length] ?? conversation;
  const strangers = evenly(totalledOf(other)).map(({ question }) => question);
  const names = speakersOf(conversation);
  const withOwnNames = strangers.map((question) =>
    speakersOf(other).reduce(
      (text, stranger, at) => text.replaceAll(stranger, names[at] ?? stranger),
      question,
    ),
  );
  const asked = {
    [silenceTypes.strangers]: strangers,
    [silenceTypes.ownNames]: withOwnNames.filter((text) => !strangers.includes(text)),
    [silenceTypes.requests]: requests,
    [silenceTypes.moreRequests]: moreRequests,
  };
  const questions = Object.entries(asked).flatMap(([type, texts]) =>
    texts.map((question): Question => ({ question, types: [type], evidence: [] })),
  );
  return { ...conversation, questions: [...conversation.questions, ...questions] };
}

/** Some, from all parts of a conversation. */
const evenly = (questions: readonly Question[]) =>
  Array.from({ length: strangersEach }, (_, place) => {
    return questions[Math.floor((place * questions.length) / strangersEach)] ?? [];
  }).flat();
