import { createHash } from "node:crypto";
import { visibleText } from "./storable-text.js";

/** More combining marks than a letter has in any script; Unicode's own bound for streams is 30. */
const beyondAnyLetter = /(\p{M}{30})\p{M}+/gu;

/** Characters whose compatibility forms are whole sentences, of 18 and of 8 characters. */
const sentences = /[\uFDFA\uFDFB]/g;
/** More than any text has: beyond it they are omitted, or a text would become eighteen times as long. */
const mostSentences = 50;

const ascii = /^\p{ASCII}*$/u;

/** `text` in a normal form of Unicode, without more marks on a letter than any script has. */
export function normalForm(text: string, form: "NFC" | "NFD" | "NFKC" | "NFKD"): string {
  if (ascii.test(text)) return text;
  // `normalize` sorts marks in quadratic time: 100,000 of them take it 20 s.
  let left = mostSentences;
  const bound = (sentence: string) => (left-- > 0 ? sentence : " ");
  const bounded = form.startsWith("NFK") ? text.replace(sentences, bound) : text;
  return bounded.replace(beyondAnyLetter, "$1").normalize(form);
}

// Compatibility forms alone would make 102 of 10², and 11/2 of 1½.
function withPlainFigures(text: string): string {
  if (!/[^\P{N}0-9]/u.test(text)) return text;
  return text
    .replace(/(?<=\p{N})[¼½¾⅐-⅞↉]/gu, " $&")
    .replace(/[⁰¹²³⁴-⁹]+/gu, "^$&")
    .replace(/[^\P{Nd}0-9]/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** Digits are in tens, from 0 to 9, in every script; those of mathematics have compatibility forms. */
function digitValue(code: number): number {
  const plain = String.fromCodePoint(code).normalize("NFKC");
  if (/^[0-9]$/.test(plain)) return Number(plain);
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return code - zero;
}

/** `value` without differences of case, width, space, invisible characters, apostrophes and digits. */
export function normalValue(value: string): string {
  return normalForm(withPlainFigures(visibleText(value)), "NFKC")
    .toLowerCase()
    .replace(/[’‘ʼ]/gu, "'")
    .replace(/\s+/gu, " ")
    .trim();
}

/** A digest shared by texts that differ only as `normalValue` ignores, or in closing punctuation. */
export function contentHash(text: string): string {
  const normal = normalValue(text);
  let end = normal.length;
  while (end > 0 && /[.!?。！？\s]/u.test(normal[end - 1] ?? "")) end--;
  return createHash("sha256").update(normal.slice(0, end)).digest("hex");
}
