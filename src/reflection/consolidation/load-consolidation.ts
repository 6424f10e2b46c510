import { z } from "zod";
import { spentToday } from "../../observability/usage/usage-statements.js";
import type { OwnerRef, Scope } from "../../scope/scope.js";
import type { OwnerWork } from "../../work/work-definition.js";
import {
  type Claim,
  deferWork,
  findOwnerWork,
  type NoWork,
  skipWork,
} from "../../work/work-table.js";
import type { VotedPair } from "./choose-pairs.rule.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import { findRuns } from "./consolidation-run.js";
import { findPairs, findUnchanged } from "./find-pairs.js";
import { type DoubtedMemory, findDoubted } from "./judge-doubts.js";
import { pairVerdicts } from "./pair-votes.rule.js";

export interface ConsolidationWork extends OwnerWork {
  readonly ownerRef: OwnerRef;
  readonly pairs: readonly VotedPair[];
  readonly more: boolean;
  readonly doubts: readonly DoubtedMemory[];
  readonly budgetTokens: number;
}

/**
 * Loads the work of `claim`: an interrupted run continues with its pairs and votes. Skipped without
 * similar memories and doubts, deferred over the day's budget.
 */
export async function loadConsolidation(
  deps: ConsolidationRuntime,
  claim: Claim,
): Promise<ConsolidationWork | NoWork> {
  const { db } = deps;
  const { ref: ownerRef } = claim;
  const found = await findOwnerWork(db, claim);
  if (!found) return "lost";
  const { scope, progress } = found;
  // One that would close much waits for an operator: another would ask the same.
  const waiting = await findRuns(db, { scope, status: ["waiting"], limit: 1 });
  if (waiting.length > 0)
    return skipWork(db, claim, { doneUntil: found.doneUntil }, "waits_for_operator");
  const spent = await tokensLeft(deps, scope);
  const { budgetTokens } = spent;
  if (budgetTokens <= 0) {
    const until = spent.endsAt.toISOString();
    deps.logger.debug(`Work "consolidation" waits for tokens until ${until}`, {
      step: "consolidation",
    });
    return deferWork(db, claim, spent.endsAt);
  }
  // An interrupted run goes on with its pairs and votes.
  const { data: resumed } = progressSchema.safeParse(progress);
  const { pairs, more, doneUntil } = resumed
    ? { ...resumed, pairs: await findUnchanged(db, ownerRef, resumed.pairs) }
    : { ...(await findPairs(deps, ownerRef)), doneUntil: found.doneUntil };
  const doubts = await findDoubted(db, ownerRef);
  if (pairs.length + doubts.length === 0) return skipWork(db, claim, { doneUntil }, "nothing_new");
  return { pairs, more, doubts, doneUntil, scope, ownerRef, budgetTokens };
}

/** The tokens that the scope's tenant has left today. */
export async function tokensLeft({ db, config }: ConsolidationRuntime, { tenantId = "" }: Scope) {
  const spent = await spentToday(db, { scope: { tenantId }, kind: "consolidation" });
  return { budgetTokens: config.consolidation.budgetTokens - spent.tokens, endsAt: spent.endsAt };
}

const sideSchema = z.object({ ref: z.number(), revision: z.number() });

const progressSchema = z.object({
  doneUntil: z.number(),
  more: z.boolean(),
  pairs: z.array(
    z.object({
      first: sideSchema,
      second: sideSchema,
      similarity: z.number(),
      votes: z.array(z.object({ verdict: z.enum(pairVerdicts), reason: z.string() })),
    }),
  ),
});

export const progressOf = (work: ConsolidationWork, pairs: readonly VotedPair[]): object =>
  // Ids and votes alone: the memories are read again.
  progressSchema.parse({ ...work, pairs });
