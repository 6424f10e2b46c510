import { isGraphBubbleUp } from "@langchain/langgraph";
import { errorLine } from "../logger.js";
import type { Charge } from "../models/token-usage.js";
import type { ThreadAddress } from "../scope/scope.js";
import type { JobRuntime } from "./jobs-options.js";
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
import { type Claim, renewWork } from "./work-table.js";

/** What is known of a piece of background work between two steps. */
export interface JobState<Found> extends ThreadAddress {
  /** Work that was claimed. Without it, that of the thread named by `threadId` and `scope` is claimed now. */
  claim: Claim | null;
  /** What the claim is about. */
  work: Found | null;
  error: Failure | null;
  status: JobStatus;
}

/** What the steps after the first are given: the claim, its work, and what the steps before have made. */
type Taken<Found, Made> = Made & { readonly claim: Claim; readonly work: Found };

/** What steps may call. */
export interface StepTools {
  /** Extends the lease, between two calls of the model. @throws LeaseLost */
  renew(): Promise<void>;
  /** Charges a call of the model. */
  readonly charge: Charge;
}

/** The steps of one kind of work. What a step returns is added to what is known. */
export interface WorkSteps<Found extends JobAddress, Made extends object> extends Attempts<Found> {
  /** Of its graph. */
  readonly name: string;
  /** What the steps make, before they have made it. */
  readonly fresh: Made;
  /** What `claim` is about, or how it ended. @throws LeaseLost */
  load(claim: Claim): Promise<Found | JobStatus>;
  /**
   * What one try takes of `work`, or how it ended. Not done for work that is given up: it may be what workers die of.
   *
   * @default all of it
   */
  prepare?(claim: Claim, work: Found): Promise<Found | JobStatus>;
  /** Asks the model. No connection is taken meanwhile. */
  make(taken: Taken<Found, Made>, tools: StepTools): Promise<Partial<Made>>;
  /** What may be kept of what the model made. */
  validate(taken: Taken<Found, Made>): Partial<Made> | Promise<Partial<Made>>;
  /** Writes it and gives the claim back, together or not at all. @throws LeaseLost */
  save(taken: Taken<Found, Made>, tools: StepTools): Promise<Partial<Made>>;
  /** What is done once it was saved, and changes nothing of that: its error is logged. @default nothing */
  readonly follow?: { readonly name: string; run(taken: Taken<Found, Made>): Promise<void> };
}

/** What steps need beside the runtime. */
export interface StepDeps<Found> {
  /** Claims the work of a conversation, or of its user or app, now; null when there is none. */
  claim(address: ThreadAddress): Promise<Claim | null>;
  /** What charges calls that are made for `work`. */
  chargeOf(work: Found): Charge;
}

/** One step: what is known before it, and what it adds. */
type Step<Found, Made> = (state: JobState<Found> & Made) => Promise<Partial<JobState<Found>> | Partial<Made>>;

/**
 * The steps of a kind of work with what all kinds do at each: load → make → validate → save → follow.
 *
 * A try that fails is recorded by `save`, and what was there before stays as it is. A working model takes no connection.
 */
export function guardedSteps<Found extends JobAddress, Made extends object>(
  deps: JobRuntime,
  steps: WorkSteps<Found, Made>,
  { claim: claimNow, chargeOf }: StepDeps<Found>,
): Readonly<Record<"load" | "make" | "validate" | "save" | "follow", Step<Found, Made>>> {
  type State = JobState<Found> & Made;
  type Update = Partial<JobState<Found>> | Partial<Made>;
  const toolsOf = (claim: Claim, work: Found): StepTools => ({
    renew: () => renewWork(deps.db, claim, steps.tries.leaseMs),
    charge: (tokens) => chargeOf(work)(tokens),
  });
  const settle = async (failed: FailedTry<Found>) => ({ status: await settleFailure(deps, steps, failed) });

  const load = async (state: State): Promise<Update> => {
    const claim = state.claim ?? (await claimNow(state));
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
      const saved = await steps.save({ ...(state as unknown as Made), claim, work }, toolsOf(claim, work));
      return { ...saved, status: "completed" };
    } catch (cause) {
      return settle({ claim, work, failure: toFailure(cause) });
    }
  };
  /** A step between: what goes wrong in it is for the last one to record, and nothing more is done till then. */
  const between =
    (step: (taken: Taken<Found, Made>, tools: StepTools) => unknown) =>
    async (state: State): Promise<Update> => {
      const { claim, work, error } = state;
      if (!claim || !work || error) return {};
      return attempted(async () => (await step({ ...state, claim, work }, toolsOf(claim, work))) as Update);
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
export type JobInput = Partial<ThreadAddress & { readonly claim: Claim }>;

/** Does the work, one step after the other. @returns all that is known at its end, as a run of its graph would. */
export async function runSteps<Found extends JobAddress, Made extends object>(
  { load, make, validate, save, follow }: ReturnType<typeof guardedSteps<Found, Made>>,
  input: JobInput,
): Promise<JobState<Found> & Made> {
  let state = input as JobState<Found> & Made;
  state = { ...state, ...(await load(state)) };
  if (!state.work) return state;
  for (const step of [make, validate, save]) state = { ...state, ...(await step(state)) };
  if (state.status === "completed") await follow(state);
  return state;
}

/** A try that ended with the worker; found when one more would be too many. */
const workerStopped = ownFailure("The worker stopped before it was done.");

function isSpent({ tries }: Pick<WorkSteps<JobAddress, object>, "tries">, { attempt }: Claim): boolean {
  return attempt > tries.maxFailures;
}
