import { z } from "zod";
import { isoTimeMs } from "../clock.js";
import { changeEvents } from "../memories/changes/change-line.js";
import { historyEvents } from "../memories/changes/record-changes.js";
import { consentStatuses } from "../memories/guard/consent-request.rule.js";
import { memoryKinds, memoryOrigins, memoryStates } from "../memories/item/memory.js";
import { metadataField } from "../memories/item/memory-metadata.rule.js";
import { maxCharacters } from "../memories/write/writing-constraints.rule.js";
import { hasWords, isStorable } from "../text/storable-text.js";

/** The version of the format that `export` writes and `import` takes. */
export const exportVersion = 1;

/** Longest line that is read, in characters. A line is one message at most, and no model takes one of ten million. */
export const mostLineCharacters = 10_000_000;

/** Deepest nesting of a line. What is written of a memory or a request has some five levels. */
export const mostLineDepth = 100;

/** Deepest nesting of a message, whose tools may have answered with any JSON. */
export const mostMessageDepth = 1_000;

/** Texts that no prompt shows: quotes, errors, entries of the audit trail. */
const longText = 100_000;

const text = (most: number) =>
  z.string().max(most).refine(isStorable, "has characters that PostgreSQL cannot hold");
const optional = (most = 10_000) => text(most).nullable();
const stated = (most: number) => text(most).refine((value) => value.trim() !== "", "must not be blank");
const id = stated(10_000);
/** What stands in an index as it is: an entry holds 2,704 bytes, of two of these and some numbers. */
const name = stated(200);
/** An index entry holds no more; recorded ids are no longer either. */
const messageId = id.refine(
  (value) => new TextEncoder().encode(value).length <= 1_000,
  "is longer than 1000 bytes",
);
const uuid = z.uuid().toLowerCase();
/** An `integer` of PostgreSQL, with room to be counted on from. */
const mostCount = 1_000_000_000;
const count = z.int().min(0).max(mostCount);
/** A `bigint` that JavaScript counts exactly, with room to be counted on from. */
const counter = z
  .int()
  .min(0)
  .max(2 ** 52);
/** A `real`: digits that it does not hold would be out of its range. */
const real = (least: number, most: number) => z.number().min(least).max(most).overwrite(Math.fround);
const time = z
  .string()
  .refine((value) => isoTimeMs(value) !== null, "must be a time in ISO 8601, of a day that there is");
const json = z
  .unknown()
  .refine(isStorableJson, "has characters that PostgreSQL cannot hold")
  .refine(
    (value) => (JSON.stringify(value) ?? "").length <= longText,
    `is longer than ${longText} characters`,
  );
/** The app, where the exported scope is a user in all apps. */
const appId = id.optional();

const header = z.strictObject({
  type: z.literal("header"),
  format: z.literal("mnemograph"),
  version: z.literal(exportVersion),
  exportedAt: time,
  scope: z.strictObject({ tenantId: id.optional(), userId: id.optional(), appId: id.optional() }),
});

const owner = z.strictObject({
  ...{ type: z.literal("owner"), revision: counter, turns: counter },
  /** Absent in files of before there was such a thing. */
  changesTrimmedTo: counter.default(0),
});

const thread = z.strictObject({
  type: z.literal("thread"),
  ...{ threadId: id, appId, revSeen: counter, createdAt: time, lastActivityAt: time },
  /** When the conversation ended, and why; null and left out where it goes on. */
  ...{ endedAt: time.nullish(), endedReason: text(1_000).nullish() },
  /** How far background work has come, and whether there is some to do. */
  tasks: z
    .array(
      z.strictObject({
        task: z.enum(["extract", "compress", "note"]),
        doneUntil: z.int().min(-1).max(mostCount),
        due: z.boolean(),
      }),
    )
    .refine((tasks) => new Set(tasks.map(({ task }) => task)).size === tasks.length, "names a task twice"),
});

const message = z.strictObject({
  type: z.literal("message"),
  ...{ threadId: id, seq: count, messageId, saidAt: time, createdAt: time },
  /** The agent and the run that it was said in; left out where they are not known. */
  ...{ agentId: text(10_000).optional(), runId: text(10_000).optional() },
  /** As LangGraph's checkpoints hold it; what else is stored of a message is made from it. */
  serialised: text(mostLineCharacters),
});

const summaryName = { startSeq: count, endSeq: count, createdAt: time };
const summary = z
  .strictObject({
    type: z.literal("summary"),
    ...{ threadId: id, ...summaryName },
    /** The one it was made from. */
    base: z.strictObject(summaryName).nullable(),
    ...{
      status: z.enum(["completed", "failed"]),
      text: optional(longText),
      generationTimeMs: count.nullable(),
    },
    ...{ attempts: count, error: optional(longText) },
    /** The rounds it stands for; left out where they are counted when they are read. */
    ...{ startRound: count.nullish(), endRound: count.nullish() },
  })
  .refine(({ startSeq, endSeq }) => startSeq <= endSeq, { error: "ends before it starts", path: ["endSeq"] })
  .refine((line) => line.status === "failed" || (line.text ?? "").trim() !== "", {
    error: "must not be blank when it is completed",
    path: ["text"],
  });

const memory = z
  .strictObject({
    type: z.literal("memory"),
    ...{ id: uuid, appId },
    kind: z.enum(memoryKinds),
    category: name,
    key: name.refine(hasWords, "has no letters or digits").nullable(),
    ...{ value: optional(2_000), text: id },
    ...{ importance: real(1, 5), confidence: real(0, 1), pinned: z.boolean() },
    state: z.enum(memoryStates),
    origin: z.enum(memoryOrigins),
    trust: z.enum(["operator", "user", "agent", "untrusted"]),
    tags: z.array(text(1_000)).max(100),
    // Exports from before there were such have none.
    ...{ metadata: metadataField.default({}), expiresAt: time.nullable().default(null) },
    ...{ agentId: optional(), runId: optional(), actorId: optional(1_000), role: optional() },
    ...{ threadId: optional(), sourceSeqs: z.array(count).max(10_000), evidence: optional(longText) },
    ...{ turnStart: count.nullable(), turnEnd: count.nullable(), assertedTurn: counter },
    ...{ validFrom: time, validTo: time.nullable(), supersededBy: uuid.nullable() },
    // Exports from before there was such a time have none.
    assertedAt: time.nullable().default(null),
    ...{ seenCount: count, accessCount: count, lastAccessedAt: time, purgeAt: time.nullable() },
    ...{ createdAt: time, updatedAt: time },
  })
  .refine((line) => line.text.length <= maxCharacters[line.kind], {
    error: "is longer than a memory of its kind",
    path: ["text"],
  });

const relation = z.strictObject({
  type: z.literal("relation"),
  ...{ from: uuid, to: uuid, relationType: name, strength: real(-1, 1), createdAt: time },
});

const history = z.strictObject({
  type: z.literal("history"),
  ...{ memoryId: uuid, appId },
  event: z.enum(historyEvents),
  ...{ old: json, new: json, actor: optional(), revision: counter.nullable(), createdAt: time },
});

const change = z.strictObject({
  type: z.literal("change"),
  ...{ revision: counter, memoryId: uuid, appId },
  event: z.enum(changeEvents),
  ...{ category: name, line: text(10_000), importance: real(0, 5), createdAt: time },
});

/** The memory that a request would become: what is read of it unasked must be there; `add` checks the rest. */
const draft = z
  .looseObject({
    text: stated(4_000),
    value: text(2_000).optional(),
    validFrom: time.optional(),
    source: z.looseObject({ threadId: id, seqs: z.array(count).max(10_000) }).optional(),
  })
  .and(json);

const consent = z
  .strictObject({
    type: z.literal("consent"),
    ...{ id: uuid, appId, rule: z.enum(["consent", "signals"]), category: name, key: name.nullable() },
    ...{ slot: stated(300), normalValue: text(10_000), contentHash: text(1_000), draft, seenCount: count },
    signals: z
      .array(json.refine((signal) => signal !== null && signal !== undefined, "must not be null"))
      .max(1_000),
    proposedBy: text(10_000),
    status: z.enum(consentStatuses),
    ...{ memoryId: uuid.nullable(), createdAt: time, expiresAt: time, askAt: time },
    ...{ decidedAt: time.nullable(), decidedBy: optional(), decidedVia: optional(), evidence: json },
  })
  .refine(({ status, decidedAt }) => (status === "pending") === (decidedAt === null), {
    error: "is there when it was decided, and only then",
    path: ["decidedAt"],
  });

/** An item of LangGraph's store: any JSON, under its namespace and key. */
const item = z.strictObject({
  type: z.literal("item"),
  ...{ appId, namespace: z.array(text(10_000).min(1)).min(1).max(1_000), key: text(100_000) },
  value: z
    .unknown()
    .refine((value) => value !== null && value !== undefined, "must not be null")
    .refine(isStorableJson, "has characters that PostgreSQL cannot hold"),
  /** Which of its fields are searched; null for none. */
  indexFields: z.array(text(1_000)).max(100).nullable(),
  ttlMinutes: z.number().positive().max(mostCount).nullable(),
  ...{ expiresAt: time.nullable(), createdAt: time, updatedAt: time },
});

const end = z.strictObject({
  type: z.literal("end"),
  /** Lines before this one: an export that was cut off has none of these, or fewer lines. */
  lines: counter,
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
  item,
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
