import sql, { raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { column, orNull } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { threadsOf } from "../scope/erasure-scope.js";
import { idDigest } from "../scope/scope-predicates.js";
import {
  exportedNewsSchema,
  exportedToldSchema,
  handedSchema,
  scorePartsSchema,
  shownParts,
} from "../transcript/shown-turns.js";
import { derived, type RecordType } from "./record-type.js";
import { joinThread, summaryField, threadId } from "./thread-fields.js";

/** `value` with other names of the threads of its unread messages: `name`, where `condition`. */
const withThreads = ({ schema }: Connection, value: Sql, name: Sql, condition: Sql): Sql => sql`
  case when ${value} ? 'unread' then jsonb_set(${value}, '{unread}', (
    select coalesce(jsonb_agg(case when jsonb_typeof(u.value) = 'array' then p.place else u.value || jsonb_build_object('place', p.place) end order by u.at), '[]')
    from jsonb_array_elements(${value} -> 'unread') with ordinality u (value, at)
    cross join lateral (select case when jsonb_typeof(u.value) = 'array' then u.value else u.value -> 'place' end as old) w
    join ${schema}.thread o on ${condition}
    cross join lateral (select jsonb_build_array(${name}, w.old -> 1) as place) p
  )) else ${value} end`;
/** A column of `shown` with unread messages, whose threads an export names by their ids. */
const withUnread = (name: "news" | "told", json: z.ZodType) =>
  derived(orNull(column.json(name, json)), raw(`n.${name}`), (db, { ownerRef, tenantId }) =>
    withThreads(
      db,
      sql`i.${raw(name)}`,
      sql`o.id`,
      sql`${idDigest(sql`o.thread_id`)} = ${idDigest(sql`(w.old ->> 0)`)} and o.thread_id = w.old ->> 0
        and o.tenant_id = ${tenantId} and o.owner_ref = ${ownerRef}`,
    ),
  );

/** What turns were shown, after all threads: unread messages are of others. */
export const shownRecord = {
  table: "shown",
  fields: {
    threadId,
    seq: column.integer("seq"),
    turn: column.integer("turn"),
    revision: column.bigint("revision"),
    memoryIds: column.uuids("memory_ids"),
    parts: column.texts("parts", z.array(z.enum(shownParts))),
    checks: orNull(column.smallints("checks")),
    scores: orNull(column.reals("scores")),
    scoreParts: orNull(column.json("score_parts", z.array(scorePartsSchema.nullable()))),
    summary: summaryField("summary_id", "summary"),
    omitted: column.integer("omitted"),
    firstSeq: orNull(column.integer("first_seq")),
    reader: orNull(column.integer("reader", z.int())),
    news: withUnread("news", exportedNewsSchema),
    told: withUnread("told", exportedToldSchema),
    handed: orNull(column.json("handed", handedSchema)),
    recallMs: orNull(column.real("recall_ms")),
    createdAt: column.time("created_at"),
  },
  words: ["told"],
  rows: (
    db,
    { scope },
  ) => sql`${db.schema}.shown x join ${db.schema}.thread t on t.id = x.thread_ref
    left join lateral (select * from ${db.schema}.summary where id = x.summary_id limit 1) b on true
    cross join lateral (
      select ${withThreads(db, sql`x.news`, sql`o.thread_id`, sql`o.id = (w.old ->> 0)::bigint`)} as news,
        ${withThreads(db, sql`x.told`, sql`o.thread_id`, sql`o.id = (w.old ->> 0)::bigint`)} as told
    ) n
    where x.thread_ref in (${threadsOf(db, scope)})`,
  key: ["x.thread_ref", "x.seq"],
  insert: { joined: joinThread },
} satisfies RecordType;
