import { MemoryError, UnusableOutput } from "../../errors.js";
import { createPauses } from "../../pauses.js";
import type { Screen } from "../../screening/reads-as-instruction.js";
import { sentencesOf, wholeSentences } from "../../text/cut-text.js";
import { hasWords, headAtWord, visibleText } from "../../text/storable-text.js";
import type { MemoryKind, MemoryTrust } from "../item/memory.js";
import { type MemoryWords, memoryWords, screenedNames } from "../item/memory-fields.js";

type ByKind = Readonly<Record<MemoryKind, number>>;

/** Room for two sentences of a fact, four short ones of a note. */
export const maxCharacters: ByKind = {
  fact: 280,
  insight: 280,
  note: 200,
  episode: 600,
  procedure: 4_000,
};

/** More sentences are several memories. */
const maxSentences: ByKind = {
  fact: 2,
  insight: 2,
  note: 4,
  episode: 2,
  procedure: Number.POSITIVE_INFINITY,
};

export const writingProblemNames = [
  "empty",
  "too_long",
  "too_many_sentences",
  "instruction",
  "not_steps",
] as const;

/** Why a text is rejected; "instruction": quarantined. */
export type WritingProblem = (typeof writingProblemNames)[number];

export function problemSentences(kind: MemoryKind, problems: readonly WritingProblem[]): string {
  const sentences: Readonly<Record<WritingProblem, string>> = {
    empty: "The text has no words: state the fact to remember.",
    too_long: `The first sentence has more than ${maxCharacters[kind]} characters: write it shorter.`,
    too_many_sentences: `The text has more than ${maxSentences[kind]} sentences: write several memories.`,
    instruction: "The text reads as instructions to a model.",
    not_steps: 'The text is not numbered steps: write one on each line, from "1. " on.',
  };
  return problems.map((problem) => sentences[problem]).join(" ");
}

/** Empty for a valid text. */
export function writingProblems(
  kind: MemoryKind,
  text: string,
): Exclude<WritingProblem, "instruction">[] {
  const trimmed = text.trim();
  if (!hasWords(trimmed)) return ["empty"];
  // Patterns are slow on long texts.
  if (trimmed.length > maxCharacters[kind]) return ["too_long"];
  if (kind === "procedure")
    return /^[ \t]{0,20}1[.)][ \t]{1,20}\S/m.test(trimmed) ? [] : ["not_steps"];
  return sentencesOf(trimmed).length > maxSentences[kind] ? ["too_many_sentences"] : [];
}

/** The whole sentences within the kind's limits; null when the first is too long. */
export function trimToLength(kind: MemoryKind, text: string): string | null {
  const trimmed = visibleText(text).trim();
  if (trimmed.length <= maxCharacters[kind]) return firstSentences(kind, trimmed);
  const whole = wholeSentences(trimmed, maxCharacters[kind]);
  return whole === undefined ? null : firstSentences(kind, whole);
}

/**
 * A model's text, cut after the last whole sentence, or word, that fits.
 * @throws MemoryError `MODEL_OUTPUT_INVALID`
 */
export function modelText(kind: MemoryKind, output: string): string {
  const text = trimToLength(kind, output) ?? `${headAtWord(output, maxCharacters[kind] - 1)}…`;
  return requireValid(kind, text, output);
}

/** A model's text as it is. @throws MemoryError `MODEL_OUTPUT_INVALID` */
export function requireValid(kind: MemoryKind, text: string, output = text): string {
  const [problem] = writingProblems(kind, text);
  if (problem === undefined) return text;
  throw new MemoryError("MODEL_OUTPUT_INVALID", `The model's ${kind} cannot be kept: ${problem}.`, {
    cause: new UnusableOutput(output),
  });
}

/** Whether a program may write texts of this kind as long as it likes. */
export const hasAnyLength = (kind: MemoryKind): boolean => kind === "fact" || kind === "insight";

/** Longer than a sentence that somebody wrote. */
const maxSentenceCharacters = 10_000;

/**
 * Whole sentences within the kind's limits, one after the other; a longer sentence by itself, and
 * one of more than 10,000 characters in parts, at a word. Yields to the event loop.
 */
export async function splitAtSentences(kind: MemoryKind, text: string): Promise<string[]> {
  const parts: string[] = [];
  let part = "";
  const pause = createPauses();
  let rest = visibleText(text).trim();
  while (rest !== "") {
    const head = headAtWord(rest, maxSentenceCharacters);
    const sentences = sentencesOf(head);
    // The last one may go on behind it.
    if (head.length < rest.length && sentences.length > 1) sentences.pop();
    for (const sentence of sentences) {
      if (part !== "" && writingProblems(kind, part + sentence).length > 0) {
        parts.push(part.trim());
        part = "";
      }
      part += sentence;
      rest = rest.slice(sentence.length);
      await pause();
    }
  }
  return [...parts, part.trim()];
}

/** The end of `text` that `trimToLength` cut off. */
export function cutOff(text: string, kept: string): string {
  const whole = visibleText(text).trim();
  return whole.startsWith(kept) ? whole.slice(kept.length).trim() : "";
}

function firstSentences(kind: MemoryKind, text: string): string {
  if (kind === "procedure") return text;
  const sentences = sentencesOf(text);
  const kept = maxSentences[kind];
  return sentences.length <= kept ? text : sentences.slice(0, kept).join("").trim();
}

/** Kinds that normally contain quotes or orders. */
const kindsWithOrders: ReadonlySet<MemoryKind> = new Set(["procedure", "episode", "note"]);

type Screened = MemoryWords & { readonly kind: MemoryKind; readonly trust: MemoryTrust };

/**
 * The texts that `screen` takes for instructions. Users may say how to serve them: see `ofUser` of
 * `Screen`.
 */
export async function instructionsIn(
  screen: Screen,
  memory: Screened,
  texts = memoryWords(memory, screenedNames),
): Promise<string[]> {
  const options = { orders: kindsWithOrders.has(memory.kind), ofUser: memory.trust === "user" };
  const verdicts = await Promise.all(texts.map((text) => screen(text, options)));
  return texts.filter((_, at) => verdicts[at]);
}

export async function memoryInstructs(screen: Screen, memory: Screened): Promise<boolean> {
  return (await instructionsIn(screen, memory)).length > 0;
}
