import sql, { type Sql } from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import { listener, parseInput } from "../text/parse-input.js";
import type { Embedder } from "./embedder.js";
import { type EmbeddingSpace, halfvecs } from "./embedding-space.js";

/** An active memory without a vector in a space. */
interface ReembedWork {
  /** A bigint, as text. */
  readonly ref: string;
  readonly text: string;
}

/** Up to `limit` active memories after `after` that lack a vector in `space`, by `ref`. */
async function findReembedWork(
  db: Connection,
  { space, after, limit }: { space: EmbeddingSpace; after: string; limit: number },
): Promise<ReembedWork[]> {
  return db.query<ReembedWork>(sql`
    select m.ref::text as ref, m.content as text
    from ${db.schema}.memory m ${lacking(db, space)} and m.ref > ${after}::bigint
    order by m.ref limit ${limit}`);
}

/** How many active memories lack a vector in `space`. */
async function countReembedWork(db: Connection, space: EmbeddingSpace): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::int as count from ${db.schema}.memory m ${lacking(db, space)}`);
  return row?.count ?? 0;
}

/** A vector that is not active is of a memory that was hidden and came back without embeddings. */
function lacking(db: Connection, space: EmbeddingSpace): Sql {
  return sql`
    left join ${db.schema}.memory_embedding e
      on e.space_ref = ${space.ref} and e.memory_ref = m.ref and e.active
    where m.state = 'active' and e.memory_ref is null`;
}

/**
 * Stores vectors of memories that still say what was embedded, and returns how many. Copies of their owners are read
 * anew. One statement.
 *
 * A memory that is being changed, and one whose owner is being written to, is passed over rather than waited for: a
 * writer that holds several must never wait for this one while this one waits for it.
 */
async function insertReembedded(
  db: Connection,
  {
    space,
    work,
    vectors,
  }: { space: EmbeddingSpace; work: readonly ReembedWork[]; vectors: readonly Buffer[] },
): Promise<number> {
  const { schema } = db;
  const refs = work.map(({ ref }) => ref);
  const texts = work.map(({ text }) => text);
  const [row] = await db.query<{ stored: number }>(sql`
    with input as (
      select * from unnest(${refs}::bigint[], ${texts}::text[], ${halfvecs(space, vectors)}) as i (ref, text, embedding)
    ),
    free as materialized (
      select o.id from ${schema}.owner o
      where o.id in (select m.owner_ref from input i join ${schema}.memory m on m.ref = i.ref)
      for no key update skip locked
    ),
    unchanged as (
      select m.ref, m.owner_ref, i.embedding
      from input i join ${schema}.memory m on m.ref = i.ref and m.content = i.text
      where m.state = 'active' and m.owner_ref in (select id from free)
      for share of m skip locked
    ),
    stored as (
      insert into ${schema}.memory_embedding as e (space_ref, memory_ref, owner_ref, embedding)
      select ${space.ref}, ref, owner_ref, embedding from unchanged
      on conflict (space_ref, memory_ref) do update set embedding = excluded.embedding, active = true
        where not e.active
      returning owner_ref
    )
    select (select count(*) from stored)::int as stored, ${schema}.reload_owners(array(select owner_ref from stored), 0)`);
  return row?.stored ?? 0;
}

/** How far a re-embedding has come, counted in memories of this run. */
export interface ReembedProgress {
  readonly done: number;
  /** Grows while others write memories without vectors of this space. */
  readonly total: number;
}

/** How to re-embed. */
export interface ReembedOptions {
  /** Memories embedded in one call and stored in one statement, 1 to 1000. @default 100 */
  readonly batchSize?: number | undefined;
  /** Told at the start and after each batch. */
  readonly onProgress?: ((progress: ReembedProgress) => void) | undefined;
}

/** What a re-embedding did. */
export interface Reembedded {
  /** The embedding space that was filled, and the length of its vectors. */
  readonly space: string;
  readonly dimensions: number;
  /** Vectors made by this run. */
  readonly embedded: number;
  /** Active memories that still have none: others were changing them. Run it again. */
  readonly remaining: number;
}

const optionsSchema = z.strictObject({
  batchSize: z.int().min(1).max(1_000).default(100),
  onProgress: listener<(progress: ReembedProgress) => void>().optional(),
});

/**
 * Gives every active memory of all scopes that lacks one a vector in the embedder's space, batch by batch.
 *
 * Each batch is kept once it is stored: a run that was interrupted goes on where it was. Holds no connection
 * while the model works, and runs beside readers and writers.
 *
 * @throws MemoryError `INVALID_INPUT` also without embeddings, `EMBEDDING_FAILED`, `DIMENSION_MISMATCH`,
 *   `SETUP_REQUIRED`
 */
export async function reembed(
  { db, embedder }: { db: Connection; embedder: Embedder | null },
  options: ReembedOptions = {},
): Promise<Reembedded> {
  const { batchSize, onProgress } = parseInput(optionsSchema, options, "re-embedding");
  if (!embedder) {
    throw new MemoryError("INVALID_INPUT", "Re-embedding needs embeddings: createMemory({ embeddings }).");
  }
  // The length of its vectors, which belongs to the space, is known only from a vector.
  const { space } = await embedder.documents(["dimensions"]);
  let embedded = 0;
  let remaining = await countReembedWork(db, space);
  onProgress?.({ done: 0, total: remaining });

  const pass = async () => {
    const before = embedded;
    const total = embedded + remaining;
    for await (const count of batches(db, { embedder, space, batchSize })) {
      embedded += count;
      onProgress?.({ done: embedded, total: Math.max(total, embedded) });
    }
    remaining = await countReembedWork(db, space);
    return embedded > before;
  };
  // Again for what others changed meanwhile, as long as that leads anywhere.
  while (remaining > 0 && (await pass())) {}
  return { space: space.name, dimensions: space.dimensions, embedded, remaining };
}

/** One pass over what lacks a vector; gives the number stored of each batch. */
async function* batches(
  db: Connection,
  { embedder, space, batchSize }: { embedder: Embedder; space: EmbeddingSpace; batchSize: number },
): AsyncGenerator<number> {
  let after = "0";
  for (;;) {
    const work = await findReembedWork(db, { space, after, limit: batchSize });
    const last = work.at(-1);
    if (!last) return;
    const { vectors } = await embedder.documents(work.map(({ text }) => text));
    yield await insertReembedded(db, { space, work, vectors });
    if (work.length < batchSize) return;
    after = last.ref;
  }
}
