import sql, { type Sql } from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { recordRows } from "../changes/record-changes.js";
import { unexpired } from "../item/memory-row.js";
import type { GivenNeighbours } from "./held-neighbours.js";
import { addRows, newRows, rowsOfAdded, wordRows } from "./insert-memories.js";
import { takenBy } from "./look-up-neighbours.js";
import { changedSince } from "./near-by-vector.js";
import type { PlannedAdditions } from "./plan-additions.js";
import type { WriteOrigin } from "./write-runtime.js";

/** Whose memories are added to, by what is held of them. */
interface AdditionTarget {
  readonly scope: Scope;
  readonly space: EmbeddingSpace;
  readonly origin: WriteOrigin;
  readonly given: Pick<GivenNeighbours, "ownerRef" | "tick">;
}

/**
 * Writes `planned` in one statement, with all that `insertMemories` and `recordChanges` write, if it still holds what was
 * decided by what is held: nobody has the words or the slot, the memories near it are as they were, none that changed since is
 * near, and nobody else is just writing. Otherwise it writes nothing and returns false.
 *
 * It raises the owner's tick by itself before it writes anything: what is written takes its own from there. Sent again after a
 * lost answer, it finds what it wrote and returns true.
 */
export async function writeAdditions(
  db: Connection,
  target: AdditionTarget,
  planned: PlannedAdditions,
): Promise<boolean> {
  const { scope, space, origin, given } = target;
  const { ownerRef } = given;
  const { plan, additions, search } = planned;
  const rows = plan.created.map((memory, at) => ({ ...memory, ...additions[at] }));
  const { actor, step } = origin;
  const changes = { ownerRef, scope, actor, step, ...search, changes: plan.changes };
  const [first] = plan.created;
  const [answer] = await db.query<{ written: boolean }>(
    sql`
    with ${newRows(rows, space, sql`, "turnsAgo" integer, "heldSince" timestamptz, bar real`)},
    ${obstacles(db, target, planned.near)},
    ${wordRows(db)},
    locked as (
      ${lockUnobstructed(db, given, planned)}
    ),
    added as (
      ${addRows(db, ownerRef, sql`locked o cross join input i`, {
        assertedTurn: sql`greatest(0, o.turns - i."turnsAgo")`,
        // As exact as times that pass through JavaScript.
        validFrom: sql`coalesce(i."heldSince", date_trunc('milliseconds', ${db.now()}))`,
      })}
    ),
    ${rowsOfAdded(db, ownerRef, space)},
    ${recordRows(db, changes, {
      owner: sql`locked`,
      memory: sql`left join added m on m.id = i."memoryId"`,
      similarity: sql`greatest(similarity, (select met.similarity from met where met.id = "memoryId"))`,
      searched: sql`greatest(${search.searched}::real, (select max(met.similarity) from met))`,
    })}
    select exists (select from locked) or exists (select from ${db.schema}.memory where id = ${first?.id ?? null}::uuid)
      as written`,
    { prepare: true },
  );
  return answer?.written ?? false;
}

/**
 * CTEs of what stands against writing `input`: `taken`, what has the words or the slot; `met` (id, similarity, bar), the
 * nearest of what changed since; `outdated`, what is no longer as it was held. `seen` is the owner as all of them see it.
 */
function obstacles(
  db: Connection,
  { space, given: { ownerRef, tick } }: AdditionTarget,
  near: readonly number[],
): Sql {
  const { schema } = db;
  return sql`seen as materialized (select tick, reload_tick from ${schema}.owner where id = ${ownerRef}),
    changed as materialized (
      select m.ref, m.app_id, m.state, ${unexpired(db)} as unexpired, e.embedding
      from (${changedSince(db, { ownerRef, tick })}) m left join lateral (
        select embedding from ${schema}.memory_embedding where space_ref = ${space.ref} and memory_ref = m.ref limit 1
      ) e on true
    ),
    met as materialized (
      select i.id, i.bar, max(least(1, -(c.embedding ${space.product} i.embedding))) as similarity
      from input i cross join changed c
      where c.app_id = i."appId" and c.state = 'active' and c.embedding is not null
      group by i.id, i.bar
    ),
    taken as materialized (${takenBy(db, ownerRef, sql`input i`)}),
    outdated as materialized (
      select from changed where state = 'active' and not unexpired
      union all
      select from unnest(${near}::bigint[]) as near (ref) left join lateral (
        select * from ${schema}.memory where ref = near.ref limit 1
      ) m on true
      where (m.owner_ref = ${ownerRef} and m.tick <= ${tick} and m.state = 'active' and ${unexpired(db)}) is not true
    )`;
}

/**
 * Locks the owner and counts what is added, unless anything stands against it. The tick is compared once the row is locked:
 * where another writer came in between, nothing of the above saw what it wrote.
 */
function lockUnobstructed(
  { schema }: Connection,
  { ownerRef, tick }: AdditionTarget["given"],
  { plan }: PlannedAdditions,
): Sql {
  const news = plan.changes.filter((change) => change.news !== null).length;
  return sql`update ${schema}.owner o
      set tick = o.tick + 1, ticked_by = pg_current_xact_id(), revision = o.revision + ${news}::bigint,
        memory_count = o.memory_count + ${plan.created.length}::bigint,
        memory_length = o.memory_length
          + (select coalesce(sum(length), 0) from (select max(length) as length from word group by id) d)
      where o.id = ${ownerRef} and o.tick = (select tick from seen) and o.reload_tick <= ${tick}
        and not exists (select from taken) and not exists (select from outdated)
        and not exists (select from met where similarity >= bar)
      returning o.revision - ${news}::bigint as revision, o.turns`;
}
