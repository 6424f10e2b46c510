import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { isSharedBy, type Scope } from "../../scope/scope.js";
import { parseInput, smallCount, storableText } from "../../text/parse-input.js";
import type { Screen } from "../../text/reads-as-instruction.js";
import { visibleText } from "../../text/storable-text.js";
import type { PersonalField } from "../guard/consent-policy.rule.js";
import { type CategoryPolicy, categoryOfKind, requireCategory } from "../item/category.rule.js";
import {
  type MemoryDraft,
  type MemoryItem,
  type MemoryKind,
  type MemoryOrigin,
  type MemoryTrust,
  memoryHash,
  originOfRole,
  trustOf,
} from "../item/memory.js";
import { draftFields, memoryTerms, setFields } from "../item/memory-fields.js";
import { slotKey } from "../item/slot-key.rule.js";
import { defaultConfidence } from "../slot/slot-conflict.rule.js";
import {
  hasAnyLength,
  memoryInstructs,
  problemSentences,
  trimToLength,
  type WritingProblem,
  writingProblems,
} from "./writing-constraints.rule.js";

const draftSchema = z.strictObject({
  ...draftFields,
  source: z
    .strictObject({
      threadId: storableText,
      seqs: z.array(smallCount),
      quote: storableText.transform(visibleText).optional(),
    })
    .optional(),
  turns: z.strictObject({ start: smallCount.min(1), end: smallCount.min(1) }).optional(),
  correction: z.boolean().default(false),
});

export interface PreparedMemory
  extends Omit<z.output<typeof draftSchema>, "category" | "origin" | "confidence"> {
  readonly scope: Scope;
  readonly category: string;
  readonly confidence: number;
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
  /** Waits for an approval: it reads as instructions to a model, and no operator wrote it. */
  readonly quarantined: boolean;
  readonly contentHash: string;
  readonly terms: string;
  /** The personal field that a model names. @default by its key */
  readonly personal?: PersonalField | null;
}

/** Default importance of an insight: below statements. */
export const insightImportance = 2;

/**
 * Fills in defaults, normalises the key, trims long texts and rejects bad ones. Notes, and
 * categories of level "app", belong to the app.
 * @throws MemoryError `INVALID_INPUT` for a wrong type or range, or an unknown category
 */
export function prepareMemory(
  draft: MemoryDraft,
  scope: Scope,
  policy: CategoryPolicy,
  anyLength = false,
): PreparedMemory | { readonly problems: readonly WritingProblem[]; readonly message: string } {
  const fields = parseInput(draftSchema, draft, "memory");
  const { kind, source, turns, role } = fields;
  const category = requireCategory(policy, fields.category ?? categoryOfKind[kind]);
  const key = fields.key === undefined ? undefined : requireKey(fields.key);
  const given = fields.text.trim();
  const isWhole = anyLength && hasAnyLength(kind);
  const text = isWhole ? given : (trimToLength(kind, fields.text) ?? given);
  const problems = writingProblems(kind, text).filter((problem) => !isWhole || problem === "empty");
  if (problems.length > 0) return { problems, message: problemSentences(kind, problems) };
  const origin = fields.origin ?? originOfRole(role);
  const owner = memoryScope(kind, category.level, scope);
  if (isSharedBy(scope, owner) && origin !== "operator") {
    const problem = `\`kind\` is "${kind}", which all users of the app are shown, so a user's scope cannot add one.`;
    const advice = 'Leave `kind` out, or pass the app\'s own scope, or `origin: "operator"`.';
    throw new MemoryError("INVALID_INPUT", `${problem} ${advice}`);
  }
  return {
    ...fields,
    // All users of an app see its memories, so these do not name the speaker or the source.
    ...(isSharedBy(scope, owner) && { source: undefined, actorId: undefined }),
    text,
    key,
    origin,
    quarantined: false,
    ...(kind === "insight" && { importance: draft.importance ?? insightImportance }),
    trust: trustOf(origin, role),
    confidence: fields.confidence ?? defaultConfidence(origin, kind),
    category: category.name,
    scope: owner,
    contentHash: memoryHash({ kind, text, threadId: source?.threadId, turnStart: turns?.start }),
    terms: memoryTerms({ key, text }),
  };
}

/** Quarantines a memory that reads as instructions to a model, unless an operator wrote it. */
export async function screenMemory(
  screen: Screen,
  memory: PreparedMemory,
): Promise<PreparedMemory> {
  if (memory.origin === "operator" || !(await memoryInstructs(screen, memory))) return memory;
  return {
    ...memory,
    quarantined: true,
    trust: memory.trust === "operator" ? "untrusted" : memory.trust,
  };
}

export function draftOf(memory: PreparedMemory): MemoryDraft {
  const fields = Object.entries(memory).filter(([name]) => name in draftSchema.shape);
  return Object.fromEntries(fields) as unknown as MemoryDraft;
}

/** Without `validFrom`: it is valid from the write. */
export function itemDraft(memory: MemoryItem): MemoryDraft {
  const { validFrom: _, ...fields } = {
    ...setFields(memory),
    source: memory.source,
    turns: memory.turns,
  };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value != null),
  ) as unknown as MemoryDraft;
}

function requireKey(key: string): string {
  const normal = slotKey(key);
  if (normal !== null) return normal;
  throw new MemoryError("INVALID_INPUT", `"${key}" cannot be a key: it has no letters or digits.`);
}

function memoryScope(
  kind: MemoryKind,
  level: "user" | "app",
  { tenantId, userId, appId }: Scope,
): Scope {
  const tenant = tenantId === undefined ? {} : { tenantId };
  const app = appId !== undefined && { appId };
  if (kind === "note" && !app) {
    throw new MemoryError("SCOPE_REQUIRED", "A note belongs to an app: its scope needs an appId.");
  }
  if (kind === "note" || userId === undefined) return { ...tenant, ...app };
  return { ...tenant, userId, ...(level === "app" && app) };
}
