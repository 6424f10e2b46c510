import sql, { raw, type Sql } from "sql-template-tag";
import { consentColumns } from "../memories/guard/consent-statements.js";
import { memoryColumns } from "../memories/item/memory-row.js";
import { type Column, type Columns, column, type Instead, type Time, without } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasOwner, hasScope } from "../scope/erasure-scope.js";
import type { ThreadRef } from "../scope/scope.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";

/** The types of lines that stand for rows. */
export type RecordName = Exclude<ExportLine["type"], "header" | "end">;

/** The thread that messages and summaries are exported of, and its last message that was. */
export interface ExportedThread {
  readonly ref: ThreadRef;
  readonly threadId: string;
  readonly lastSeq: number;
}

/** What is exported: the rows after the one with the key `after`, from the first one without. */
export interface ExportPage {
  readonly scope: ErasureScope;
  /** Of messages and summaries. */
  readonly thread?: ExportedThread | undefined;
  readonly after: readonly string[] | null;
}

/** What lines of a type are made of, and which rows in which order are exported as such. */
export interface RecordType<Of extends Columns = Columns> {
  readonly table: string;
  /** The columns that the fields of a line hold as they are, in their order. */
  readonly columns: Of;
  /** SQL for fields that say in another way what the column says. */
  readonly instead?: Instead<Of>;
  /** What else a line says, as pairs of `json_build_object`. */
  readonly more?: (db: Connection) => Sql;
  /** The row, which is called `x` where `rows` begins with its table. */
  readonly row?: string;
  /** The rows with what they need to be told, and which of them. @default those of the scope's owner, within its app */
  readonly rows?: (db: Connection, page: ExportPage) => Sql;
  /** The columns that ascend from line to line; the first of them counts from 0. */
  readonly key: readonly string[];
  /** "app": lines say their app where the scope does not; "sparse": nulls are left out. */
  readonly form?: "app" | "sparse";
}

/** The app of a line. */
export const appColumn = { appId: column.text("app_id") };

const ofThread = ({ thread }: ExportPage): Sql => sql`x.thread_ref = ${thread?.ref ?? null}::bigint`;

/** The records of an export, each described once for the way out and the way in. */
export const recordTypes = {
  owner: {
    table: "owner",
    columns: {
      revision: column.bigint("revision"),
      turns: column.bigint("turns"),
      changesTrimmedTo: column.bigint("changes_trimmed_to"),
    },
    rows: ({ schema }, { scope }) => sql`${schema}.owner x where x.id = ${scope.ownerRef}::bigint`,
    key: ["x.id"],
  },
  thread: {
    table: "thread",
    columns: {
      threadId: column.text("thread_id"),
      revSeen: column.bigint("rev_seen"),
      createdAt: column.time("created_at"),
      lastActivityAt: column.time("last_activity_at"),
      endedAt: column.time<Time | null>("ended_at"),
      endedReason: column.text<string | null>("ended_reason"),
    },
    more: ({ schema }) => sql`'tasks', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'task', k.task, 'doneUntil', k.done_until, 'due', k.retry_at is not null or k.lease_until is not null
      ) order by k.task), '[]')
      from ${schema}.thread_task k where k.thread_ref = x.id
    ), 'notes', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'memoryId', n.memory_id, 'startSeq', n.start_seq, 'endSeq', n.end_seq
      ) order by n.memory_id), '[]')
      from ${schema}.note_source n where n.thread_ref = x.id and x.app_id <> ''
    )`,
    rows: ({ schema }, { scope }) => sql`${schema}.thread x where ${hasScope(scope)}`,
    key: ["x.id"],
    form: "app",
  },
  message: {
    table: "message",
    columns: {
      seq: column.integer("seq"),
      messageId: column.text("message_id"),
      serialised: column.text("serialised"),
      saidAt: column.time("said_at"),
      createdAt: column.time("created_at"),
      agentId: column.text<string | null>("agent_id"),
      runId: column.text<string | null>("run_id"),
    },
    rows: ({ schema }, page) => sql`${schema}.message x where ${ofThread(page)}`,
    key: ["x.seq"],
    form: "sparse",
  },
  summary: {
    table: "summary",
    columns: {
      startSeq: column.integer("start_seq"),
      endSeq: column.integer("end_seq"),
      createdAt: column.time("created_at"),
      status: column.text<"completed" | "failed">("status"),
      text: column.text<string | null>("content"),
      generationTimeMs: column.integer<number | null>("generation_time_ms"),
      attempts: column.integer("attempts"),
      error: column.text<string | null>("error"),
      startRound: column.integer<number | null>("start_round"),
      endRound: column.integer<number | null>("end_round"),
    },
    more: () => sql`'base', case when b.id is not null then json_build_object(
      'startSeq', b.start_seq, 'endSeq', b.end_seq, 'createdAt', b.created_at
    ) end`,
    // A summary of what was said since the messages were read would be one of none.
    rows: ({ schema }, page) => sql`${schema}.summary x
      left join lateral (select * from ${schema}.summary where id = x.base_id limit 1) b on true
      where ${ofThread(page)} and x.status <> 'processing' and x.end_seq <= ${page.thread?.lastSeq ?? -1}`,
    key: ["x.id"],
  },
  memory: {
    table: "memory",
    columns: without(memoryColumns, "tenantId", "userId", "appId", "contentHash", "revision"),
    instead: { threadId: sql`t.thread_id` },
    // A thread of somebody else is named to nobody.
    rows: ({ schema }, { scope }) => sql`${schema}.memory x
      left join ${schema}.thread t on t.id = x.thread_ref and t.user_id = ${scope.userId}
      where ${hasOwner(scope)}`,
    key: ["x.ref"],
    form: "app",
  },
  relation: {
    table: "relation",
    columns: {
      from: column.uuid("from_ref"),
      to: column.uuid("to_ref"),
      relationType: column.text("relation_type"),
      strength: column.real("strength"),
      createdAt: column.time("created_at"),
    },
    instead: { from: sql`x.id`, to: sql`o.id` },
    row: "r",
    // From the memory that the page before ended with, whose other links are left.
    rows: ({ schema }, { scope, after }) => sql`${schema}.memory x
      join ${schema}.relation r on r.from_ref = x.ref
      join ${schema}.memory o on o.ref = r.to_ref and o.owner_ref = x.owner_ref
      where ${hasOwner(scope)} and (${scope.whole} or o.app_id = ${scope.appId})
        and x.ref >= ${after?.[0] ?? "0"}::bigint`,
    key: ["r.from_ref", "r.to_ref", "r.relation_type"],
  },
  history: {
    table: "history",
    columns: {
      memoryId: column.uuid("memory_id"),
      event: column.text("event"),
      old: column.json("old"),
      new: column.json("new"),
      actor: column.text<string | null>("actor"),
      revision: column.bigint<number | null>("rev"),
      createdAt: column.time("created_at"),
    },
    key: ["x.id"],
    form: "app",
  },
  change: {
    table: "change_log",
    columns: {
      revision: column.bigint("rev"),
      memoryId: column.uuid("memory_id"),
      event: column.text("event"),
      category: column.text("category"),
      line: column.text("line"),
      importance: column.real("importance"),
      createdAt: column.time("created_at"),
    },
    key: ["x.rev"],
    form: "app",
  },
  consent: {
    table: "consent_request",
    columns: without(consentColumns, "tenantId", "userId", "appId", "revision"),
    key: ["x.ref"],
    form: "app",
  },
  item: {
    table: "store_item",
    columns: {
      namespace: column.texts("namespace"),
      key: column.text("key"),
      value: column.json("value"),
      indexFields: { name: "index_fields", type: "text[]" } as Column<readonly string[] | null>,
      ttlMinutes: { name: "ttl_minutes", type: "float8" } as Column<number | null>,
      expiresAt: column.time<Time | null>("expires_at"),
      createdAt: column.time("created_at"),
      updatedAt: column.time("updated_at"),
    },
    rows: (db, { scope }) => sql`${db.schema}.store_item x
      where ${hasScope(scope)} and (x.expires_at is null or x.expires_at > ${db.now()})`,
    key: ["x.ref"],
    form: "app",
  },
} satisfies { [Name in RecordName]: RecordType<ColumnsOf<Name>> };

/** Every field of a line has its column, but those that are made of other rows. */
type ColumnsOf<Name extends RecordName> = Columns &
  Record<Exclude<keyof ExportLineOf<Name>, Made>, Column<unknown>>;

type Made = "type" | "appId" | "threadId" | "tasks" | "notes" | "base";

/** The rows that are exported as lines of this type, as `from` and `where` of a query. */
export function rowsOf(db: Connection, name: RecordName, page: ExportPage): Sql {
  const { table, rows }: RecordType = recordTypes[name];
  return rows?.(db, page) ?? sql`${db.schema}.${raw(table)} x where ${hasOwner(page.scope)}`;
}
