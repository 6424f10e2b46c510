import { randomUUID } from "node:crypto";
import { MemoryError } from "../errors.js";
import type { Memory } from "../memory.js";
import type { Scope } from "../scope/scope.js";
import { readPrompt } from "./prompt-reader.js";

/** A question to memory, and the words that its answer has to contain, or must not. */
export interface MemoryExpectation {
  readonly scope: Scope;
  /** The user's question. */
  readonly query: string;
  /** Each of them; letter case and line breaks do not matter. */
  readonly words: string | readonly string[];
  /**
   * The thread where it is asked. Its conversation is in the prompt too.
   * @default a new thread
   */
  readonly threadId?: string | undefined;
  /** Asks as this agent: only what it may read. */
  readonly agent?: string | undefined;
  /** The user's, as "Europe/Lisbon". @default retrieval.timeZone */
  readonly timeZone?: string | undefined;
}

export interface MemoryExpectations {
  /** In a memory that `memory.query` finds. */
  toFind(expected: MemoryExpectation): Promise<void>;
  /**
   * In the prompt of the next turn, before the question: in what memory writes there, in the
   * summary, or in the conversation of `threadId`.
   */
  toShow(expected: MemoryExpectation): Promise<void>;
  /**
   * In what a reader of that prompt takes for true in the end: a line of memory that no later line
   * replaces. See `readPrompt`.
   */
  toBelieve(expected: MemoryExpectation): Promise<void>;
}

/** Memory does not answer as expected. Test runners print `expected` and `actual`. */
export class MemoryExpectationError extends Error {
  override readonly name = "MemoryExpectationError";
  readonly expected: string;
  /** What was found, shown or believed. */
  readonly actual: readonly string[];

  constructor(message: string, expected: string, actual: readonly string[]) {
    super(message);
    this.expected = expected;
    this.actual = actual;
  }
}

/**
 * Checks what an agent's memory finds, shows and believes; for any test runner. It changes nothing.
 *
 * ```ts
 * const scope = { userId: "ana" };
 * await expectMemory(memory).toBelieve({ scope, query: "Dinner?", words: "allergic to peanuts" });
 * await expectMemory(memory).not.toFind({ scope, query: "Which car?", words: "peanuts" });
 * ```
 *
 * Each check throws a `MemoryExpectationError` that says what was there instead.
 */
export function expectMemory(
  memory: Pick<Memory, "query" | "promptFor">,
): MemoryExpectations & { readonly not: MemoryExpectations } {
  return { ...expectationsOf(memory, true), not: expectationsOf(memory, false) };
}

type Asked = Pick<Memory, "query" | "promptFor">;

type Verb = "found" | "shown" | "believed";

/** `texts` are searched for the words; `lines` tell what was there. */
interface Answer {
  readonly texts: readonly string[];
  readonly lines: readonly string[];
}

function expectationsOf(memory: Asked, isWanted: boolean): MemoryExpectations {
  const check = (verb: Verb) => async (expected: MemoryExpectation) => {
    const wanted = wordsOf(expected);
    const answer = await answerOf(memory, verb, expected);
    for (const words of wanted) requireWords(words, answer, { isWanted, verb, ...expected });
  };
  return { toFind: check("found"), toShow: check("shown"), toBelieve: check("believed") };
}

async function answerOf(
  memory: Asked,
  verb: Verb,
  { scope, query, agent, timeZone, threadId = randomUUID() }: MemoryExpectation,
): Promise<Answer> {
  if (verb === "found") {
    const hits = await memory.query({ scope, query, agent, timeZone });
    const lines = hits.map(({ memory: { text } }) => text);
    return { texts: lines, lines };
  }
  const { messages } = await memory.promptFor({ scope, query, agent, timeZone, threadId });
  // Without the question.
  const texts = messages.slice(0, -1).map(({ content }) => content);
  const { claims, believed } = readPrompt(texts);
  if (verb === "believed") return { texts: believed, lines: believed };
  return { texts, lines: claims.map(({ line }) => line) };
}

function requireWords(
  words: string,
  { texts, lines }: Answer,
  { isWanted, verb, query }: { isWanted: boolean; verb: string; query: string },
): void {
  const place = texts.find((text) => plain(text).includes(plain(words)));
  if ((place !== undefined) === isWanted) return;
  const quoted = JSON.stringify(words);
  const asked = JSON.stringify(query);
  if (isWanted) {
    const instead = lines.length === 0 ? "nothing" : listed(lines);
    throw new MemoryExpectationError(
      `${quoted} should be ${verb} for ${asked}, but is not. There was ${instead}.`,
      words,
      lines,
    );
  }
  const text = lines.find((line) => plain(line).includes(plain(words))) ?? place ?? "";
  throw new MemoryExpectationError(
    `${quoted} should not be ${verb} for ${asked}, but is: ${clip(text)}`,
    `nothing with ${quoted}`,
    [text],
  );
}

function wordsOf({ words }: MemoryExpectation): readonly string[] {
  const all = typeof words === "string" ? [words] : words;
  if (all.length > 0 && all.every((each) => plain(each) !== "")) return all;
  throw new MemoryError(
    "INVALID_INPUT",
    "`words` is empty, which every answer contains. Give the words to look for.",
  );
}

/** An accent may be a letter's own or a character after it: both look the same. */
const plain = (text: string): string => text.normalize().toLowerCase().replace(/\s+/gu, " ").trim();

const [maxLines, maxCharacters] = [5, 200];

function listed(lines: readonly string[]): string {
  const first = lines.slice(0, maxLines).map(clip).join("; ");
  const more = lines.length - maxLines;
  return more > 0 ? `${first}; and ${more} more` : first;
}

function clip(text: string): string {
  const shown = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
  return JSON.stringify(shown);
}
