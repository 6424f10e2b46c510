const segmenter = new Intl.Segmenter("und", { granularity: "sentence" });

/** Of Latin, Arabic, Greek, Armenian, Ethiopic, Vai, Bamum and Medieval texts; wide and small ones. */
const questionMark =
  /[?\u037e\u055e\u061f\u1367\u2047-\u2049\u203d\u2e2e\ua60f\ua6f7\ufe16\ufe56\uff1f]/u;

/** What may follow the mark: quotation marks, brackets, emoji, more marks. */
const afterMark = /[\p{P}\p{S}\p{M}\s\u200d]/u;

/** Whether each sentence of `text` ends in a question mark. */
export function asksOnly(text: string): boolean {
  const { asking, aside } = askingSentences(text);
  return asking !== "" && aside === "";
}

/** The sentences of `text` that end in a question mark, and the others; without words neither. */
export function askingSentences(text: string): { readonly asking: string; readonly aside: string } {
  const sentences = Array.from(segmenter.segment(text), ({ segment }) => segment);
  const spoken = sentences.filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
  return {
    asking: spoken.filter((sentence) => endsInMark(sentence)).join(""),
    aside: spoken.filter((sentence) => !endsInMark(sentence)).join(""),
  };
}

function endsInMark(sentence: string): boolean {
  const characters = [...sentence].reverse();
  const end = characters.slice(
    0,
    characters.findIndex((each) => !afterMark.test(each)),
  );
  return end.some((each) => questionMark.test(each));
}
