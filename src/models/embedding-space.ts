import sql, { empty, raw, type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import type { UnrelatedSimilarity } from "./unrelated-similarity.rule.js";

/** Bytes in front of the numbers: how many there are (16 bits), and 16 bits that are always 0. */
const headBytes = 4;

/**
 * `vector` as pgvector's `halfvec` sends and receives it: bound as a parameter it need not be read from its text.
 *
 * The numbers are rounded as pgvector rounds them when it reads text: to single precision, then to half precision.
 */
export function halfvec(vector: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + 2 * vector.length);
  bytes.writeUInt16BE(vector.length, 0);
  bytes.writeUInt16BE(0, 2);
  for (let index = 0, at = headBytes; index < vector.length; index++) {
    const bits = half(vector[index] as number);
    bytes[at++] = bits >>> 8;
    bytes[at++] = bits;
  }
  return bytes;
}

/** Bytes in front of an array's elements: dimensions, whether any is null, the elements' type, how many, from which index. */
const arrayHeadBytes = 20;
const nullLength = -1;

/**
 * `vectors`, each as `halfvec` makes it, as one parameter of type `halfvec[]`. A hundred of them in JSON, as text, take the
 * server eighteen times as long to read.
 */
export function halfvecs({ type, oid }: EmbeddingSpace, vectors: readonly (Buffer | null)[]): Sql {
  const size = vectors.reduce((bytes, vector) => bytes + 4 + (vector?.length ?? 0), arrayHeadBytes);
  const array = Buffer.allocUnsafe(size);
  const head = [1, vectors.includes(null) ? 1 : 0, oid, vectors.length, 1];
  let at = 0;
  for (const number of head) at = array.writeUInt32BE(number, at);
  for (const vector of vectors) {
    at = array.writeInt32BE(vector?.length ?? nullLength, at);
    at += vector?.copy(array, at) ?? 0;
  }
  return sql`${array}::${type}[]`;
}

/** Numbers below this have no leading 1 in half precision: they are multiples of its smallest number. */
const leastNormalBits = (127 - 14) << 23;
/** What the bits of an exponent are more in single precision. */
const exponentsApart = (127 - 15) << 23;
const smallest = 2 ** -24;

/** A number of single precision, and its bits. */
const singles = new Float32Array(1);
const singleBits = new Uint32Array(singles.buffer);

/** `value`, −1 to 1, as the bits of a number of half precision: a sign, 5 bits of exponent, 10 of fraction. */
function half(value: number): number {
  singles[0] = value;
  const bits = singleBits[0] as number;
  const sign = value < 0 ? 0x8000 : 0;
  const size = bits & 0x7fff_ffff;
  if (size < leastNormalBits) return sign + toEven(Math.abs(singles[0]) / smallest);
  // The exponent counts from another number, and 13 bits of the fraction are rounded away: up to the next exponent, too.
  const kept = (size - exponentsApart) >>> 13;
  const left = size & 0x1fff;
  return sign + kept + (left > 0x1000 || (left === 0x1000 && (kept & 1) === 1) ? 1 : 0);
}

/** The nearest whole number; of two that are as near, the even one. */
function toEven(value: number): number {
  const below = Math.floor(value);
  const over = value - below;
  return below + (over > 0.5 || (over === 0.5 && below % 2 === 1) ? 1 : 0);
}

/** Whether memories have vectors here, made by whatever process: then whoever hides one must hide its vectors. */
export async function hasVectors(db: Connection): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>(
    sql`select to_regclass(${`${db.schema.text}.memory_embedding`}) is not null as found`,
  );
  return row?.found ?? false;
}

/** Vectors that may be compared with each other: made by one model, of one length. */
export interface EmbeddingSpace {
  readonly ref: number;
  readonly name: string;
  readonly dimensions: number;
  /** The column type to cast to, wherever pgvector is installed. */
  readonly type: Sql;
  /** That type's number, which arrays of vectors name. */
  readonly oid: number;
  /** The operator of negative inner product: of unit vectors, minus their cosine similarity, which costs a third more. */
  readonly product: Sql;
  /**
   * A further condition for reading the vectors `e` of `memory_embedding` out of their index alone, which holds those
   * that fit into an entry; empty where this space's do not.
   */
  readonly indexed: Sql;
  /** How alike unrelated texts are in it; null where that is not known yet. */
  readonly unrelated: UnrelatedSimilarity | null;
}

/** Dimensions that fit into an index entry, as `memory_embedding_near` says. */
const mostIndexed = 1_300;

interface Row {
  id: number;
  dimensions: number;
  mean: number | null;
  spread: number | null;
  extension: string;
  oid: number;
  [column: string]: unknown;
}

/**
 * The space called `name`, made if it is new.
 *
 * @throws MemoryError `DIMENSION_MISMATCH` when its vectors have another length.
 */
export async function ensureEmbeddingSpace(
  db: Connection,
  { name, dimensions }: { name: string; dimensions: number },
): Promise<EmbeddingSpace> {
  const [row] = await db.query<Row>(sql`
    with space as (
      insert into ${db.schema}.embedding_space as s (name, dimensions) values (${name}, ${dimensions})
      on conflict (name) do update set dimensions = s.dimensions
      returning id, dimensions, unrelated_mean::float8 as mean, unrelated_spread::float8 as spread
    )
    select space.*, (
      select quote_ident(n.nspname) from pg_catalog.pg_extension e
      join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'
    ) as extension, (
      select t.oid::bigint::float8 from pg_catalog.pg_extension e
      join pg_catalog.pg_type t on t.typnamespace = e.extnamespace and t.typname = 'halfvec' where e.extname = 'vector'
    ) as oid
    from space`);
  if (row?.dimensions === dimensions) {
    const type = raw(`${row.extension}.halfvec`);
    const product = raw(`operator(${row.extension}.<#>)`);
    const indexed =
      dimensions > mostIndexed
        ? empty
        : raw(`and ${row.extension}.vector_dims(e.embedding) <= ${mostIndexed}`);
    const { mean, spread } = row;
    return {
      ...{ ref: row.id, name, dimensions, type, oid: row.oid, product, indexed },
      unrelated: mean === null || spread === null ? null : { mean, spread },
    };
  }
  throw new MemoryError(
    "DIMENSION_MISMATCH",
    `The embedding space "${name}" holds vectors of ${row?.dimensions} dimensions, but the embeddings give ` +
      `${dimensions}. Use the model that made them, or embeddings whose model has another name, ` +
      "and run `mnemograph reembed`.",
  );
}

/** Keeps how alike unrelated texts are in a space. What another process has measured meanwhile stays. */
export async function saveUnrelatedSimilarity(
  db: Connection,
  { ref }: EmbeddingSpace,
  { mean, spread }: UnrelatedSimilarity,
): Promise<void> {
  await db.query(sql`
    update ${db.schema}.embedding_space set unrelated_mean = ${mean}::real, unrelated_spread = ${spread}::real
    where id = ${ref} and unrelated_mean is null`);
}
