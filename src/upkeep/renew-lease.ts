import { MemoryError } from "../errors.js";
import type { ThreadTaskClaim } from "../store/claim-thread-task.js";
import { renewThreadTaskLease } from "../store/settle-thread-task.js";
import type { UpkeepDeps } from "./upkeep-deps.js";

/** Extends the lease of `claim`. @throws MemoryError `LEASE_LOST` when another worker took the task over. */
export async function renewLease({ db, config }: UpkeepDeps, claim: ThreadTaskClaim): Promise<void> {
  if (await renewThreadTaskLease(db, claim, config.upkeep.leaseMs)) return;
  throw new MemoryError("LEASE_LOST", "Another worker took this task over.");
}
