import { z } from "zod";
import { memoryOrigins } from "../memories/item/memory.js";
import { anyObject, described, memoryKind, memoryState, scope, time } from "./fields.js";

/** Where a memory comes from. */
export const source = z.strictObject({
  threadId: z.string(),
  seqs: z.array(z.number()),
  quote: z.string().optional(),
});
const turns = z.strictObject({ start: z.number(), end: z.number() });

/** A stored memory. */
export const memoryItem = z
  .strictObject({
    ...{ id: z.string(), scope, kind: memoryKind, category: z.string() },
    ...{ key: z.string().nullable(), value: z.string().nullable(), text: z.string() },
    ...{ importance: z.number(), confidence: z.number(), pinned: z.boolean(), state: memoryState },
    ...{ tags: z.array(z.string()), metadata: anyObject, expiresAt: time.nullable() },
    ...{ agentId: z.string().nullable(), runId: z.string().nullable() },
    ...{ actorId: z.string().nullable(), role: z.string().nullable() },
    origin: z.enum(memoryOrigins),
    trust: z.enum(["operator", "user", "agent", "untrusted"]),
    ...{ source: source.nullable(), turns: turns.nullable(), seenCount: z.number() },
    ...{ validFrom: time, validTo: time.nullable(), supersededBy: z.string().nullable() },
    ...{ lastAccessedAt: time, purgeAt: time.nullable(), createdAt: time, updatedAt: time },
    revision: z.number(),
  })
  .register(described, { id: "Memory" });

/** A memory that was found. */
export const memoryHit = z
  .strictObject({
    memory: memoryItem,
    ...{ similarity: z.number(), score: z.number(), reason: z.string() },
    related: z.array(memoryItem).optional(),
  })
  .register(described, { id: "MemoryHit" });

/** What became of one draft. */
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
  })
  .register(described, { id: "WriteOutcome" });

/** An entry of the audit trail. */
export const historyEntry = z
  .strictObject({
    ...{ id: z.number(), event: z.string(), old: z.unknown(), new: z.unknown() },
    ...{
      actor: z.string().nullable(),
      revision: z.number(),
      memoryRevision: z.number().nullable(),
      at: time,
    },
  })
  .register(described, { id: "HistoryEntry" });

/** One change to the memories of a user or an app. */
const change = z
  .strictObject({
    ...{ rev: z.number(), event: z.string(), memoryId: z.string() },
    ...{ category: z.string(), line: z.string(), at: time },
  })
  .register(described, { id: "Change" });

/** Changes since a revision. */
export const changesAnswer = z.strictObject({
  revision: z.number(),
  trimmedTo: z.number().optional(),
  changes: z.array(change),
});

/** What a user said to a request. */
export const evidence = z.strictObject({
  quote: z.string(),
  message: z.string().optional(),
  threadId: z.string().optional(),
  messageId: z.string().optional(),
});

/** A request for the user's consent. */
export const consentRequest = z
  .strictObject({
    ...{ id: z.string(), scope, rule: z.string(), category: z.string() },
    ...{ key: z.string().nullable(), value: z.string().nullable(), text: z.string() },
    current: z.string().nullable(),
    status: z.enum(["pending", "approved", "refused", "superseded", "expired"]),
    ...{ seenCount: z.number(), signals: z.number(), proposedBy: z.string().nullable() },
    ...{ source: source.nullable(), createdAt: time, expiresAt: time, askAt: time },
    ...{ decidedAt: time.nullable(), decidedBy: z.string().nullable(), decidedVia: z.string().nullable() },
    ...{ evidence: evidence.nullable(), memoryId: z.string().nullable(), revision: z.number() },
  })
  .register(described, { id: "ConsentRequest" });
