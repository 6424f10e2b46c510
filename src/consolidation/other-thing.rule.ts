export interface ToldThing {
  readonly text: string;
  /** Indexed words: stems without stop words. */
  readonly terms: readonly string[];
}

/** The word after the subject: the verb, in languages that put it there. */
const verbs = [
  /(?:^|[\s,(])(?:the|this|our|der|die|l['’]|el|la|il|o|a|de) ?(?:user|customer|client|person|nutzer|nutzerin|utilisateur|utilisatrice|usuari[oa]|utente|gebruiker)\s+(\p{L}+)/giu,
  /^(\p{Lu}\p{L}*)\s+(\p{L}+)/gu,
];

/**
 * Whether two statements differ in one thing: "The user plays the harp", "The user plays the drums". Each has one word
 * of its own, and not the verb: "enjoys" may replace "likes".
 *
 * Where it is a synonym ("flat", "apartment"), two memories stay that could be one. The other error would lose a
 * memory, and most similar pairs are of this kind.
 */
export function isOtherThing(one: ToldThing, other: ToldThing): boolean {
  const mine = one.terms.filter((term) => !other.terms.includes(term));
  const its = other.terms.filter((term) => !one.terms.includes(term));
  const [word, instead] = [mine[0], its[0]];
  if (mine.length !== 1 || its.length !== 1 || word === undefined || instead === undefined) return false;
  if (isFormOf(word, instead)) return false;
  return !(isVerb(word, one.text) && isVerb(instead, other.text));
}

/** Stems of one word that the index kept apart: "alp" and "alpin". */
function isFormOf(one: string, other: string): boolean {
  const letters = Math.max(3, Math.min(one.length, other.length) - 1);
  return one.slice(0, letters) === other.slice(0, letters);
}

function isVerb(term: string, text: string): boolean {
  const found = verbs.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match.at(-1) ?? ""));
  return found.some((word) => isFormOf(term, word.toLowerCase()));
}
