import { z } from "zod";
import type { MemoryItem } from "../memories/item/memory.js";
import { itemColumns } from "../memories/item/memory-fields.js";
import { described, optionalText, overJson, scope, time } from "./fields.js";

export const source = z.strictObject({
  threadId: z.string(),
  seqs: z.array(z.number()),
  quote: z.string().optional(),
});
const turns = z.strictObject({ start: z.number(), end: z.number() });

/** A `MemoryItem` groups or renames these. */
const { tenantId, userId, appId, threadId, sourceSeqs, evidence: quote, turnStart, turnEnd, ...own } = itemColumns;

export const memoryItem = z
  .strictObject({
    ...Object.fromEntries(Object.entries(own).map(([field, column]) => [field, overJson(column, column.json, time)])),
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

export const writeOutcome = z
  .strictObject({
    outcome: z.enum([
      ...(["created", "merged", "updated", "replaced", "kept", "closed", "rejected"] as const),
      ...(["quarantined", "proposed", "refused"] as const),
    ]),
    id: z.string().nullable(),
    consentId: z.string().optional(),
    trimmed: z.string().optional(),
    problems: z.array(z.string()),
    message: z.string().optional(),
  })
  .register(described, { id: "WriteOutcome" });

export const historyEntry = z
  .strictObject({
    id: z.number(),
    event: z.string(),
    old: z.unknown(),
    new: z.unknown(),
    actor: z.string().nullable(),
    revision: z.number(),
    memoryRevision: z.number().nullable(),
    at: time,
  })
  .register(described, { id: "HistoryEntry" });

const change = z
  .strictObject({
    rev: z.number(),
    event: z.string(),
    memoryId: z.string(),
    category: z.string(),
    line: z.string(),
    at: time,
  })
  .register(described, { id: "Change" });

export const changesAnswer = z.strictObject({
  revision: z.number(),
  trimmedTo: z.number().optional(),
  changes: z.array(change),
  nextCursor: optionalText,
});

export const evidence = z.strictObject({
  quote: z.string(),
  message: z.string().optional(),
  threadId: z.string().optional(),
  messageId: z.string().optional(),
});

export const consentRequest = z
  .strictObject({
    id: z.string(),
    scope,
    rule: z.enum(["consent", "signals"]),
    category: z.string(),
    key: z.string().nullable(),
    value: z.string().nullable(),
    text: z.string(),
    current: z.string().nullable(),
    status: z.enum(["pending", "approved", "refused", "superseded", "expired"]),
    seenCount: z.number(),
    signals: z.number(),
    proposedBy: z.string().nullable(),
    source: source.nullable(),
    createdAt: time,
    expiresAt: time,
    askAt: time,
    decidedAt: time.nullable(),
    decidedBy: z.string().nullable(),
    decidedVia: z.string().nullable(),
    evidence: evidence.nullable(),
    memoryId: z.string().nullable(),
    revision: z.number(),
  })
  .register(described, { id: "ConsentRequest" });
