import type { Asking } from "../models/call-structured.js";
import type { EventOp } from "../observability/events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope, ThreadAddress } from "../scope/scope.js";
import type { Tries } from "./jobs-options.js";
import type { ModelWorkKind } from "./work-kinds.rule.js";
import type { Claim, NoWork, SkipReason, WorkKey } from "./work-table.js";

/** What `load` found. */
export interface LoadedWork {
  readonly scope: Scope;
  readonly threadId?: string;
  /** The first and last message of the job. @default those of `messages` */
  readonly startSeq?: number;
  readonly endSeq?: number;
  readonly messages?: readonly { readonly seq: number }[];
  /** Where the next job continues, after a save or a dead letter. */
  readonly doneUntil?: number;
  /** Whether more is due than this job takes. */
  readonly more?: boolean;
}

export interface ThreadWork extends LoadedWork {
  readonly threadId: string;
  readonly doneUntil: number;
  readonly messages: readonly { readonly seq: number }[];
}

export interface OwnerWork extends LoadedWork {
  readonly doneUntil: number;
}

interface WorkPolicy {
  readonly enabled: boolean;
  readonly tries: Tries;
  /** `doneUntil` before the first job; seqs begin at 0. @default 0 */
  readonly from?: number;
  /** The operation of its spans. @default "create" */
  readonly op?: EventOp;
  /** Whether it waits while its tenant's energy is low, without using a try. @default false */
  readonly waits?: boolean;
  /** Whether it waits for facts, which may find requests to forget. @default false */
  readonly heedsRequests?: boolean;
  /** Whether it waits for further messages, but not when work is asked for. @default false */
  readonly gathers?: boolean;
  /** Whether the last try leaves it failed, without a dead letter. @default false */
  readonly staysFailed?: boolean;
  /** What holds until the next try, for log lines. @default "Nothing was written" */
  readonly meanwhile?: string;
}

export interface StepTools {
  readonly asking: Asking;
  /** Extends the lease, between two model calls. @throws LeaseLost */
  renew(): Promise<void>;
}

export type Taken<Loaded, Made> = Made & { readonly claim: Claim; readonly work: Loaded };

/** The steps of a job, in their order. */
export interface WorkSteps<Loaded extends LoadedWork, Made extends object> {
  load(claim: Claim): Promise<Loaded | NoWork>;
  /**
   * Limits `work` to one try, or returns its end. Not called in a last try, after workers died of it.
   */
  limit?(claim: Claim, work: Loaded): Promise<Loaded | NoWork>;
  ask(taken: Taken<Loaded, Made>, tools: StepTools): Promise<Partial<Made>>;
  check(taken: Taken<Loaded, Made>): Partial<Made> | Promise<Partial<Made>>;
  save(taken: Taken<Loaded, Made>): Promise<Partial<Made>>;
  /** Runs after the save and cannot undo it: its error is logged. @default nothing */
  readonly follow?: { readonly name: string; run(taken: Taken<Loaded, Made>): Promise<void> };
  /** Records a failed try with it. `work` is null if it could not be loaded. @default nothing */
  fail?(tx: Connection, claim: Claim, work: Loaded | null): Promise<void>;
}

/**
 * A kind of work in the table `work`: a worker leases it, asks a model, and saves the result as it
 * releases the lease.
 */
export interface WorkDefinition<Loaded extends LoadedWork, Made extends object> {
  readonly kind: ModelWorkKind;
  readonly of: WorkKey["of"];
  readonly policy: WorkPolicy;
  /** Empty values of what the steps make. */
  readonly fresh: Made;
  readonly steps: WorkSteps<Loaded, Made>;
  /** Finds and marks work that has become due. @default other code marks it */
  readonly mark?: { readonly everyMs: number; run(): Promise<void> };
  /**
   * Claims it for a caller of its graph.
   * @default marks and takes it, unless it waits for its next try
   */
  claim?(address: ThreadAddress): Promise<Claim | SkipReason>;
}
