import { createHash } from "node:crypto";
import { visibleText } from "./storable-text.js";

/**
 * More than any script needs (Unicode's own bound is 30): `normalize` sorts marks in quadratic
 * time, 100,000 in 20 s.
 */
const beyondAnyLetter = /(\p{M}{30})\p{M}+/gu;

const sentences = /[\uFDFA\uFDFB]/g;
/** Further ones are omitted: the normal form would be up to eighteen times as long. */
const maxReadSentences = 50;

const ascii = /^\p{ASCII}*$/u;

export function normalForm(text: string, form: "NFC" | "NFD" | "NFKC" | "NFKD"): string {
  if (ascii.test(text)) return text;
  let remaining = maxReadSentences;
  const bound = (sentence: string) => (remaining-- > 0 ? sentence : " ");
  const bounded = form.startsWith("NFK") ? text.replace(sentences, bound) : text;
  return bounded.replace(beyondAnyLetter, "$1").normalize(form);
}

// Compatibility forms alone would turn 10² into 102, and 1½ into 11/2.
function withPlainFigures(text: string): string {
  if (!/[^\P{N}0-9]/u.test(text)) return text;
  return text
    .replace(/(?<=\p{N})[¼½¾⅐-⅞↉]/gu, " $&")
    .replace(/[⁰¹²³⁴-⁹]+/gu, "^$&")
    .replace(/[^\P{Nd}0-9]/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/**
 * Each script has its digits from 0 to 9 in a row, and such rows may adjoin. Mathematical ones have
 * compatibility forms.
 */
export function digitValue(code: number): number {
  const plain = String.fromCodePoint(code).normalize("NFKC");
  if (/^[0-9]$/.test(plain)) return Number(plain);
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return (code - zero) % 10;
}

/** Folds what Unicode calls quotation marks and dashes; apostrophes differ from double marks. */
export const plainMarks = (text: string): string =>
  text
    .replace(/[‘’‚‛ʼ׳]/gu, "'")
    .replace(/(?!')[\p{Quotation_Mark}״]/gu, '"')
    .replace(/\p{Dash}/gu, "-");

/** Folds case, width, white space, invisible characters, quotation marks, dashes and digits. */
export function normalValue(value: string): string {
  return plainMarks(normalForm(withPlainFigures(visibleText(value)), "NFKC"))
    .toLowerCase()
    .replace(/\s+/gu, " ")
    .trim();
}

const closing = /[\p{Sentence_Terminal}\s]$/u;

/** Equal for texts with the same `normalValue`, apart from closing punctuation. */
export function contentHash(text: string): string {
  const normal = normalValue(text);
  let end = normal.length;
  for (;;) {
    const mark = closing.exec(normal.slice(Math.max(0, end - 2), end));
    if (mark === null) break;
    end -= mark[0].length;
  }
  return createHash("sha256").update(normal.slice(0, end)).digest("hex");
}
