import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { toNewMessage } from "../conversation/record.js";
import { memoryHash, memoryTerms } from "../memories/item/memory.js";
import { memoryColumns } from "../memories/item/memory-row.js";
import { countAdded, sourceOf, termRows, wordRows } from "../memories/write/insert-memories.js";
import { type Columns, column, fields, type Instead, names, recordset } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import { isSourceThread, ownerIs, type ScopeColumns, threadIs } from "../scope/scope-predicates.js";
import { itemTerms } from "../store/indexed-texts.rule.js";
import { pathOf } from "../store/store-operation.js";
import { decodeMessage } from "../text/message-codec.js";
import type { Json } from "../text/plain-json.js";
import { searchName } from "../text/search-text.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { linesOf, type NumberedLine } from "./read-export.js";
import { appColumn, type RecordType, recordTypes } from "./record-types.js";
import { unreadable } from "./screen-line.js";

/** Whose the lines become: a locked owner. */
export interface ImportTarget extends ScopeColumns {
  readonly ownerRef: OwnerRef;
}

/** The types of lines that rows are inserted for, each after those that it names. */
export const insertedNames = [
  ...([
    "thread",
    "message",
    "summary",
    "memory",
    "relation",
    "history",
    "change",
    "consent",
    "item",
  ] as const),
];

type InsertedName = (typeof insertedNames)[number];

/** How lines of a type become rows, beside what `recordTypes` says. */
interface Insertion<Name extends InsertedName> {
  /** Columns that say whose the row is. */
  readonly whose: readonly ("owner_ref" | "tenant_id" | "user_id")[];
  /** What is stored of a line beside its fields, and what of it is only read by the statement. */
  readonly made?: (each: NumberedLine<ExportLineOf<Name>>, tx: Connection) => object;
  readonly madeColumns?: Columns;
  readonly read?: string;
  /** Rows that the lines `i` are joined with. */
  readonly joined?: (tx: Connection, target: ImportTarget) => Sql;
  readonly instead?: (tx: Connection, target: ImportTarget) => Instead<Columns>;
  readonly returning?: string;
  /** CTEs for what hangs on the rows `added` of `input`. */
  readonly also?: (tx: Connection, target: ImportTarget) => Sql;
  /** Whether lines name others of their type, which must be there before them. @default false */
  readonly oneByOne?: boolean;
}

const ofThread = { threadRef: column.bigint("thread_ref") };

/** The thread that lines name; null, which no row takes, where it is not the owner's. */
const itsThread = ({ schema }: Connection, { tenantId, ownerRef }: ImportTarget): Sql =>
  sql`left join ${schema}.thread t on ${threadIs(tenantId, sql`i."threadId"`)} and t.owner_ref = ${ownerRef}`;

const insertions: { readonly [Name in InsertedName]: Insertion<Name> } = {
  thread: {
    whose: ["owner_ref", "tenant_id", "user_id"],
    read: "tasks json, notes json",
    returning: "id, thread_id",
    also: (tx, { tenantId }) => sql`,
      made as (
        select a.id, i.* from added a join input i on i."threadId" = a.thread_id
      ),
      task as (
        insert into ${tx.schema}.thread_task (thread_ref, task, done_until, retry_at)
        select m.id, k.task, k."doneUntil", case when k.due then ${tx.now()} end
        from made m cross join lateral json_to_recordset(m.tasks) as k (task text, "doneUntil" integer, due boolean)
      ),
      note as (
        insert into ${tx.schema}.note_source (thread_ref, memory_id, owner_ref, start_seq, end_seq)
        select m.id, n."memoryId", o.id, n."startSeq", n."endSeq"
        from made m
        cross join lateral json_to_recordset(m.notes) as n ("memoryId" uuid, "startSeq" integer, "endSeq" integer)
        join ${tx.schema}.owner o on ${ownerIs({ tenantId, userId: "", appId: sql`m."appId"` })}
      )`,
  },
  message: {
    whose: [],
    made: ({ number, line: { serialised, messageId } }, { language }) => {
      try {
        return { ...toNewMessage(decodeMessage(serialised), language), messageId, serialised };
      } catch (cause) {
        throw unreadable(number, cause);
      }
    },
    madeColumns: {
      ...ofThread,
      ...{ role: column.text("role"), actor: column.text("actor"), text: column.text("content") },
    },
    read: `"threadId" text, terms text, "actorTerms" text`,
    joined: itsThread,
    instead: () => ({ threadRef: sql`t.id` }),
    returning: "thread_ref, seq",
    also: messageIndex,
  },
  summary: {
    whose: [],
    madeColumns: { ...ofThread, baseId: column.bigint("base_id") },
    read: `"threadId" text, base json`,
    joined: itsThread,
    instead: ({ schema }) => ({
      threadRef: sql`t.id`,
      baseId: sql`(
        select b.id from ${schema}.summary b
        where b.thread_ref = t.id and b.start_seq = (i.base ->> 'startSeq')::int
          and b.end_seq = (i.base ->> 'endSeq')::int and b.created_at = (i.base ->> 'createdAt')::timestamptz
        order by b.id desc limit 1
      )`,
    }),
    oneByOne: true,
  },
  memory: {
    whose: ["owner_ref", "tenant_id", "user_id"],
    made: ({ line }, { language }) => ({
      contentHash: memoryHash(line),
      terms: memoryTerms(line, language),
      actorTerms: searchName(line.actorId ?? "", language),
    }),
    madeColumns: { contentHash: memoryColumns.contentHash },
    read: `terms text, "actorTerms" text`,
    joined: ({ schema }, target) => sql`
      left join ${schema}.thread t on ${isSourceThread({ ...target, appId: sql`i."appId"` }, sql`i."threadId"`)}`,
    instead: (_, { userId }) => sourceOf(userId, sql`i."sourceSeqs"`, sql`i.evidence`),
    returning: "ref, id, state",
    also: (tx, { ownerRef }) => sql`, ${wordRows(tx)}, ${termRows(tx, ownerRef)}, counted as (
      ${countAdded(tx, ownerRef)}
    )`,
  },
  relation: {
    whose: [],
    joined: ({ schema }, { ownerRef }) => sql`
      left join ${schema}.memory f on f.id = i."from" and f.owner_ref = ${ownerRef}
      left join ${schema}.memory o on o.id = i."to" and o.owner_ref = ${ownerRef}`,
    instead: () => ({ from: sql`f.ref`, to: sql`o.ref` }),
  },
  history: { whose: ["owner_ref"] },
  change: { whose: ["owner_ref"] },
  consent: { whose: ["owner_ref", "tenant_id", "user_id"] },
  item: {
    whose: ["tenant_id", "user_id"],
    made: ({ line: { namespace, value, indexFields } }, { language }) => ({
      path: pathOf(namespace),
      terms: itemTerms({ value: value as Json, indexFields }, language),
    }),
    madeColumns: { path: column.text("path"), words: column.text("words") },
    read: "terms text",
    instead: ({ language }) => ({ words: sql`to_tsvector(${language}::regconfig, i.terms)` }),
  },
};

/** Inserts the rows that those of `lines` stand for that are of this type, in their order. */
export async function insertRecords<Name extends InsertedName>(
  tx: Connection,
  name: Name,
  target: ImportTarget,
  lines: readonly NumberedLine[],
): Promise<void> {
  const insertion: Insertion<Name> = insertions[name];
  const rows = linesOf(lines, name).map((each) => {
    return { ...each.line, ...inApp(target, each.line), ...insertion.made?.(each, tx) };
  });
  const parts = insertion.oneByOne ? rows.map((row) => [row]) : rows.length > 0 ? [rows] : [];
  for (const part of parts) await tx.query(insertOf(tx, name, target, part));
}

function insertOf(tx: Connection, name: InsertedName, target: ImportTarget, rows: readonly object[]): Sql {
  const { table, columns: own, form }: RecordType = recordTypes[name];
  const { whose, madeColumns, read, joined, instead, returning = "1", also } = insertions[name];
  const columns = { ...(form === "app" && appColumn), ...own, ...madeColumns };
  const values = { owner_ref: target.ownerRef, tenant_id: target.tenantId, user_id: target.userId };
  return sql`
    with input as materialized (
      select row_number() over () as position, r.*
      from json_to_recordset(${JSON.stringify(rows)}::json) as r (${recordset(columns)}${raw(read ? `, ${read}` : "")})
    ),
    added as (
      insert into ${tx.schema}.${raw(table)} (${join([...whose.map((each) => raw(each)), names(columns)], ", ")})
      select ${join([...whose.map((each) => sql`${values[each]}`), fields(columns, instead?.(tx, target))], ", ")}
      from input i ${joined?.(tx, target) ?? empty}
      order by i.position
      returning ${raw(returning)}
    )${also?.(tx, target) ?? empty}
    select 1 as done`;
}

/** A line of a scope with an app is of that app, whatever it says. */
function inApp({ userId, appId }: ScopeColumns, line: ExportLine) {
  const own = "appId" in line ? line.appId : undefined;
  return { appId: appId !== "" || userId === "" ? appId : (own ?? "") };
}

/** Indexes and counts added messages. */
function messageIndex({ schema, language }: Connection, { ownerRef }: ImportTarget): Sql {
  return sql`,
    fresh as (
      select a.thread_ref, i.* from input i
      join ${schema}.thread t on t.thread_id = i."threadId" and t.owner_ref = ${ownerRef}
      join added a on a.thread_ref = t.id and a.seq = i.seq
    ),
    term as (
      select f.thread_ref, f.seq, v.lexeme, least(coalesce(cardinality(v.positions), 1), 32767) as frequency,
        sum(coalesce(cardinality(v.positions), 1)) over (partition by f.thread_ref, f.seq) as length
      from fresh f cross join lateral unnest(to_tsvector(${language}::regconfig, f.terms)) v
    ),
    indexed as (
      insert into ${schema}.message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
      select ${ownerRef}::bigint, lexeme, thread_ref, seq, frequency, length from term
      union
      select ${ownerRef}::bigint, '@' || word, f.thread_ref, f.seq, 1, 1
      from fresh f cross join lateral regexp_split_to_table(f."actorTerms", '\\s+') word
      where f.role in ('user', 'assistant') and word <> ''
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count + (select count(distinct (thread_ref, seq)) from term),
        message_length = o.message_length + (select coalesce(sum(frequency), 0) from term)
      where o.id = ${ownerRef}
    ),
    rounds as (
      update ${schema}.thread t set turns = t.turns + f.rounds
      from (select thread_ref as ref, count(*) as rounds from fresh where role = 'user' group by 1) f
      where t.id = f.ref
    )`;
}

/** Continues an owner's counters from an imported one's. */
export async function importOwner(
  tx: Connection,
  { ownerRef }: ImportTarget,
  { revision, turns, changesTrimmedTo }: ExportLineOf<"owner">,
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.owner
    set revision = greatest(revision, ${revision}::bigint), turns = greatest(turns, ${turns}::bigint),
      changes_trimmed_to = greatest(changes_trimmed_to, ${changesTrimmedTo}::bigint)
    where id = ${ownerRef}`);
}
