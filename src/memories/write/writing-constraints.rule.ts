import { sentencesOf, wholeSentences } from "../../text/cut-text.js";
import { readsAsInstruction } from "../../text/reads-as-instruction.js";
import { hasWords, visibleText } from "../../text/storable-text.js";
import type { MemoryKind, MemoryTrust } from "../item/memory.js";
import { type MemoryWords, screenedNames, wordsIn } from "../item/memory-fields.js";

/**
 * Pronouns with which a sentence of some language begins, where no name and no word of another language is written so:
 * "Ella", "On", "Ben" and "Han" are names and words as well, and are not here.
 */
const anywhere = [
  "i['’](?:m|ve|d|ll)|my|we['’](?:re|ve|d|ll)|our|you|your|his|she|its?|they|their|this|that",
  "ich|wir|sie|meine?|él|ellos|ellas|nosotr[oa]s|ele|eles|elas|nós|nous|ils|elles|noi|ik|hij|zij|wij|jeg|minä|hän|én|tôi|saya|mereka|onlar|anh ấy|cô ấy",
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
  // An article in Italian.
  /^il\s(?:n['’]|ne|est|a|aime|adore|habite|vit|veut|parle|travaille|préfère|déteste|mange|boit|utilise)(?!\p{L})/iu,
  // "Ella", "Elle" and "Han" are names, "dia" is a day.
  /^elle\s(?:n['’]|ne|est|a|aime|adore|habite|vit|veut|parle|travaille|préfère|déteste|mange|boit|utilise)(?!\p{L})/iu,
  /^ella\s(?:no|es|tiene|vive|quiere|habla|trabaja|prefiere|odia|come|bebe|usa|le)(?!\p{L})/iu,
  /^(?:lui|lei)\s(?:non|è|ha|vive|ama|abita|vuole|parla|lavora|preferisce|odia|mangia|beve|usa)(?!\p{L})/iu,
  /^ze\s(?:is|heeft|woont|werkt|houdt|wil|kan|eet|drinkt|spreekt|zijn|hebben|wonen)(?!\p{L})/iu,
  /^(?:han|hun|hon|hen)\s(?:er|är|bor|har|vil|vill|kan|elsker|älskar|liker|gillar|arbejder|arbetar|jobber|spiser|äter|drikker|dricker)(?!\p{L})/iu,
  /^on[aio]?\s(?:nie|jest|ma|lubi|mieszka|pracuje|woli|chce|mówi|je|pije|są|mają)(?!\p{L})/iu,
  /^dia\s(?:tidak|adalah|suka|tinggal|bekerja|memiliki|punya|ingin|lebih)(?!\p{L})/iu,
  /^(?:私|わたし|僕|ぼく|俺)(?:は|が|の|も|たち)|^彼(?:は|が|らは|らが)/u,
  // "他加禄语" is a language, "我孙子市" a town.
  /^(?:[你您她]|[我他它](?:们|們|[的是在有住说說想要会會喜爱愛讨討不也很从從曾吃喝叫]))/u,
  /^(?:나|저|우리)는\s|^(?:내|제)가\s|^그(?:녀)?는\s|^그들은\s/u,
];

/** Who says something, and then a pronoun in the place of the name: "The user said he likes tea". */
const reported =
  /\b(?:said|says|told|mentioned|mentions|stated|states|explained|reported|claimed|claims|admitted|confirmed)\s(?:(?:me|us|the\s(?:user|assistant))\s)?(?:that\s)?(?:he|she|they|i|we)(?:['’]\w+)?\s/i;

/**
 * Whether a pronoun is the subject of `sentence`, at its beginning or, in English, where it tells what someone said. A
 * sentence of which it is not sure has none.
 */
function hasPronounSubject(sentence: string): boolean {
  const begun = sentence.replace(/^[\s"'“„«¿¡([-]+/u, "");
  return pronoun.test(begun) || beside.some((pattern) => pattern.test(begun)) || reported.test(sentence);
}

/** Longest text of each kind, in characters. Two sentences of a fact, a lesson of a note; episodes and steps hold more than one sentence's worth. */
export const maxCharacters: Readonly<Record<MemoryKind, number>> = {
  fact: 280,
  insight: 280,
  note: 200,
  episode: 600,
  procedure: 4_000,
};

/** Most sentences of each kind: what is told in more is several memories. Steps are no sentences. */
const mostSentences: Readonly<Record<MemoryKind, number>> = {
  fact: 2,
  insight: 2,
  note: 4,
  episode: 2,
  procedure: Number.POSITIVE_INFINITY,
};

/** Why a text may not be stored as it is; "instruction" is found by `memoryInstructs`. */
export const writingProblemNames = [
  "empty",
  "too_long",
  "too_many_sentences",
  "pronoun_subject",
  "instruction",
  "not_steps",
] as const;

/** Why a text may not be stored as it is. */
export type WritingProblem = (typeof writingProblemNames)[number];

/** Kinds that are read without what was said around them: a pronoun in them is nobody. */
const namesItsSubject = (kind: MemoryKind) => kind === "fact" || kind === "insight";

/**
 * What is wrong with `text` as a memory of `kind`; empty when nothing is.
 *
 * Self-contained, third person, no pronoun as the subject of any sentence, few sentences, short.
 */
export function writingProblems(kind: MemoryKind, text: string): Exclude<WritingProblem, "instruction">[] {
  const trimmed = text.trim();
  if (!hasWords(trimmed)) return ["empty"];
  // Nothing else is asked of it: patterns take their time.
  if (trimmed.length > maxCharacters[kind]) return ["too_long"];
  if (kind === "procedure") return /^[ \t]{0,20}1[.)][ \t]{1,20}\S/m.test(trimmed) ? [] : ["not_steps"];
  const sentences = sentencesOf(trimmed);
  return [
    ...(sentences.length > mostSentences[kind] ? (["too_many_sentences"] as const) : []),
    ...(namesItsSubject(kind) && sentences.some(hasPronounSubject) ? (["pronoun_subject"] as const) : []),
  ];
}

/**
 * `text`, visible, cut after the last whole sentence that the kind's length and number of sentences leave room for, and
 * before one whose subject is a pronoun, the first excepted; null when not even one sentence fits.
 */
export function trimToLength(kind: MemoryKind, text: string): string | null {
  const trimmed = visibleText(text).trim();
  if (trimmed.length <= maxCharacters[kind]) return firstSentences(kind, trimmed);
  const whole = wholeSentences(trimmed, maxCharacters[kind]);
  return whole === undefined ? null : firstSentences(kind, whole);
}

/** What `trimToLength` has cut off `text`, of which it made `kept`; empty where that is all of it. */
export function cutOff(text: string, kept: string): string {
  const whole = visibleText(text).trim();
  return whole.startsWith(kept) ? whole.slice(kept.length).trim() : "";
}

function firstSentences(kind: MemoryKind, text: string): string {
  if (kind === "procedure") return text;
  const sentences = sentencesOf(text);
  const vague = namesItsSubject(kind)
    ? sentences.findIndex((each, index) => index > 0 && hasPronounSubject(each))
    : -1;
  const kept = Math.min(mostSentences[kind], vague < 0 ? sentences.length : vague);
  return kept === sentences.length ? text : sentences.slice(0, kept).join("").trim();
}

/** Kinds that quote or are orders by nature: steps, lessons, what was said in a stretch of turns. */
const holdOrders: ReadonlySet<MemoryKind> = new Set(["procedure", "episode", "note"]);

/**
 * Whether any part of a memory that agents are shown reads as instructions to a model. Of users' own words that is only
 * what is about prompts, secrets, tools or other users: how they want to be served is theirs to say.
 */
export function memoryInstructs(
  memory: MemoryWords & { readonly kind: MemoryKind; readonly trust: MemoryTrust },
): boolean {
  const screening = { orders: holdOrders.has(memory.kind), ofUser: memory.trust === "user" };
  return wordsIn(memory, screenedNames).some((words) => readsAsInstruction(words, screening));
}
