import type { EventOp } from "../observability/events/event-log.js";
import { parseScope, parseThreadId, type ThreadAddress, threadForbidden } from "../scope/scope.js";
import { findOwner } from "../scope/scope-predicates.js";
import { findThread } from "../transcript/claim-thread.js";
import { backgroundGraph, isTraced } from "./background-graph.js";
import { guardedSteps, type JobInput, type JobState, runSteps } from "./job-steps.js";
import type { JobRuntime } from "./jobs-options.js";
import type { LoadedWork, WorkDefinition } from "./work-definition.js";
import type { WorkKind } from "./work-kinds.rule.js";
import { findDueWork, hastenWork, markWork, takeWork } from "./work-table.js";

export type WorkEnd = Pick<JobState<LoadedWork>, "status" | "work" | "error">;

/** Runs one job within its span, and reports its end. */
export type Within = (
  span: {
    readonly name: string;
    readonly step: WorkDefinition<LoadedWork, object>["kind"];
    readonly op: EventOp;
  },
  job: () => Promise<WorkEnd>,
) => Promise<unknown>;

/** What a runner needs of a kind of work. */
export interface Work {
  readonly kind: WorkKind;
  /** @default true */
  readonly enabled?: boolean;
  readonly needsModel?: boolean;
  readonly everyMs?: number;
  /** Whether `upkeep()` omits its jobs from the number. */
  readonly uncounted?: boolean;
  readonly mark?: WorkDefinition<LoadedWork, object>["mark"];
  /** Makes work due that waits for further messages. @default none */
  hasten?(): Promise<unknown>;
  /** At most `limit` threads or owners with due work; `[0]` for due work without either. */
  due(limit: number): Promise<number[]>;
  /**
   * Does the first of `refs` that is due and that no worker has, and removes it and those before
   * it; whether it found one among them.
   */
  run(refs: number[], within: Within): Promise<boolean>;
}

/** `run` of a kind without rows in the table `work`: it must be idempotent. */
export function firstOf(run: (ref: number) => Promise<void>): Work["run"] {
  return async (refs) => {
    const ref = refs.shift();
    if (ref === undefined) return false;
    await run(ref);
    return true;
  };
}

/** Work that asks a model, for runners; as a graph it can be called, mounted, or opened in Studio. */
export function defineWork<Loaded extends LoadedWork, Made extends object>(
  definition: WorkDefinition<Loaded, Made>,
  deps: JobRuntime,
) {
  const { kind, of, policy, mark } = definition;
  const { db } = deps;
  const { leaseMs } = policy.tries;

  const claimNow = async (address: ThreadAddress) => {
    // Throws `MODEL_REQUIRED` before claiming anything.
    deps.model();
    const scope = parseScope(address.scope);
    const ref = await (of === "thread" ? findThreadRef(deps, address) : findOwner(db, scope));
    if (ref === null) return "not_found";
    await markWork(db, { kind, of, ref }, { from: policy.from });
    return (await takeWork(db, { kind, of }, [ref], leaseMs)) ?? "not_due";
  };
  const steps = guardedSteps(deps, definition, definition.claim ?? claimNow);
  // It keeps no checkpoints: `work` has its state.
  const graph = backgroundGraph(definition, steps);
  // Running a graph takes as long as all statements of a short job, so only traced processes do.
  const runJob = async (input: JobInput): Promise<JobState<Loaded> & Made> =>
    isTraced()
      ? ((await graph.invoke(input as Parameters<typeof graph.invoke>[0])) as never)
      : runSteps(steps, input);
  return {
    kind,
    enabled: policy.enabled,
    needsModel: true,
    mark,
    graph,
    runJob,
    hasten: async () => policy.gathers && hastenWork(db, kind),
    due: (limit: number) => findDueWork(db, { kind, of }, limit),
    // A row is leased only now: a lease would expire while the job waits.
    async run(refs: number[], within: Within) {
      const take = (some: readonly number[]) => takeWork(db, { kind, of }, some, leaseMs);
      const asked = refs.slice(0, maxAsked);
      const first = await take(asked);
      // Other jobs of this process share the list.
      refs.splice(0, refs.indexOf(first?.ref ?? (asked.at(-1) as number)) + 1);
      for (let claim = first; claim; claim = await take([claim.ref])) {
        const current = claim;
        await within({ name: kind, step: kind, op: policy.op ?? "create" }, () =>
          runJob({ claim: current }),
        );
      }
      return first !== null;
    },
  };
}

/** One statement passes over so many that other workers have. */
const maxAsked = 64;

async function findThreadRef({ db }: JobRuntime, address: ThreadAddress): Promise<number | null> {
  const threadId = parseThreadId(address.threadId);
  const thread = await findThread(db, { scope: parseScope(address.scope), threadId });
  if (thread === null) throw threadForbidden(threadId);
  return thread?.threadRef ?? null;
}
