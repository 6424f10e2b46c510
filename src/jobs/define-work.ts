import { findThread } from "../conversation/claim-thread.js";
import type { EventOp, EventStep } from "../events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import { parseScope, parseThreadId, type ThreadAddress, threadForbidden } from "../scope/scope.js";
import { findOwner } from "../scope/scope-predicates.js";
import type { UsageKind } from "../usage/usage-statements.js";
import { type BackgroundGraph, backgroundGraph, isTraced } from "./background-graph.js";
import { guardedSteps, type JobInput, type JobState, runSteps, type WorkSteps } from "./job-steps.js";
import type { JobRuntime } from "./jobs-options.js";
import type { JobAddress, JobStatus } from "./settle-failure.js";
import type { Job, WorkKind } from "./work-kinds.rule.js";
import { type Claim, findDueWork, markWork, takeWork, type WorkKey } from "./work-table.js";

/** What a span says of work. */
interface WorkSpan {
  readonly name: string;
  readonly step: EventStep;
  readonly op: EventOp;
}

/** Does one claimed piece of work, as within a span. */
export type Within = (span: WorkSpan, piece: () => Promise<{ status: JobStatus }>) => Promise<unknown>;

/** What is done every so often. */
export interface Periodic {
  readonly everyMs: number;
  run(): Promise<void>;
}

/** A kind of background work, as runners know it. */
export interface Work<Kind extends WorkKind = WorkKind> {
  readonly kind: Kind;
  /** Whether settings ask for it. */
  readonly enabled: boolean;
  readonly needsModel: boolean;
  /** How often sweeps look for it. @default each time */
  readonly everyMs?: number | undefined;
  /** False for tidying up, which nobody waits for and nobody counts. */
  readonly counted: boolean;
  /** Finds whose work has become due, and marks it. @default what makes it due marks it */
  readonly mark?: Periodic | undefined;
  /** Whose work is due now: at most `limit` threads or owners, or 0 for nobody's in particular. */
  due(limit: number): Promise<number[]>;
  /** Does what is due of a job. Nothing where another worker is at it. */
  run(job: Pick<Job, "ref" | "lease">, within: Within): Promise<void>;
}

/** Work that is found anew each time, and that does no harm when it is done twice. */
export interface FoundWork<Kind extends WorkKind> extends Pick<Work<Kind>, "kind" | "everyMs" | "due"> {
  /** @default true */
  readonly counted?: boolean;
  run(ref: number): Promise<void>;
}

/** Work in the table `work`: a worker takes a piece, asks a model, and saves what came of it as it gives the piece back. */
export interface LeasedWork<Kind extends WorkKind, Found extends JobAddress, Made extends object>
  extends WorkSteps<Found, Made>,
    Pick<Work<Kind>, "enabled" | "mark"> {
  readonly kind: Kind;
  /** Whose it is. */
  readonly of: WorkKey["of"];
  /** Where it begins of which nothing is done yet. @default 0 */
  readonly from?: number;
  /** What its spans count. @default "create" */
  readonly op?: EventOp;
  /** What its model's calls are charged as. */
  readonly charge: UsageKind;
  /** Claims it for who asks for it by its graph. @default it is marked as due and taken, unless it waits for its next try */
  claim?(address: ThreadAddress): Promise<Claim | null>;
}

/** Work in the table `work`, and its steps as a graph. */
export interface GraphWork<Kind extends WorkKind, Found extends JobAddress, Made extends object>
  extends Work<Kind> {
  /** For those who call it, mount it, or look at it in Studio. It keeps no checkpoints: its row in `work` is its record. */
  readonly graph: BackgroundGraph<Found, Made>;
  /** Does one piece of it; returns what the graph would. */
  step(input: JobInput): Promise<JobState<Found> & Made>;
}

/** A kind of background work: all that runners, listings, events, spans, energy and retries need to know of it. */
export function defineWork<const Kind extends WorkKind>(definition: FoundWork<Kind>): Work<Kind>;
export function defineWork<const Kind extends WorkKind, Found extends JobAddress, Made extends object>(
  definition: LeasedWork<Kind, Found, Made>,
  deps: JobRuntime,
): GraphWork<Kind, Found, Made>;
export function defineWork<Kind extends WorkKind>(
  definition: FoundWork<Kind> | LeasedWork<Kind, JobAddress, object>,
  deps?: JobRuntime,
): Work<Kind> {
  if ("make" in definition) return leasedWork(definition, deps as JobRuntime);
  const { counted = true, run, ...found } = definition;
  return { ...found, counted, enabled: true, needsModel: false, run: ({ ref }) => run(ref) };
}

function leasedWork<Kind extends WorkKind, Found extends JobAddress, Made extends object>(
  definition: LeasedWork<Kind, Found, Made>,
  deps: JobRuntime,
): GraphWork<Kind, Found, Made> {
  const { kind, of, enabled, mark, step: eventStep, op = "create", charge, tries } = definition;
  const { db } = deps;
  const steps = guardedSteps(deps, definition, {
    claim: definition.claim?.bind(definition) ?? ((address) => claimNow(deps, definition, address)),
    chargeOf: ({ scope, threadId }) => deps.usage.charging({ scope, threadId, kind: charge }),
  });
  const graph = backgroundGraph(definition, steps);
  const traced = async (input: JobInput) =>
    (await graph.invoke(input as Parameters<typeof graph.invoke>[0])) as JobState<Found> & Made;
  // A run of a graph takes as much time as all statements of a short job together, and only a trace shows that it was one.
  const step = (input: JobInput) => (isTraced() ? traced(input) : runSteps(steps, input));
  const span: WorkSpan = { name: eventStep, step: eventStep, op };
  return {
    ...{ kind, enabled, mark, graph, step, needsModel: true, counted: true },
    due: (limit) => findDueWork(db, { kind, of }, limit),
    // It is taken when its turn has come, so that no lease runs out in the queue.
    async run({ ref, lease }, within) {
      const key = { kind, of, ref };
      let claim = await takeWork(db, key, tries.leaseMs, lease);
      while (claim) {
        const held: Claim = claim;
        await within(span, () => step({ claim: held }));
        claim = await takeWork(db, key, tries.leaseMs);
      }
    },
  };
}

/**
 * Claims the work of a thread, or of its scope's owner, due or not; null when there is no such thread or owner, another
 * worker is at it, or it waits for its next try.
 *
 * @throws MemoryError `MODEL_REQUIRED`, `SCOPE_REQUIRED`, `INVALID_INPUT`, `THREAD_FORBIDDEN`
 */
async function claimNow(
  { db, model }: JobRuntime,
  {
    kind,
    of,
    from = 0,
    tries,
  }: Pick<LeasedWork<WorkKind, JobAddress, object>, "kind" | "of" | "from" | "tries">,
  address: ThreadAddress,
): Promise<Claim | null> {
  // Before anything is claimed: without a model nothing can be done.
  model();
  const ref = await (of === "thread" ? findThreadRef(db, address) : findOwner(db, parseScope(address.scope)));
  if (ref === null) return null;
  const key = { kind, of, ref };
  await markWork(db, key, { from });
  return takeWork(db, key, tries.leaseMs);
}

async function findThreadRef(db: Connection, address: ThreadAddress): Promise<number | null> {
  const threadId = parseThreadId(address.threadId);
  const thread = await findThread(db, { scope: parseScope(address.scope), threadId });
  if (thread === null) throw threadForbidden(threadId);
  return thread?.threadRef ?? null;
}
