import type { Connection } from "../database/connection.js";
import type { MemoryItem } from "../domain/memory.js";
import { parseScope, type Scope } from "../domain/scope.js";
import { MemoryError } from "../errors.js";
import { findMemory } from "../store/find-memories.js";
import { findPurge } from "../store/find-purge.js";

/**
 * The memory `id` of the scope's user or app, in one of `states` where these are given.
 *
 * @throws MemoryError `NOT_FOUND`, which says so when it was purged; `CONFLICT` when it is in another state.
 */
export async function requireMemory(
  db: Connection,
  { scope, id }: { readonly scope: Scope; readonly id: string },
  states?: readonly MemoryItem["state"][],
): Promise<MemoryItem> {
  const owner = parseScope(scope);
  const memory = await findMemory(db, owner, id);
  if (!memory) throw await notFound(db, owner, id);
  if (!states || states.includes(memory.state)) return memory;
  throw new MemoryError("CONFLICT", `Memory ${id} is ${memory.state}, not ${states.join(" or ")}.`);
}

async function notFound(db: Connection, scope: Scope, id: string): Promise<MemoryError> {
  const purgedAt = await findPurge(db, scope, id);
  return new MemoryError(
    "NOT_FOUND",
    purgedAt
      ? `Memory ${id} was purged on ${purgedAt.toISOString().slice(0, 10)}: it cannot be brought back. ` +
          "Its history says what it was."
      : `There is no memory ${id} in this scope.`,
  );
}
