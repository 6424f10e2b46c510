import { plainWords } from "../../text/plain-words.js";
import { detailVocabulary } from "./detail-readings.js";
import type { ReadWord } from "./statement-numbers.js";

/** Whether they count the same things differently: "2 cats and 3 dogs" and "3 cats and 2 dogs". */
export function countedThingsDiffer(one: readonly ReadWord[], other: readonly ReadWord[]): boolean {
  const known = countsOf(other);
  return [...countsOf(one)].some(([thing, counts]) => {
    const others = known.get(thing);
    if (!others) return false;
    const isSure = [...counts.values(), ...others.values()].some((sure) => sure);
    return isSure && [...counts.keys()].every((count) => !others.has(count));
  });
}

function countsOf(words: readonly ReadWord[]): Map<string, Map<string, boolean>> {
  const counts = new Map<string, Map<string, boolean>>();
  for (const [at, { plain }] of words.entries()) {
    const readings = words[at - 1]?.readings.filter(({ kind }) => kind === "number") ?? [];
    // "One" is as often an article, but an article has no other number.
    const before = readings.find(({ weak, value }) => !weak || value === "1");
    if (!before) continue;
    const thing = singular(plain);
    counts.set(thing, (counts.get(thing) ?? new Map<string, boolean>()).set(before.value, !before.weak));
  }
  return counts;
}

function singular(plain: string): string {
  return plain.length > 3 ? plain.replace(/(?:es|en|er|[snei])$/u, "") : plain;
}

/**
 * How two statements of the same words differ in order. "swapped": details changed places ("Anna manages Bo",
 * "Bo manages Anna"). "moved": details kept their order but not their neighbours ("yoga on Monday and tennis
 * on Tuesday", with the sports exchanged), which is often harmless. Null: neither.
 *
 * A word is in its place where the two words before it, or after it, are the same.
 */
export function saysOtherwise(
  one: readonly ReadWord[],
  other: readonly ReadWord[],
): "swapped" | "moved" | null {
  if (one.every(({ plain }, at) => plain === other[at]?.plain)) return null;
  const names = new Set([...one, ...other].filter(isName).map(({ plain }) => plain));
  const moved = new Set([...movedDetails(one, other, names), ...movedDetails(other, one, names)]);
  if (moved.size === 0) return null;
  const inOrder = [one, other].map((words) =>
    words.flatMap(({ plain }) => (moved.has(plain) ? plain : [])).join(" "),
  );
  const { negating, alsoNegating } = detailVocabulary();
  const isNegated = [...moved].some((plain) => negating.has(plain) || alsoNegating.has(plain));
  return isNegated || inOrder[0] !== inOrder[1] ? "swapped" : "moved";
}

/** Details that are out of place, where several of one kind are, and negations. */
function movedDetails(
  one: readonly ReadWord[],
  other: readonly ReadWord[],
  names: ReadonlySet<string>,
): string[] {
  const places = new Set(other.flatMap((_, at) => placesOf(other, at)));
  const moved = new Map<string, Set<string>>();
  for (const [at, word] of one.entries()) {
    if (placesOf(one, at).some((place) => places.has(place))) continue;
    const kinds = names.has(word.plain) ? ["name"] : kindsOf(word);
    for (const kind of kinds) moved.set(kind, (moved.get(kind) ?? new Set()).add(word.plain));
  }
  return [...moved].flatMap(([kind, words]) => (kind === "negation" || words.size > 1 ? [...words] : []));
}

/** A statement says the same with and without them. */
const articles: ReadonlySet<string> = new Set(
  `the a an der die das den dem des ein eine einen einem einer le la les l' un une el los las una uno o os as um uma il lo gli i
  het de een en ett`.split(/\s+/),
);

export function isArticle({ plain }: ReadWord): boolean {
  return articles.has(plain);
}

/** Joins things in no order. */
const joining: ReadonlySet<string> = new Set(
  "and or & und oder et ou y e o en of og eller och i oraz lub и или и_то ve veya و أو 和 と"
    .split(" ")
    .map((word) => plainWords(word)),
);

/**
 * Whether two parts changed places around the words between: "prefers tea to coffee". A part that moved alone
 * does not count, nor do parts joined by "and".
 */
export function areExchanged(first: readonly ReadWord[], second: readonly ReadWord[]): boolean {
  const plain = (words: readonly ReadWord[]) => words.map((word) => word.plain);
  const bare = (words: readonly ReadWord[]) => plain(words.filter((word) => !isArticle(word)));
  // Articles of one language are nouns of another: "thé" and "the".
  return holdExchange(plain(first), plain(second)) || holdExchange(bare(first), bare(second));
}

function holdExchange(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length || one.length > mostExchanged || isSameOrder(one, other)) return false;
  let begun = 0;
  while (begun < one.length && one[begun] === other[begun]) begun++;
  let ended = 0;
  while (ended < one.length - begun && one.at(-1 - ended) === other.at(-1 - ended)) ended++;
  // The exchanged parts may share what both begin or end with: "the user is taller than the user's brother".
  return [begun, 0].some((start) =>
    [ended, 0].some((end) =>
      isExchange(one.slice(start, one.length - end), other.slice(start, other.length - end)),
    ),
  );
}

function isExchange(mine: readonly string[], theirs: readonly string[]): boolean {
  for (let left = 1; left < mine.length - 1; left++) {
    for (let right = 1; left + right < mine.length; right++) {
      const between = mine.slice(left, mine.length - right);
      const turned = [...mine.slice(mine.length - right), ...between, ...mine.slice(0, left)];
      const parts = [...mine.slice(0, left), ...mine.slice(mine.length - right)];
      if (isSameOrder(turned, theirs) && !parts.every((word) => articles.has(word)))
        return !between.every((word) => joining.has(word));
    }
  }
  return false;
}

/** A statement has fewer words. */
const mostExchanged = 30;

function isSameOrder(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, at) => word === other[at]);
}

/** Small words that turn who does what to whom, or whether it is so. Groups are of one kind. */
const turning: readonly ReadonlySet<string>[] = [
  "with for from by to before after during without against",
  "can could should must may might will would",
  "all some most many few none",
].map((words) => new Set(words.split(" ")));

/** Whether the difference is a small word that turns the meaning: "adopted by Kim", "adopted Kim". */
export function areTurned(one: readonly ReadWord[], other: readonly ReadWord[]): boolean {
  const has = (words: readonly ReadWord[], group: ReadonlySet<string>) =>
    words.some(({ plain }) => group.has(plain));
  const isPassive = [one, other].filter((words) => words.some(({ plain }) => plain === "by")).length === 1;
  return isPassive || turning.some((group) => has(one, group) && has(other, group));
}

/** Words before a name that may be anywhere in a sentence. */
const besideNames = new Set(
  "in at on near with from to for by bei mit en chez avec con com bij med v w z".split(" "),
);

/**
 * Whether names are in another order: "Anna manages Bo", "Bo is managing Anna". Names after a preposition or
 * "and" may move.
 */
export function areNamesTurned(one: readonly ReadWord[], other: readonly ReadWord[]): boolean {
  const names = new Set(
    [...one, ...other].flatMap((word) => (isName(word) && !theUser.has(word.plain) ? word.plain : [])),
  );
  const namesOf = (words: readonly ReadWord[]) =>
    words.flatMap(({ plain }, at) => (names.has(plain) && !isMovable(words, at) ? plain : []));
  const [mine, theirs] = [namesOf(one), namesOf(other)];
  const shared = mine.filter((name) => theirs.includes(name));
  return !isSameOrder(
    shared,
    theirs.filter((name) => mine.includes(name)),
  );
}

function isMovable(words: readonly ReadWord[], at: number): boolean {
  const [before = "", after = ""] = [words[at - 1]?.plain, words[at + 1]?.plain];
  return joining.has(before) || joining.has(after) || besideNames.has(before);
}

function kindsOf({ plain, readings }: ReadWord): string[] {
  const { negating, alsoNegating } = detailVocabulary();
  const negation = negating.has(plain) || alsoNegating.has(plain) ? ["negation"] : [];
  return [...negation, ...new Set(readings.map(({ kind }) => kind))];
}

function isName({ kind, capital, initial, plain, readings }: ReadWord): boolean {
  return (kind === "word" && capital && !initial && readings.length === 0) || theUser.has(plain);
}

const theUser: ReadonlySet<string> = new Set(
  ["user", "nutzer", "benutzer", "utilisateur", "usuario", "utente", "gebruiker", "пользователь", "用户"].map(
    (name) => plainWords(name),
  ),
);

/** The neighbours of a word: two words before it, two after it, the month of a number. */
function placesOf(words: readonly ReadWord[], at: number): string[] {
  const [word, before, beforeThat, after, afterThat] = [0, -1, -2, 1, 2].map(
    (step) => words[at + step]?.plain,
  );
  return [
    ...(beforeThat === undefined ? [] : [`${beforeThat} ${before} | ${word}`]),
    ...(afterThat === undefined ? [] : [`${word} | ${after} ${afterThat}`]),
    // "5 May 1990" and "May 5, 1990"
    ...monthsBeside(words, at).map((month) => `${word} in ${month}`),
  ];
}

function monthsBeside(words: readonly ReadWord[], at: number): string[] {
  if (words[at]?.kind !== "number") return [];
  const beside = [...words.slice(Math.max(0, at - 2), at), ...words.slice(at + 1, at + 3)];
  return beside.flatMap(({ readings }) =>
    readings.flatMap(({ kind, value }) => (kind === "month" ? value : [])),
  );
}
