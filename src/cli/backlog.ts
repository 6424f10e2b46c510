import sql from "sql-template-tag";
import type { WorkKind } from "../jobs/work-kinds.rule.js";
import { unexpired } from "../memories/item/memory-row.js";
import { isExpired } from "../memories/write/expire-memories.js";
import type { Connection } from "../postgres/connection.js";

export interface Backlog {
  readonly due: readonly {
    readonly kind: WorkKind;
    readonly count: number;
    readonly since: Date;
  }[];
  /** Active memories and store items without a vector, by space; null without tables of vectors. */
  readonly missingVectors: readonly { readonly space: string; readonly count: number }[] | null;
  /** Null where it is not installed. */
  readonly pgvector: string | null;
  readonly waiting: { readonly consents: number; readonly quarantine: number };
  /** Expired and not swept yet. */
  readonly expired: number;
}

export async function readBacklog(db: Connection): Promise<Backlog> {
  const { schema } = db;
  const due = await db.query<Backlog["due"][number] & Record<string, unknown>>(sql`
    select kind, count(*)::int as count, min(coalesce(lease_until, retry_at)) as since
    from ${schema}.work
    where coalesce(lease_until, retry_at) <= ${db.now()} group by kind order by since`);
  const [row] = await db.query<{
    pgvector: string | null;
    vectors: boolean;
    consents: number;
    quarantine: number;
    expired: number;
  }>(sql`
    select (select extversion from pg_catalog.pg_extension where extname = 'vector') as pgvector,
      to_regclass(${schema.text} || '.embedding_space') is not null as vectors,
      (
        select count(*)::int from ${schema}.consent_request c where c.status = 'pending' and c.expires_at > ${db.now()}
      ) as consents,
      (select count(*)::int from ${schema}.memory m where m.state = 'quarantined') as quarantine,
      (select count(*)::int from ${schema}.memory m where ${isExpired(db)}) as expired`);
  const { vectors = false, pgvector = null, consents = 0, quarantine = 0, expired = 0 } = row ?? {};
  const missingVectors = vectors ? await findMissingVectors(db) : null;
  return { due, missingVectors, pgvector, waiting: { consents, quarantine }, expired };
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
