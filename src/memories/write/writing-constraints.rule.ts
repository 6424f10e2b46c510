import { sentencesOf, wholeSentences } from "../../text/cut-text.js";
import { readsAsInstruction } from "../../text/reads-as-instruction.js";
import { hasWords, visibleText } from "../../text/storable-text.js";
import type { MemoryKind, MemoryTrust } from "../item/memory.js";
import { type MemoryWords, screenedNames, wordsIn } from "../item/memory-fields.js";

/**
 * Pronouns that begin a sentence and are no name or word of another language, as "Ella", "On" and "Han" are.
 */
const anywhere = [
  "i['’](?:m|ve|d|ll)|my|we['’](?:re|ve|d|ll)|our|you|your|his|she|its?|they|their|this|that",
  "ich|wir|sie|meine?|él|ellos|ellas|nosotr[oa]s|ele|eles|elas|nós|nous|ils|elles|noi|ik|hij|zij|wij|jeg|minä|hän|én|tôi|saya|mereka|onlar|anh ấy|cô ấy",
  "я|он|она|они|оно|мы|мой|моя|мои|аз|тя|він|вона|вони|ми|εγώ|αυτός|αυτή|אני|הוא|היא|אנחנו|أنا|نحن|هو|هي|मैं|हम",
].join("|");
const pronoun = new RegExp(`^(?:${anywhere})(?![\\p{L}\\p{M}\\p{N}-])`, "iu");

/** Pronouns that are also other words, with what follows them as pronouns. */
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

/** A pronoun after reported speech: "The user said he likes tea". */
const reported =
  /\b(?:said|says|told|mentioned|mentions|stated|states|explained|reported|claimed|claims|admitted|confirmed)\s(?:(?:me|us|the\s(?:user|assistant))\s)?(?:that\s)?(?:he|she|they|i|we)(?:['’]\w+)?\s/i;

/** False where it is not sure. */
function hasPronounSubject(sentence: string): boolean {
  const begun = sentence.replace(/^[\s"'“„«¿¡([-]+/u, "");
  return pronoun.test(begun) || beside.some((pattern) => pattern.test(begun)) || reported.test(sentence);
}

/** Two sentences of a fact, a lesson of a note; an episode and steps hold more. */
export const maxCharacters: Readonly<Record<MemoryKind, number>> = {
  fact: 280,
  insight: 280,
  note: 200,
  episode: 600,
  procedure: 4_000,
};

/** More sentences are several memories. Steps are no sentences. */
const mostSentences: Readonly<Record<MemoryKind, number>> = {
  fact: 2,
  insight: 2,
  note: 4,
  episode: 2,
  procedure: Number.POSITIVE_INFINITY,
};

export const writingProblemNames = [
  "empty",
  "too_long",
  "too_many_sentences",
  "pronoun_subject",
  "instruction",
  "not_steps",
] as const;

/** Why a text may not be stored. "instruction" comes from `memoryInstructs`. */
export type WritingProblem = (typeof writingProblemNames)[number];

/** `problems` in sentences that say what to do. */
export function problemSentences(kind: MemoryKind, problems: readonly WritingProblem[]): string {
  const sentences: Readonly<Record<WritingProblem, string>> = {
    empty: "The text has no words: say what is to be remembered.",
    too_long: `The first sentence has more than ${maxCharacters[kind]} characters: write it shorter.`,
    too_many_sentences: `The text has more than ${mostSentences[kind]} sentences: write several memories.`,
    pronoun_subject: 'A pronoun is the subject of a sentence: name it, as in "The user likes tea."',
    instruction: "The text reads as instructions to a model.",
    not_steps: 'The text is not numbered steps: write one on each line, from "1. " on.',
  };
  return problems.map((problem) => sentences[problem]).join(" ");
}

/** Kinds that are read out of context: a pronoun in them is nobody. */
const namesItsSubject = (kind: MemoryKind) => kind === "fact" || kind === "insight";

/** Empty for a text in the third person, short, without a pronoun as the subject of any sentence. */
export function writingProblems(kind: MemoryKind, text: string): Exclude<WritingProblem, "instruction">[] {
  const trimmed = text.trim();
  if (!hasWords(trimmed)) return ["empty"];
  // Patterns are slow on long texts.
  if (trimmed.length > maxCharacters[kind]) return ["too_long"];
  if (kind === "procedure") return /^[ \t]{0,20}1[.)][ \t]{1,20}\S/m.test(trimmed) ? [] : ["not_steps"];
  const sentences = sentencesOf(trimmed);
  return [
    ...(sentences.length > mostSentences[kind] ? (["too_many_sentences"] as const) : []),
    ...(namesItsSubject(kind) && sentences.some(hasPronounSubject) ? (["pronoun_subject"] as const) : []),
  ];
}

/**
 * The whole sentences that fit the kind's limits, before a later sentence with a pronoun as its subject; null
 * when not even the first fits.
 */
export function trimToLength(kind: MemoryKind, text: string): string | null {
  const trimmed = visibleText(text).trim();
  if (trimmed.length <= maxCharacters[kind]) return firstSentences(kind, trimmed);
  const whole = wholeSentences(trimmed, maxCharacters[kind]);
  return whole === undefined ? null : firstSentences(kind, whole);
}

/** The end of `text` that `trimToLength` cut off. */
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

/** Kinds that hold quotes or orders by nature. */
const holdOrders: ReadonlySet<MemoryKind> = new Set(["procedure", "episode", "note"]);

/**
 * Whether a part that agents see reads as instructions to a model. Users may say how they want to be served:
 * their words count only about prompts, secrets, tools or other users.
 */
export function memoryInstructs(
  memory: MemoryWords & { readonly kind: MemoryKind; readonly trust: MemoryTrust },
): boolean {
  const screening = { orders: holdOrders.has(memory.kind), ofUser: memory.trust === "user" };
  return wordsIn(memory, screenedNames).some((words) => readsAsInstruction(words, screening));
}
