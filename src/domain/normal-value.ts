/** Marks on one letter that mean something, in any script; Unicode's own bound for streams is 30. */
const beyondAnyLetter = /(\p{M}{30})\p{M}+/gu;

/** Single characters whose compatibility forms are whole sentences, of 18 and of 8 characters. */
const sentences = /[\uFDFA\uFDFB]/g;
/** More of them than any text has: the others are left out, or a text would become eighteen times as long. */
const mostSentences = 50;

/**
 * `text` in a normal form of Unicode, without more marks on a letter than any script has.
 *
 * `normalize` itself sorts marks in time that grows with the square of their number: 100,000 of them take it 20 s.
 */
export function normalForm(text: string, form: "NFC" | "NFD" | "NFKC" | "NFKD"): string {
  let left = mostSentences;
  const bounded = form.startsWith("NFK")
    ? text.replace(sentences, (character) => (left-- > 0 ? character : " "))
    : text;
  return bounded.replace(beyondAnyLetter, "$1").normalize(form);
}

/** `value` without what makes no difference to people: case, width, white space. Equal values are the same value. */
export function normalValue(value: string): string {
  return normalForm(value, "NFKC").toLowerCase().replace(/\s+/gu, " ").trim();
}
