import { normalForm, withPlainFigures } from "./normal-value.js";
import { plainWords } from "./plain-words.js";
import { visibleText } from "./storable-text.js";

/** A word, a number or a sign of a statement. */
export interface StatementWord {
  /** As words are compared: see `plainWords`. */
  readonly plain: string;
  readonly kind: "word" | "number" | "sign" | "address";
  /** Whether it is written with a capital, as names are. */
  readonly capital: boolean;
  /** Whether it begins a sentence, where a capital says little. */
  readonly initial: boolean;
  /** Whether it follows what is before it without anything in between, as "th" in "5th". */
  readonly joined: boolean;
}

/** Characters of a statement that are compared: memories have fewer. */
const mostCharacters = 10_000;

const pattern = new RegExp(
  [
    // An address says who or where: no part of it is a word.
    "(?<address>[^\\s@<>()\"']{1,64}@[^\\s@<>()\"']{1,255}|[a-z][a-z0-9+.-]{1,9}://[^\\s<>()\"']{1,500})",
    "(?<number>(?:(?<![\\p{L}\\p{N}.,:/'-])[-−])?(?:[0-9]{1,3}(?: [0-9]{3})+(?![0-9])|[0-9]+(?:[.,:/'\\-–][0-9]+)*))",
    "(?<word>[\\p{L}\\p{M}]+(?:['’ʼ][\\p{L}\\p{M}]+)*['’ʼ]?)",
    "(?<sign>[%‰°$€£¥₹₩₽₺₴฿₫₪#^½])",
  ].join("|"),
  "giu",
);

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]{2,}/u;
let segmenter: Intl.Segmenter | undefined;

/** The words of `text`, in order, as far as two statements are told apart by them. */
export function statementWords(text: string): StatementWord[] {
  const visible = visibleText(text.slice(0, mostCharacters));
  const clean = normalForm(withPlainFigures(visible), "NFKC").replace(/\b([ap])\.\s?m\b\.?/gi, "$1m");
  const words: StatementWord[] = [];
  let end = 0;
  for (const match of clean.matchAll(pattern)) {
    const [said] = match;
    const between = clean.slice(end, match.index);
    end = match.index + said.length;
    const place = {
      joined: words.length > 0 && between === "",
      initial: words.length === 0 || /[.!?。！？:;\n]\s*["'“«(]*$/u.test(between),
    };
    words.push(...wordsOf(said, kinds.find((name) => match.groups?.[name]) ?? "word", place));
  }
  return words;
}

const kinds = ["address", "number", "word", "sign"] as const;

function wordsOf(
  said: string,
  kind: StatementWord["kind"],
  place: Pick<StatementWord, "joined" | "initial">,
): StatementWord[] {
  return partsOf(said, kind).flatMap((part, index) => {
    const plain = kind === "number" ? part : plainWords(part).trim();
    const capital = kind === "word" && /^\p{Lu}/u.test(part);
    const where = index === 0 ? place : { joined: true, initial: false };
    return plain === "" ? [] : [{ plain, kind, capital, ...where }];
  });
}

/** What one run of letters is made of: a word and what is written as one with it, or the words of a script without spaces. */
function partsOf(said: string, kind: StatementWord["kind"]): string[] {
  if (kind !== "word") return [said];
  if (unspaced.test(said)) {
    segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
    return [...segmenter.segment(said)].map(({ segment }) => segment);
  }
  const plain = said.replace(/[’ʼ]/g, "'").replace(/'$/, "");
  const [whole = "", before = "", after = ""] = /^([^']+)'([^']+)$/u.exec(plain) ?? [];
  if (whole === "") return [plain];
  const end = after.toLowerCase();
  if (end === "t" && /n$/i.test(before))
    return [contracted.get(before.toLowerCase()) ?? before.slice(0, -1), "not"];
  if (end === "s") return [before];
  return before.length <= 2 ? [`${before}'`, after] : [plain];
}

/** What stands before "n't" where that is not its own word. */
const contracted = new Map([
  ["can", "can"],
  ["won", "will"],
  ["shan", "shall"],
]);
