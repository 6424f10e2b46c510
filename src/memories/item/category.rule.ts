import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { suggestion } from "../../input/parse-input.js";
import { normalForm } from "../../text/normal-value.js";
import { clipped, headOf } from "../../text/storable-text.js";
import type { MemoryKind } from "./memory.js";

const categorySchema = z.strictObject({
  name: z
    .string()
    .regex(/^[\p{L}\p{N}_-]+$/u, "a category name is one word of letters, digits, _ and -"),
  /**
   * "all": shows all of its memories. "rag": only those relevant to the question.
   * @default that of the default category of this name, else "rag"
   */
  context: z.enum(["all", "rag"]).optional(),
  /**
   * Most of its memories in one recall, for the `context` "rag".
   * @default that of the default category of this name, else no limit
   */
  rag_length: z.int().min(1).optional(),
  /** "user": visible in every app. "app": only in the app that learned it. @default "user" */
  level: z.enum(["user", "app"]).optional(),
});

/** Each recall and each prompt lists them. */
const maxCategories = 1_000;
const categoryList = z.array(categorySchema).max(maxCategories).default([]);

export const categoryConfigSchema = z.strictObject({
  /** Categories of the application. @default none */
  system: categoryList,
  /** The same, under another name. @default none */
  custom: categoryList,
});

/** A label that decides how memories are shown and which agents may read them. */
export interface Category extends z.output<typeof categorySchema> {
  readonly context: "all" | "rag";
  readonly level: "user" | "app";
}

const category = (name: string, context: Category["context"]): Category => ({
  name,
  context,
  level: "user",
});

const defaultCategories: readonly Category[] = [
  ...["profile", "preferences", "constraints", "instructions"].map((name) => category(name, "all")),
  { name: "event", context: "rag", rag_length: 30, level: "user" },
  { name: "activity", context: "rag", rag_length: 50, level: "user" },
  ...`goals projects tasks relationships knowledge interests history tone style recent_activity
    relationship_dynamic app_notes procedural`
    .split(/\s+/)
    .map((name) => category(name, "rag")),
];

const aliases: ReadonlyMap<string, string> = new Map([
  ["identity", "profile"],
  ["preference", "preferences"],
  ["constraint", "constraints"],
  ["instruction", "instructions"],
]);

/** The category of a draft that names none. */
export const categoryOfKind: Readonly<Record<MemoryKind, string>> = {
  fact: "knowledge",
  episode: "activity",
  note: "app_notes",
  insight: "relationship_dynamic",
  procedure: "procedural",
};

const { note, procedure, insight } = categoryOfKind;
/** Readable by every agent, since allowlists for user facts omit them. */
const forEveryAgent: readonly string[] = ["instructions", note, procedure, insight];

export interface CategoryPolicy {
  readonly categories: ReadonlyMap<string, Category>;
  /** Null: every agent may read everything. */
  readonly allowlists: ReadonlyMap<string, ReadonlySet<string>> | null;
  /** Called with an agent without an allowlist when others have one. */
  readonly onUnlisted?: ((agent: string) => void) | undefined;
}

/** Resolves a name or alias, or returns null. */
export function findCategory(policy: CategoryPolicy, name: string): Category | null {
  return policy.categories.get(name) ?? policy.categories.get(aliases.get(name) ?? "") ?? null;
}

/** Resolves a model's spelling: "Goal", "recent activity". */
export function categoryMeant(policy: CategoryPolicy, name: string): Category | null {
  const exact = findCategory(policy, name);
  if (exact) return exact;
  const names = [...policy.categories.keys(), ...aliases.keys()];
  const similar = names.find((other) => normalName(other) === normalName(name));
  return similar === undefined ? null : findCategory(policy, similar);
}

const normalName = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, "_")
    .replace(/s$/, "");

/** @throws MemoryError `INVALID_INPUT` that lists the configured categories. */
export function requireCategory(policy: CategoryPolicy, name: string): Category {
  const found = findCategory(policy, name);
  if (found) return found;
  const configured = [...policy.categories.keys()];
  const hint = suggestion(name, configured);
  throw new MemoryError(
    "INVALID_INPUT",
    `There is no category "${clipped(name, 100)}"${hint ? `; ${hint}` : "."} Configured: ${configured.join(", ")}.`,
  );
}

/**
 * The categories that `agent` may read: all without allowlists or without an agent; else those of
 * its list, and of `forEveryAgent` those that no list names. An empty list allows nothing.
 */
export function readableCategories(
  policy: CategoryPolicy,
  agent: string | null,
): ReadonlySet<string> {
  const { categories, allowlists } = policy;
  if (allowlists === null || agent === null) return new Set(categories.keys());
  const own = allowlists.get(agent);
  if (own?.size === 0) return own;
  if (!own) policy.onUnlisted?.(agent);
  const isListed = (name: string) => [...allowlists.values()].some((list) => list.has(name));
  return new Set([...(own ?? []), ...forEveryAgent.filter((name) => !isListed(name))]);
}

/** A counter that returns false for a memory beyond the `rag_length` of its category. */
export function categoryRoom(
  policy: CategoryPolicy,
): (memory: { readonly category: string }) => boolean {
  const counts = new Map<string, number>();
  return ({ category: name }) => {
    const found = policy.categories.get(name);
    const most = (found?.context === "rag" && found.rag_length) || Number.POSITIVE_INFINITY;
    const count = counts.get(name) ?? 0;
    if (count < most) counts.set(name, count + 1);
    return count < most;
  };
}

/**
 * @throws MemoryError `INVALID_INPUT` for a category that is configured twice, or listed but not
 * configured
 */
export function categoryPolicy(
  configured: z.output<typeof categoryConfigSchema> | undefined,
  allowlists: Readonly<Record<string, readonly string[]>> | undefined,
  warn: (message: string) => void = () => {},
): CategoryPolicy {
  const added = [...(configured?.system ?? []), ...(configured?.custom ?? [])];
  const duplicate = added.find(
    ({ name }, index) => added.findIndex((other) => other.name === name) < index,
  );
  if (duplicate) throw invalidConfig(`category "${duplicate.name}" is configured twice`);
  const categories = new Map(defaultCategories.map((category) => [category.name, category]));
  for (const { name, ...given } of added) {
    const { context, level, rag_length } = categories.get(name) ?? category(name, "rag");
    categories.set(name, {
      name,
      context: given.context ?? context,
      level: given.level ?? level,
      rag_length: given.rag_length ?? rag_length,
    });
  }
  const policy = { categories, allowlists: null };
  if (!allowlists) return policy;
  const resolve = (agent: string, name: string) => {
    const category = findCategory(policy, name);
    if (!category) {
      const hint = suggestion(name, [...categories.keys()]);
      throw invalidConfig(
        `allowlists.${agent} names the category "${name}", which is not configured${hint ? ` (${hint})` : ""}`,
      );
    }
    return category.name;
  };
  const resolved = Object.entries(allowlists).map(
    ([agent, names]) => [agent, new Set(names.map((name) => resolve(agent, name)))] as const,
  );
  const without = resolved.filter(([, names]) => names.size > 0 && !names.has("constraints"));
  if (without.length > 0 && categories.get("constraints")?.context === "all") {
    warn(
      `The allowlists of ${without.map(([agent]) => agent).join(", ")} leave out "constraints": these agents are not shown ` +
        "what a user must avoid, such as an allergy. Add it to them, or configure the category with `context: rag`.",
    );
  }
  return {
    categories,
    allowlists: new Map(resolved),
    onUnlisted: reportOnce(Object.keys(allowlists), warn),
  };
}

/** Agents of every supervisor, which need no allowlist. */
const team: readonly string[] = ["supervisor", "planner", "executor"];

/** A bound, since clients choose the names. */
const maxReportedCategories = 100;

function reportOnce(
  listed: readonly string[],
  warn: (message: string) => void,
): (agent: string) => void {
  const seen = new Set(team);
  return (agent) => {
    if (seen.has(agent) || seen.size >= maxReportedCategories) return;
    seen.add(agent);
    const hint = suggestion(agent, listed);
    warn(
      `The agent "${agent}" has no allowlist${hint ? `: ${hint}` : "."} It reads only what is ` +
        "open to every agent. Give it a list in `allowlists`, if need be an empty one.",
    );
  };
}

function invalidConfig(problem: string): MemoryError {
  return new MemoryError("INVALID_INPUT", `Invalid config: ${problem}`);
}

/** Above the longest key (200), so that validation still rejects a longer one. */
const maxKeyCharacters = 1_000;

/** `key` in lower snake case. Null when empty. */
export function slotKey(key: string): string | null {
  const snake = normalForm(headOf(key, maxKeyCharacters), "NFKC")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1_$2")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "");
  return snake === "" ? null : snake;
}
