import { z } from "zod";
import { dayMs } from "../../clock.js";
import { type CategoryPolicy, requireCategory } from "../item/category.rule.js";
import type { MemoryItem } from "../item/memory.js";
import { isMachineLanguage, personalKey, personalStatement } from "../item/personal-fields.rule.js";
import { slotKey } from "../item/slot-key.rule.js";

/** What a model may say that a statement tells of the user. */
export const personalFields = ["preferred_name", "pronouns", "city", "language"] as const;
export type PersonalField = (typeof personalFields)[number];

interface FieldPattern {
  /** Null: any. */
  readonly category: string | null;
  /** Null: all of the category, with a key or without. */
  readonly key: string | null;
}

/** What a change waits for: the user's consent, or being said twice. */
export type ConsentRule = (typeof consentRules)[number];

export const consentRules = ["consent", "signals"] as const;

const field = z
  .string()
  .regex(
    /^[^/*\s][^/*]*$|^(?:\*|[^/*\s][^/*]*)\/[^/]*[\p{L}\p{N}][^/]*$/u,
    'a field is "category/key", "*/key" or "category"',
  );

export const consentConfigSchema = z.strictObject({
  /**
   * Fields that change only with the user's consent, their first value included. Name, pronouns, city and
   * language are known by any key, and in sentences, as far as a table of phrases goes.
   *
   * @default preferred_name and pronouns of any category, city and language of profile and knowledge
   */
  sensitive: z
    .array(field)
    .default([
      "*/preferred_name",
      "*/pronouns",
      "profile/city",
      "profile/language",
      "knowledge/city",
      "knowledge/language",
    ]),
  /** Fields that change once two independent signals agree. @default tone, style and goals, and the key tone */
  benign: z.array(field).default(["tone", "style", "goals", "*/tone"]),
  /**
   * Who asks the user about a change of a sensitive field. "said": nobody; the user's plain words are
   * consent, and inferred changes wait. With the others every change waits. "interrupt": `withMemory` asks by
   * an interrupt before the agent's turn. "tool": the agent asks, and calls `consentTool`. "queue": an
   * operator or your code decides by `memory.consents`.
   *
   * @default "said"
   */
  ask: z.enum(["said", "interrupt", "tool", "queue"]).default("said"),
});

/** How long a proposal waits. A week: long enough for the next conversation. */
export const pendingMs = 7 * dayMs;
/** How long a refused value is not asked about again: nobody changes name or city more often. */
export const refusedMs = 30 * dayMs;
export const askAgainMs = dayMs;
/** Messages that must agree on a benign field. */
export const neededSignals = 2;
/** An insight into the user this sure counts as enough signals: it rests on many messages already. */
export const insightConfidence = 0.8;

export interface ConsentConfig extends z.input<typeof consentConfigSchema> {}

export type ConsentPolicy = Omit<z.output<typeof consentConfigSchema>, "sensitive" | "benign"> & {
  readonly sensitive: readonly FieldPattern[];
  readonly benign: readonly FieldPattern[];
};

/** @throws MemoryError `INVALID_INPUT` for a category that is not configured. */
export function consentPolicy(
  config: z.output<typeof consentConfigSchema>,
  categories: CategoryPolicy,
): ConsentPolicy {
  const read = (text: string): FieldPattern => {
    const [name = "", key] = text.split("/");
    const category = name === "*" ? null : requireCategory(categories, name.trim()).name;
    return { category, key: key === undefined ? null : slotKey(category ?? "", key) };
  };
  return { ...config, sensitive: config.sensitive.map(read), benign: config.benign.map(read) };
}

export interface ConsentSubject extends Pick<MemoryItem, "kind" | "category" | "text"> {
  readonly key?: string | null | undefined;
  readonly value?: string | null | undefined;
  readonly actorId?: string | null | undefined;
  /** What of the user's a model says it is, whatever its key. */
  readonly personal?: PersonalField | null | undefined;
}

/** A key in other categories is not about the user: a task has a city and a language as well. */
const ofTheUser: ReadonlySet<string> = new Set(["profile", "knowledge", "preferences"]);

/** Known by any key and wording. Episodes, notes and steps are records; instructions are orders. */
export function personalFieldOf(memory: ConsentSubject): PersonalField | null {
  const { kind, category, key = null, value = null, text, actorId } = memory;
  if ((kind !== "fact" && kind !== "insight") || category === "instructions") return null;
  if (key !== null && !ofTheUser.has(category)) return null;
  const field = (key === null ? null : personalKey(key)) ?? personalStatement(text, actorId);
  return field === "language" && isMachineLanguage(value ?? text) ? null : field;
}

/** Null when it does not wait. A sensitive field is guarded under any name. */
export function consentRule(policy: ConsentPolicy, memory: ConsentSubject): ConsentRule | null {
  const fits = (pattern: FieldPattern) =>
    (pattern.category === null || pattern.category === memory.category) &&
    (pattern.key === null || pattern.key === memory.key);
  const { personal: told = null } = memory;
  if (policy.sensitive.some(fits) || policy.sensitive.some(({ key }) => key !== null && key === told))
    return "consent";
  const personal = personalFieldOf(memory);
  if (personal !== null && policy.sensitive.some(({ key }) => key === personal)) return "consent";
  // Episodes, notes and steps are records, not traits of a user.
  const isTrait = memory.kind === "fact" || memory.kind === "insight";
  return isTrait && policy.benign.some(fits) ? "signals" : null;
}
