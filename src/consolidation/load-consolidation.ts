import { z } from "zod";
import type { JobStatus, OwnerWork } from "../jobs/settle-failure.js";
import { type Claim, deferWork, findOwnerWork, skipWork } from "../jobs/work-table.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef, Scope } from "../scope/scope.js";
import { spentToday } from "../usage/usage-statements.js";
import type { StoredPair } from "./choose-pairs.rule.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import { type FoundPairs, findPairs, findStored } from "./find-pairs.js";
import { type PairVote, pairVerdicts } from "./pair-votes.rule.js";

/** A pair, and what a model has said of it so far. */
export interface VotedPair extends StoredPair {
  readonly votes: readonly PairVote[];
}

/** All that is needed to consolidate the memories of an owner. */
export interface ConsolidationWork extends OwnerWork {
  readonly ownerRef: OwnerRef;
  readonly pairs: readonly VotedPair[];
  /** Whether there are more for another day. */
  readonly more: boolean;
  /** What may be spent on them today. */
  readonly budgetTokens: number;
}

/**
 * What `claim` is about, or how it ended: nothing that is alike, or no tokens left of the day, which defers it.
 *
 * A run that was broken off goes on with its pairs and what was said of them; those of which a memory changed are left out.
 *
 * @throws MemoryError `EMBEDDING_FAILED`, `DIMENSION_MISMATCH`
 */
export async function loadConsolidation(
  deps: ConsolidationRuntime,
  claim: Claim,
): Promise<ConsolidationWork | JobStatus> {
  const { db } = deps;
  const { ref: ownerRef } = claim;
  const found = await findOwnerWork(db, claim);
  if (!found) return "lost";
  const { scope, progress } = found;
  const budget = await tokensLeft(deps, scope);
  if (budget.closedUntil) {
    const until = budget.closedUntil.toISOString();
    deps.logger.debug(`Consolidating waits for tokens until ${until}`, { step: "consolidate" });
    return deferWork(db, claim, budget.closedUntil);
  }
  const kept = progressSchema.safeParse(progress);
  const resumed = kept.success ? kept.data : null;
  const begun = resumed
    ? { ...resumed, pairs: await findAgain(db, ownerRef, resumed) }
    : { ...withoutVotes(await findPairs(deps, ownerRef)), doneUntil: found.doneUntil };
  if (begun.pairs.length === 0) return skipWork(db, claim, { doneUntil: begun.doneUntil });
  return { ...begun, scope, ownerRef, budgetTokens: budget.tokens };
}

/** Pairs of which nothing was said yet. */
function withoutVotes({ pairs, more }: FoundPairs): Pick<ConsolidationWork, "pairs" | "more"> {
  return { pairs: pairs.map((pair) => ({ ...pair, votes: [] })), more };
}

/** What a tenant may spend on comparing today; `closedUntil` is set where that is nothing. */
async function tokensLeft(
  { db, config }: Pick<ConsolidationRuntime, "db" | "config">,
  { tenantId = "" }: Scope,
): Promise<{ readonly tokens: number; readonly closedUntil: Date | null }> {
  const spent = await spentToday(db, { scope: { tenantId }, kind: "consolidation" });
  const tokens = Math.max(0, config.consolidation.budgetTokens - spent.tokens);
  return { tokens, closedUntil: tokens > 0 ? null : spent.endsAt };
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

/** How far a run has come, as it is kept for whoever takes it over. */
type ConsolidationProgress = z.output<typeof progressSchema>;

/** `work` with the votes there are by now, as it is kept. */
export function progressOf(
  { doneUntil, more }: Pick<ConsolidationWork, "doneUntil" | "more">,
  { pairs }: Pick<ConsolidationWork, "pairs">,
): ConsolidationProgress {
  const side = ({ id, revision }: StoredPair["first"]) => ({ id, revision });
  return {
    ...{ doneUntil, more },
    pairs: pairs.map(({ first, second, similarity, votes }) => {
      return { first: side(first), second: side(second), similarity, votes: [...votes] };
    }),
  };
}

/** The pairs of a run that was broken off, but for those of which a memory changed or went. */
async function findAgain(
  db: Connection,
  ownerRef: OwnerRef,
  { pairs }: ConsolidationProgress,
): Promise<VotedPair[]> {
  const ids = pairs.flatMap(({ first, second }) => [first.id, second.id]);
  const stored = await findStored(db, { ownerRef, ids });
  const asRead = ({ id, revision }: { id: string; revision: number }) => {
    const memory = stored.get(id);
    return memory?.revision === revision ? memory : undefined;
  };
  return pairs.flatMap(({ similarity, votes, ...sides }) => {
    const [first, second] = [asRead(sides.first), asRead(sides.second)];
    return first && second ? [{ first, second, similarity, votes }] : [];
  });
}
