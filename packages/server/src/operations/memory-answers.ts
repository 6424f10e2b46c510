import type { MemoryItem } from "mnemograph";
import { consentStatuses, itemColumns } from "mnemograph/contract";
import { z } from "zod";
import { described, each, jsonField, nullableText, scope, time } from "./fields.js";

export const source = z.strictObject({
  threadId: z.string(),
  seqs: z.array(z.number()),
  quote: z.string().optional(),
});
const turns = z.strictObject({ start: z.number(), end: z.number() });

/** A `MemoryItem` has the columns of `own`, and groups or renames the others. */
const {
  tenantId,
  userId,
  appId,
  threadId,
  sourceSeqs,
  evidence: quote,
  turnStart,
  turnEnd,
  ...own
} = itemColumns;

export const memoryItem = z
  .strictObject({
    ...Object.fromEntries(
      Object.entries(own).map(([field, column]) => [field, jsonField(column, column.json, time)]),
    ),
    scope,
    source: source.nullable(),
    turns: turns.nullable(),
  })
  .register(described, { id: "Memory" }) as unknown as z.ZodType<MemoryItem>;

export const memoryHit = z
  .strictObject({
    memory: memoryItem,
    similarity: z.number(),
    score: z.number(),
    reason: z.string(),
    related: z.array(memoryItem).optional(),
  })
  .register(described, { id: "MemoryHit" });

const outcomeFields = z.strictObject({
  outcome: z.enum([
    "created",
    "merged",
    "updated",
    "replaced",
    "kept",
    "closed",
    "rejected",
    "quarantined",
    "proposed",
    "refused",
  ]),
  id: nullableText,
  problems: z.array(z.string()),
  ...each(z.string().optional(), "consentId", "trimmed", "message"),
});

export const writeOutcome = outcomeFields
  .extend({ further: z.array(outcomeFields).optional() })
  .register(described, { id: "WriteOutcome" });

export const historyEntry = z
  .strictObject({
    id: z.number(),
    event: z.string(),
    old: z.unknown(),
    new: z.unknown(),
    actor: nullableText,
    revision: z.number(),
    memoryRevision: z.number().nullable(),
    at: time,
  })
  .register(described, { id: "HistoryEntry" });

const change = z
  .strictObject({
    rev: z.number(),
    ...each(z.string(), "event", "memoryId", "category", "line"),
    at: time,
  })
  .register(described, { id: "Change" });

export const changesAnswer = z.strictObject({
  revision: z.number(),
  trimmedTo: z.number().optional(),
  changes: z.array(change),
  nextCursor: nullableText,
});

export const evidence = z.strictObject({
  quote: z.string(),
  ...each(z.string().optional(), "message", "threadId", "messageId"),
});

export const consentRequest = z
  .strictObject({
    scope,
    rule: z.enum(["consent", "signals"]),
    status: z.enum(consentStatuses),
    ...each(z.string(), "id", "category", "text"),
    ...each(
      nullableText,
      "key",
      "value",
      "current",
      "proposedBy",
      "decidedBy",
      "decidedVia",
      "memoryId",
    ),
    ...each(z.number(), "seenCount", "signals", "revision"),
    ...each(time, "createdAt", "expiresAt", "askAt"),
    decidedAt: time.nullable(),
    source: source.nullable(),
    evidence: evidence.nullable(),
  })
  .register(described, { id: "ConsentRequest" });
