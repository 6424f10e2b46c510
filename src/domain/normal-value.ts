/** Marks on one letter that mean something, in any script; Unicode's own bound for streams is 30. */
const beyondAnyLetter = /(\p{M}{30})\p{M}+/gu;

/**
 * `text` in a normal form of Unicode, without more marks on a letter than any script has.
 *
 * `normalize` itself sorts marks in time that grows with the square of their number: 100,000 of them take it 20 s.
 */
export function normalForm(text: string, form: "NFC" | "NFD" | "NFKC" | "NFKD"): string {
  return text.replace(beyondAnyLetter, "$1").normalize(form);
}

/** `value` without what makes no difference to people: case, width, white space. Equal values are the same value. */
export function normalValue(value: string): string {
  return normalForm(value, "NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
}
