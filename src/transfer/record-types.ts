import sql, { type Sql } from "sql-template-tag";
import { consentColumns } from "../memories/guard/consent-columns.js";
import { memoryColumns } from "../memories/item/memory-row.js";
import {
  bigint,
  type Column,
  type Columns,
  type Instead,
  integer,
  jsonb,
  real,
  type Time,
  text,
  timestamp,
  uuid,
  without,
} from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasOwner, hasScope } from "../scope/erasure-scope.js";
import type { OwnerRef, ThreadRef } from "../scope/scope.js";
import type { ScopeColumns } from "../scope/scope-predicates.js";
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
  /** The rows with what they need to be told, and what is theirs of the scope or the thread. */
  readonly rows: (db: Connection, page: ExportPage) => Sql;
  /** What ascends from line to line: columns and their types. */
  readonly key: readonly (readonly [column: string, type: "bigint" | "integer" | "text"])[];
  /** "app": lines say their app where the scope does not; "sparse": nulls are left out. */
  readonly form?: "app" | "sparse";
}

/** Whose the lines become: a locked owner. */
export interface RecordTarget {
  readonly columns: ScopeColumns;
  readonly ownerRef: OwnerRef;
}

/** A line with its app. A line of a scope with an app is of that app, whatever it says. */
export function inApp<Line extends { readonly appId?: string | undefined }>(
  { columns: { userId, appId } }: Pick<RecordTarget, "columns">,
  line: Line,
): Line & { readonly appId: string } {
  return { ...line, appId: appId !== "" || userId === "" ? appId : (line.appId ?? "") };
}

/** The app of a line, wherever it is imported. */
export const appColumn = { appId: text("app_id") };

const byRef = [["x.ref", "bigint"]] as const;
const byId = [["x.id", "bigint"]] as const;

const ofThread = ({ thread }: ExportPage): Sql => sql`x.thread_ref = ${thread?.ref ?? null}::bigint`;

/** The records of an export, each described once for the way out and the way in. */
export const recordTypes = {
  owner: {
    table: "owner",
    columns: {
      revision: bigint("revision"),
      turns: bigint("turns"),
      changesTrimmedTo: bigint("changes_trimmed_to"),
    },
    rows: ({ schema }, { scope }) => sql`${schema}.owner x where x.id = ${scope.ownerRef}::bigint`,
    key: byId,
  },
  thread: {
    table: "thread",
    columns: {
      threadId: text("thread_id"),
      revSeen: bigint("rev_seen"),
      createdAt: timestamp("created_at"),
      lastActivityAt: timestamp("last_activity_at"),
    },
    more: ({ schema }) => sql`'tasks', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'task', k.task, 'doneUntil', k.done_until, 'due', k.retry_at is not null or k.lease_until is not null
      ) order by k.task), '[]')
      from ${schema}.thread_task k where k.thread_ref = x.id
    )`,
    rows: ({ schema }, { scope }) => sql`${schema}.thread x where ${hasScope(scope)}`,
    key: byId,
    form: "app",
  },
  message: {
    table: "message",
    columns: {
      seq: integer("seq"),
      messageId: text("message_id"),
      serialised: text("serialised"),
      saidAt: timestamp("said_at"),
      createdAt: timestamp("created_at"),
      agentId: text<string | null>("agent_id"),
      runId: text<string | null>("run_id"),
    },
    rows: ({ schema }, page) => sql`${schema}.message x where ${ofThread(page)}`,
    key: [["x.seq", "integer"]],
    form: "sparse",
  },
  summary: {
    table: "summary",
    columns: {
      startSeq: integer("start_seq"),
      endSeq: integer("end_seq"),
      createdAt: timestamp("created_at"),
      status: text<"completed" | "failed">("status"),
      text: text<string | null>("content"),
      generationTimeMs: integer<number | null>("generation_time_ms"),
      attempts: integer("attempts"),
      error: text<string | null>("error"),
      rolledBackAt: timestamp<Time | null>("rolled_back_at"),
      startRound: integer<number | null>("start_round"),
      endRound: integer<number | null>("end_round"),
    },
    more: () => sql`'base', case when b.id is not null then json_build_object(
      'startSeq', b.start_seq, 'endSeq', b.end_seq, 'createdAt', b.created_at
    ) end`,
    // A summary of what was said since the messages were read would be one of none.
    rows: ({ schema }, page) => sql`${schema}.summary x
      left join lateral (select * from ${schema}.summary where id = x.base_id limit 1) b on true
      where ${ofThread(page)} and x.status <> 'processing' and x.end_seq <= ${page.thread?.lastSeq ?? -1}`,
    key: byId,
  },
  memory: {
    table: "memory",
    columns: without(memoryColumns, "tenantId", "userId", "appId", "contentHash", "revision"),
    instead: { threadId: sql`t.thread_id` },
    // A thread of somebody else is named to nobody.
    rows: ({ schema }, { scope }) => sql`${schema}.memory x
      left join ${schema}.thread t on t.id = x.thread_ref and t.user_id = ${scope.userId}
      where ${hasOwner(scope)}`,
    key: byRef,
    form: "app",
  },
  relation: {
    table: "relation",
    columns: {
      from: uuid("from_ref"),
      to: uuid("to_ref"),
      relationType: text("relation_type"),
      strength: real("strength"),
      createdAt: timestamp("created_at"),
    },
    instead: { from: sql`x.id`, to: sql`o.id` },
    row: "r",
    // From the memory that the page before ended with, whose other links are left.
    rows: ({ schema }, { scope, after }) => sql`${schema}.memory x
      join ${schema}.relation r on r.from_ref = x.ref
      join ${schema}.memory o on o.ref = r.to_ref and o.owner_ref = x.owner_ref
      where ${hasOwner(scope)} and (${scope.whole} or o.app_id = ${scope.appId})
        and x.ref >= ${after?.[0] ?? "0"}::bigint`,
    key: [
      ["r.from_ref", "bigint"],
      ["r.to_ref", "bigint"],
      ["r.relation_type", "text"],
    ],
  },
  history: {
    table: "history",
    columns: {
      memoryId: uuid("memory_id"),
      event: text("event"),
      old: jsonb("old"),
      new: jsonb("new"),
      actor: text<string | null>("actor"),
      revision: bigint<number | null>("rev"),
      createdAt: timestamp("created_at"),
    },
    rows: ({ schema }, { scope }) => sql`${schema}.history x where ${hasOwner(scope)}`,
    key: byId,
    form: "app",
  },
  change: {
    table: "change_log",
    columns: {
      revision: bigint("rev"),
      memoryId: uuid("memory_id"),
      event: text("event"),
      category: text("category"),
      line: text("line"),
      importance: real("importance"),
      createdAt: timestamp("created_at"),
    },
    rows: ({ schema }, { scope }) => sql`${schema}.change_log x where ${hasOwner(scope)}`,
    key: [["x.rev", "bigint"]],
    form: "app",
  },
  consent: {
    table: "consent_request",
    columns: without(consentColumns, "tenantId", "userId", "appId", "revision"),
    rows: ({ schema }, { scope }) => sql`${schema}.consent_request x where ${hasOwner(scope)}`,
    key: byRef,
    form: "app",
  },
} satisfies { [Name in RecordName]: RecordType<ColumnsOf<Name>> };

/** Every field of a line has its column, but those that are made of other rows. */
type ColumnsOf<Name extends RecordName> = Readonly<
  Record<Exclude<keyof ExportLineOf<Name>, Made[Name]>, Column<unknown>>
>;

interface Made extends Record<RecordName, string> {
  owner: "type";
  thread: "type" | "appId" | "tasks";
  message: "type" | "threadId";
  summary: "type" | "threadId" | "base";
  memory: "type" | "appId";
  relation: "type";
  history: "type" | "appId";
  change: "type" | "appId";
  consent: "type" | "appId";
}
