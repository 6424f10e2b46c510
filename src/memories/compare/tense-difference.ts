import type { ReadWord } from "./statement-numbers.js";

/** Past or future endings of regular verbs, each with its present, as `plainWords` writes them. */
const endings = endingsOf(`
  te t, ten en, de t, ade ar, ede er
  ait e, ait it, aient ent, era e, eront ent
  aba a, aban an, ara a, aran an, ia e, ian en, eran en, ira e, iran en
  ava a, avam am, iam em, ou a, avano ano, evano ono, eva e, iva e, era a
  owal uje, owala uje, al a, ala a, al uje, il i, ila i, yl y, yla y, oval uje, ovala uje
  ал ает, ала ает, ил ит, ила ит, ял яет, яла яет, ел еет, ела еет, ав ає, ала ає, ив ить, ила ить
  yordu yor, acak iyor, ecek iyor, acak uyor, ecek uyor, acak ar, ecek er, di iyor, ti iyor, du uyor, tu uyor`);

/** Irregular English verbs: the present, then the other forms. */
const irregular: ReadonlyMap<string, string> = new Map(
  `
  be am is are was were been, begin began begun, bite bit bitten, blow blew blown, break broke broken,
  bring brought, build built, buy bought, catch caught, choose chose chosen, come came, deal dealt, do did done,
  draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feel felt,
  fight fought, find found, fly flew flown, forget forgot forgotten, forgive forgave forgiven,
  freeze froze frozen, get got gotten, give gave given, go went gone, grow grew grown, have had has, hear heard,
  hide hid hidden, hold held, keep kept, know knew known, lead led, leave left, lend lent, lose lost, make made,
  mean meant, meet met, pay paid, ride rode ridden, ring rang rung, rise rose risen, run ran, say said,
  see saw seen, sell sold, send sent, shake shook shaken, shoot shot, show shown, sing sang sung, sit sat,
  sleep slept, speak spoke spoken, spend spent, stand stood, steal stole stolen, swim swam swum, take took taken,
  teach taught, tell told, think thought, throw threw thrown, understand understood, wake woke woken,
  wear wore worn, win won, write wrote written`
    .trim()
    .split(/,\s+/)
    .flatMap((verb) => {
      const [base = "", ...others] = verb.split(" ");
      return others.map((form) => [form, base] as const);
    }),
);

const shortestStem = 3;

function endingsOf(table: string): readonly (readonly [other: string, present: string])[] {
  return table
    .split(/[\n,]/)
    .map((pair) => pair.trim().split(" "))
    .flatMap(([other = "", present = ""]) => (present === "" ? [] : [[other, present] as const]));
}

/** Words that put a whole statement into the future or the past. */
const auxiliaries: ReadonlySet<string> = new Set(
  "will would shall wird werden wurde wurden bedzie beda bude budou будет будут буде будуть".split(" "),
);

/** "Can cook" and "will cook" differ, but not in tense. */
const modals: ReadonlySet<string> = new Set("can could should must may might".split(" "));

/** Words that mark French, where "a" is a verb. */
const french: ReadonlySet<string> = new Set("l' d' utilisateur utilisatrice elle qu' chez est".split(" "));

/** Only accents, which `plainWords` removes, tell "a travaillé" from "travaille". */
const frenchPast: ReadonlySet<string> = new Set(["a"]);

/** Pairs of words that are compared: statements that differ in more say different things anyway. */
const mostPairs = 10_000;

/** Whether the words that only one has differ in tense: "drank", "drinks"; "wird arbeiten", "arbeitet". */
export function differInTense(
  left: readonly ReadWord[],
  right: readonly ReadWord[],
  all: readonly ReadWord[],
): boolean {
  return (
    left.length * right.length > mostPairs ||
    left.some(({ plain }) =>
      right.some((word) => isOtherTenseOf(plain, word.plain) || isOtherTenseOf(word.plain, plain)),
    ) ||
    (hasAny(left, auxiliaries) !== hasAny(right, auxiliaries) && !hasAny([...left, ...right], modals)) ||
    (hasAny(left, frenchPast) !== hasAny(right, frenchPast) && hasAny(all, french))
  );
}

function hasAny(words: readonly ReadWord[], group: ReadonlySet<string>): boolean {
  return words.some(({ plain }) => group.has(plain));
}

function isOtherTenseOf(other: string, present: string): boolean {
  return (
    isPastOf(other, present) ||
    endings.some(([end, now]) => {
      const stem = other.slice(0, -end.length);
      return stem.length >= shortestStem && other.endsWith(end) && present === stem + now;
    })
  );
}

function isPastOf(past: string, present: string): boolean {
  const bases = [
    present,
    present.replace(/s$/, ""),
    present.replace(/es$/, ""),
    present.replace(/ies$/, "y"),
  ];
  const base = irregular.get(past);
  if (base !== undefined) return !irregular.has(present) && bases.includes(base);
  if (!past.endsWith("ed") || present.endsWith("ed")) return false;
  const stems = [
    past.slice(0, -1),
    past.slice(0, -2),
    past.replace(/(.)\1ed$/, "$1"),
    past.replace(/ied$/, "y"),
  ];
  return stems.some((stem) => bases.includes(stem));
}
