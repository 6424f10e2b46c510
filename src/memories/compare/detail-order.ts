import { plainWords } from "../../text/plain-words.js";
import { detailVocabulary } from "./detail-readings.js";
import type { ReadWord } from "./statement-numbers.js";

/**
 * Whether things that both statements count are counted otherwise: "2 cats and 3 dogs" and "3 cats and 2 dogs", "two
 * sons and one daughter" and "one son and two daughters".
 */
export function countedThingsDiffer(one: readonly ReadWord[], other: readonly ReadWord[]): boolean {
  const known = countsOf(other);
  return [...countsOf(one)].some(([thing, counts]) => {
    const others = known.get(thing);
    if (!others) return false;
    const isSure = [...counts.values(), ...others.values()].some((sure) => sure);
    return isSure && [...counts.keys()].every((count) => !others.has(count));
  });
}

/** The numbers before each word, and whether each is surely one. */
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

/** A word without the ending that its plural most often has. */
function singular(plain: string): string {
  return plain.length > 3 ? plain.replace(/(?:es|en|er|[snei])$/u, "") : plain;
}

/**
 * Whether two statements of the same words may say them of each other otherwise: "swapped" where details have changed
 * places, as in "Anna manages Bo" and "Bo manages Anna", "the left knee and the right hip", "tea and not coffee"; "moved"
 * where they come one after another as before, beside other words: "yoga on Monday and tennis on Tuesday" and "tennis on
 * Monday and yoga on Tuesday", but also "after work the user talks with Anna about tea" and "the user talks about tea with
 * Anna after work".
 *
 * A word is in its place where the two before or the two after it are the same, so parts of a sentence may move.
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

/** The details of one kind that are not in their place, where there are several, and negations. */
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

/** Words that say nothing of what is told: a statement is the same with and without them. */
const articles: ReadonlySet<string> = new Set(
  `the a an der die das den dem des ein eine einen einem einer le la les l' un une el los las una uno o os as um uma il lo gli i
  het de een en ett`.split(/\s+/),
);

export function isArticle({ plain }: ReadWord): boolean {
  return articles.has(plain);
}

/** What joins things of which neither comes first. */
const joining: ReadonlySet<string> = new Set(
  "and or & und oder et ou y e o en of og eller och i oraz lub и или и_то ve veya و أو 和 と"
    .split(" ")
    .map((word) => plainWords(word)),
);

/**
 * Whether two statements of the same words have exchanged two parts around what stays between them, as "prefers tea to
 * coffee" and "prefers coffee to tea" have. A part that moved as a whole ("on Mondays", at either end) is no exchange, nor
 * are two that "and" joins.
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
  // What both begin or end with may be of what was exchanged: "the user is taller than the user's brother".
  return [begun, 0].some((start) =>
    [ended, 0].some((end) =>
      isExchange(one.slice(start, one.length - end), other.slice(start, other.length - end)),
    ),
  );
}

/** Whether `theirs` is the end of `mine`, what was between, and its beginning. */
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

/** Words beyond which parts are not looked for: a statement has fewer. */
const mostExchanged = 30;

function isSameOrder(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, at) => word === other[at]);
}

/** Small words of English that turn who does what to whom, or whether it is so; each group is of one kind. */
const turning: readonly ReadonlySet<string>[] = [
  "with for from by to before after during without against",
  "can could should must may might will would",
  "all some most many few none",
].map((words) => new Set(words.split(" ")));

/**
 * Whether statements that differ in `one` and `other` do so in a small word that turns what is said: "adopted by Kim" and
 * "adopted Kim", "works with Kim" and "works for Kim", "can cook" and "will cook".
 */
export function areTurned(one: readonly ReadWord[], other: readonly ReadWord[]): boolean {
  const has = (words: readonly ReadWord[], group: ReadonlySet<string>) =>
    words.some(({ plain }) => group.has(plain));
  const isPassive = [one, other].filter((words) => words.some(({ plain }) => plain === "by")).length === 1;
  return isPassive || turning.some((group) => has(one, group) && has(other, group));
}

/** Words before a name that says where or with whom, and may stand anywhere. */
const besideNames = new Set(
  "in at on near with from to for by bei mit en chez avec con com bij med v w z".split(" "),
);

/**
 * Whether two names stand in another order, with words that are not the same: "Anna manages Bo" and "Bo is managing Anna".
 * Names that "and" joins, and that a preposition leads, may stand anywhere.
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

/** How statements name whom they are about. */
const theUser: ReadonlySet<string> = new Set(
  ["user", "nutzer", "benutzer", "utilisateur", "usuario", "utente", "gebruiker", "пользователь", "用户"].map(
    (name) => plainWords(name),
  ),
);

/** What stands around a word, either way: two words before it, two after it, the month of a number. */
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
