import { createPauses } from "../pauses.js";
import {
  anyStem,
  isUnspaced,
  joinedLetters,
  plainWords,
  undisguised,
} from "../text/plain-words.js";
import data from "./screening.json" with { type: "json" };

const anyOf = (stems: string, flags = "u") => new RegExp(anyStem(stems), flags);
const rows = (table: readonly string[]) => table.map((row) => row.split(" | "));

function compiled(patterns: readonly string[]): RegExp[] {
  const parts: Readonly<Record<string, string>> = data.parts;
  return patterns.map((written) => {
    const end = written.lastIndexOf("/");
    const source = written
      .slice(1, end)
      .replace(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? "(?!)");
    return new RegExp(source, written.slice(end + 1));
  });
}

const looksLikeStatement = /^[\p{scx=Latn}'\s]+$/u;

let made: ReturnType<typeof makePatterns> | undefined;

/** Compiled at first use: a twentieth of the package's loading time. */
const patterns = () => {
  made ??= makePatterns();
  return made;
};

function makePatterns() {
  const columns = rows(data.overrideWords);
  const column = (index: number) => columns.map((row) => row[index] ?? "").join(" ");
  const instruction = anyOf(column(2));
  const hide = rows(data.hideWords).map(
    ([first = "", then = ""]) => new RegExp(`${anyStem(first)}.{0,60}${anyStem(then)}`, "u"),
  );

  // Instructions of other people: "the doctor's instructions", "the rules of her boss".
  const { makers, ofWords, ownSystem } = data.somebodys;
  const somebodys = new RegExp(
    `\\p{L}(?<!\\b(?:${makers}))'s?\\s|${instruction.source}\\p{L}{0,12}(?:\\s\\p{L}{1,20})?\\s(?:${ofWords})\\s(?!(?:${ownSystem})\\b)\\p{L}`,
    "u",
  );
  return {
    ignore: anyOf(column(1), "gu"),
    instruction,
    which: anyOf(column(3)),
    all: anyOf(column(4)),
    order: anyOf(column(5)),
    opener: new RegExp(`(?:^|[,:()"'*>\\[\\]—–-]|${anyStem(data.openers)})\\s?$`, "u"),
    names: anyOf(data.promptNames),
    show: anyOf(data.showWords),
    become: anyOf(data.becomeWords),
    demands: rows(data.demands).map(([first = "", anywhere = "", of = ""]) => ({
      first: anyOf(first, "gu"),
      anywhere: anyOf(anywhere),
      of: anyOf(of),
    })),
    hide,
    somebodys,
    always: compiled(Object.values(data.always).flat()),
    personas: compiled(data.personas),
    misuse: compiled(data.misuse),
    orders: compiled(data.orders),
    wishes: compiled(data.wishes),
    speaker: compiled([data.speaker]),
    foreign: compiled(data.foreign),
    joined: compiled(data.joined),
  };
}

function sentenceInstructs(sentence: string, ofUser: boolean): boolean {
  return (
    overrides(sentence) ||
    showsPrompt(sentence) ||
    demands(sentence) ||
    (!ofUser && patterns().become.test(sentence)) ||
    patterns().hide.some((each) => each.test(sentence))
  );
}

function overrides(sentence: string): boolean {
  if (!patterns().instruction.test(sentence)) return false;
  const verbs = [...sentence.matchAll(patterns().ignore)];
  if (verbs.length === 0) return false;
  if (patterns().order.test(sentence)) return true;
  const begins = verbs.some((verb) => isOrder(sentence, verb));
  const theirs = patterns().somebodys.test(sentence);
  if (patterns().which.test(sentence)) return begins || !theirs;
  return begins && !theirs;
}

// In languages whose orders look like statements, the verb comes first; uninflected ones need
// "all".
function isOrder(sentence: string, verb: RegExpExecArray): boolean {
  const first = patterns().opener.test(sentence.slice(0, verb.index));
  if (looksLikeStatement.test(verb[0])) return first;
  return first || !isUnspaced(verb[0]) || patterns().all.test(sentence);
}

function showsPrompt(sentence: string): boolean {
  const { names, show, ignore } = patterns();
  return names.test(sentence) && (show.test(sentence) || sentence.search(ignore) >= 0);
}

/** Orders in other languages than English to tell secrets or to switch safeguards off. */
function demands(sentence: string): boolean {
  const { opener } = patterns();
  return patterns().demands.some(({ first, anywhere, of }) => {
    if (!of.test(sentence)) return false;
    if (anywhere.test(sentence)) return true;
    return [...sentence.matchAll(first)].some(({ index }) => opener.test(sentence.slice(0, index)));
  });
}

/** Characters matched at a time, and their overlap, the longest match of a pattern. */
const stretchCharacters = 4_000;
const overlap = 400;

export interface ScreenOptions {
  /** Whether orders are allowed: procedures, lessons, episodes. @default false */
  readonly orders?: boolean | undefined;
  /**
   * Whether a user's own text: forbids only prompts, secrets, tools, others' data.
   * @default false
   */
  readonly ofUser?: boolean | undefined;
  /** What the text counts as when a classifier fails. @default true */
  readonly ifFailed?: boolean | undefined;
}

export type Screen = (text: string, options?: ScreenOptions) => Promise<boolean>;

export function createScreen(
  classifier: ((text: string) => unknown) | undefined,
  warn: (line: string) => void,
): Screen {
  if (!classifier) return screenInTurns;
  return async (text, { ifFailed = true } = {}) => {
    const failed = (how: string) => {
      warn(`The function \`screen\` ${how}: the text counts as instructions to a model.`);
      return ifFailed;
    };
    try {
      const verdict = await classifier(text);
      return typeof verdict === "boolean"
        ? verdict
        : failed(`returned ${typeof verdict}, no boolean`);
    } catch (error) {
      return failed(`failed (${error instanceof Error ? error.name : typeof error})`);
    }
  };
}

export function readsAsInstruction(text: string, options: ScreenOptions = {}): boolean {
  for (const stretch of stretchesOf(text)) if (stretchInstructs(stretch, options)) return true;
  return false;
}

/** The same; yields to the event loop. */
async function screenInTurns(text: string, options: ScreenOptions = {}): Promise<boolean> {
  const pause = createPauses();
  for (const stretch of stretchesOf(text)) {
    if (stretchInstructs(stretch, options)) return true;
    await pause();
  }
  return false;
}

function* stretchesOf(text: string): Generator<string> {
  const step = stretchCharacters - overlap;
  for (let start = 0; start === 0 || start + overlap < text.length; start += step)
    yield text.slice(start, start + stretchCharacters);
}

function stretchInstructs(
  text: string,
  { orders: inPlace = false, ofUser = false }: ScreenOptions,
): boolean {
  const plain = plainWords(text);
  const { always, misuse, orders, personas } = patterns();
  const ordersCount = !inPlace && !ofUser;
  const first = [...(ordersCount ? orders : []), ...(ofUser ? misuse : personas)];
  if (matches(first, plain) || (ordersCount && ordersForOthers(text, plain))) return true;
  return [plain, ...undisguised(text, plain)].some(
    (reading) =>
      matches(always, reading) ||
      (!ofUser && reading !== plain && matches(personas, reading)) ||
      reading
        .split(/[.!?;。！？؟।॥።\n]+/)
        .some((sentence) => sentenceInstructs(sentence, ofUser)) ||
      isJoined(joinedLetters(reading)),
  );
}

const matches = (some: readonly RegExp[], text: string): boolean =>
  some.some((pattern) => pattern.test(text));

/** A name within a sentence, but for languages, peoples and days: "Spanish", "Italian", "Monday". */
const name = /\p{L}[,:]? (?!\p{L}+(?:ish|an|ese|ch|days?)\b)\p{Lu}\p{Ll}/u;

/**
 * Whether a sentence says how to answer, and not as a person's wish. A wish is of the speaker ("when
 * I ask"), or it names nothing that others want said: no name, quote, claim, address or audience.
 */
function ordersForOthers(text: string, plain: string): boolean {
  const { wishes, speaker, foreign } = patterns();
  if (!matches(wishes, plain)) return false;
  return text.split(/(?<=[.!?;])\s|\n/).some((sentence) => {
    const words = plainWords(sentence);
    if (!matches(wishes, words)) return false;
    if (matches(speaker, words.replace(/"[^"]*"/g, ""))) return false;
    return name.test(sentence) || matches(foreign, words);
  });
}

const isJoined = (letters: string): boolean =>
  letters.length >= 20 && matches(patterns().joined, letters);
