import sql, { join, raw, type Sql } from "sql-template-tag";
import { column, jsonRow, only, type RowOf, type Time, without } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import { isAfter, type PageBookmark, requireEnd } from "../../scope/page-bookmark.js";
import type { Scope } from "../../scope/scope.js";
import {
  type AllListing,
  belongsTo,
  ofTenant,
  scopeColumns,
  scopeOf,
  seenOwners,
  uuidOf,
} from "../../scope/scope-predicates.js";
import {
  type MemoryItem,
  type MemoryKind,
  type MemoryLifecycle,
  type MemoryOrigin,
  type MemorySort,
  type MemoryTrust,
  memoryStates,
} from "./memory.js";
import type { MemoryMetadata } from "./memory-metadata.rule.js";

/**
 * The columns of `memory` but its refs: what is inserted, read, exported and imported is made of them. A new column is
 * a line here and its migration; the compiler then asks what it is where memories are made, shown and imported.
 */
export const memoryColumns = {
  id: column.uuid("id"),
  tenantId: column.text("tenant_id"),
  userId: column.text("user_id"),
  appId: column.text("app_id"),
  kind: column.text<MemoryKind>("kind"),
  category: column.text("category"),
  key: column.text<string | null>("key"),
  value: column.text<string | null>("value"),
  text: column.text("content"),
  contentHash: column.text("content_hash"),
  importance: column.real("importance"),
  confidence: column.real("confidence"),
  pinned: column.boolean("pinned"),
  state: column.text<MemoryLifecycle>("state"),
  origin: column.text<MemoryOrigin>("origin"),
  trust: column.text<MemoryTrust>("trust"),
  tags: column.texts("tags"),
  metadata: column.json<MemoryMetadata>("metadata"),
  expiresAt: column.time<Time | null>("expires_at"),
  agentId: column.text<string | null>("agent_id"),
  runId: column.text<string | null>("run_id"),
  actorId: column.text<string | null>("actor_id"),
  role: column.text<string | null>("role"),
  /** The thread's own id, for which a statement puts the thread's ref, or reads it from there. */
  threadId: column.text<string | null>("thread_ref"),
  sourceSeqs: column.integers("source_seqs"),
  evidence: column.text<string | null>("evidence"),
  turnStart: column.integer<number | null>("turn_start"),
  turnEnd: column.integer<number | null>("turn_end"),
  /** The owner's turn at which it was last said. */
  assertedTurn: column.bigint("asserted_turn"),
  validFrom: column.time("valid_from"),
  validTo: column.time<Time | null>("valid_to"),
  /** When it was last said to hold; null: since then. */
  assertedAt: column.time<Time | null>("asserted_at"),
  supersededBy: column.uuid<string | null>("superseded_by"),
  seenCount: column.integer("seen_count"),
  accessCount: column.integer("access_count"),
  lastAccessedAt: column.time("last_accessed_at"),
  purgeAt: column.time<Time | null>("purge_at"),
  createdAt: column.time("created_at"),
  updatedAt: column.time("updated_at"),
  revision: column.bigint("revision"),
};

/** Columns that a `MemoryItem` has in another form. */
const madeOf = [
  "tenantId",
  "userId",
  "appId",
  "threadId",
  "sourceSeqs",
  "evidence",
  "turnStart",
  "turnEnd",
] as const;
const madeColumns = only(memoryColumns, ...madeOf);
/** Those that it has as they are. */
const ownColumns = without(
  memoryColumns,
  ...madeOf,
  "contentHash",
  "assertedTurn",
  "assertedAt",
  "accessCount",
);

/** A row of `memory` as a JSON array, for `memoryOf`. */
export type MemoryJson = readonly unknown[];

/** Where each field stands in a `MemoryJson`. Times are milliseconds, with microseconds as their fraction. */
const at = Object.fromEntries(
  Object.keys({ ...ownColumns, ...madeColumns }).map((field, place) => [field, place]),
) as Readonly<Record<keyof typeof ownColumns | keyof typeof madeColumns, number>>;

/** The row `m` of `memory` as `MemoryJson`. */
export const memoryJson = (db: Connection): Sql => {
  const threadId = sql`(select t.thread_id from ${db.schema}.thread t where t.id = m.thread_ref)`;
  const state = sql`case when m.state = 'active' and not ${unexpired(db)} then 'soft_deleted' else m.state end`;
  // json_build_array(m.id, m.kind, …, date_part('epoch', m.updated_at) * 1000, m.revision, m.tenant_id, …, m.turn_end)
  return jsonRow({ ...ownColumns, ...madeColumns }, "m", { threadId, state });
};

/**
 * Whether the row `m` of `memory` has not expired. What has is hidden from that moment on; a sweep makes it a removed
 * memory only later.
 */
export const unexpired = (db: Connection): Sql => sql`(m.expires_at is null or m.expires_at > ${db.now()})`;

/** Whether the row `m` of `memory` gives way to others: see `givesWay`. */
export const givingWay: Sql = sql`(m.kind = 'insight' and not m.pinned)`;

/** The columns that `memoryJson` lists, as they are read. */
type ReadRow = RowOf<typeof ownColumns & typeof madeColumns, number>;

/**
 * A row as a memory. Each field is written out: made in a loop over the columns it takes five times as long, and a recall
 * makes dozens.
 */
export function memoryOf(row: MemoryJson): MemoryItem {
  const read = <Field extends keyof ReadRow>(field: Field) => row[at[field]] as ReadRow[Field];
  const time = (milliseconds: number | null) => (milliseconds === null ? null : new Date(milliseconds));
  const [start, end] = [read("turnStart"), read("turnEnd")];
  return {
    id: read("id"),
    kind: read("kind"),
    category: read("category"),
    key: read("key"),
    value: read("value"),
    text: read("text"),
    importance: read("importance"),
    confidence: read("confidence"),
    pinned: read("pinned"),
    state: read("state"),
    origin: read("origin"),
    trust: read("trust"),
    tags: read("tags"),
    metadata: read("metadata"),
    expiresAt: time(read("expiresAt")),
    agentId: read("agentId"),
    runId: read("runId"),
    actorId: read("actorId"),
    role: read("role"),
    validFrom: new Date(read("validFrom")),
    validTo: time(read("validTo")),
    supersededBy: read("supersededBy"),
    seenCount: read("seenCount"),
    lastAccessedAt: new Date(read("lastAccessedAt")),
    purgeAt: time(read("purgeAt")),
    createdAt: new Date(read("createdAt")),
    updatedAt: new Date(read("updatedAt")),
    revision: read("revision"),
    scope: scopeOf({ tenant_id: read("tenantId"), user_id: read("userId"), app_id: read("appId") }),
    source: sourceOf(read("threadId"), read("sourceSeqs"), read("evidence")),
    turns: start === null || end === null ? null : { start, end },
  };
}

function sourceOf(
  threadId: string | null,
  seqs: readonly number[],
  quote: string | null,
): MemoryItem["source"] {
  if (threadId === null) return null;
  return quote === null ? { threadId, seqs } : { threadId, seqs, quote };
}

/** The column that each order goes by, descending. */
const sortedBy: Readonly<Record<Exclude<MemorySort, "oldest">, string>> = {
  ...{ newest: "ref", updated: "updated_at", used: "last_accessed_at", importance: "importance" },
};

/** Which memories to list. */
export interface MemoryListing {
  readonly scope: Scope;
  readonly kinds?: readonly MemoryKind[] | undefined;
  readonly categories?: readonly string[] | undefined;
  readonly states?: readonly MemoryLifecycle[] | undefined;
  /** Only those with one of these keys: the values of a slot, former ones as well where `states` says so. @default any */
  readonly keys?: readonly string[] | undefined;
  /** What their text, key or value must contain, in whatever case. @default anything */
  readonly contains?: string | undefined;
  /** What their metadata must contain. @default any */
  readonly metadata?: MemoryMetadata | undefined;
  /** What comes first: the newest, what was changed or used last, or what is most important. @default "newest" */
  readonly sort?: MemorySort | undefined;
  /** Rows. @default 100 */
  readonly limit?: number | undefined;
  /** Only memories after this one in the order: the id of the last of the page before. */
  readonly after?: string | undefined;
}

/** One memory of the scope's user or app, in whatever state; null when there is none. */
export async function findMemory(db: Connection, scope: Scope, id: string): Promise<MemoryItem | null> {
  const [row] = await db.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(db)} as memory
    from ${db.schema}.memory m
    where m.id = ${uuidOf(id)}::uuid and ${belongsTo(db, scope, "m")}`);
  return row ? memoryOf(row.memory) : null;
}

/** Memories of the scope's user or app, as `listing.sort` has them. @throws MemoryError `INVALID_INPUT` when `after` is not there */
export async function listMemories(db: Connection, listing: MemoryListing): Promise<MemoryItem[]> {
  const { schema } = db;
  const { scope, limit = 100, sort = "newest" } = listing;
  const order = sort === "newest" ? sql`m.ref desc` : sql`${sortColumn(sort)} desc, m.ref desc`;
  const rows = await db.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(db)} as memory
    from (${seenOwners(db, scope)}) o cross join lateral (
      -- For each owner in the order of their index, so that no more are read than are listed.
      select * from ${schema}.memory m where m.owner_ref = o.id and ${listed(db, listing)}
      order by ${order} limit ${limit}
    ) m
    order by ${order} limit ${limit}`);
  if (rows.length === 0) await requireEnd(db, bookmark(db, listing.after), belongsTo(db, scope, "m"));
  return rows.map((row) => memoryOf(row.memory));
}

/** What `sort` goes by, of the row `m`. */
function sortColumn(sort: MemorySort, row = "m"): Sql {
  return raw(sort === "oldest" ? `-${row}.ref` : `${row}.${sortedBy[sort]}`);
}

/** Whether the row `m` comes after the bookmark in the order `sort`. */
function isAfterIn(db: Connection, sort: MemorySort, after: string | undefined): Sql {
  if (sort === "newest" || after === undefined) return isAfter(bookmark(db, after));
  return sql`(${sortColumn(sort)}, m.ref) < (
    select ${sortColumn(sort, "b")}, b.ref from ${db.schema}.memory b where b.id = ${uuidOf(after)}::uuid
  )`;
}

/** Where a page of memories `m` begins. */
const bookmark = ({ schema }: Connection, after: string | undefined): PageBookmark => ({
  ...{ table: sql`${schema}.memory`, alias: raw("m"), after, what: "a memory" },
});

/** Memories in quarantine, latest first. */
export interface QuarantineListing extends AllListing, Pick<MemoryListing, "limit" | "after"> {
  readonly scope?: undefined;
  readonly states: readonly ["quarantined"];
}

/** What is in quarantine of everybody, or of a tenant, latest first. */
export async function listQuarantined(
  db: Connection,
  { tenantId, limit = 100, after }: Omit<QuarantineListing, "states">,
): Promise<MemoryItem[]> {
  const seen = ofTenant(sql`m.tenant_id`, tenantId);
  const rows = await db.query<{ memory: MemoryJson }>(sql`
    select ${memoryJson(db)} as memory from ${db.schema}.memory m
    where m.state = 'quarantined' and ${seen} and ${isAfter(bookmark(db, after))}
    order by m.ref desc limit ${limit}`);
  if (rows.length === 0) await requireEnd(db, bookmark(db, after), seen);
  return rows.map((row) => memoryOf(row.memory));
}

function listed(db: Connection, listing: MemoryListing): Sql {
  const { scope, kinds, categories, states = ["active"], keys, contains, metadata } = listing;
  const { sort = "newest", after } = listing;
  const { appId } = scopeColumns(scope);
  // Written out, and not compared with a value: only then does a plan for all values use an index for one state.
  const inStates = memoryStates.filter((state) => states.includes(state)).map((state) => stateIs(db, state));
  return join(
    [
      sql`(${join([sql`false`, ...inStates], " or ")})`,
      ...(appId === "" ? [] : [sql`m.app_id in ('', ${appId})`]),
      ...(kinds === undefined ? [] : [sql`m.kind = any (${kinds}::text[])`]),
      ...(categories === undefined ? [] : [sql`m.category = any (${categories}::text[])`]),
      ...(keys === undefined ? [] : [sql`m.key = any (${keys}::text[])`]),
      ...(contains === undefined ? [] : [containsText(contains)]),
      ...(metadata === undefined ? [] : [sql`m.metadata @> ${JSON.stringify(metadata)}::jsonb`]),
      isAfterIn(db, sort, after),
    ],
    " and ",
  );
}

/** Whether the row `m` of `memory` has `words` in it, in whatever case. */
function containsText(words: string): Sql {
  return sql`strpos(lower(concat_ws(' ', m.content, m.key, m.value)), lower(${words})) > 0`;
}

/** Whether the row `m` of `memory` is in this state, as `memoryJson` tells it. */
function stateIs(db: Connection, state: MemoryLifecycle): Sql {
  const stored = raw(`m.state = '${state}'`);
  if (state === "active") return sql`(${stored} and ${unexpired(db)})`;
  if (state !== "soft_deleted") return stored;
  return sql`(${stored} or (m.state = 'active' and m.expires_at <= ${db.now()}))`;
}
