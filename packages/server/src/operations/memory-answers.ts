import type { MemoryItem } from "mnemograph";
import { consentStatuses, itemColumns } from "mnemograph/contract";
import { z } from "zod";
import {
  described,
  each,
  jsonField,
  nullableNumber,
  nullableText,
  nullableTime,
  number,
  optionalText,
  scope,
  text,
  texts,
  time,
} from "./fields.js";

export const source = z.strictObject({
  threadId: text,
  seqs: z.array(number),
  quote: optionalText,
});
const turns = z.strictObject({ start: number, end: number });

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
    similarity: number,
    score: number,
    reason: text,
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
  problems: texts,
  ...each(optionalText, "consentId", "trimmed", "message"),
});

export const writeOutcome = outcomeFields
  .extend({ further: z.array(outcomeFields).optional() })
  .register(described, { id: "WriteOutcome" });

export const historyEntry = z
  .strictObject({
    id: number,
    event: text,
    old: z.unknown(),
    new: z.unknown(),
    actor: nullableText,
    revision: number,
    memoryRevision: nullableNumber,
    at: time,
  })
  .register(described, { id: "HistoryEntry" });

const change = z
  .strictObject({
    rev: number,
    ...each(text, "event", "memoryId", "category", "line"),
    at: time,
  })
  .register(described, { id: "Change" });

export const changesAnswer = z.strictObject({
  revision: number,
  trimmedTo: number.optional(),
  changes: z.array(change),
  nextCursor: nullableText,
});

export const evidence = z.strictObject({
  quote: text,
  ...each(optionalText, "message", "threadId", "messageId"),
});

export const consentRequest = z
  .strictObject({
    scope,
    rule: z.enum(["consent", "signals"]),
    status: z.enum(consentStatuses),
    ...each(text, "id", "category", "text"),
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
    ...each(number, "seenCount", "signals", "revision"),
    ...each(time, "createdAt", "expiresAt", "askAt"),
    decidedAt: nullableTime,
    source: source.nullable(),
    evidence: evidence.nullable(),
  })
  .register(described, { id: "ConsentRequest" });
