import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { isSharedBy, type Scope } from "../../scope/scope.js";
import { parseInput, smallCount, storableDate, storableText } from "../../text/parse-input.js";
import { isStorable, visibleText } from "../../text/storable-text.js";
import { type CategoryPolicy, categoryOfKind, requireCategory } from "../item/category.rule.js";
import {
  type MemoryDraft,
  type MemoryItem,
  type MemoryKind,
  type MemoryOrigin,
  type MemoryTrust,
  memoryHash,
  memoryOrigins,
  memoryTerms,
  originOfRole,
  trustOf,
} from "../item/memory.js";
import { expiryField, metadataField } from "../item/memory-metadata.rule.js";
import { slotKey } from "../item/slot-key.rule.js";
import { defaultConfidence } from "../slot/slot-conflict.rule.js";
import {
  memoryInstructs,
  trimToLength,
  type WritingProblem,
  writingProblems,
} from "./writing-constraints.rule.js";

/** NUL characters are left out of it; half of a surrogate pair has no place to be left. */
const memoryText = z
  .string()
  .refine((said) => isStorable(said.replaceAll("\u0000", "")), "has half of a surrogate pair");

/** Words that agents are shown. */
const shownText = (mostCharacters: number) => storableText.max(mostCharacters).transform(visibleText);
/** Enough to sort memories by; a tag is a word or a few. */
const mostTags = 32;
const mostTagCharacters = 100;

const draftSchema = z.strictObject({
  text: memoryText,
  kind: z.enum(["fact", "episode", "note", "insight", "procedure"]).default("fact"),
  category: z.string().optional(),
  key: storableText.trim().min(1).max(200).transform(visibleText).optional(),
  value: shownText(2_000).optional(),
  importance: z.number().min(1).max(5).default(3),
  confidence: z.number().min(0).max(1).optional(),
  pinned: z.boolean().default(false),
  tags: z.array(shownText(mostTagCharacters)).max(mostTags).default([]),
  metadata: metadataField.default({}),
  expiresAt: expiryField.optional(),
  agentId: storableText.optional(),
  runId: storableText.optional(),
  actorId: storableText.transform(visibleText).optional(),
  role: storableText.optional(),
  origin: z.enum(memoryOrigins).optional(),
  source: z
    .strictObject({
      threadId: storableText,
      seqs: z.array(smallCount),
      quote: storableText.transform(visibleText).optional(),
    })
    .optional(),
  turns: z.strictObject({ start: smallCount.min(1), end: smallCount.min(1) }).optional(),
  validFrom: storableDate.optional(),
  correction: z.boolean().default(false),
});

/** A draft that may be written. */
export interface PreparedMemory
  extends Omit<z.output<typeof draftSchema>, "category" | "origin" | "confidence"> {
  readonly scope: Scope;
  readonly category: string;
  readonly confidence: number;
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
  /** Whether it reads as instructions to a model, and no operator wrote it: then it waits for one's approval. */
  readonly quarantined: boolean;
  readonly contentHash: string;
  /** Text prepared for `to_tsvector`. */
  readonly terms: string;
}

/** A draft that may not be written, and why. */
export interface RejectedDraft {
  readonly problems: readonly WritingProblem[];
}

/**
 * `draft` with defaults and without hidden characters, checked against the writing constraints: trimmed where it is
 * only too long, rejected where it would make a bad memory.
 *
 * Keys are normalised by `slotKey`. A memory that a user's scope gives its app names neither speaker nor source. A note, and a memory of a category of level "app", belongs to the app as well.
 *
 * @throws MemoryError `INVALID_INPUT` for fields of the wrong type or range, unknown categories, more than 32 tags or longer
 *   ones than 100 characters.
 */
export function prepareMemory(
  draft: MemoryDraft,
  scope: Scope,
  config: { readonly policy: CategoryPolicy; readonly language: string },
): PreparedMemory | RejectedDraft {
  const fields = parseInput(draftSchema, draft, "memory");
  const category = requireCategory(config.policy, fields.category ?? categoryOfKind[fields.kind]);
  const key = fields.key === undefined ? undefined : requireKey(category.name, fields.key);
  const trimmed = trimToLength(fields.kind, fields.text) ?? fields.text.trim();
  const problems = writingProblems(fields.kind, trimmed);
  if (problems.length > 0) return { problems };
  const origin = fields.origin ?? originOfRole(fields.role);
  const believed = trustOf(origin, fields.role);
  const quarantined = origin !== "operator" && memoryInstructs({ ...fields, text: trimmed, trust: believed });
  const whose = memoryScope(fields.kind, category.level, scope);
  return {
    ...fields,
    // What a user's conversation taught an app is told to all of its users: not whose it was, nor in which words.
    ...(isSharedBy(scope, whose) && { source: undefined, actorId: undefined }),
    ...{ text: trimmed, key, origin, quarantined },
    // Nobody vouches for what a person has yet to look at.
    trust: quarantined && believed === "operator" ? "untrusted" : believed,
    confidence: fields.confidence ?? defaultConfidence(origin, fields.kind),
    category: category.name,
    scope: whose,
    contentHash: memoryHash({
      ...{ kind: fields.kind, text: trimmed },
      ...{ threadId: fields.source?.threadId, turnStart: fields.turns?.start },
    }),
    terms: memoryTerms({ key, text: trimmed }, config.language),
  };
}

/** The draft that `memory` was prepared from, checked. */
export function draftOf(memory: PreparedMemory): MemoryDraft {
  const { scope: _, terms: __, quarantined: ___, trust: ____, contentHash: _____, ...draft } = memory;
  return draft;
}

/** A stored memory as a draft of its own. */
export function itemDraft(memory: MemoryItem): MemoryDraft {
  const { text, kind, category, importance, confidence, pinned, tags, metadata, origin } = memory;
  return {
    ...{ text, kind, category, importance, confidence, pinned, tags, metadata, origin },
    expiresAt: memory.expiresAt ?? undefined,
    key: memory.key ?? undefined,
    value: memory.value ?? undefined,
    agentId: memory.agentId ?? undefined,
    runId: memory.runId ?? undefined,
    actorId: memory.actorId ?? undefined,
    role: memory.role ?? undefined,
    source: memory.source ?? undefined,
    turns: memory.turns ?? undefined,
  };
}

function requireKey(category: string, key: string): string {
  const normal = slotKey(category, key);
  if (normal !== null) return normal;
  throw new MemoryError("INVALID_INPUT", `"${key}" cannot be a key: it has no letters or digits.`);
}

function memoryScope(kind: MemoryKind, level: "user" | "app", { tenantId, userId, appId }: Scope): Scope {
  const tenant = tenantId === undefined ? {} : { tenantId };
  if (kind === "note") {
    if (appId === undefined)
      throw new MemoryError("SCOPE_REQUIRED", "A note belongs to an app: its scope needs an appId.");
    return { ...tenant, appId };
  }
  if (userId === undefined) return { ...tenant, ...(appId !== undefined && { appId }) };
  return { ...tenant, userId, ...(level === "app" && appId !== undefined && { appId }) };
}
