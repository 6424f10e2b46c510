import { z } from "zod";
import type { OwnerWork } from "../jobs/work-definition.js";
import { type Claim, deferWork, findOwnerWork, type NoWork, skipWork } from "../jobs/work-table.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import { spentToday } from "../usage/usage-statements.js";
import type { StoredPair } from "./choose-pairs.rule.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import { findPairs, findStored } from "./find-pairs.js";
import { type PairVote, pairVerdicts } from "./pair-votes.rule.js";

export interface VotedPair extends StoredPair {
  readonly votes: readonly PairVote[];
}

export interface ConsolidationWork extends OwnerWork {
  readonly ownerRef: OwnerRef;
  readonly pairs: readonly VotedPair[];
  readonly more: boolean;
  readonly budgetTokens: number;
}

/**
 * Loads the work of `claim`: an interrupted run continues with its pairs and votes. Skipped without
 * similar memories, deferred over the day's budget.
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
  const spent = await spentToday(db, {
    scope: { tenantId: scope.tenantId ?? "" },
    kind: "consolidation",
  });
  const budgetTokens = deps.config.consolidation.budgetTokens - spent.tokens;
  if (budgetTokens <= 0) {
    const until = spent.endsAt.toISOString();
    deps.logger.debug(`Work "consolidation" waits for tokens until ${until}`, {
      step: "consolidation",
    });
    return deferWork(db, claim, spent.endsAt);
  }
  const { data: resumed } = progressSchema.safeParse(progress);
  const { pairs, more, doneUntil } = resumed
    ? { ...resumed, pairs: await findUnchanged(db, ownerRef, resumed) }
    : { ...(await findPairs(deps, ownerRef)), doneUntil: found.doneUntil };
  if (pairs.length === 0) return skipWork(db, claim, { doneUntil }, "nothing_new");
  const voted = pairs.map((pair): VotedPair => ({ votes: [], ...pair }));
  return { pairs: voted, more, doneUntil, scope, ownerRef, budgetTokens };
}

const sideSchema = z.object({ id: z.uuid(), revision: z.number() });

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

type ConsolidationProgress = z.output<typeof progressSchema>;

export function progressOf(
  { doneUntil, more }: Pick<ConsolidationWork, "doneUntil" | "more">,
  { pairs }: Pick<ConsolidationWork, "pairs">,
): ConsolidationProgress {
  const side = ({ id, revision }: StoredPair["first"]) => ({ id, revision });
  return {
    doneUntil,
    more,
    pairs: pairs.map(({ first, second, similarity, votes }) => {
      return { first: side(first), second: side(second), similarity, votes: [...votes] };
    }),
  };
}

/** The pairs of an interrupted run whose memories are unchanged. */
async function findUnchanged(
  db: Connection,
  ownerRef: OwnerRef,
  { pairs }: ConsolidationProgress,
): Promise<VotedPair[]> {
  const ids = pairs.flatMap(({ first, second }) => [first.id, second.id]);
  const stored = await findStored(db, { ownerRef, ids });
  return pairs.flatMap((pair) => {
    const [first, second] = [stored.get(pair.first.id), stored.get(pair.second.id)];
    const isUnchanged =
      first?.revision === pair.first.revision && second?.revision === pair.second.revision;
    return first && second && isUnchanged ? [{ ...pair, first, second }] : [];
  });
}
