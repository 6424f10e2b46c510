import { isGraphBubbleUp } from "@langchain/langgraph";
import { errorLine } from "../logger.js";
import type { ThreadAddress } from "../scope/scope.js";
import type { JobRuntime } from "./jobs-options.js";
import {
  type FailedTry,
  type Failure,
  type JobStatus,
  putOff,
  settleFailure,
  toFailure,
} from "./settle-failure.js";
import type { LoadedWork, StepTools, Taken, WorkDefinition } from "./work-definition.js";
import { type Claim, type NoWork, renewWork, type SkipReason } from "./work-table.js";

export interface JobState<Found> extends ThreadAddress {
  /** If absent, the work of `threadId` and `scope` is claimed. */
  claim: Claim | null;
  work: Found | null;
  error: Failure | null;
  status: JobStatus;
  /** Why it was skipped. */
  reason: SkipReason | null;
}

type Step<Found, Made> = (
  state: JobState<Found> & Made,
) => Promise<Partial<JobState<Found>> | Partial<Made>>;

export function guardedSteps<Found extends LoadedWork, Made extends object>(
  deps: JobRuntime,
  definition: WorkDefinition<Found, Made>,
  claimNow: (address: ThreadAddress) => Promise<Claim | SkipReason>,
): Readonly<Record<"load" | "ask" | "check" | "save" | "follow", Step<Found, Made>>> {
  type State = JobState<Found> & Made;
  type Update = Partial<JobState<Found>> | Partial<Made>;
  const { kind, steps, policy, fresh: unmade } = definition;
  const toolsOf = (claim: Claim, { scope, threadId }: Found): StepTools => ({
    renew: () => renewWork(deps.db, claim, policy.tries.leaseMs),
    asking: {
      model: deps.model(),
      timeoutMs: policy.tries.timeoutMs,
      charge(tokens) {
        deps.pause.answered();
        return deps.usage.charging({ scope, threadId, kind })(tokens);
      },
    },
  });
  const settle = async (failed: FailedTry) => {
    return { status: await settleFailure(deps, definition, failed), error: failed.failure };
  };

  const load = async (state: State): Promise<Update> => {
    const nothing = { ...unmade, claim: null, work: null, error: null, reason: null };
    const claim = state.claim ?? (await claimNow(state));
    if (typeof claim === "string") return { ...nothing, ...endOf(claim) };
    const fresh = { ...nothing, claim };
    try {
      const work = await steps.load(claim);
      if (typeof work === "string") return { ...fresh, ...endOf(work) };
      if (await putOff(deps, definition, claim, work)) return { ...fresh, status: "deferred" };
      if (claim.attempt > policy.tries.maxFailures) return { ...fresh, work, error: workerStopped };
      const limited = steps.limit ? await steps.limit(claim, work) : work;
      return { ...fresh, ...(typeof limited === "string" ? endOf(limited) : { work: limited }) };
    } catch (cause) {
      return { ...fresh, ...(await settle({ claim, work: null, failure: toFailure(cause) })) };
    }
  };
  // The steps after `load` run only if it found work.
  type Loaded = State & Taken<Found, Made>;
  const save = async ({ error, ...taken }: State): Promise<Update> => {
    const { claim, work } = taken as unknown as Loaded;
    if (error) return settle({ claim, work, failure: error });
    try {
      const saved = await steps.save(taken as unknown as Loaded);
      return { ...saved, status: "completed" };
    } catch (cause) {
      return settle({ claim, work, failure: toFailure(cause) });
    }
  };
  // An error becomes state and skips the steps before `save`. LangGraph's interrupts pass.
  const between =
    (step: (taken: Taken<Found, Made>, tools: StepTools) => unknown) =>
    async (state: State): Promise<Update> => {
      if (state.error) return {};
      const taken = state as Loaded;
      try {
        return (await step(taken, toolsOf(taken.claim, taken.work))) as Update;
      } catch (cause) {
        if (isGraphBubbleUp(cause)) throw cause;
        deps.pause.failed(cause);
        return { error: toFailure(cause) } as Update;
      }
    };
  const follow = async (state: State): Promise<Update> => {
    try {
      await steps.follow?.run(state as Loaded);
    } catch (error) {
      if (isGraphBubbleUp(error)) throw error;
      deps.logger.error(`${steps.follow?.name} after ${kind} failed: ${errorLine(error)}`);
    }
    return {};
  };
  return { load, ask: between(steps.ask), check: between(steps.check), save, follow };
}

const endOf = (end: NoWork): Pick<JobState<unknown>, "status" | "reason"> =>
  end === "lost" || end === "deferred"
    ? { status: end, reason: null }
    : { status: "skipped", reason: end };

export type JobInput = Partial<ThreadAddress & { readonly claim: Claim }>;

export async function runSteps<Found extends LoadedWork, Made extends object>(
  { load, ask, check, save, follow }: ReturnType<typeof guardedSteps<Found, Made>>,
  input: JobInput,
): Promise<JobState<Found> & Made> {
  let state = input as JobState<Found> & Made;
  state = { ...state, ...(await load(state)) };
  if (!state.work) return state;
  for (const step of [ask, check, save]) state = { ...state, ...(await step(state)) };
  if (state.status === "completed") await follow(state);
  return state;
}

const workerStopped: Failure = {
  code: "UNEXPECTED",
  message: "The worker stopped before it was done.",
  output: null,
};
