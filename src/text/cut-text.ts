import { characterEnd, codePointEnd, hasWords } from "./storable-text.js";

/** Half-open. */
export type Stretch = readonly [from: number, to: number];

/** Replaces each character in `stretches`, which may overlap, by `filler`. */
export function replaceStretches(text: string, stretches: readonly Stretch[], filler = ""): string {
  const parts: string[] = [];
  let done = 0;
  for (const [from, to] of stretches.toSorted(([one], [other]) => one - other)) {
    if (to <= done) continue;
    const start = Math.max(done, from);
    parts.push(text.slice(done, start), filler.repeat(to - start));
    done = to;
  }
  return parts.join("") + text.slice(done);
}

export const sentenceSegmenter = new Intl.Segmenter("und", { granularity: "sentence" });

/**
 * Full stops that may end no sentence: after initials, short titles ("Dr.", "Mrs."), numbers ("am
 * 3. Mai").
 */
const doubtful = /(?<![\p{L}\p{M}\p{N}])(?:\p{L}|\p{Lu}\p{L}{1,2}|\p{N}{1,3})\.\s*$/u;

const ending = /[\p{Sentence_Terminal}\u2026]["'\p{Pe}\p{Pi}\p{Pf}]*\s*$/u;

const wordCharacters = 40;

const endMark = /[\p{Sentence_Terminal}\u2026]/u;
const moreThanClosing = /[^"'\p{Pe}\p{Pi}\p{Pf}\s]/u;

export function sentencesOf(text: string): string[] {
  const end = text.search(endMark);
  // Fast path: most memories are one sentence, and segmenting is slow.
  if (end < 0 || !moreThanClosing.test(text.slice(end + 1))) return [text];
  const sentences: string[] = [];
  let begun = "";
  const segments = Array.from(sentenceSegmenter.segment(text), ({ segment }) => segment);
  for (const [index, segment] of segments.entries()) {
    begun += segment;
    const goesOn = /^(?:[\p{Ll}\p{N}]|\p{L}\.)/u.test(segments[index + 1] ?? "");
    if (goesOn || !ending.test(segment) || doubtful.test(begun) || hasOpenPair(begun)) continue;
    sentences.push(begun);
    begun = "";
  }
  if (hasWords(begun) || sentences.length === 0) return [...sentences, begun];
  return [...sentences.slice(0, -1), `${sentences.at(-1)}${begun}`];
}

export function wholeSentences(text: string, maxCharacters: number): string | undefined {
  const [first = "", ...others] = sentencesOf(text.slice(0, maxCharacters + wordCharacters));
  let whole = first;
  for (const sentence of others) {
    if ((whole + sentence).trimEnd().length > maxCharacters) break;
    whole += sentence;
  }
  if (whole.trimEnd().length <= maxCharacters) return whole.trimEnd();
  const head = text.slice(0, maxCharacters);
  const ends = Array.from(
    head.matchAll(/\p{Sentence_Terminal}(?=\s|$)/gu),
    ({ index }) => index + 1,
  );
  const end = ends.findLast((place) => !doubtful.test(head.slice(0, place)));
  return end === undefined ? undefined : head.slice(0, end);
}

const pairMarks = ["“”", "«»", "()", "[]", "「」", "『』"] as const;

function hasOpenPair(text: string): boolean {
  const count = (mark: string) => text.split(mark).length - 1;
  return (
    count('"') % 2 === 1 || pairMarks.some(([open = "", close = ""]) => count(open) > count(close))
  );
}

const windowCharacters = 200;

export const wordSegmenter = new Intl.Segmenter("und", { granularity: "word" });

type Boundary = ReturnType<typeof boundariesAround>[number];

/**
 * The end of a part: a line's end in its last quarter, else a word, else a mark (JSON), else a
 * character.
 */
export function endOfPart(text: string, start: number, end: number): number {
  if (end >= text.length) return text.length;
  const lastQuarter = end - Math.floor((end - start) / 4);
  const line = text.slice(lastQuarter, end).lastIndexOf("\n") + 1;
  if (line > 0) return lastQuarter + line;
  const near = boundariesAround(text, end).filter(({ at }) => at > start && at <= end);
  const best =
    near.findLast(isBetweenTexts) ?? near.findLast(({ before }) => /[,;)\]}>&|/]$/.test(before));
  const ends = [best?.at ?? characterEnd(text, end, start), codePointEnd(text, end)];
  // At least one code point, of a character that is longer than the part.
  const isPair = (text.codePointAt(start) ?? 0) > 0xffff;
  return ends.find((each) => each > start) ?? start + (isPair ? 2 : 1);
}

export function startOfPart(text: string, from: number): number {
  const near = boundariesAround(text, from).filter(({ at }) => at >= from);
  const best = near.find(isBetweenTexts) ?? near[0];
  if (!best) return characterEnd(text, from);
  return best.at + (/^\s/.test(best.after) ? 1 : 0);
}

const isBetweenTexts = ({ before, after, isBetweenWords }: Boundary): boolean =>
  isBetweenWords || /\s$/.test(before) || /^\s/.test(after);

/** Segments a window only: one character can have a million combining marks. */
function boundariesAround(text: string, place: number) {
  const first = Math.max(0, place - windowCharacters);
  const segments = [...wordSegmenter.segment(text.slice(first, place + windowCharacters))];
  return segments.slice(1).map(({ index, segment, isWordLike }, before) => ({
    at: first + index,
    before: segments[before]?.segment ?? "",
    after: segment,
    isBetweenWords: isWordLike === true && segments[before]?.isWordLike === true,
  }));
}
