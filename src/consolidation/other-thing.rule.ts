/** What of a memory tells whether another one is about another thing. */
export interface ToldThing {
  readonly text: string;
  /** Its words as the index has them: stems, without stop words. */
  readonly terms: readonly string[];
}

/** What follows whom a sentence is about: in the languages that put it there, the verb. */
const verbs = [
  /(?:^|[\s,(])(?:the|this|our|der|die|l['’]|el|la|il|o|a|de) ?(?:user|customer|client|person|nutzer|nutzerin|utilisateur|utilisatrice|usuari[oa]|utente|gebruiker)\s+(\p{L}+)/giu,
  /^(\p{Lu}\p{L}*)\s+(\p{L}+)/gu,
];

/**
 * Whether two statements are the same but for one thing: "The user plays the harp", "The user plays the drums". Each has one
 * word that the other has not, and it is not the verb: "enjoys" may well stand for "likes".
 *
 * It may be another word for the same thing ("flat", "apartment"); then two memories stay that could be one. Taken for one
 * the other way round, a memory would be lost, and such pairs are by far the most that are alike.
 */
export function isOtherThing(one: ToldThing, other: ToldThing): boolean {
  const mine = one.terms.filter((term) => !other.terms.includes(term));
  const its = other.terms.filter((term) => !one.terms.includes(term));
  const [word, instead] = [mine[0], its[0]];
  if (mine.length !== 1 || its.length !== 1 || word === undefined || instead === undefined) return false;
  if (isFormOf(word, instead)) return false;
  return !(isVerb(word, one.text) && isVerb(instead, other.text));
}

/** Whether two stems are of one word, which the index did not see: "alp" and "alpin". */
function isFormOf(one: string, other: string): boolean {
  const letters = Math.max(3, Math.min(one.length, other.length) - 1);
  return one.slice(0, letters) === other.slice(0, letters);
}

function isVerb(term: string, text: string): boolean {
  const found = verbs.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match.at(-1) ?? ""));
  return found.some((word) => isFormOf(term, word.toLowerCase()));
}
