import sql, { raw } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { lostBookmark } from "../../scope/page-bookmark.js";
import type { Scope } from "../../scope/scope.js";
import { uuidOf } from "../../scope/scope-predicates.js";
import type { MemoryItem, MemoryLifecycle } from "../item/memory.js";
import {
  listingConditions,
  listingOrder,
  type MemoryJson,
  type MemoryListing,
  memoryJson,
  memoryOf,
} from "../item/memory-row.js";
import {
  type AsOfTimes,
  clockAt,
  type KnownThen,
  knownThen,
  type MissingRow,
  wasTrue,
} from "./as-of.js";
import { missingColumns, remembered } from "./remembered.js";

/** A page of memories as they were known at a past time. */
export interface MemoriesThen extends KnownThen {
  readonly memories: readonly MemoryItem[];
}

/** Values that another took the place of since were active then, or may be true of then. */
export const believedStates: readonly MemoryLifecycle[] = ["active", "superseded"];

export interface RememberedListing extends MemoryListing {
  readonly scope: Scope;
  readonly asOf: AsOfTimes;
}

/**
 * Lists what was known at a past time, in one statement: by default what was active, or with
 * `validAt` what was true then.
 * @param idKey see `missingColumns`
 * @throws MemoryError `INVALID_INPUT` when `after` was not listed
 */
export async function listRemembered(
  db: Connection,
  { asOf, ...listing }: RememberedListing,
  { now, idKey }: { readonly now: Date; readonly idKey: string | undefined },
): Promise<MemoriesThen> {
  const { scope, limit = 100, sort = "newest", after } = listing;
  const { validAt } = asOf;
  const at = clockAt(db, asOf);
  const states = listing.states ?? (validAt && believedStates);
  const order = listingOrder(sort);
  const table = raw("remembered");
  const isTrue = validAt ? wasTrue(validAt) : sql`true`;
  const [row] = await db.query<
    MissingRow & { readonly memories: readonly MemoryJson[]; readonly isListed: boolean }
  >(sql`
    with remembered as materialized (${remembered(db, scope, asOf)}
    ),
    page as (
      select m.* from remembered m
      where ${listingConditions(at, { ...listing, states }, table)} and ${isTrue}
      order by ${order} limit ${limit}
    )
    select coalesce((select json_agg(${memoryJson(at)} order by ${order}) from page m), '[]') as memories,
      exists (select from remembered m where m.id = ${uuidOf(after ?? "")}::uuid) as "isListed",
      ${missingColumns(db, scope, asOf, idKey)}`);
  const { memories, isListed, ...missing } = row as NonNullable<typeof row>;
  if (after !== undefined && !isListed) throw lostBookmark("a memory");
  return { ...knownThen(asOf, missing, now), memories: memories.map(memoryOf) };
}
