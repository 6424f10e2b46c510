import sql, { join, type Sql } from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { callback, parseInput } from "../input/parse-input.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import type { Embedder } from "./embedder.js";
import { type EmbeddingSpace, halfvecs } from "./embedding-space.js";

interface LackingRow {
  readonly ref: string;
  readonly texts: readonly string[];
  readonly revision?: string;
}

type EmbeddedRow = { readonly row: LackingRow; readonly vectors: readonly string[] };

type SpaceRef = Pick<EmbeddingSpace, "ref">;

export interface VectorRows {
  /** The rows `x` that lack vectors in a space: a `from` and a `where`. */
  readonly lacking: (db: Connection, space: SpaceRef) => Sql;
  /** What `toEmbed` reads of them. */
  readonly columns: Sql;
  readonly toEmbed: (row: never) => LackingRow;
  /** Stores vectors of rows with unchanged texts; returns their number. Waits for no lock. */
  readonly store: (
    db: Connection,
    work: { readonly space: EmbeddingSpace; readonly rows: readonly EmbeddedRow[] },
  ) => Promise<number>;
}

export const memoryVectors: VectorRows = {
  /** A vector is inactive if its memory was hidden and restored without embeddings. */
  lacking: ({ schema }, space) => sql`${schema}.memory x
    left join ${schema}.memory_embedding e
      on e.space_ref = ${space.ref} and e.memory_ref = x.ref and e.active
    where x.state = 'active' and e.memory_ref is null`,
  columns: sql`x.ref::text as ref, array[x.content] as texts`,
  toEmbed: (row: LackingRow) => row,
  // Skips locked memories and owners: waiting could deadlock.
  async store(db, { space, rows }) {
    const { schema } = db;
    const refs = rows.map(({ row }) => row.ref);
    const texts = rows.map(({ row }) => row.texts[0]);
    const vectors = rows.flatMap((row) => row.vectors);
    const [row] = await db.query<{ stored: number }>(sql`
      with free as materialized (
        select o.id from ${schema}.owner o
        where o.id = any (array(select m.owner_ref from ${schema}.memory m where m.ref = any (${refs}::bigint[])))
        for no key update skip locked
      ),
      current as (
        select m.ref, m.owner_ref, m.content from ${schema}.memory m
        where m.ref = any (${refs}::bigint[]) and m.state = 'active' and m.owner_ref = any (array(select id from free))
        for share skip locked
      ),
      stored as (
        insert into ${schema}.memory_embedding as e (space_ref, memory_ref, owner_ref, embedding)
        select ${space.ref}, m.ref, m.owner_ref, i.embedding
        from unnest(${refs}::bigint[], ${texts}::text[], ${halfvecs(space, vectors)}) as i (ref, text, embedding)
        join current m on m.ref = i.ref and m.content = i.text
        on conflict (space_ref, memory_ref) do update set embedding = excluded.embedding, active = true
          where not e.active
        returning 1
      )
      select count(*)::int as stored from stored`);
    return row?.stored ?? 0;
  },
};

/** In order, after the row `after`. */
async function findLacking(
  db: Connection,
  { lacking, columns, toEmbed }: VectorRows,
  { space, after, limit }: { space: SpaceRef; after: string; limit: number },
): Promise<LackingRow[]> {
  const rows = await db.query(sql`
    select ${columns} from ${lacking(db, space)} and x.ref > ${after}::bigint order by x.ref limit ${limit}`);
  return rows.map((row) => toEmbed(row as never));
}

interface ReembedProgress {
  readonly done: number;
  /** Grows while other processes write without vectors. */
  readonly total: number;
}

const reembedOptionsSchema = z.strictObject({
  /** Texts embedded in one request, and rows stored in one statement, 1 to 1000. @default 100 */
  batchSize: z.int().min(1).max(1_000).default(100),
  onProgress: callback<(progress: ReembedProgress) => void>().optional(),
});

export interface ReembedOptions extends z.input<typeof reembedOptionsSchema> {}

export interface Reembedded {
  readonly space: string;
  readonly dimensions: number;
  readonly embedded: number;
  /** Rows whose texts the model refused, or that other processes were changing: run it again. */
  readonly remaining: number;
}

/**
 * Embeds all rows that lack vectors in the embedder's space. Resumable; holds no connection while
 * the model works.
 * @throws MemoryError `INVALID_INPUT`, `EMBEDDING_FAILED`, `SETUP_REQUIRED`
 */
export async function reembed(
  { db, embedder }: { db: Connection; embedder: Embedder | null },
  kinds: readonly VectorRows[],
  options: ReembedOptions = {},
): Promise<Reembedded> {
  const { batchSize, onProgress } = parseInput(reembedOptionsSchema, options, "re-embedding");
  if (!embedder) {
    throw new MemoryError(
      "INVALID_INPUT",
      "Re-embedding needs embeddings: createMemory({ embeddings }).",
    );
  }
  const space = await spaceNow(embedder);
  const count = () => countLacking(db, space, kinds);
  let embedded = 0;
  let remaining = await count();
  onProgress?.({ done: 0, total: remaining });

  const embed = async (rows: readonly LackingRow[]): Promise<EmbeddedRow[]> => {
    const { vectors } = await embedder.insist(
      rows.flatMap((row) => row.texts),
      batchSize,
    );
    const unassigned = [...vectors];
    return rows.flatMap((row) => {
      const own = unassigned.splice(0, row.texts.length);
      return own.every((vector) => vector !== null) ? { row, vectors: own } : [];
    });
  };
  const pass = async () => {
    const before = embedded;
    const total = embedded + remaining;
    for (const kind of kinds) {
      let rows = await findLacking(db, kind, { space, after: "0", limit: batchSize });
      for (let last = rows.at(-1); last; last = rows.at(-1)) {
        embedded += await kind.store(db, { space, rows: await embed(rows) });
        onProgress?.({ done: embedded, total: Math.max(total, embedded) });
        rows = await findLacking(db, kind, { space, after: last.ref, limit: batchSize });
      }
    }
    remaining = await count();
    return embedded > before;
  };
  // Repeats for concurrent changes, while a pass makes progress.
  while (remaining > 0 && (await pass())) {}
  return { space: space.name, dimensions: space.dimensions, embedded, remaining };
}

/** Asks the model for its dimensions. @throws MemoryError `EMBEDDING_FAILED` */
async function spaceNow(embedder: Embedder): Promise<EmbeddingSpace> {
  const { space } = await embedder.insist(["The user likes tea."], 1);
  if (space) return space;
  throw new MemoryError("EMBEDDING_FAILED", "The embeddings refuse any text: see the log.");
}

export async function countLacking(
  db: Connection,
  space: SpaceRef,
  kinds: readonly VectorRows[],
): Promise<number> {
  const lacking = kinds.map((kind) => sql`(select count(*) from ${kind.lacking(db, space)})`);
  const [row] = await db.query<{ all: number }>(sql`select (${join(lacking, " + ")})::int as all`);
  return row?.all ?? 0;
}

/** Logs that `reembed` is due, as after a change of the model or its dimensions. */
export async function reportLacking(
  { db, embedder, logger }: Pick<Runtime, "db" | "embedder" | "logger">,
  kinds: readonly VectorRows[],
): Promise<void> {
  const space = embedder && (await spaceNow(embedder).catch(() => null));
  if (!space) return;
  const lacking = await countLacking(db, space, kinds);
  const model = `${space.name} (${space.dimensions} dimensions)`;
  const found = "found by words only: run `npx @mnemograph/server reembed` or `memory.reembed()`.";
  if (lacking > 0) logger.warn(`${lacking} texts have no vector of ${model} and are ${found}`);
}
