import sql from "sql-template-tag";
import { z } from "zod";
import type { JobStatus } from "../jobs/settle-failure.js";
import { parseScoped, type Scope, scopeField } from "../scope/scope.js";
import { ownerColumns, ownerIs } from "../scope/scope-predicates.js";
import { askJudge } from "./ask-judge.js";
import type { createConsolidationJob } from "./consolidation-graph.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import { findPairs } from "./find-pairs.js";
import { tokensLeft, withoutVotes } from "./load-consolidation.js";
import type { PairVerdict } from "./pair-votes.rule.js";
import { type SettledPair, settle } from "./save-consolidation.js";
import type { PairRefusal } from "./settle-pairs.rule.js";

/** Whose memories are consolidated. */
export interface ConsolidateInput {
  /** Its user, whatever the app; or its app, where there is no user. */
  readonly scope: Scope;
  /** Whether nothing is to be changed: models are asked all the same. @default false */
  readonly dryRun?: boolean | undefined;
}

/** Two memories that were compared, and what came of it, or would. */
export interface ConsolidatedPair {
  /** The older one first. */
  readonly memories: readonly [PairedMemory, PairedMemory];
  /** 0 to 1. */
  readonly similarity: number;
  readonly verdict: PairVerdict;
  /** The model's, in a few words. */
  readonly reason: string;
  /**
   * "merge": `gone` became one with `kept`. "close": `gone` was valid until `kept` was. "link": both stay, linked. "none": both
   * stay as they were.
   */
  readonly action: "merge" | "close" | "link" | "none";
  readonly kept: string | null;
  readonly gone: string | null;
  /** Why the verdict was not acted on; null where it was, or asks for nothing. */
  readonly refused: PairRefusal | null;
}

/** One of two memories that were compared. */
export interface PairedMemory {
  readonly id: string;
  readonly text: string;
}

/** What consolidating did, or would do. */
export interface Consolidated {
  /**
   * "skipped": nothing was alike, another worker is at it, or the owner is unknown. "deferred": the tenant has no energy or
   * no tokens left for it. "failed", "dead_letter": the model could not be asked; events and logs say why.
   */
  readonly status: JobStatus;
  readonly pairs: readonly ConsolidatedPair[];
  /** Calls of the model by this run. */
  readonly calls: number;
  /** What they took; of a run that went on with another's, with that. */
  readonly tokens: number;
}

const inputSchema = z.strictObject({ scope: scopeField, dryRun: z.boolean().default(false) });

/**
 * Consolidates what is known of a scope's user or app now, whether it is due or not; `dryRun` says what would be done.
 *
 * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`, `MODEL_REQUIRED`; of a dry run also what keeps a model or the
 *   embeddings from answering.
 */
export async function consolidate(
  deps: ConsolidationRuntime,
  job: ReturnType<typeof createConsolidationJob>,
  input: ConsolidateInput,
): Promise<Consolidated> {
  const { scope, dryRun } = parseScoped(inputSchema, input, "consolidation");
  deps.model();
  if (dryRun) return rehearse(deps, scope);
  const { status, settled, calls, tokens } = await job.run({ scope });
  return { status, pairs: settled.map(told), calls, tokens };
}

/** The same without a claim, and without writing anything but what the calls cost. */
async function rehearse(deps: ConsolidationRuntime, scope: Scope): Promise<Consolidated> {
  const { db } = deps;
  const nothing = { pairs: [], calls: 0, tokens: 0 };
  const [owner] = await db.query<{ id: string; turns: string; now: Date }>(sql`
    select o.id, o.turns, ${db.now()} as now from ${db.schema}.owner o where ${ownerIs(ownerColumns(scope))}`);
  if (!owner) return { status: "skipped", ...nothing };
  const budget = await tokensLeft(deps, scope);
  if (budget.closedUntil || (await deps.usage.pausedUntil(scope))) return { status: "deferred", ...nothing };
  const ownerRef = Number(owner.id);
  const { pairs: found } = withoutVotes(await findPairs(deps, ownerRef));
  if (found.length === 0) return { status: "skipped", ...nothing };
  const work = { scope, pairs: found, budgetTokens: budget.tokens };
  const quiet = { before: async () => {}, after: async () => {} };
  const { pairs, calls, tokens } = await askJudge(deps, work, quiet);
  const { turns, now } = owner;
  const settled = await settle(db, deps, { ownerRef, pairs }, { turns: Number(turns), now });
  return { status: "completed", pairs: settled.map(told), calls, tokens };
}

function told({ first, second, similarity, vote, effect }: SettledPair): ConsolidatedPair {
  const named = ({ id, text }: PairedMemory) => ({ id, text });
  const moves = effect.action === "merge" || effect.action === "close";
  return {
    memories: [named(first), named(second)],
    ...{ similarity, verdict: vote.verdict, reason: vote.reason, action: effect.action },
    kept: moves ? effect.kept.id : null,
    gone: moves ? effect.gone.id : null,
    refused: effect.action === "none" ? effect.why : null,
  };
}
