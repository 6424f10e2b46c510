import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { pageRowsField, storableText } from "../../input/parse-input.js";
import { jsonRow, readRow } from "../../postgres/columns.js";
import type { Connection, QueryOptions } from "../../postgres/connection.js";
import { isAfter, type PageBookmark, requireEnd } from "../../scope/page-bookmark.js";
import { type OwnerRef, type Scope, scopeField, tenantField } from "../../scope/scope.js";
import {
  belongsTo,
  ofTenant,
  scopeColumns,
  scopeOf,
  seenOwners,
  uuidOf,
} from "../../scope/scope-predicates.js";
import {
  type MemoryItem,
  type MemoryLifecycle,
  type MemorySort,
  memoryKinds,
  memorySorts,
  memoryStates,
} from "./memory.js";
import { foundColumns, madeColumns, plainColumns } from "./memory-fields.js";
import { metadataFilter } from "./memory-metadata.rule.js";

/** A row of `memory` as a JSON array, for `memoryOf`. */
export type MemoryJson = readonly unknown[];

export const memoryJson = (db: Connection): Sql => {
  const threadId = sql`(select t.thread_id from ${db.schema}.thread t where t.id = m.thread_ref)`;
  const state = sql`case when m.state = 'active' and not ${unexpired(db)} then 'soft_deleted' else m.state end`;
  return jsonRow({ ...plainColumns, ...madeColumns }, "m", { threadId, state });
};

/** The sweep changes the state of expired memories only later. */
export const unexpired = (db: Connection): Sql =>
  sql`(m.expires_at is null or m.expires_at > ${db.now()})`;

/** Whether agents may see it: others are hidden, closed, or have expired. */
export const isActive = (db: Connection): Sql => sql`m.state = 'active' and ${unexpired(db)}`;

const plainCount = Object.keys(plainColumns).length;

export function memoryOf(row: MemoryJson): MemoryItem {
  const made = readRow(madeColumns, row.slice(plainCount));
  const {
    tenantId,
    userId,
    appId,
    threadId,
    sourceSeqs: seqs,
    evidence: quote,
    turnStart,
    turnEnd,
  } = made;
  return readRow(plainColumns, row, {
    scope: scopeOf({ tenant_id: tenantId, user_id: userId, app_id: appId }),
    source: threadId === null ? null : { threadId, seqs, ...(quote !== null && { quote }) },
    turns: turnStart === null || turnEnd === null ? null : { start: turnStart, end: turnEnd },
  });
}

/** The columns of a sort; each sort is the order of an index. */
const sortColumns: Readonly<Record<MemorySort, readonly string[]>> = {
  newest: ["ref"],
  oldest: ["ref"],
  updated: ["updated_at", "ref"],
  // An index has the day alone: with the time, each use of a memory would write to it.
  used: ["accessed_on", "last_accessed_at", "ref"],
  importance: ["importance", "ref"],
};

export const listingSchema = z.strictObject({
  scope: scopeField,
  /** Without a scope: only this tenant. @default all tenants */
  tenantId: tenantField,
  kinds: z.array(z.enum(memoryKinds)).readonly().optional(),
  categories: z.array(storableText).readonly().optional(),
  states: z.array(z.enum(memoryStates)).readonly().optional(),
  /** With `states` also former values of a slot. @default any */
  keys: z.array(storableText).max(1_000).readonly().optional(),
  /** Text in text, key, value, tags or quote, in any case. @default any */
  contains: storableText.min(1).max(1_000).optional(),
  /** Metadata to contain. @default any */
  metadata: metadataFilter.optional(),
  /**
   * The id of a memory: what replaced it, what it replaced or was merged into it, what it rests on, what
   * rests on it, what is near it, and what a run of consolidation judged to contradict it. With `states`
   * also what has ended. @default any
   */
  linkedTo: z.string().optional(),
  /**
   * To page through all, "newest" or "oldest": in the others a memory that changes meanwhile moves,
   * and with it the page that comes `after` it.
   * @default "newest"
   */
  sort: z.enum(memorySorts).optional(),
  /** Rows. @default 100 */
  limit: pageRowsField,
  /** Id of the last memory of the previous page. */
  after: z.string().optional(),
});

export const countingSchema = listingSchema.omit({ sort: true, limit: true, after: true });

/** Which memories are counted. */
export type MemoryCounting = Omit<MemoryListing, "sort" | "limit" | "after">;

export interface MemoryListing extends Omit<z.input<typeof listingSchema>, "scope"> {
  /** @default everybody's, for operators */
  readonly scope?: Scope | undefined;
}

/** In any state. */
export async function findMemory(
  db: Connection,
  scope: Scope,
  id: string,
): Promise<MemoryItem | null> {
  const [memory = null] = await readMemories(
    db,
    sql`
    select ${memoryJson(db)} as memory
    from ${db.schema}.memory m
    where m.id = ${uuidOf(id)}::uuid and ${belongsTo(db, scope, "m")}`,
  );
  return memory;
}

/** The memories of a `statement` that selects `memoryJson` as `memory`. */
export async function readMemories(
  db: Connection,
  statement: Sql,
  options?: QueryOptions,
): Promise<MemoryItem[]> {
  const rows = await db.query<{ memory: MemoryJson }>(statement, options);
  return rows.map(({ memory }) => memoryOf(memory));
}

/** The owner's memories `m` that are `which`, in any state, oldest first. @param end a limit, a lock */
export function findOwned(
  db: Connection,
  ownerRef: OwnerRef,
  which: Sql,
  end = empty,
): Promise<MemoryItem[]> {
  return readMemories(
    db,
    sql`
    select ${memoryJson(db)} as memory from ${db.schema}.memory m
    where m.owner_ref = ${ownerRef} and ${which}
    order by m.ref ${end}`,
  );
}

/** @throws MemoryError `INVALID_INPUT` when `after` does not exist */
export async function listMemories(db: Connection, listing: MemoryListing): Promise<MemoryItem[]> {
  const { limit = 100 } = listing;
  const memories = await readMemories(
    db,
    sql`select ${memoryJson(db)} as memory from ${listedRows(db, listing, limit)}`,
  );
  if (memories.length === 0) await requireEnd(db, bookmark(db, listing, memoryTable(db)));
  return memories;
}

/** Beyond it, a total is "more than". */
const maxCounted = 10_000;

/** How many `listMemories` would list on all pages; `maxCounted + 1` for more than `maxCounted`. */
export async function countMemories(db: Connection, listing: MemoryCounting): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::int as count from (select m.ref from ${listedRows(db, listing, maxCounted + 1)}) m`);
  return row?.count ?? 0;
}

/** The rows `m` of a page. By owner, so that the index limits the rows that are read. */
function listedRows(db: Connection, listing: MemoryListing, limit: number): Sql {
  const { scope, tenantId, sort = "newest" } = listing;
  const order = listingOrder(sort);
  const owners = scope ? sql`(${seenOwners(db, scope)}) o cross join lateral` : empty;
  const isOwned = scope ? sql`m.owner_ref = o.id` : ofTenant(sql`m.tenant_id`, tenantId);
  return sql`${owners} (
      select * from ${memoryTable(db)} m where ${isOwned} and ${listingConditions(db, listing)}
      order by ${order} limit ${limit}
    ) m
    order by ${order} limit ${limit}`;
}

const directionOf = (sort: MemorySort) => (sort === "oldest" ? "asc" : "desc");

export const listingOrder = (sort: MemorySort): Sql =>
  raw(sortColumns[sort].map((column) => `m.${column} ${directionOf(sort)}`).join(", "));

const bookmark = (
  db: Connection,
  { scope, tenantId, after }: MemoryListing,
  table: Sql,
): PageBookmark => ({
  table,
  alias: raw("m"),
  after,
  what: "a memory",
  isListed: scope ? belongsTo(db, scope, "m") : ofTenant(sql`m.tenant_id`, tenantId),
});

const memoryTable = ({ schema }: Connection): Sql => sql`${schema}.memory`;

/** Whether a row `m` of `table` is on the page of a listing. */
export function listingConditions(
  db: Connection,
  listing: MemoryListing,
  table = memoryTable(db),
): Sql {
  const {
    scope,
    kinds,
    categories,
    states = ["active"],
    keys,
    contains,
    metadata,
    linkedTo,
    sort = "newest",
  } = listing;
  const { appId } = scopeColumns(scope ?? {});
  // Literals: with parameters, a generic plan uses no partial index of a state.
  const inStates = memoryStates
    .filter((state) => states.includes(state))
    .map((state) => stateIs(db, state));
  const conditions = [sql`(${join([sql`false`, ...inStates], " or ")})`];
  if (appId !== "") conditions.push(sql`m.app_id in ('', ${appId})`);
  if (kinds) conditions.push(sql`m.kind = any (${kinds}::text[])`);
  if (categories) conditions.push(sql`m.category = any (${categories}::text[])`);
  if (keys) conditions.push(sql`m.key = any (${keys}::text[])`);
  if (contains) conditions.push(containsText(contains));
  if (metadata) conditions.push(sql`m.metadata @> ${JSON.stringify(metadata)}::jsonb`);
  if (linkedTo !== undefined) conditions.push(isLinked(db, linkedTo));
  const after = bookmark(db, listing, table);
  conditions.push(isAfter(after, sortColumns[sort], directionOf(sort)));
  return join(conditions, " and ");
}

function isLinked({ schema }: Connection, to: string): Sql {
  const id = sql`${uuidOf(to)}::uuid`;
  return sql`(m.superseded_by = ${id} or m.id in (
    select o.id from ${schema}.memory s
    cross join lateral (
      select to_ref as ref from ${schema}.relation where from_ref = s.ref
      union all select from_ref from ${schema}.relation where to_ref = s.ref
    ) r
    join ${schema}.memory o on o.ref = r.ref where s.id = ${id}
    union all select s.superseded_by from ${schema}.memory s where s.id = ${id} and s.superseded_by is not null
    union all select (l.value ->> 'to')::uuid
    from ${schema}.history h cross join jsonb_array_elements(h.new -> 'links') l where h.memory_id = ${id}
  ))`;
}

function containsText(words: string): Sql {
  const texts = Object.values(foundColumns).map(({ name, type }) =>
    raw(type === "text[]" ? `array_to_string(m.${name}, ' ')` : `m.${name}`),
  );
  return sql`strpos(lower(concat_ws(' ', ${join(texts, ", ")})), lower(${words})) > 0`;
}

/** In `memoryJson` an expired memory is soft-deleted. */
function stateIs(db: Connection, state: MemoryLifecycle): Sql {
  const stored = raw(`m.state = '${state}'`);
  if (state === "active") return sql`(${isActive(db)})`;
  if (state !== "soft_deleted") return stored;
  return sql`(${stored} or (m.state = 'active' and m.expires_at <= ${db.now()}))`;
}
