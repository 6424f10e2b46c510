import sql, { type Sql } from "sql-template-tag";
import { clipped, headAtWord, onOneLine } from "../../text/storable-text.js";
import type { MemoryItem } from "../item/memory.js";

/** What happened to a memory, as the delta header tells it. */
export const changeEvents = ["created", "updated", "merged", "deleted", "soft_deleted", "restored"] as const;

/** What happened to a memory, as the delta header tells it. */
export type ChangeEvent = (typeof changeEvents)[number];

/** What stands for the words of a memory that was purged. */
const goneForGood = "(no longer kept)";

/** The line of the news `c` without its words, as `changeLine` tells of a memory that is gone for good. */
export const wordlessLine: Sql = sql`btrim(regexp_replace(c.line, '^(\\[[^\\]]*\\])?.*$', '\\1 ' || ${goneForGood}::text))`;

/** Longest text shown in one line of the header. */
const mostCharacters = 160;

/** `category` for people: "app_notes" → "App notes". */
function categoryLabel(category: string): string {
  const words = category.replaceAll(/[_-]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Longest topic named: what two notes have in common is said in a few words. */
const mostTopicCharacters = 60;

/** Whom memories are about, as they begin. Other languages keep their subject. */
const subjects = [
  "(?:the|this|our) (?:user|customer|client|person)['’]s +",
  // With the verb, which in the third person ends so.
  "(?:(?:the|this|our) (?:user|customer|client|person)|user) +(?:[a-z]+s (?!not |no |never ))?",
  "(?:der|die|des) (?:nutzer|nutzerin|nutzers|benutzer|benutzerin) +",
  "l['’]utilisat(?:eur|rice) +",
  "(?:el|la) usuari[oa] +|[oa] usuári[oa] +|[oa] utilizadora? +",
  "l['’]utente +",
  "de gebruiker +",
  "(?:ユーザー|利用者)[はがの]",
  "(?:用户|使用者)的?",
];
/** Verbs that only tie a topic to whom it is about; never a denial, which is the topic's better half. */
const ties = [
  "(?:been|had|to|as|at|for|in) ",
  "(?:ist|hat|mag|liebt|nutzt|bevorzugt|wohnt in|arbeitet als) (?!nicht |kein)",
  "(?:est|a|aime|préfère|utilise) (?!pas |ne )",
  "(?:es|tiene|prefiere|usa|le gusta|é|tem|prefere|gosta de|ha|preferisce|heeft) (?!no |não |non |geen )",
];
const articles = ["(?:an?|the|their|his|her|its|eine?n?|une?|el|la|uma?|un[ao]?) "];
const beginnings = [subjects, ties, ties, articles].map(
  (alternatives) => new RegExp(`^(?:${alternatives.join("|")})`, "iu"),
);
/** Where the topic ends: with its sentence, or with what is said of it besides. */
const end =
  /(?<=[\p{L}\p{N}]{3})[.!?](?:\s|$)|[。！？，；：、]|[,;:](?:\s|$)| [–—(]| (?:because|since|which|that|who|when|while|although|but|the user)(?=\s|$)/iu;

/** What a cut leaves at the end and leads nowhere. */
const dangling = /(?: (?:an?|the|of|near|with|in|at|on|and|or|to|for|from|by))+$/i;

/** What a memory has of its own to be named by. */
type Named = Pick<MemoryItem, "text"> & { readonly key?: string | null | undefined };

/** What tells that a phrase is no topic but says something: an English verb that needs its subject, a denial, a participle. */
const saysSomething =
  /(?<!\p{L})(?:is|are|was|were|has|have|had|does|do|did|can|cannot|could|will|would|should|may|might|must|never|not|no longer|\p{L}+n['’]t)(?!\p{L})|^(?:\p{L}+ed|told|given|born|made|taken|sent|paid|kept|found|put|lost|hurt)(?!\p{L})/iu;

/**
 * What notes are about, in a few words, as the end of a sentence: a memory's key, or its text without whom it is about and
 * what is said besides. Where that names nothing, the text itself, quoted.
 */
function aboutOf({ key, text }: Named): string {
  if (key) return ` about ${clipped(onOneLine(key.replaceAll(/[_-]+/g, " ")), mostTopicCharacters)}`;
  const line = onOneLine(text);
  const about = beginnings.reduce((rest, beginning) => rest.replace(beginning, ""), line);
  const [first = ""] = about.split(end, 1);
  const topic = first.trim() || about || line;
  const isTopic = !saysSomething.test(topic) && !/^\P{L}*$/u.test(topic);
  const [sentence = ""] = line.split(/(?<=[\p{L}\p{N}]{3})[.!?](?:\s|$)/u, 1);
  return isTopic ? ` about ${shortened(topic)}` : ` about "${shortened(sentence || line)}"`;
}

function shortened(text: string): string {
  return text.length <= mostTopicCharacters
    ? text
    : headAtWord(text, mostTopicCharacters).replace(dangling, "");
}

/** The line of a change, without its sign: "[Personal] Preferred name is Ana (imp=2)". */
export function changeLine(
  event: ChangeEvent,
  memory: Pick<MemoryItem, "category" | "importance" | "seenCount"> & Named,
): string {
  const text = clipped(onOneLine(memory.text), mostCharacters);
  // What is gone for good is not brought up again.
  if (event === "deleted") return `[${categoryLabel(memory.category)}] ${goneForGood}`;
  if (event === "merged") return `Combined ${memory.seenCount} notes${aboutOf(memory)}`;
  const importance = event === "created" ? ` (imp=${Math.round(memory.importance)})` : "";
  return `[${categoryLabel(memory.category)}] ${text}${importance}`;
}

/** Signs of the events. */
const signs: Readonly<Record<ChangeEvent, string>> = {
  created: "+created",
  updated: "↑updated",
  merged: "↔merged",
  deleted: "−deleted",
  soft_deleted: "⌛soft_deleted",
  restored: "↺restored",
};

/** What changed since a thread was last told. */
export interface Delta {
  readonly since: number;
  readonly count: number;
  /** At most three, most important first. */
  readonly top: readonly { readonly event: ChangeEvent; readonly line: string }[];
}

/** The delta header, at most three bullets; null when there is nothing to tell. */
export function deltaHeader({ since, count, top }: Delta): string | null {
  if (top.length === 0) return null;
  const more = count > top.length ? ` (${count} changes)` : "";
  const bullets = top.map(({ event, line }) => `- ${signs[event]}: ${line}`);
  return [`Memory updates since rev ${since}${more}:`, ...bullets].join("\n");
}
