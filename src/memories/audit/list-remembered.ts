import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { lostBookmark } from "../../scope/page-bookmark.js";
import { uuidOf } from "../../scope/scope-predicates.js";
import type { MemoryItem } from "../item/memory.js";
import { listingOrder, type MemoryJson, memoryJson, memoryOf } from "../item/memory-row.js";
import type { KnownThen } from "./as-of.js";
import { type PastListing, type PastReader, readPast } from "./remembered.js";

/** A page of memories as they were known at a past time. */
export interface MemoriesThen extends KnownThen {
  readonly memories: readonly MemoryItem[];
}

/**
 * Lists what was known at a past time, in one statement.
 * @throws MemoryError `INVALID_INPUT` when `after` was not listed
 */
export async function listRemembered(
  db: Connection,
  listing: PastListing,
  reader: PastReader,
): Promise<MemoriesThen> {
  const { limit = 100, sort = "newest", after } = listing;
  const order = listingOrder(sort);
  const { row, past } = await readPast<{ memories: MemoryJson[]; isListed: boolean }>(
    db,
    listing,
    reader,
    (at) => sql`coalesce((
        select json_agg(${memoryJson(at)} order by ${order})
        from (select m.* from listed m order by ${order} limit ${limit}) m
      ), '[]') as memories,
      exists (select from remembered m where m.id = ${uuidOf(after ?? "")}::uuid) as "isListed"`,
  );
  if (after !== undefined && !row.isListed) throw lostBookmark("a memory");
  return { ...past, memories: row.memories.map(memoryOf) };
}
