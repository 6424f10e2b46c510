import { z } from "zod";
import { isoTimeMs } from "../clock.js";
import { changeEvents } from "../memories/changes/change-line.js";
import { historyEvents } from "../memories/changes/record-changes.js";
import { consentStatuses } from "../memories/guard/consent-request.rule.js";
import { memoryKinds, memoryOrigins, memoryStates } from "../memories/item/memory.js";
import { metadataField } from "../memories/item/memory-metadata.rule.js";

/** The version of the format that `export` writes and `import` reads. */
export const exportVersion = 1;

const text = z.string();
const id = text.refine((value) => value.trim() !== "", "must not be blank");
const optional = text.nullable();
const uuid = z.uuid().toLowerCase();
const count = z.int().min(0);
const real = z.number();
const time = text.refine(
  (value) => isoTimeMs(value) !== null,
  "must be a time in ISO 8601, of an existing day",
);
const json = z.unknown();
/** The app, where the exported scope is a user in all apps. */
const appId = id.optional();

const header = z.strictObject({
  type: z.literal("header"),
  format: z.literal("mnemograph"),
  version: z.literal(exportVersion),
  exportedAt: time,
  scope: z.strictObject({ tenantId: id.optional(), userId: id.optional(), appId }),
});

const owner = z.strictObject({
  ...{ type: z.literal("owner"), revision: count, turns: count, changesTrimmedTo: count },
});

const thread = z.strictObject({
  type: z.literal("thread"),
  ...{ threadId: id, appId, revSeen: count, createdAt: time, lastActivityAt: time },
  ...{ endedAt: time.nullable(), endedReason: optional },
  /** How far background work has come, and whether some is due. */
  tasks: z.array(
    z.strictObject({
      task: z.enum(["extract", "compress", "note"]),
      ...{ doneUntil: z.int().min(-1), due: z.boolean() },
    }),
  ),
  /** The app's notes that were made of it: forgetting the thread deletes them. */
  notes: z.array(z.strictObject({ memoryId: uuid, startSeq: count, endSeq: count })),
});

const message = z.strictObject({
  type: z.literal("message"),
  ...{ threadId: id, seq: count, messageId: id, saidAt: time, createdAt: time },
  ...{ agentId: text.optional(), runId: text.optional() },
  /** As LangGraph's checkpoints hold it; the other columns of a message are made from it. */
  serialised: text,
});

const summaryName = { startSeq: count, endSeq: count, createdAt: time };
const summary = z.strictObject({
  ...{ type: z.literal("summary"), threadId: id, ...summaryName },
  /** The summary that it was made from. */
  base: z.strictObject(summaryName).nullable(),
  status: z.enum(["completed", "failed"]),
  ...{ text: optional, generationTimeMs: count.nullable(), attempts: count, error: optional },
  ...{ startRound: count.nullable(), endRound: count.nullable() },
});

const memory = z.strictObject({
  type: z.literal("memory"),
  ...{ id: uuid, appId },
  ...{ kind: z.enum(memoryKinds), category: id, key: id.nullable(), value: optional, text: id },
  ...{ importance: real, confidence: real, pinned: z.boolean() },
  ...{ state: z.enum(memoryStates), origin: z.enum(memoryOrigins) },
  trust: z.enum(["operator", "user", "agent", "untrusted"]),
  ...{ tags: z.array(text), metadata: metadataField, expiresAt: time.nullable() },
  ...{ agentId: optional, runId: optional, actorId: optional, role: optional },
  ...{ threadId: optional, sourceSeqs: z.array(count), evidence: optional },
  ...{ turnStart: count.nullable(), turnEnd: count.nullable(), assertedTurn: count },
  ...{
    validFrom: time,
    validTo: time.nullable(),
    supersededBy: uuid.nullable(),
    assertedAt: time.nullable(),
  },
  ...{ seenCount: count, accessCount: count, lastAccessedAt: time, purgeAt: time.nullable() },
  ...{ createdAt: time, updatedAt: time },
});

const relation = z.strictObject({
  type: z.literal("relation"),
  ...{ from: uuid, to: uuid, relationType: id, strength: real, createdAt: time },
});

const history = z.strictObject({
  ...{ type: z.literal("history"), memoryId: uuid, appId, event: z.enum(historyEvents) },
  ...{ old: json, new: json, actor: optional, revision: count.nullable(), createdAt: time },
});

const change = z.strictObject({
  ...{ type: z.literal("change"), revision: count, memoryId: uuid, appId, event: z.enum(changeEvents) },
  ...{ category: id, line: text, importance: real, createdAt: time },
});

const consent = z.strictObject({
  type: z.literal("consent"),
  ...{ id: uuid, appId, rule: z.enum(["consent", "signals"]), category: id, key: id.nullable() },
  ...{ slot: id, normalValue: text, contentHash: text, seenCount: count, signals: z.array(json) },
  /** The memory that the request would become. */
  draft: z.looseObject({ text: id }),
  ...{ proposedBy: text, status: z.enum(consentStatuses), memoryId: uuid.nullable() },
  ...{ createdAt: time, expiresAt: time, askAt: time, decidedAt: time.nullable() },
  ...{ decidedBy: optional, decidedVia: optional, evidence: json },
});

/** An item of LangGraph's store. */
const item = z.strictObject({
  ...{ type: z.literal("item"), appId, namespace: z.array(id).min(1), key: text, value: json },
  /** Which of its fields are searched; null for none. */
  indexFields: z.array(text).nullable(),
  ...{ ttlMinutes: z.number().positive().nullable(), expiresAt: time.nullable() },
  ...{ createdAt: time, updatedAt: time },
});

/** The last line: `lines` before it. An export that was cut off has none. */
const end = z.strictObject({ type: z.literal("end"), lines: count });

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
  item,
  end,
]);

/** One line of an export. */
export type ExportLine = z.output<typeof exportLineSchema>;

/** The line of this `type`. */
export type ExportLineOf<Type extends ExportLine["type"]> = Extract<ExportLine, { type: Type }>;
