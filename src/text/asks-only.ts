import { sentenceSegmenter } from "./cut-text.js";

/** Of Latin, Arabic, Greek, Armenian, Ethiopic, Vai, Bamum and Medieval texts; wide and small ones. */
const questionMark =
  /[?\u037e\u055e\u061f\u1367\u2047-\u2049\u203d\u2e2e\ua60f\ua6f7\ufe16\ufe56\uff1f]/u;

/** What may follow the mark: quotation marks, brackets, emoji, more marks. */
const afterMark = /[\p{P}\p{S}\p{M}\s\u200d]/u;

/** Unicode's normal form of a Greek question mark is a semicolon. */
const greekMark = /(?<=\p{Script=Greek}\p{M}*);/gu;

/** Stands within the word that asks. */
const armenianMark = "\u055e";

/** Whether each sentence of `text` ends in a question mark. */
export function asksOnly(text: string): boolean {
  const { asking, aside } = askingSentences(text);
  return asking !== "" && aside === "";
}

/** The sentences of `text` that end in a question mark, and the others. */
export function askingSentences(text: string): { readonly asking: string; readonly aside: string } {
  const marked = text.replace(greekMark, "?");
  // Segmenting takes long, and most texts have no mark.
  if (!questionMark.test(marked)) return { asking: "", aside: text };
  let asking = "";
  let aside = "";
  for (const { segment } of sentenceSegmenter.segment(marked)) {
    if (!/[\p{L}\p{N}]/u.test(segment)) continue;
    if (endsInMark(segment)) asking += segment;
    else aside += segment;
  }
  return { asking, aside };
}

/** Whether the last sentence of `text` asks, where it is short. */
export const asksSomething = (text: string): boolean =>
  endsInMark(text.slice(-200).replace(greekMark, "?"));

function endsInMark(sentence: string): boolean {
  if (sentence.includes(armenianMark)) return true;
  for (const character of [...sentence].reverse()) {
    if (questionMark.test(character)) return true;
    if (!afterMark.test(character)) return false;
  }
  return false;
}
