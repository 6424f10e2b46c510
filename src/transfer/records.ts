import sql, { empty, type Sql } from "sql-template-tag";
import { z } from "zod";
import { nonBlank } from "../input/parse-input.js";
import { changeEvents, historyEvents } from "../memories/audit/memory-change.js";
import { importedSnapshot } from "../memories/audit/snapshot.js";
import { consentColumns } from "../memories/consent/consent-statements.js";
import { addedSources, countAdded, termRows, wordRows } from "../memories/item/index-rows.js";
import { memoryHash } from "../memories/item/memory.js";
import {
  memoryColumns,
  memoryTerms,
  snapshotColumns,
  wordNames,
} from "../memories/item/memory-fields.js";
import { decodeMessage } from "../messages/message-codec.js";
import { checks, column, orNull, type RowOf, recordset, without } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes, lexemeVector } from "../postgres/lexemes.js";
import { hasOwner, hasScope, threadsOf } from "../scope/erasure-scope.js";
import { idDigest, isSourceThread, ownerIs } from "../scope/scope-predicates.js";
import { itemTerms } from "../store/indexed-texts.rule.js";
import { pathOf } from "../store/store-operation.js";
import { timeZoneField } from "../text/time-zone.js";
import { toNewMessage } from "../transcript/record.js";
import { derived, type ImportTarget, type RecordType } from "./record-type.js";
import { shownRecord } from "./shown-record.js";
import {
  appId,
  intoSource,
  joinThread,
  nullBefore,
  summaryField,
  summaryName,
  threadId,
} from "./thread-fields.js";

const everyId = ["owner_ref", "tenant_id", "user_id"] as const;
/** A memory as an entry of its audit trail has it: without what is null. */
const snapshotLine = z.strictObject(
  Object.fromEntries(
    Object.entries(checks(snapshotColumns)).map(([name, check]) => {
      const mayLack = check.safeParse(null).success || name === "sourceSeqs";
      return [name, mayLack ? check.optional() : check];
    }),
  ),
) as unknown as z.ZodType<RowOf<typeof snapshotColumns>>;

/** CTEs that index and count the inserted messages. */
function messageIndex(db: Connection, { ownerRef }: ImportTarget): Sql {
  const { schema } = db;
  return sql`,
    fresh as (
      select a.thread_ref, i.* from input i
      join ${schema}.thread t on t.thread_id = i."threadId" and t.owner_ref = ${ownerRef}
      join added a on a.thread_ref = t.id and a.seq = i.seq
    ),
    term as (
      select f.thread_ref, f.seq, w.lexeme, w.frequency, sum(w.frequency) over (partition by f.thread_ref, f.seq) as length
      from fresh f cross join lateral ${lexemes(db, sql`f.terms`)} w
    ),
    indexed as (
      insert into ${schema}.message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
      select ${ownerRef}::bigint, lexeme, thread_ref, seq, frequency, length from term
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count + (select count(distinct (thread_ref, seq)) from term),
        message_length = o.message_length + (select coalesce(sum(frequency), 0) from term)
      where o.id = ${ownerRef}
    ),
    turns as (
      update ${schema}.thread t set turns = t.turns + f.turns
      from (select thread_ref as ref, count(*) as turns from fresh where role = 'user' group by 1) f
      where t.id = f.ref
    )`;
}

/** The records of an export; each follows the records it refers to. */
export const records = {
  // First, so that an import continues from its last revision.
  owner: {
    table: "owner",
    fields: {
      revision: column.bigint("revision"),
      turns: column.bigint("turns"),
      changesTrimmedTo: column.bigint("changes_trimmed_to"),
    },
    rows: ({ schema }, { scope }) => sql`${schema}.owner x where x.id = ${scope.ownerRef}::bigint`,
    key: ["x.id"],
  },
  thread: {
    table: "thread",
    fields: {
      threadId: column.text("thread_id", nonBlank),
      appId,
      revSeen: column.bigint("rev_seen"),
      createdAt: column.time("created_at"),
      lastActivityAt: column.time("last_activity_at"),
      endedAt: orNull(column.time("ended_at")),
      endedReason: orNull(column.text("ended_reason")),
    },
    words: ["endedReason"],
    rows: ({ schema }, { scope }) => sql`${schema}.thread x where ${hasScope(scope)}`,
    key: ["x.id"],
    insert: { ownerColumns: everyId },
  },
  /**
   * Before the messages: a summary made meanwhile must not cover messages that the export lacks.
   */
  summary: {
    table: "summary",
    parent: "thread",
    fields: {
      threadId,
      ...summaryName,
      base: summaryField("base_id", "base"),
      status: column.text("status", z.enum(["completed", "failed"])),
      text: orNull(column.text("content")),
      generationTimeMs: orNull(column.integer("generation_time_ms")),
      startTurn: orNull(column.integer("start_turn")),
      endTurn: orNull(column.integer("end_turn")),
    },
    words: ["text"],
    rows: ({ schema }, { thread = null }) => sql`${schema}.summary x
      join ${schema}.thread t on t.id = x.thread_ref
      left join lateral (select * from ${schema}.summary where id = x.base_id limit 1) b on true
      where x.thread_ref = ${thread}::bigint and x.status <> 'processing'`,
    key: ["x.id"],
    insert: { joined: joinThread, oneByOne: true },
  },
  message: {
    table: "message",
    parent: "thread",
    fields: {
      threadId,
      seq: column.integer("seq"),
      messageId: column.text("message_id", nonBlank),
      /** In the form of LangGraph's checkpoints; the message's other columns derive from it. */
      serialised: column.text("serialised"),
      saidAt: column.time("said_at"),
      timeZone: column.text("time_zone", timeZoneField),
      createdAt: column.time("created_at"),
      agentId: orNull(column.text("agent_id")),
      runId: orNull(column.text("run_id")),
      // Exports of before have neither.
      editedAtSeq: nullBefore(column.integer("edited_at_seq")),
      altered: column.boolean("altered", z.boolean().default(false)),
    },
    rows: ({ schema }, { thread = null }) => sql`${schema}.message x
      join ${schema}.thread t on t.id = x.thread_ref where x.thread_ref = ${thread}::bigint`,
    key: ["x.seq"],
    insert: {
      extra: async ({
        serialised,
        messageId,
        threadId,
      }: Record<"serialised" | "messageId" | "threadId", string>) => ({
        ...(await toNewMessage(decodeMessage(serialised), threadId)),
        messageId,
        serialised,
      }),
      columns: {
        role: column.text("role"),
        actor: column.text("actor"),
        text: column.text("content"),
      },
      read: "terms text",
      joined: joinThread,
      returning: "thread_ref, seq",
      following: messageIndex,
    },
  },
  shown: shownRecord,
  /** Progress of background work on a thread, and whether more is due. */
  work: {
    table: "work",
    fields: {
      threadId,
      kind: column.text("kind", z.enum(["facts", "episodes", "notes"])),
      doneUntil: column.integer("done_until", z.int().min(-1)),
      due: derived(
        column.boolean("retry_at"),
        sql`x.retry_at is not null or x.lease_until is not null`,
        (db) => sql`case when i.due then ${db.now()} end`,
      ),
    },
    rows: (
      db,
      { scope },
    ) => sql`${db.schema}.work x join ${db.schema}.thread t on t.id = x.thread_ref
      where x.thread_ref in (${threadsOf(db, scope)}) and x.given_up_at is null and x.kind <> 'summaries'`,
    key: ["x.id"],
    insert: { joined: joinThread },
  },
  memory: {
    table: "memory",
    fields: {
      ...without(memoryColumns, "tenantId", "userId", "contentHash", "revision"),
      appId,
      // One of the same words may be in quarantine already.
      state: derived(
        memoryColumns.state,
        sql`x.state`,
        ({ schema }, { ownerRef }) => sql`case when i.state = 'quarantined' and (
            row_number() over (partition by i.state, i."appId", i.kind, i."contentHash" order by i.position) > 1 or exists (
              select from ${schema}.memory q
              where q.owner_ref = ${ownerRef} and ${idDigest(sql`q.app_id`)} = ${idDigest(sql`i."appId"`)} and q.kind = i.kind
                and q.content_hash = i."contentHash" and q.state = 'quarantined'
            )
          ) then 'soft_deleted' else i.state end`,
      ),
      // Another user's thread stays unnamed.
      threadId: derived(memoryColumns.threadId, sql`t.thread_id`, intoSource("threadId")),
      sourceSeqs: derived(memoryColumns.sourceSeqs, sql`x.source_seqs`, intoSource("sourceSeqs")),
      evidence: derived(memoryColumns.evidence, sql`x.evidence`, intoSource("evidence")),
    },
    words: wordNames,
    rows: ({ schema }, { scope }) => sql`${schema}.memory x
      left join ${schema}.thread t on t.id = x.thread_ref and t.user_id = ${scope.userId}
      where ${hasOwner(scope)}`,
    key: ["x.ref"],
    insert: {
      ownerColumns: everyId,
      extra: (line: Parameters<typeof memoryHash>[0]) => ({
        contentHash: memoryHash(line),
        terms: memoryTerms(line),
      }),
      columns: { contentHash: memoryColumns.contentHash },
      read: "terms text",
      joined: ({ schema }, target) => sql`
        left join ${schema}.thread t on ${isSourceThread({ ...target, appId: sql`i."appId"` }, sql`i."threadId"`)}`,
      returning: "ref, id, state, thread_ref, source_seqs",
      following: (db, { ownerRef }) => sql`,
        ${addedSources(db, "added")}, ${wordRows(db)}, ${termRows(db, ownerRef)}, counted as (${countAdded(db, ownerRef)})`,
    },
  },
  relation: {
    table: "relation",
    fields: {
      from: derived(column.uuid("from_ref"), sql`m.id`, () => sql`f.ref`),
      to: derived(column.uuid("to_ref"), sql`o.id`, () => sql`o.ref`),
      relationType: column.text("relation_type", nonBlank),
      strength: column.real("strength"),
      createdAt: column.time("created_at"),
    },
    // The last memory of the previous page may have more links.
    rows: ({ schema }, { scope, after }) => sql`${schema}.memory m
      join ${schema}.relation x on x.from_ref = m.ref
      join ${schema}.memory o on o.ref = x.to_ref and o.owner_ref = m.owner_ref
      where m.owner_ref = ${scope.ownerRef}::bigint
        and (${scope.whole} or (m.app_id = ${scope.appId} and o.app_id = ${scope.appId}))
        and m.ref >= ${after?.[0] ?? "0"}::bigint`,
    key: ["x.from_ref", "x.to_ref", "x.relation_type"],
    insert: {
      joined: ({ schema }, { ownerRef }) => sql`
        left join ${schema}.memory f on f.id = i."from" and f.owner_ref = ${ownerRef}
        left join ${schema}.memory o on o.id = i."to" and o.owner_ref = ${ownerRef}`,
    },
  },
  /**
   * Lets forgetting a conversation delete its note. User and app export it with a digest of the
   * thread's id.
   */
  noteSource: {
    table: "note_source",
    fields: {
      thread: derived(
        column.text(
          "thread_ref",
          z.string().regex(/^[0-9a-f]{64}$/, "must be a digest in hexadecimal"),
        ),
        sql`encode(${idDigest(sql`t.thread_id`)}, 'hex')`,
        () => sql`t.id`,
      ),
      memoryId: column.uuid("memory_id"),
      appId: derived(orNull(column.text("owner_ref", nonBlank)), sql`o.app_id`, () => sql`o.id`),
      startSeq: column.integer("start_seq"),
      endSeq: column.integer("end_seq"),
    },
    rows: (db, { scope }) => sql`${db.schema}.note_source x
      join ${db.schema}.thread t on t.id = x.thread_ref
      join ${db.schema}.owner o on o.id = x.owner_ref and o.user_id = ''
      where (x.thread_ref in (${threadsOf(db, scope)})
        or x.owner_ref = ${scope.userId === "" ? scope.ownerRef : null}::bigint)`,
    key: ["x.thread_ref", "x.memory_id"],
    insert: {
      joined: ({ schema }, { tenantId, ownerRef }) => sql`
        join ${schema}.thread t on ${idDigest(sql`t.tenant_id`)} = ${idDigest(tenantId)}
          and ${idDigest(sql`t.thread_id`)} = decode(i.thread, 'hex') and t.tenant_id = ${tenantId}
        join ${schema}.owner o on ${ownerIs({ tenantId, userId: "", appId: sql`i."appId"` })}
          and t.app_id = o.app_id and ${ownerRef} in (t.owner_ref, o.id)`,
      end: sql`on conflict do nothing`,
    },
  },
  history: {
    table: "history",
    fields: {
      memoryId: column.uuid("memory_id"),
      appId,
      event: column.text("event", z.enum(historyEvents)),
      old: column.json("old"),
      new: column.json("new"),
      actor: orNull(column.text("actor")),
      revision: orNull(column.bigint("rev")),
      /** The memory after the change, as its own line has it; older exports have none. */
      snapshot: derived(
        column.json("snapshot", snapshotLine.nullish()),
        sql`x.snapshot - '{ref,threadId}'::text[]
          || case when t.id is null then '{}' else jsonb_build_object('threadId', t.thread_id) end`,
        () => sql`case when i.snapshot is not null then (
          select ${importedSnapshot(sql`m.ref`, sql`t.id`)}
          from jsonb_to_record(i.snapshot) as s (${recordset(snapshotColumns)})
        ) end`,
      ),
      createdAt: column.time("created_at"),
    },
    words: ["old", "new"],
    rows: ({ schema }, { scope }) => sql`${schema}.history x
      left join ${schema}.thread t on t.id = (x.snapshot ->> 'threadId')::bigint and t.user_id = ${scope.userId}
      where ${hasOwner(scope)}`,
    key: ["x.id"],
    insert: {
      ownerColumns: ["owner_ref"],
      joined: ({ schema }, target) => sql`
        left join ${schema}.memory m on m.id = i."memoryId" and m.owner_ref = ${target.ownerRef}
        left join ${schema}.thread t on ${isSourceThread({ ...target, appId: sql`i."appId"` }, sql`i.snapshot ->> 'threadId'`)}`,
    },
  },
  change: {
    table: "change_log",
    fields: {
      revision: column.bigint("rev"),
      memoryId: column.uuid("memory_id"),
      appId,
      event: column.text("event", z.enum(changeEvents)),
      category: column.text("category", nonBlank),
      line: column.text("line"),
      importance: column.real("importance"),
      createdAt: column.time("created_at"),
    },
    words: ["line"],
    key: ["x.rev"],
    insert: { ownerColumns: ["owner_ref"] },
  },
  consent: {
    table: "consent_request",
    fields: { ...without(consentColumns, "tenantId", "userId", "revision"), appId },
    words: ["key", "slot", "normalValue", "draft", "signals", "evidence"],
    key: ["x.ref"],
    insert: { ownerColumns: everyId },
  },
  /** Items of LangGraph's store. */
  item: {
    table: "store_item",
    fields: {
      appId,
      namespace: column.texts("namespace", z.array(nonBlank).min(1)),
      key: column.text("key"),
      value: column.json("value"),
      indexFields: orNull(column.texts("index_fields")),
      ttlMinutes: orNull(column.double("ttl_minutes", z.number().positive())),
      expiresAt: orNull(column.time("expires_at")),
      createdAt: column.time("created_at"),
      updatedAt: column.time("updated_at"),
    },
    words: ["value"],
    rows: (db, { scope }) => sql`${db.schema}.store_item x
      where ${hasScope(scope)} and (x.expires_at is null or x.expires_at > ${db.now()})`,
    key: ["x.ref"],
    insert: {
      ownerColumns: ["tenant_id", "user_id"],
      extra: (line: Parameters<typeof itemTerms>[0] & { namespace: readonly string[] }) => ({
        path: pathOf(line.namespace),
        terms: itemTerms(line),
      }),
      columns: {
        path: column.text("path"),
        words: derived(column.text("words"), empty, (db) => lexemeVector(db, sql`i.terms`)),
      },
      read: "terms text",
    },
  },
} satisfies Readonly<Record<string, RecordType>>;

export type RecordName = keyof typeof records;

export const recordNames = Object.keys(records) as readonly RecordName[];

/** What is done with the records of a name. */
export const recordTypeOf = (name: RecordName): RecordType => records[name];
