import { findThread } from "../conversation/claim-thread.js";
import type { EventOp, EventStep } from "../events/event-log.js";
import { parseScope, parseThreadId, type ThreadAddress, threadForbidden } from "../scope/scope.js";
import { findOwner } from "../scope/scope-predicates.js";
import { type BackgroundGraph, backgroundGraph, isTraced } from "./background-graph.js";
import {
  guardedSteps,
  type JobInput,
  type JobState,
  runSteps,
  type WorkSteps,
} from "./job-steps.js";
import type { JobRuntime } from "./jobs-options.js";
import type { JobAddress } from "./settle-failure.js";
import type { Job, ModelWorkKind, WorkKind } from "./work-kinds.rule.js";
import {
  type Claim,
  findDueWork,
  markWork,
  type SkipReason,
  takeWork,
  type WorkKey,
} from "./work-table.js";

export type WorkEnd = Pick<JobState<JobAddress>, "status" | "work" | "error">;

export type Within = (
  span: { readonly name: string; readonly step: EventStep; readonly op: EventOp },
  piece: () => Promise<WorkEnd>,
) => Promise<unknown>;

export interface Work<Kind extends WorkKind = WorkKind> {
  readonly kind: Kind;
  readonly enabled: boolean;
  readonly needsModel: boolean;
  readonly everyMs?: number | undefined;
  /** Whether `upkeep()` counts its jobs: all but purging. */
  readonly counted: boolean;
  /** Finds and marks work that has become due. @default other code marks it */
  readonly mark?: { readonly everyMs: number; run(): Promise<void> } | undefined;
  /** Makes work due that waits for further messages. @default none */
  readonly hasten?: (() => Promise<unknown>) | undefined;
  /** At most `limit` threads or owners with due work; `[0]` for due work without either. */
  due(limit: number): Promise<number[]>;
  run(job: Pick<Job, "ref" | "lease">, within: Within): Promise<void>;
}

/** Idempotent work without a row in `work`. */
export interface UnleasedWork<Kind extends WorkKind>
  extends Pick<Work<Kind>, "kind" | "everyMs" | "due"> {
  readonly counted?: boolean;
  run(ref: number): Promise<void>;
}

/**
 * Work in the table `work`: a worker leases it, calls a model, and saves the result as it releases
 * the lease.
 */
export interface LeasedWork<
  Kind extends ModelWorkKind,
  Loaded extends JobAddress,
  Made extends object,
> extends WorkSteps<Loaded, Made>,
    Pick<Work<Kind>, "enabled" | "mark" | "hasten"> {
  readonly kind: Kind;
  readonly of: WorkKey["of"];
  readonly from?: number;
  readonly op?: EventOp;
  /**
   * Claims it for a caller of its graph.
   * @default marks and takes it, unless it waits for its next try
   */
  claim?(address: ThreadAddress): Promise<Claim | SkipReason>;
}

export interface GraphWork<
  Kind extends ModelWorkKind,
  Loaded extends JobAddress,
  Made extends object,
> extends Work<Kind> {
  /** To call, mount, or open in Studio. It keeps no checkpoints: `work` has its state. */
  readonly graph: BackgroundGraph<Loaded, Made>;
  step(input: JobInput): Promise<JobState<Loaded> & Made>;
}

export function defineWork<const Kind extends WorkKind>(definition: UnleasedWork<Kind>): Work<Kind>;
export function defineWork<
  const Kind extends ModelWorkKind,
  Loaded extends JobAddress,
  Made extends object,
>(definition: LeasedWork<Kind, Loaded, Made>, deps: JobRuntime): GraphWork<Kind, Loaded, Made>;
export function defineWork<Kind extends WorkKind>(
  definition: UnleasedWork<Kind> | LeasedWork<ModelWorkKind, JobAddress, object>,
  deps?: JobRuntime,
): Work<Kind> {
  if ("make" in definition)
    return leasedWork(definition, deps as JobRuntime) as Work<WorkKind> as Work<Kind>;
  const { counted = true, run, ...others } = definition;
  return { ...others, counted, enabled: true, needsModel: false, run: ({ ref }) => run(ref) };
}

function leasedWork<Kind extends ModelWorkKind, Loaded extends JobAddress, Made extends object>(
  definition: LeasedWork<Kind, Loaded, Made>,
  deps: JobRuntime,
): GraphWork<Kind, Loaded, Made> {
  const { kind, of, enabled, mark, hasten } = definition;
  const { op = "create", tries, from = 0 } = definition;
  const { db } = deps;

  const claimNow = async (address: ThreadAddress): Promise<Claim | SkipReason> => {
    // Throws `MODEL_REQUIRED` before claiming anything.
    deps.model();
    const scope = parseScope(address.scope);
    const ref = await (of === "thread" ? findThreadRef(deps, address) : findOwner(db, scope));
    if (ref === null) return "not_found";
    await markWork(db, { kind, of, ref }, { from });
    return (await takeWork(db, { kind, of, ref }, tries.leaseMs)) ?? "not_due";
  };
  const claim = definition.claim?.bind(definition) ?? claimNow;
  const chargeOf = ({ scope, threadId }: Loaded) => deps.usage.charging({ scope, threadId, kind });
  const steps = guardedSteps(deps, definition, claim, chargeOf);
  const graph = backgroundGraph(definition, steps);
  const traced = async (input: JobInput) =>
    (await graph.invoke(input as Parameters<typeof graph.invoke>[0])) as JobState<Loaded> & Made;
  // Running a graph takes as long as all statements of a short job, so only traced processes do.
  const step = (input: JobInput) => (isTraced() ? traced(input) : runSteps(steps, input));
  return {
    kind,
    enabled,
    mark,
    hasten,
    graph,
    step,
    needsModel: true,
    counted: true,
    due: (limit) => findDueWork(db, { kind, of }, limit),
    // Unless a turn has leased it, leases it only now: a lease would expire in the queue.
    async run({ ref, lease: first }, within) {
      const take = (lease?: number) => takeWork(db, { kind, of, ref }, tries.leaseMs, lease);
      for (let claim = await take(first); claim; claim = await take()) {
        const current = claim;
        await within({ name: kind, step: kind, op }, () => step({ claim: current }));
      }
    },
  };
}

async function findThreadRef({ db }: JobRuntime, address: ThreadAddress): Promise<number | null> {
  const threadId = parseThreadId(address.threadId);
  const thread = await findThread(db, { scope: parseScope(address.scope), threadId });
  if (thread === null) throw threadForbidden(threadId);
  return thread?.threadRef ?? null;
}
