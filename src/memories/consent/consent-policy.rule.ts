import { z } from "zod";
import { dayMs } from "../../clock.js";
import { type CategoryPolicy, requireCategory, slotKey } from "../item/category.rule.js";
import type { MemoryItem } from "../item/memory.js";

/** Personal fields that a model recognizes in a statement. */
export const personalFields = ["preferred_name", "pronouns", "city", "language"] as const;
export type PersonalField = (typeof personalFields)[number];

/** Null matches any category; any key, or none. */
type FieldPattern = { readonly category: string | null; readonly key: string | null };

/** What a change waits for: the user's consent, or a second signal. */
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
   * Fields that change only with the user's consent, their first value included.
   * @default preferred_name and pronouns of any category, city and language of profile and
   * knowledge, profile/name
   */
  sensitive: z
    .array(field)
    .default([
      ...["*/preferred_name", "*/pronouns", "profile/name", "profile/city", "profile/language"],
      ...["knowledge/city", "knowledge/language"],
    ]),
  /**
   * Fields that change once two independent signals agree. A plain statement of the user counts as
   * two.
   * @default tone, style and goals, and the key tone
   */
  benign: z.array(field).default(["tone", "style", "goals", "*/tone"]),
  /**
   * Who asks the user about a change of a sensitive field. "said": nobody; a plain statement is
   * consent, and inferred changes wait. Otherwise every change waits: "interrupt": `withMemory`
   * asks before the agent's turn; "tool": the agent asks and calls `consentTool`; "queue": your
   * code decides with `memory.consents`.
   * @default "said"
   */
  ask: z.enum(["said", "interrupt", "tool", "queue"]).default("said"),
});

/** Expiry of a request. A week usually includes the next conversation. */
export const pendingMs = 7 * dayMs;
/** A refused value is not proposed again for this long. */
export const refusedMs = 30 * dayMs;
export const askAgainMs = dayMs;
/** Signals that must agree on a benign field. */
export const neededSignals = 2;
/** An insight of this confidence needs no further signals: many messages support it. */
export const insightConfidence = 0.8;

export type ConsentPolicy = Omit<z.output<typeof consentConfigSchema>, "sensitive" | "benign"> & {
  readonly sensitive: readonly FieldPattern[];
  readonly benign: readonly FieldPattern[];
};

export function consentPolicy(
  config: z.output<typeof consentConfigSchema>,
  categories: CategoryPolicy,
): ConsentPolicy {
  const read = (text: string): FieldPattern => {
    const [name = "", key] = text.split("/");
    const category = name === "*" ? null : requireCategory(categories, name.trim()).name;
    return { category, key: key === undefined ? null : slotKey(key) };
  };
  return { ...config, sensitive: config.sensitive.map(read), benign: config.benign.map(read) };
}

/** Categories that are benign as a whole, which insights may have. */
export function benignCategories({ benign }: ConsentPolicy): string[] {
  return benign.flatMap(({ category, key }) => (key === null ? (category ?? []) : []));
}

export interface ConsentSubject extends Pick<MemoryItem, "category"> {
  readonly key?: string | null | undefined;
  /** The personal field that a model names, independent of the key. */
  readonly personal?: PersonalField | null | undefined;
}

/** Null for an unguarded field. Text never decides. */
export function consentRule(policy: ConsentPolicy, memory: ConsentSubject): ConsentRule | null {
  const { category, key, personal = null } = memory;
  const fits = (pattern: FieldPattern) =>
    (pattern.category === null || pattern.category === category) &&
    (pattern.key === null || pattern.key === key);
  const isPersonal =
    personal !== null && policy.sensitive.some((pattern) => pattern.key === personal);
  if (isPersonal || policy.sensitive.some(fits)) return "consent";
  return policy.benign.some(fits) ? "signals" : null;
}
