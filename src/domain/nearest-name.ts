/**
 * The one of `known` that `name` was probably meant to be: the same but for case and separators, or a few slips away, or
 * one that begins with it; null when none is near.
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  const typed = bare(name);
  if (typed === "" || typed.length > mostCharacters) return null;
  const near = known
    .map((other) => ({ other, slips: slipsBetween(typed, bare(other)) }))
    .filter(({ other, slips }) => slips <= mostSlips(typed, bare(other)))
    .sort((one, two) => one.slips - two.slips);
  return near[0]?.other ?? known.find((other) => isHalf(typed, bare(other))) ?? null;
}

/** No name is longer, and comparing takes the square of it. */
const mostCharacters = 60;

/** `user_id`, `userId` and `User-ID` are one name to who types. */
function bare(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/** A slip in three letters, so that short names are not taken for each other. */
function mostSlips(typed: string, other: string): number {
  return Math.floor(Math.max(typed.length, other.length) / 3);
}

/** "filter" of "filters", "max" of "maxAttempts": one begins with all of the other. */
function isHalf(typed: string, other: string): boolean {
  const [short, long] = typed.length < other.length ? [typed, other] : [other, typed];
  return short.length >= 3 && long.startsWith(short);
}

/** Letters dropped, added, changed, or two next to each other swapped. */
function slipsBetween(one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = (last[j - 1] as number) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = swapped ? (before[j - 2] as number) + 1 : change;
      row.push(Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, change, swap));
    }
    [before, last] = [last, row];
  }
  return last[other.length] as number;
}
