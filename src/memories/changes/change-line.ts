import sql, { type Sql } from "sql-template-tag";
import { clipped, headAtWord, onOneLine } from "../../text/storable-text.js";
import type { MemoryItem } from "../item/memory.js";

export const changeEvents = ["created", "updated", "merged", "deleted", "soft_deleted", "restored"] as const;

export type ChangeEvent = (typeof changeEvents)[number];

const notKept = "(no longer kept)";

/** The SQL for a memory that is gone for good, as `changeLine` has it. */
export const wordlessLine: Sql = sql`btrim(regexp_replace(c.line, '^(\\[[^\\]]*\\])?.*$', '\\1 ' || ${notKept}::text))`;

const mostCharacters = 160;

/** `category` for people: "app_notes" → "App notes". */
function categoryLabel(category: string): string {
  const words = category.replaceAll(/[_-]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const mostTopicCharacters = 60;

/** The user, as sentences begin. Other languages keep their subject. */
const subjects = [
  "(?:the|this|our) (?:user|customer|client|person)['’]s +",
  // With the verb, which in the third person ends so; "allergic to nuts" names no topic without its "is".
  "(?:(?:the|this|our) (?:user|customer|client|person)|user) +(?:(?!is )[a-z]+s (?!not |no |never ))?",
  "(?:der|die|des) (?:nutzer|nutzerin|nutzers|benutzer|benutzerin) +",
  "l['’]utilisat(?:eur|rice) +",
  "(?:el|la) usuari[oa] +|[oa] usuári[oa] +|[oa] utilizadora? +",
  "l['’]utente +",
  "de gebruiker +",
  "(?:ユーザー|利用者)[はがの]",
  "(?:用户|使用者)的?",
];
/** Verbs that only tie a topic to the user; never a denial. */
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
/** Where the topic ends. */
const end =
  /(?<=[\p{L}\p{N}]{3})[.!?](?:\s|$)|[。！？，；：、]|[,;:](?:\s|$)| [–—(]| (?:because|since|which|that|who|when|while|although|but|the user)(?=\s|$)/iu;

const dangling = /(?: (?:an?|the|of|near|with|in|at|on|and|or|to|for|from|by))+$/i;

type Named = Pick<MemoryItem, "text"> & { readonly key?: string | null | undefined };

/** A phrase that is not a topic: an English verb that needs its subject, a denial, a participle. */
const saysSomething =
  /(?<!\p{L})(?:is|are|was|were|has|have|had|does|do|did|can|cannot|could|will|would|should|may|might|must|never|not|no longer|\p{L}+n['’]t)(?!\p{L})|^(?:\p{L}+ed|told|given|born|made|taken|sent|paid|kept|found|put|lost|hurt)(?!\p{L})/iu;

/** The topic of notes: the key, the text without its subject, or else the text in quotes. */
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

/** Without the event's sign: "[Personal] Preferred name is Ana (imp=2)". What is hidden or deleted is not repeated. */
export function changeLine(
  event: ChangeEvent,
  memory: Pick<MemoryItem, "category" | "importance" | "seenCount"> & Named,
): string {
  if (event === "deleted" || event === "soft_deleted")
    return `[${categoryLabel(memory.category)}] ${notKept}`;
  if (event === "merged") return `Combined ${memory.seenCount} notes${aboutOf(memory)}`;
  const importance = event === "created" ? ` (imp=${Math.round(memory.importance)})` : "";
  const text = clipped(onOneLine(memory.text), mostCharacters);
  return `[${categoryLabel(memory.category)}] ${text}${importance}`;
}

const signs: Readonly<Record<ChangeEvent, string>> = {
  created: "+created",
  updated: "↑updated",
  merged: "↔merged",
  deleted: "−deleted",
  soft_deleted: "⌛soft_deleted",
  restored: "↺restored",
};

/** Changes since a thread last saw them. */
export interface Delta {
  readonly since: number;
  readonly count: number;
  /** At most three, most important first. */
  readonly top: readonly { readonly event: ChangeEvent; readonly line: string }[];
}

/** Null without changes. */
export function deltaHeader({ since, count, top }: Delta): string | null {
  if (top.length === 0) return null;
  const more = count > top.length ? ` (${count} changes)` : "";
  const bullets = top.map(({ event, line }) => `- ${signs[event]}: ${line}`);
  return [`Memory updates since rev ${since}${more}:`, ...bullets].join("\n");
}
