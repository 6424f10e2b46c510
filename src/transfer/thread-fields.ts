import sql, { raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { nonBlank } from "../input/parse-input.js";
import { sourceOf } from "../memories/item/index-rows.js";
import { type Column, checks, column, orNull, pairs } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { threadIs } from "../scope/scope-predicates.js";
import { derived, type ImportTarget } from "./record-type.js";

/** A line's app; null without one. */
export const appId = derived(
  orNull(column.text("app_id", nonBlank)),
  sql`nullif(x.app_id, '')`,
  () => sql`i."appId"`,
);
/** A field that earlier exports lack. */
export const nullBefore = <Value>(of: Column<Value>): Column<Value | null> => ({
  ...of,
  json: of.json.nullable().default(null),
});

/** A line's thread `t`; null, which no row accepts, if it is not the owner's. */
export const threadId = derived(
  column.text("thread_ref", nonBlank),
  sql`t.thread_id`,
  () => sql`t.id`,
);

/** Joins it to a line `i`. */
export const joinThread = ({ schema }: Connection, { tenantId, ownerRef }: ImportTarget): Sql =>
  sql`left join ${schema}.thread t on ${threadIs(tenantId, sql`i."threadId"`)} and t.owner_ref = ${ownerRef}`;

/** What identifies a summary in its thread. */
export const summaryName = {
  startSeq: column.integer("start_seq"),
  endSeq: column.integer("end_seq"),
  createdAt: column.time("created_at"),
};

/** A summary `b` of thread `t`, by what identifies it, in the `field` of a line. */
export const summaryField = (name: "base_id" | "summary_id", field: "base" | "summary") =>
  derived(
    orNull(column.json(name, z.strictObject(checks(summaryName)))),
    sql`case when b.id is not null then json_build_object(${pairs(summaryName, "b")}) end`,
    ({ schema }) => sql`(
          select b.id from ${schema}.summary b
          where b.thread_ref = t.id and b.start_seq = (i.${raw(field)} ->> 'startSeq')::int
            and b.end_seq = (i.${raw(field)} ->> 'endSeq')::int and b.created_at = (i.${raw(field)} ->> 'createdAt')::timestamptz
          order by b.id desc limit 1
        )`,
  );

/** Writes a source field of a memory, as `sourceOf` permits. */
export const intoSource =
  (field: "threadId" | "sourceSeqs" | "evidence") =>
  (_: Connection, { userId }: ImportTarget): Sql =>
    sourceOf(userId, sql`i."sourceSeqs"`, sql`i.evidence`)[field];
