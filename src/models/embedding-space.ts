import sql, { empty, raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import { lacksPgvector } from "../postgres/database-error.js";
import type { UnrelatedSimilarity } from "./unrelated-similarity.rule.js";

/**
 * As `halfvec[]`. Unnest the texts and convert each: otherwise every row converts the whole array.
 */
export const halfvecs = ({ type }: EmbeddingSpace, vectors: readonly (string | null)[]): Sql =>
  sql`${vectors}::text[]::${type}[]`;

/** Whether any process has stored vectors: hiding a memory must then hide its vectors. */
export async function hasVectors(db: Connection): Promise<boolean> {
  if (withVectors.has(db.schema)) return true;
  const [row] = await db.query<{ found: boolean }>(
    sql`select to_regclass(${`${db.schema.text}.memory_embedding`}) is not null as found`,
  );
  if (row?.found) withVectors.add(db.schema);
  return row?.found ?? false;
}

/** Whether any process has embedded texts here. */
export async function keepsVectors(db: Connection): Promise<boolean> {
  if (!(await hasVectors(db))) return false;
  const [row] = await db.query<{ found: boolean }>(
    sql`select exists (select from ${db.schema}.embedding_space) as found`,
  );
  return row?.found ?? false;
}

/** Schemas of databases that have vectors: no process drops the table. */
const withVectors = new WeakSet<Sql>();

export interface EmbeddingSpace {
  readonly ref: number;
  readonly name: string;
  readonly dimensions: number;
  readonly type: Sql;
  /**
   * The negative inner product equals minus the cosine similarity of unit vectors, which costs a
   * third more.
   */
  readonly product: Sql;
  /** Enables an index-only scan of `memory_embedding` `e`; empty for long vectors. */
  readonly indexed: Sql;
  readonly unrelated: UnrelatedSimilarity | null;
}

/** Dimensions that fit an entry of the index `memory_embedding_near`. */
const maxIndexedDimensions = 1_300;

type SpaceRow = {
  id: number;
  mean: number | null;
  spread: number | null;
  extension: string;
};

/** The same model with other `dimensions` has another space. */
export async function ensureEmbeddingSpace(
  db: Connection,
  { name, dimensions }: { name: string; dimensions: number },
): Promise<EmbeddingSpace> {
  const [row] = await db.query<SpaceRow>(sql`
    with space as (
      insert into ${db.schema}.embedding_space (name, dimensions, used_at) values (${name}, ${dimensions}, ${db.now()})
      on conflict (name, dimensions) do update set used_at = excluded.used_at
      returning id, unrelated_mean::float8 as mean, unrelated_spread::float8 as spread
    )
    select space.*, e.extnamespace::regnamespace::text as extension
    from space join pg_catalog.pg_extension e on e.extname = 'vector'`);
  if (!row) throw new MemoryError("PEER_MISSING", lacksPgvector);
  const { id: ref, extension, mean, spread } = row;
  const type = raw(`${extension}.halfvec`);
  const product = raw(`operator(${extension}.<#>)`);
  const isIndexed = raw(`and ${extension}.vector_dims(e.embedding) <= ${maxIndexedDimensions}`);
  const indexed = dimensions > maxIndexedDimensions ? empty : isIndexed;
  const unrelated = mean === null || spread === null ? null : { mean, spread };
  return { ref, name, dimensions, type, product, indexed, unrelated };
}

export async function saveUnrelatedSimilarity(
  db: Connection,
  { ref }: EmbeddingSpace,
  { mean, spread }: UnrelatedSimilarity,
): Promise<void> {
  await db.query(sql`
    update ${db.schema}.embedding_space set unrelated_mean = ${mean}::real, unrelated_spread = ${spread}::real
    where id = ${ref} and unrelated_mean is null`);
}
