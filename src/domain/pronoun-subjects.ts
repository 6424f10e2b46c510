/**
 * Pronouns with which a sentence of some language begins, where no name and no word of another language is written so:
 * "Ella", "On", "Ben" and "Han" are names and words as well, and are not here.
 */
const anywhere = [
  "i['’](?:m|ve|d|ll)|my|we['’](?:re|ve|d|ll)|our|you|your|his|she|its?|they|their|this|that",
  "ich|wir|sie|meine?|él|ellos|ellas|nosotr[oa]s|ele|eles|elas|nós|nous|ils|elles|noi|ik|hij|zij|wij|jeg|minä|hän|én|tôi|saya|onlar",
  "я|он|она|они|оно|мы|мой|моя|мои|аз|тя|він|вона|вони|ми|εγώ|αυτός|αυτή|אני|הוא|היא|אנחנו|أنا|نحن|هو|هي|मैं|हम",
].join("|");
const pronoun = new RegExp(`^(?:${anywhere})(?![\\p{L}\\p{M}\\p{N}-])`, "iu");

/** Those that are other words too, with what stands after them where they are pronouns. */
const beside: readonly RegExp[] = [
  // A surname, a band.
  /^[Hh]e(?:['’]|\s(?!\p{Lu}\p{Ll}))/u,
  /^[Yy]o\s\p{Ll}/u,
  // An article in Italian, a preposition in the languages of the north and in Polish; "her" is "here" in Danish.
  /^(?:I|her|we)\s(?!.*(?<!\p{L})(?:della?|dei|degli|di|che|sono|hanno|dell['’]\p{L}+|og|och|er|är|på|som|bor|arbejder|brug(?:t|ere?n)|brukere?n|användaren|w|się|jest|mieszka|użytkowni\p{L}+|su|se)(?!\p{L}))/isu,
  /^Eu\s/u,
  /^er\s(?:ist|hat|war|mag|wohnt|lebt|arbeitet|trinkt|isst|liebt|möchte|will|kann|heißt|spielt|hasst|plant|lernt|spricht|fährt|geht)(?!\p{L})/iu,
  /^je\s(?:suis|ne|me|vais|veux|peux|dois|fais|travaille|vis|viens|pense|crois|préfère|mange|bois|parle|déteste|cherche|voudrais)(?!\p{L})/iu,
  /^j['’](?:ai|aime|habite|adore|étais|écris|utilise|apprends|évite)(?!\p{L})/iu,
  /^io\s(?:sono|ho|vivo|amo|abito|lavoro|preferisco|non|mangio|bevo|parlo|odio|voglio|mi)(?!\p{L})/iu,
  /^jag\s(?:är|har|bor|gillar|heter|vill|kan|arbetar|jobbar|tycker|älskar|dricker|äter)(?!\p{L})/iu,
  /^(?:私|わたし|僕|ぼく|俺)(?:は|が|の|も|たち)|^彼(?:は|が|らは|らが)/u,
  /^(?:나|저|우리)는\s|^(?:내|제)가\s|^그(?:녀)?는\s|^그들은\s/u,
];

/** Who says something, and then a pronoun in the place of the name: "The user said he likes tea". */
const reported =
  /\b(?:said|says|told|mentioned|mentions|stated|states|explained|reported|claimed|claims|admitted|confirmed)\s(?:(?:me|us|the\s(?:user|assistant))\s)?(?:that\s)?(?:he|she|they|i|we)(?:['’]\w+)?\s/i;

/**
 * Whether a pronoun is the subject of `sentence`, at its beginning or, in English, where it tells what someone said. A
 * sentence of which it is not sure has none.
 */
export function hasPronounSubject(sentence: string): boolean {
  const begun = sentence.replace(/^[\s"'“„«¿¡([-]+/u, "");
  return pronoun.test(begun) || beside.some((pattern) => pattern.test(begun)) || reported.test(sentence);
}
