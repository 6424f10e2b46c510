import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { names, recordset } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import { idHmacOf } from "../../scope/id-hmac.rule.js";
import type { Scope } from "../../scope/scope.js";
import { belongsTo, scopeColumns, seenOwners } from "../../scope/scope-predicates.js";
import type { MemoryLifecycle } from "../item/memory.js";
import { snapshotColumns } from "../item/memory-fields.js";
import { listingConditions, type MemoryListing } from "../item/memory-row.js";
import {
  type AsOfTimes,
  clockAt,
  endOf,
  type KnownThen,
  knownThen,
  type MissingRow,
  wasTrue,
} from "./as-of.js";

export interface PastListing extends MemoryListing {
  readonly scope: Scope;
  readonly asOf: AsOfTimes;
}

export interface PastReader {
  readonly now: Date;
  /** See `receipts.idKey`: an erasure of the whole user is found by it. */
  readonly idKey: string | undefined;
}

/** Values that another took the place of since were active then, or may be true of then. */
const believedStates: readonly MemoryLifecycle[] = ["active", "superseded"];

/**
 * Reads the past in one statement. @param select columns, by the clock `at`, from `remembered`,
 * what was known then, and `listed`, those of the listing: by default what was active, or with
 * `validAt` what was true then.
 */
export async function readPast<Row>(
  db: Connection,
  listing: PastListing,
  { now, idKey }: PastReader,
  select: (at: Connection) => Sql,
): Promise<{ readonly row: Row; readonly past: KnownThen }> {
  const { scope, asOf } = listing;
  const { validAt } = asOf;
  const at = clockAt(db, asOf);
  const states = listing.states ?? (validAt && believedStates);
  const [row] = await db.query<Row & MissingRow>(sql`
    with remembered as materialized (${remembered(db, scope, asOf)}
    ),
    listed as (
      select m.* from remembered m
      where ${listingConditions(at, { ...listing, states }, raw("remembered"))} and ${validAt ? wasTrue(validAt) : sql`true`}
    )
    select ${select(at)}, ${missingColumns(db, scope, asOf, idKey)}`);
  return { row: row as Row, past: knownThen(asOf, row as MissingRow, now) };
}

/** Columns that a snapshot has in another form. */
const otherForms = {
  threadId: sql`s."threadId"::bigint`,
  sourceSeqs: sql`coalesce(s."sourceSeqs", '{}')`,
};
const readColumns = Object.entries(snapshotColumns).map(
  ([field, { name }]) =>
    sql`${otherForms[field as keyof typeof otherForms] ?? raw(`s."${field}"`)} as ${raw(name)}`,
);

/** Whether an entry `h` was made by then. */
const isKnown = ({ knownAt }: AsOfTimes, at: Sql): Sql =>
  knownAt === undefined ? sql`true` : sql`${at} < ${endOf(knownAt)}`;

const isDeletion = sql`h.event = 'DELETE' and h.new ->> 'state' in ('purged', 'rejected')`;

/**
 * The scope's memories as they were known at that time, in the columns of `memory`: each as its
 * last entry by then left it. One that was imported without its audit trail is as its row says,
 * from the row's last change on.
 */
function remembered(db: Connection, scope: Scope, asOf: AsOfTimes): Sql {
  const { schema } = db;
  return sql`
      select coalesce(s.ref, -h.id) as ref, h.memory_id as id, h.owner_ref, o.tenant_id, o.user_id, h.app_id,
        ${join(readColumns, ", ")}
      from (
        select distinct on (h.memory_id) h.id, h.memory_id, h.owner_ref, h.app_id, h.snapshot
        from ${schema}.history h
        where ${belongsTo(db, scope, "h")} and ${isKnown(asOf, sql`h.created_at`)}
          and (h.snapshot is not null or ${isDeletion})
        order by h.memory_id, h.id desc
      ) h
      join ${schema}.owner o on o.id = h.owner_ref
      cross join lateral jsonb_to_record(h.snapshot) as s (ref bigint, ${recordset(snapshotColumns)})
      where h.snapshot is not null
      union all
      select m.ref, m.id, m.owner_ref, m.tenant_id, m.user_id, m.app_id, ${names(snapshotColumns)}
      from ${schema}.memory m
      where ${belongsTo(db, scope, "m")} and ${isKnown(asOf, sql`m.updated_at`)} and ${isUnrecorded(db)}`;
}

const isUnrecorded = ({ schema }: Connection): Sql => sql`not exists (
        select from ${schema}.history r where r.memory_id = m.id and r.snapshot is not null
      )`;

/**
 * Columns of a `MissingRow`: how many memories of that time were forgotten since, and from when on
 * the audit trail is whole, if it was not yet.
 */
function missingColumns(
  db: Connection,
  scope: Scope,
  asOf: AsOfTimes,
  idKey: string | undefined,
): Sql {
  const { knownAt } = asOf;
  if (knownAt === undefined) return sql`0 as forgotten, null::timestamptz as "wholeFrom"`;
  const { schema } = db;
  const then = endOf(knownAt);
  return sql`(
        select count(distinct h.memory_id) from ${schema}.history h
        where ${belongsTo(db, scope, "h")} and h.event = 'DELETE' and h.old is null and h.new ->> 'state' = 'purged'
          and h.created_at >= ${then} and coalesce((h.new ->> 'since')::timestamptz < ${then}, true)
      )::int + (
        select coalesce(sum(greatest(1, (e.rows_before ->> 'memory')::int)), 0) from ${schema}.erasure e
        where e.began_at >= ${then} and e.rows_before ?| array['memory', 'history'] and ${concerns(db, scope, idKey)}
      )::int as forgotten,
      (
        select max(f.recorded_at) from (
          select min(h.created_at) as recorded_at, min((h.snapshot ->> 'createdAt')::timestamptz) as created_at
          from ${schema}.history h
          where ${belongsTo(db, scope, "h")} and h.snapshot is not null
          group by h.memory_id
          union all
          select m.updated_at, m.created_at from ${schema}.memory m
          where ${belongsTo(db, scope, "m")} and ${isUnrecorded(db)}
        ) f
        where f.created_at < ${then} and f.recorded_at >= ${then}
      ) as "wholeFrom"`;
}

/** Whether an erasure `e` is of the scope, or of a part of it. A whole user's row went with it. */
function concerns(db: Connection, scope: Scope, idKey: string | undefined): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const erased: Scope[] = [scope];
  if (userId !== "") erased.push({ tenantId, userId });
  if (appId !== "") erased.push({ tenantId, appId });
  const digests = erased.flatMap((each) => idHmacOf(idKey, each) ?? []);
  const isPart = sql`e.kind = 'user_in_app' and e.owner_was = any (array(${seenOwners(db, scope)}))`;
  const ofApp = appId === "" ? empty : sql`and e.id_hmac is null`;
  return sql`e.tenant_id = ${tenantId} and (e.id_hmac = any (${digests}::text[]) or (${isPart} ${ofApp}))`;
}
