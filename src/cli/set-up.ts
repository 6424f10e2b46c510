import type { ClientBase } from "pg";
import sql from "sql-template-tag";
import { countTranscripts } from "../conversation/list-threads.js";
import type { ListedJob } from "../jobs/jobs-api.js";
import type { WorkKind } from "../jobs/work-kinds.rule.js";
import { setUpCheckpointer } from "../langgraph/checkpointer/set-up-checkpointer.js";
import type { MemoryKind, MemoryLifecycle } from "../memories/item/memory.js";
import { unexpired } from "../memories/item/memory-row.js";
import { isExpired } from "../memories/write/expire-memories.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { acrossTenants } from "../postgres/isolation.js";
import { migrate } from "../postgres/migrate.js";
import { type MigrationStatus, migrationStatus } from "../postgres/migration-status.js";
import { tableSizes } from "../postgres/table-sizes.js";
import { usedToday } from "../usage/usage-statements.js";
import type { DatabaseFlags } from "./flags.js";
import { chooseDatabase, existingDatabase, isolationOf, onDatabase } from "./open-memory.js";

type SchemaParts = { readonly vectors: boolean; readonly isolation: boolean };

/** @throws MemoryError as `memory.setup()` does */
export async function migrateDatabase(flags: DatabaseFlags, parts: SchemaParts) {
  const { option, place } = chooseDatabase(flags);
  const also = (client: ClientBase) => setUpCheckpointer(client, flags.schema);
  const run = (db: Database) => migrate(db, { ...parts, upgrade: true, also });
  return { place, applied: await onDatabase(option, { schemaName: flags.schema }, run) };
}

export async function planMigration(flags: DatabaseFlags, parts: SchemaParts): Promise<MigrationStatus> {
  const plan = (db: Database) => migrationStatus(db, { ...parts, upgrade: true });
  return onDatabase(existingDatabase(flags).option, { schemaName: flags.schema }, plan);
}

/** `contents` is null when the tables are not up to date. */
export type SetupStatus = Awaited<ReturnType<typeof readStatus>>;

/** Changes nothing. @throws MemoryError `SETUP_REQUIRED` without a database */
export async function readStatus(flags: DatabaseFlags) {
  const { option, place } = existingDatabase(flags);
  const { schema: schemaName } = flags;
  const isolation = await isolationOf(option, schemaName);
  return onDatabase(option, { schemaName, ...isolation }, async (db) => {
    const migrations = await migrationStatus(db);
    const current = migrations.sets.every(({ pending }) => pending.length === 0);
    return { place, migrations, contents: current ? await acrossTenants(() => readContents(db)) : null };
  });
}

async function readContents(db: Database) {
  return {
    ...(await countTranscripts(db)),
    ...(await countMemories(db)),
    summaries: await countSummaries(db),
    tables: await tableSizes(db),
    ...(await readBacklog(db)),
    energy: await usedToday(db),
  };
}

async function countSummaries(db: Connection) {
  const [row] = await db.query<{ completed: number; processing: number; failed: number }>(sql`
    select count(*) filter (where status = 'completed')::int as completed,
      count(*) filter (where status = 'processing')::int as processing,
      count(*) filter (where status = 'failed')::int as failed
    from ${db.schema}.summary`);
  return row ?? { completed: 0, processing: 0, failed: 0 };
}

type MemoryCounts = {
  readonly memories: readonly { kind: MemoryKind; state: MemoryLifecycle; count: number }[];
  readonly deadLetters: readonly { kind: WorkKind; count: number }[];
};

/** Scans all memories. */
async function countMemories(db: Connection): Promise<MemoryCounts> {
  const [row] = await db.query<MemoryCounts>(sql`
    select (
        select coalesce(json_agg(m order by m.kind, m.state), '[]')
        from (select kind, state, count(*) as count from ${db.schema}.memory group by kind, state) m
      ) as memories, (
        select coalesce(json_agg(d order by d.kind), '[]')
        from (select kind, count(*) as count from ${db.schema}.work where given_up_at is not null group by kind) d
      ) as "deadLetters"`);
  return row ?? { memories: [], deadLetters: [] };
}

/** `missingVectors` is null without tables of vectors. */
async function readBacklog(db: Connection) {
  const { schema } = db;
  // Stuck: its lease ran out, and no other worker has taken it.
  type Row = Pick<ListedJob, "kind" | "worker"> & { state: string; count: number; since: Date };
  const work = await db.query<Row>(sql`
    select kind, state, worker, count(*)::int as count, min(since) as since from (
      select kind, case when lease_until is not null then worker end as worker,
        case when lease_until is null then 'due' when lease_until > ${db.now()} then 'running' else 'stuck' end as state,
        case when lease_until is null then retry_at else coalesce(taken_at, lease_until) end as since
      from ${schema}.work where lease_until is not null or retry_at <= ${db.now()}
    ) k group by kind, state, worker order by since`);
  type Counts = Record<"consents" | "quarantine" | "expired", number>;
  const [row] = await db.query<Counts & { pgvector: string | null; vectors: boolean }>(sql`
    select (select extversion from pg_catalog.pg_extension where extname = 'vector') as pgvector,
      to_regclass(${schema.text} || '.embedding_space') is not null as vectors,
      (
        select count(*)::int from ${schema}.consent_request c where c.status = 'pending' and c.expires_at > ${db.now()}
      ) as consents,
      (select count(*)::int from ${schema}.memory m where m.state = 'quarantined') as quarantine,
      (select count(*)::int from ${schema}.memory m where ${isExpired(db)}) as expired`);
  const { vectors = false, pgvector = null, consents = 0, quarantine = 0, expired = 0 } = row ?? {};
  const missingVectors = vectors ? await findMissingVectors(db) : null;
  return { work, missingVectors, pgvector, waiting: { consents, quarantine }, expired };
}

function findMissingVectors(db: Connection) {
  return db.query<{ space: string; count: number }>(sql`
    select s.name as space, (
      select count(*)::int from ${db.schema}.store_item i
      where i.index_fields is not null and (i.expires_at is null or i.expires_at > ${db.now()}) and not exists (
        select from ${db.schema}.store_embedding e
        where e.space_ref = s.id and e.item_ref = i.ref and e.revision = i.revision
      )
    ) + (
      select count(*)::int from ${db.schema}.memory m
      where m.state = 'active' and ${unexpired(db)} and not exists (
        select from ${db.schema}.memory_embedding e where e.space_ref = s.id and e.memory_ref = m.ref and e.active
      )
    ) as count
    from ${db.schema}.embedding_space s order by s.name`);
}
