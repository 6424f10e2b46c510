const segmenter = new Intl.Segmenter("und", { granularity: "word" });

/** Between spaces; short, since one text may be joined of a million letters. */
const stretches = /[\p{L}\p{N}]\S{0,40}/gu;

/** Whether a text may contain a fact: two words or more, or one that may answer a question (`asked`). */
export function isSubstantive(text: string, asked = false): boolean {
  let said = 0;
  for (const [stretch] of text.matchAll(stretches)) {
    for (const { isWordLike } of segmenter.segment(stretch)) {
      if (isWordLike && ++said === (asked ? 1 : 2)) return true;
    }
  }
  return false;
}

/** Whether an assistant's `text` ends with a question. */
export function asksSomething(text: string): boolean {
  return /[?？؟⁇⁈՞][^\p{L}\p{N}\n]{0,20}\s*$/u.test(text.slice(-200));
}
