import { isGraphBubbleUp } from "@langchain/langgraph";
import { errorLine } from "../logger.js";
import type { ThreadAddress } from "../scope/scope.js";
import type { JobRuntime } from "./jobs-options.js";
import { type Lease, renewLease } from "./lease.js";
import {
  type Attempts,
  attempted,
  type FailedTry,
  type Failure,
  type JobAddress,
  type JobStatus,
  ownFailure,
  putOff,
  settleFailure,
  toFailure,
} from "./settle-failure.js";

/** What is known of a piece of background work between two steps. */
export interface JobState<Claim, Work> extends ThreadAddress {
  /** Work that was claimed. Without it, that of the thread named by `threadId` and `scope` is claimed now. */
  claim: Claim | null;
  /** What the claim is about. */
  work: Work | null;
  error: Failure | null;
  status: JobStatus;
}

/** What the steps after the first are given: the claim, its work, and what the steps before have made. */
type Taken<Claim, Work, Made> = Made & { readonly claim: Claim; readonly work: Work };

/** One kind of background work: what it is called, and its steps. What a step returns is added to what is known. */
export interface JobSteps<Claim extends Lease, Work extends JobAddress, Made extends object>
  extends Attempts<Claim, Work> {
  readonly name: string;
  /** What the steps make, before they have made it. */
  readonly fresh: Made;
  /** Claims the work of a conversation now; null when there is none. */
  claim(address: ThreadAddress): Promise<Claim | null>;
  /** What `claim` is about, or how it ended. @throws LeaseLost */
  load(claim: Claim): Promise<Work | JobStatus>;
  /**
   * What one try takes of `work`, or how it ended. Not done for work that is given up: it may be what workers die of.
   *
   * @default all of it
   */
  prepare?(claim: Claim, work: Work): Promise<Work | JobStatus>;
  /** Asks the model. No connection is taken meanwhile; `renew` extends the lease, between two calls. */
  make(taken: Taken<Claim, Work, Made>, renew: () => Promise<void>): Promise<Partial<Made>>;
  /** What may be kept of what the model made. */
  validate(taken: Taken<Claim, Work, Made>): Partial<Made> | Promise<Partial<Made>>;
  /** Writes it and gives the claim back, together or not at all. @throws LeaseLost */
  save(taken: Taken<Claim, Work, Made>, renew: () => Promise<void>): Promise<Partial<Made>>;
  /** What is done once it was saved, and changes nothing of that: its error is logged. @default nothing */
  readonly follow?: { readonly name: string; run(taken: Taken<Claim, Work, Made>): Promise<void> };
}

/** One step: what is known before it, and what it adds. */
type Step<Claim, Work, Made> = (
  state: JobState<Claim, Work> & Made,
) => Promise<Partial<JobState<Claim, Work>> | Partial<Made>>;

/**
 * The steps of a kind of work with what all kinds do at each: load → make → validate → save → follow.
 *
 * A try that fails is recorded by `save`, and what was there before stays as it is. A working model takes no connection.
 */
export function guardedSteps<Claim extends Lease, Work extends JobAddress, Made extends object>(
  deps: JobRuntime,
  steps: JobSteps<Claim, Work, Made>,
): Readonly<Record<"load" | "make" | "validate" | "save" | "follow", Step<Claim, Work, Made>>> {
  type State = JobState<Claim, Work> & Made;
  type Update = Partial<JobState<Claim, Work>> | Partial<Made>;
  const renewing = (claim: Claim) => () => renewLease(deps.db, steps.table, claim, steps.tries.leaseMs);
  const settle = async (failed: FailedTry<Claim, Work>) => ({
    status: await settleFailure(deps, steps, failed),
  });

  const load = async (state: State): Promise<Update> => {
    const claim = state.claim ?? (await steps.claim(state));
    const fresh = { ...steps.fresh, claim, work: null, error: null };
    if (!claim) return { ...fresh, status: "skipped" };
    try {
      const work = await steps.load(claim);
      if (typeof work === "string") return { ...fresh, status: work };
      if (await putOff(deps, steps, claim, work)) return { ...fresh, status: "deferred" };
      if (isSpent(steps, claim)) return { ...fresh, work, error: workerStopped };
      const prepared = steps.prepare ? await steps.prepare(claim, work) : work;
      return typeof prepared === "string" ? { ...fresh, status: prepared } : { ...fresh, work: prepared };
    } catch (cause) {
      return { ...fresh, ...(await settle({ claim, work: null, failure: toFailure(cause) })) };
    }
  };
  const save = async ({ error, ...state }: State): Promise<Update> => {
    const { claim, work } = state;
    if (!claim || !work) return { status: "lost" };
    if (error) return settle({ claim, work, failure: error });
    try {
      const saved = await steps.save({ ...(state as unknown as Made), claim, work }, renewing(claim));
      return { ...saved, status: "completed" };
    } catch (cause) {
      return settle({ claim, work, failure: toFailure(cause) });
    }
  };
  /** A step between: what goes wrong in it is for the last one to record, and nothing more is done till then. */
  const between =
    (step: (taken: Taken<Claim, Work, Made>, renew: () => Promise<void>) => unknown) =>
    async (state: State): Promise<Update> => {
      const { claim, work, error } = state;
      if (!claim || !work || error) return {};
      return attempted(async () => (await step({ ...state, claim, work }, renewing(claim))) as Update);
    };

  const follow = async (state: State): Promise<Update> => {
    const { claim, work } = state;
    if (!claim || !work) return {};
    try {
      await steps.follow?.run({ ...state, claim, work });
    } catch (error) {
      if (isGraphBubbleUp(error)) throw error;
      deps.logger.error(`${steps.follow?.name} after ${steps.name} failed: ${errorLine(error)}`);
    }
    return {};
  };

  return { load, make: between(steps.make), validate: between(steps.validate), save, follow };
}

/** What says which work it is: a claim, or whose work is claimed now. */
export type JobInput<Claim> = Partial<ThreadAddress & { readonly claim: Claim }>;

/** Does the work, one step after the other. @returns all that is known at its end, as a run of its graph would. */
export async function runSteps<Claim extends Lease, Work extends JobAddress, Made extends object>(
  { load, make, validate, save, follow }: ReturnType<typeof guardedSteps<Claim, Work, Made>>,
  input: JobInput<Claim>,
): Promise<JobState<Claim, Work> & Made> {
  type State = JobState<Claim, Work> & Made;
  let state = input as State;
  state = { ...state, ...(await load(state)) };
  if (!state.work) return state;
  for (const step of [make, validate, save]) state = { ...state, ...(await step(state)) };
  if (state.status === "completed") await follow(state);
  return state;
}

/** A try that ended with the worker; found when one more would be too many. */
const workerStopped = ownFailure("The worker stopped before it was done.");

function isSpent({ tries }: Pick<Attempts<Lease, JobAddress>, "tries">, { attempt }: Lease): boolean {
  return attempt > tries.maxFailures;
}
