import type { Cell, Cells } from "./cell.js";
import { each } from "./cell-calls.js";
import { findThreadsElsewhere } from "./conversation/claim-thread.js";
import type { Memory } from "./memory.js";
import { asTenant } from "./postgres/isolation.js";
import { nobody, type SaidMessage, threadForbidden } from "./scope/scope.js";
import { type MemoryWithWayIn, wayInKey } from "./way-in.js";

type Claim = Memory["threads"]["claim"];

/** Threads remembered that no other cell has, so that later runs of this process ask no other cell. */
const mostRemembered = 10_000;
const claimed = new WeakMap<Cells, Set<string>>();

/**
 * Claims a thread in its owner's cell. Where its state is kept by a checkpointer that keeps nobody apart, no other cell may have
 * a thread of that id: looked for before, so that who is refused leaves nothing that would stand in the owner's way, and after,
 * since two may begin at once, of whom none goes on then.
 *
 * @throws MemoryError `THREAD_FORBIDDEN`; what the run brought is noted for the owner then.
 */
export async function claimOver(
  cells: Cells,
  of: (memory: MemoryWithWayIn) => Claim,
  input: Parameters<Claim>[0],
): ReturnType<Claim> {
  const own = cells.of(input?.scope);
  const claim = () => own.run((memory) => of(memory)(input));
  if (input?.said === undefined || typeof input.threadId !== "string") return claim();
  const { threadId, said, scope } = input;
  const known = claimed.get(cells) ?? new Set();
  claimed.set(cells, known);
  const key = JSON.stringify([scope, threadId]);
  if (known.has(key)) return claim();
  await refuseTwo(cells, own, { threadId, said });
  const thread = await claim();
  await refuseTwo(cells, own, { threadId, said });
  known.add(key);
  const [oldest] = known;
  if (known.size > mostRemembered && oldest !== undefined) known.delete(oldest);
  return thread;
}

/** @throws MemoryError `THREAD_FORBIDDEN` when the thread is somebody's in another cell than `own` */
async function refuseTwo(
  { all }: Cells,
  own: Cell,
  { threadId, said }: { readonly threadId: string; readonly said: readonly SaidMessage[] },
): Promise<void> {
  const others = all.filter((cell) => cell !== own);
  const asked = await each(others, async (memory, { run }) => {
    const found = await run((_, db) =>
      asTenant(nobody.tenantId, () =>
        findThreadsElsewhere(db, { tenantId: nobody.tenantId ?? "", threadIds: [threadId] }),
      ),
    );
    return found.some(({ tenants }) => tenants > 0) ? [memory] : [];
  });
  const owners = asked.flat();
  for (const memory of owners) await memory[wayInKey].refuse({ threadId, said });
  if (owners.length > 0) throw threadForbidden(threadId);
}
