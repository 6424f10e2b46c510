import { z } from "zod";
import type { Connection } from "../postgres/connection.js";
import { asTenant } from "../postgres/isolation.js";
import {
  nobody,
  parseScoped,
  parseThreadId,
  type SaidMessage,
  type Scope,
  scopeField,
  threadField,
  threadForbidden,
} from "../scope/scope.js";
import { parseInput } from "../text/parse-input.js";
import { claimThread, meetInCheckpoints } from "./claim-thread.js";

/** Which thread, and who begins a run on it. */
export interface ThreadClaim {
  readonly scope: Scope;
  readonly threadId: string;
  /**
   * What users say in the state that the run begins with, where that state is kept by a checkpointer that keeps nobody
   * apart. @default the state is the thread's own
   */
  readonly said?: readonly SaidMessage[] | undefined;
}

/** A thread that is its owner's. */
export interface ClaimedThread {
  /** Ids of what runs that were refused have left in the state. */
  readonly strangers: readonly string[];
}

const said = z.array(z.strictObject({ id: z.string(), text: z.string() }));
const refusalSchema = z.strictObject({ threadId: threadField, said });
const claimSchema = refusalSchema.extend({ scope: scopeField, said: said.optional() });

/**
 * Makes a thread the scope's, if it is nobody's.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`, `THREAD_FORBIDDEN`; what the run brought is noted then.
 */
export async function claimConversation(db: Connection, input: ThreadClaim): Promise<ClaimedThread> {
  const { scope, said, ...claim } = parseScoped(claimSchema, input, "claim");
  const threadId = parseThreadId(claim.threadId);
  const thread = await claimThread(db, { scope, threadId });
  if (said === undefined) {
    if (thread) return { strangers: [] };
    throw threadForbidden(threadId);
  }
  const met = await meetInCheckpoints(db, { threadId, said, threadRef: thread?.threadRef ?? null });
  if (met.refused) throw threadForbidden(threadId);
  return { strangers: met.strangers };
}

/** Notes what a run that names nobody brought, so that whoever owns the thread, or will, is not told it. */
export async function refuseInConversation(
  db: Connection,
  input: Pick<ThreadClaim, "threadId"> & { readonly said: readonly SaidMessage[] },
): Promise<void> {
  const { threadId, said } = parseInput(refusalSchema, input, "refusal");
  const run = { scope: nobody, threadId: parseThreadId(threadId) };
  await asTenant(nobody.tenantId, async () => {
    // The notes are the thread's owner's; where it has none yet, they wait in nobody's.
    await claimThread(db, run);
    await meetInCheckpoints(db, { ...run, said, threadRef: null });
  });
}
