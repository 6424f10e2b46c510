/** Scripts that stand for languages, those of one way of writing together. */
const scripts: readonly (readonly [name: string, letters: RegExp])[] = [
  ["latin", /\p{Script=Latin}/gu],
  ["cyrillic", /\p{Script=Cyrillic}/gu],
  ["greek", /\p{Script=Greek}/gu],
  ["arabic", /\p{Script=Arabic}/gu],
  ["hebrew", /\p{Script=Hebrew}/gu],
  ["chinese", /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Bopomofo}/gu],
  ["korean", /\p{Script=Hangul}/gu],
  ["thai", /\p{Script=Thai}/gu],
  ["devanagari", /\p{Script=Devanagari}/gu],
];

/** Letters from which on a script is that of a text, and not of a name or a word in it. */
const leastLetters = 8;

/**
 * Whether `text` is written in none of the letters in which `source` is, so that it cannot be of its language. Where the
 * source is short, or mixes scripts, nothing is said of it.
 */
export function leavesScript(source: string, text: string): boolean {
  const counted = scripts.map(([, letters]) => [source.match(letters)?.length ?? 0, letters] as const);
  const all = counted.reduce((sum, [count]) => sum + count, 0);
  const [most, letters] = counted.toSorted(([one], [other]) => other - one)[0] ?? [0, /$/g];
  if (most < leastLetters || most < 0.9 * all) return false;
  return (text.match(/\p{L}/gu)?.length ?? 0) >= leastLetters && text.match(letters) === null;
}
