import sql from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import { type HeldMemoryRow, heldMemoryJson } from "./held-memory-row.js";

/** Which memories are loaded. */
export interface MemoryLoad {
  /** The ref of their owner. */
  readonly owner: number;
  /** The space of their vectors; null without embeddings. */
  readonly space: EmbeddingSpace | null;
  /**
   * Most memories of a page. What reads a page does nothing else meanwhile: 64 of them take 2 ms, and 4 on the embedded
   * database, which finds them in this process.
   *
   * @default 64
   */
  readonly page?: number | undefined;
}

/**
 * All active memories of an owner, page by page. Each page is one statement outside any transaction: what changes
 * meanwhile is in a page as it was or as it is, or in none.
 */
export async function* loadMemories(
  db: Connection,
  { owner, space, page = 64 }: MemoryLoad,
): AsyncGenerator<readonly HeldMemoryRow[], void, void> {
  let after = 0;
  for (;;) {
    const rows = await db.query<{ held: HeldMemoryRow }>(
      sql`
      select ${heldMemoryJson(db, space)} as held from (
        select * from ${db.schema}.memory
        where owner_ref = ${owner} and state = 'active' and ref > ${after} order by ref limit ${page}
      ) m
      order by m.ref`,
      { prepare: true },
    );
    if (rows.length > 0) yield rows.map(({ held }) => held);
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    after = last.held.ref;
  }
}
