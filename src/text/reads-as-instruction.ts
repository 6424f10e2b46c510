import {
  always,
  becomeWords,
  hideWords,
  joined,
  misuse,
  openers,
  orders,
  overrideWords,
  personas,
  promptNames,
  showWords,
} from "./instruction-patterns.js";
import { anyStem, isUnspaced, joinedLetters, plainWords, undisguised } from "./plain-words.js";

const anyOf = (stems: string, flags = "u") => new RegExp(anyStem(stems), flags);

const rows = (table: string) =>
  table
    .trim()
    .split("\n")
    .map((row) => row.split(" | "));

const looksLikeStatement = /^[\p{scx=Latn}'\s]+$/u;

let made: ReturnType<typeof makePatterns> | undefined;

/** Made at the first use: that takes a twentieth of the time of loading the package. */
const patterns = () => {
  made ??= makePatterns();
  return made;
};

function makePatterns() {
  const columns = rows(overrideWords);
  const column = (index: number) => columns.map((row) => row[index] ?? "").join(" ");
  const leave = anyOf(column(1), "gu");
  const told = anyOf(column(2));
  const which = anyOf(column(3));
  const all = anyOf(column(4));
  const order = anyOf(column(5));
  const opener = new RegExp(`(?:^|[,:()"'*>\\[\\]—–-]|${anyStem(openers)})\\s?$`, "u");
  const names = anyOf(promptNames);
  const show = anyOf(showWords);
  const become = anyOf(becomeWords);
  const hide = rows(hideWords).map(
    ([first = "", then = ""]) => new RegExp(`${anyStem(first)}.{0,60}${anyStem(then)}`, "u"),
  );

  // Of somebody else than the model's makers: "the doctor's instructions", "the rules of her boss".
  const somebodys = new RegExp(
    "\\p{L}(?<!\\b(?:system|assistant|developer|operator|admin))'s?\\s|" +
      `${told.source}\\p{L}{0,12}(?:\\s\\p{L}{1,20})?\\s(?:of|from|del|de|du|des|da|do|della|dei|der|vom|von|van|av|fra|od|от)\\s` +
      "(?!(?:the\\ssystem|sistema|systems?|you)\\b)\\p{L}",
    "u",
  );
  return { leave, told, which, all, order, opener, names, show, become, hide, somebodys };
}

/** For text as `plainWords` writes it. */
function sentenceInstructs(sentence: string, ofUser: boolean): boolean {
  return (
    overrides(sentence) ||
    showsPrompt(sentence) ||
    (!ofUser && patterns().become.test(sentence)) ||
    patterns().hide.some((each) => each.test(sentence))
  );
}

function overrides(sentence: string): boolean {
  if (!patterns().told.test(sentence)) return false;
  const verbs = [...sentence.matchAll(patterns().leave)];
  if (verbs.length === 0) return false;
  if (patterns().order.test(sentence)) return true;
  const begins = verbs.some((verb) => isOrder(sentence, verb));
  const theirs = patterns().somebodys.test(sentence);
  if (patterns().which.test(sentence)) return begins || !theirs;
  return begins && !theirs;
}

// Where orders look like statements, the verb comes first; uninflected ones need "all".
function isOrder(sentence: string, verb: RegExpExecArray): boolean {
  const first = patterns().opener.test(sentence.slice(0, verb.index));
  if (looksLikeStatement.test(verb[0])) return first;
  return first || !isUnspaced(verb[0]) || patterns().all.test(sentence);
}

function showsPrompt(sentence: string): boolean {
  return (
    patterns().names.test(sentence) &&
    (patterns().show.test(sentence) || sentence.search(patterns().leave) >= 0)
  );
}

/** Characters matched together, and their overlap: no pattern matches more. */
const stretch = 4_000;
const overlap = 400;

/**
 * Whether `text` reads as instructions to a model. Linear. One layer of several: `docs/screening.md` has
 * measured it.
 * @param options.orders whether orders are allowed: procedures, lessons, episodes. @default false
 * @param options.ofUser whether a user's own text: forbids only prompts, secrets, tools, others' data.
 *   @default false
 */
export function readsAsInstruction(
  text: string,
  options: { readonly orders?: boolean | undefined; readonly ofUser?: boolean | undefined } = {},
): boolean {
  for (let start = 0; start === 0 || start + overlap < text.length; start += stretch - overlap) {
    if (stretchInstructs(text.slice(start, start + stretch), options)) return true;
  }
  return false;
}

function stretchInstructs(
  text: string,
  { orders: inPlace = false, ofUser = false }: Parameters<typeof readsAsInstruction>[1] & object,
): boolean {
  const plain = plainWords(text);
  const first = [...(inPlace || ofUser ? [] : orders), ...(ofUser ? misuse : personas)];
  if (first.some((pattern) => pattern.test(plain))) return true;
  return [plain, ...undisguised(text, plain)].some(
    (reading) =>
      always.some((pattern) => pattern.test(reading)) ||
      (!ofUser && reading !== plain && personas.some((pattern) => pattern.test(reading))) ||
      reading.split(/[.!?;。！？؟।॥።\n]+/).some((sentence) => sentenceInstructs(sentence, ofUser)) ||
      isJoined(joinedLetters(reading)),
  );
}

function isJoined(letters: string): boolean {
  return letters.length >= 20 && joined.some((pattern) => pattern.test(letters));
}
