import { z } from "zod";
import { isStorable } from "./storable-text.js";

/** The version of the format that `export` writes and `import` takes. */
export const exportVersion = 1;

const text = z.string().refine(isStorable, "has characters that PostgreSQL cannot hold");
const id = text.refine((value) => value.trim() !== "", "must not be blank");
/** An index entry holds no more; recorded ids are no longer either. */
const messageId = id.refine(
  (value) => new TextEncoder().encode(value).length <= 1_000,
  "is longer than 1000 bytes",
);
const optional = text.nullable();
const count = z.int().min(0);
const share = z.number().min(0).max(1);
/** With the microseconds that a JavaScript date would lose. */
const time = z
  .string()
  .refine((value) => /^\d{4,}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)), {
    error: "must be a time in ISO 8601",
  });
const json = z.unknown().refine(isStorableJson, "has characters that PostgreSQL cannot hold");
/** The app, where the exported scope is a user in all apps. */
const appId = id.optional();

const header = z.strictObject({
  type: z.literal("header"),
  format: z.literal("mnemograph"),
  version: z.literal(exportVersion),
  exportedAt: time,
  scope: z.strictObject({ tenantId: id.optional(), userId: id.optional(), appId: id.optional() }),
});

const owner = z.strictObject({ type: z.literal("owner"), revision: count, turns: count });

const thread = z.strictObject({
  type: z.literal("thread"),
  ...{ threadId: id, appId, revSeen: count, createdAt: time, lastActivityAt: time },
  /** How far background work has come, and whether there is some to do. */
  tasks: z.array(
    z.strictObject({ task: z.enum(["extract", "compress"]), doneUntil: z.int().min(-1), due: z.boolean() }),
  ),
});

const message = z.strictObject({
  type: z.literal("message"),
  ...{ threadId: id, seq: count, messageId, saidAt: time, createdAt: time },
  /** As LangGraph's checkpoints hold it; what else is stored of a message is made from it. */
  serialised: text,
});

const summaryName = { startSeq: count, endSeq: count, createdAt: time };
const summary = z.strictObject({
  type: z.literal("summary"),
  ...{ threadId: id, ...summaryName },
  /** The one it was made from. */
  base: z.strictObject(summaryName).nullable(),
  ...{ status: z.enum(["completed", "failed"]), text: optional, generationTimeMs: count.nullable() },
  ...{ attempts: count, error: optional, rolledBackAt: time.nullable() },
});

const memory = z.strictObject({
  type: z.literal("memory"),
  ...{ id: z.uuid(), appId },
  kind: z.enum(["fact", "episode", "note", "insight", "procedure"]),
  ...{ category: id, key: optional, value: optional, text: id },
  ...{ importance: z.number().min(1).max(5), confidence: share, pinned: z.boolean() },
  state: z.enum(["active", "superseded", "merged", "soft_deleted", "quarantined"]),
  origin: z.enum(["user", "assistant", "tool", "document", "worker", "operator", "import", "unknown"]),
  trust: z.enum(["operator", "user", "agent", "untrusted"]),
  ...{ tags: z.array(text), agentId: optional, runId: optional, actorId: optional, role: optional },
  ...{ threadId: optional, sourceSeqs: z.array(count), evidence: optional },
  ...{ turnStart: count.nullable(), turnEnd: count.nullable(), assertedTurn: count },
  ...{ validFrom: time, validTo: time.nullable(), supersededBy: z.uuid().nullable() },
  ...{ seenCount: count, accessCount: count, lastAccessedAt: time, purgeAt: time.nullable() },
  ...{ createdAt: time, updatedAt: time },
});

const relation = z.strictObject({
  type: z.literal("relation"),
  ...{ from: z.uuid(), to: z.uuid(), relationType: id, strength: z.number(), createdAt: time },
});

const history = z.strictObject({
  type: z.literal("history"),
  ...{ memoryId: z.uuid(), appId },
  event: z.enum(["ADD", "UPDATE", "DELETE", "MERGE", "LINK", "TTL", "RESTORE", "CONSENT"]),
  ...{ old: json, new: json, actor: optional, revision: count.nullable(), createdAt: time },
});

const change = z.strictObject({
  type: z.literal("change"),
  ...{ revision: count, memoryId: z.uuid(), appId },
  event: z.enum(["created", "updated", "merged", "deleted", "soft_deleted", "restored"]),
  ...{ category: text, line: text, importance: z.number(), createdAt: time },
});

const consent = z.strictObject({
  type: z.literal("consent"),
  ...{ id: z.uuid(), appId, rule: z.enum(["consent", "signals"]), category: id, key: optional, slot: text },
  ...{ normalValue: text, contentHash: text, draft: json, seenCount: count, signals: json, proposedBy: text },
  status: z.enum(["pending", "approved", "refused", "superseded", "expired"]),
  ...{ memoryId: z.uuid().nullable(), createdAt: time, expiresAt: time, askAt: time },
  ...{ decidedAt: time.nullable(), decidedBy: optional, decidedVia: optional, evidence: json },
});

const end = z.strictObject({
  type: z.literal("end"),
  /** Lines before this one: an export that was cut off has none of these, or fewer lines. */
  lines: count,
});

/** One line of an export. */
export const exportLineSchema = z.discriminatedUnion("type", [
  header,
  owner,
  thread,
  message,
  summary,
  memory,
  relation,
  history,
  change,
  consent,
  end,
]);

/** One line of an export. */
export type ExportLine = z.output<typeof exportLineSchema>;

/** The line of this `type`. */
export type ExportLineOf<Type extends ExportLine["type"]> = Extract<ExportLine, { type: Type }>;

function isStorableJson(value: unknown): boolean {
  if (typeof value === "string") return isStorable(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorableJson(inner));
}
