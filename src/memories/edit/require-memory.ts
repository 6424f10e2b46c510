import sql from "sql-template-tag";
import { MemoryError } from "../../errors.js";
import type { Connection } from "../../postgres/connection.js";
import { parseScope, type Scope } from "../../scope/scope.js";
import { belongsTo, uuidOf } from "../../scope/scope-predicates.js";
import { isoDay } from "../../text/iso-time.js";
import { findMemory } from "../item/find-memories.js";
import type { MemoryItem } from "../item/memory.js";

/** When a memory of the scope's user or app was deleted for good; null when it was not. */
async function findPurge(db: Connection, scope: Scope, memoryId: string): Promise<Date | null> {
  const [row] = await db.query<{ at: Date }>(sql`
    select h.created_at as at
    from ${db.schema}.history h
    where h.memory_id = ${uuidOf(memoryId)}::uuid and h.event = 'DELETE' and h.new ->> 'state' = 'purged'
      and ${belongsTo(db, scope, "h")}
    order by h.id desc limit 1`);
  return row?.at ?? null;
}

/** Which memory, and in which version where that matters. */
interface NamedMemory {
  readonly scope: Scope;
  readonly id: string;
  readonly ifRevision?: number | undefined;
}

/**
 * The memory `id` of the scope's user or app, in one of `states` where these are given.
 *
 * @throws MemoryError `NOT_FOUND`, which says so when it was purged; `STALE_REVISION` when it has another revision
 *   than `ifRevision`; `WRONG_STATE` when it is in another state.
 */
export async function requireMemory(
  db: Connection,
  { scope, id, ifRevision }: NamedMemory,
  states?: readonly MemoryItem["state"][],
): Promise<MemoryItem> {
  const owner = parseScope(scope);
  const memory = await findMemory(db, owner, id);
  if (!memory) throw await notFound(db, owner, id);
  requireRevision(`Memory ${id}`, memory, ifRevision);
  if (!states || states.includes(memory.state)) return memory;
  throw new MemoryError("WRONG_STATE", `Memory ${id} is ${memory.state}, not ${states.join(" or ")}.`, {
    details: { current: memory },
  });
}

/**
 * Sees to it that `current` is what its reader saw. Belongs under the lock of its owner, so that of several who saw the
 * same one is first.
 *
 * @throws MemoryError `STALE_REVISION`
 */
export function requireRevision(
  what: string,
  current: { readonly revision: number },
  ifRevision: number | undefined,
): void {
  if (ifRevision === undefined || current.revision === ifRevision) return;
  throw new MemoryError(
    "STALE_REVISION",
    `${what} has revision ${current.revision}, not ${ifRevision}: it has changed since it was read. ` +
      "`details.current` of this error is what it is: look again, then decide.",
    { details: { current } },
  );
}

async function notFound(db: Connection, scope: Scope, id: string): Promise<MemoryError> {
  const purgedAt = await findPurge(db, scope, id);
  return new MemoryError(
    "NOT_FOUND",
    purgedAt
      ? `Memory ${id} was purged on ${isoDay(purgedAt)}: it cannot be brought back. ` +
          "Its history says what it was."
      : `There is no memory ${id} in this scope.`,
  );
}
