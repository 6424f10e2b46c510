import { tally } from "../../logger.js";
import { applyChanges } from "../../memories/apply/apply-changes.js";
import type { Changer, ChangeSet } from "../../memories/apply/change-set.js";
import { expireMemories } from "../../memories/write/hide-memories.js";
import type { Connection } from "../../postgres/connection.js";
import { type LockedOwner, lockOwner } from "../../scope/scope-predicates.js";
import type { Taken } from "../../work/work-definition.js";
import { completeWork } from "../../work/work-table.js";
import { refsOf, type StoredMemory } from "./choose-pairs.rule.js";
import { type ConsolidationRuntime, consolidator } from "./consolidation-options.js";
import {
  appliedPlan,
  type ConsolidationPlan,
  goneIn,
  insertRun,
  isEmptyPlan,
  needsOperator,
  planOf,
} from "./consolidation-run.js";
import { findStored } from "./find-pairs.js";
import { type JudgedDoubt, settleDoubts } from "./judge-doubts.js";
import type { ConsolidationWork } from "./load-consolidation.js";
import { findLinked, keepCompared } from "./pair-statements.js";
import { planPairs } from "./plan-pairs.js";
import {
  type AgreedPair,
  type JudgedPair,
  type SettledPair,
  settlePairs,
} from "./settle-pairs.rule.js";

export interface Consolidated {
  judged: readonly AgreedPair[];
  doubts: readonly JudgedDoubt[];
  tokens: number;
  calls: number;
  settled: readonly SettledPair[];
}

/** Applies the verdicts and completes the task in one transaction. @throws LeaseLost */
export async function saveConsolidation(
  deps: ConsolidationRuntime,
  { claim, work, judged: pairs, doubts }: Taken<ConsolidationWork, Consolidated>,
): Promise<SettledPair[]> {
  const { scope, ownerRef } = work;
  let waits = false;
  const settled = await deps.db.transaction(async (tx) => {
    const owner = await lockOwner(tx, scope);
    await expireMemories(tx, { ownerRef, scope }, deps.config.lifecycle);

    // Decide the effects, and apply them.
    const settled = await decideEffects(tx, deps, { pairs, owner });
    const by = { ownerRef, scope, actor: consolidator, step: "consolidation" } as const;
    const plan = planOf(settled, doubts);
    waits = await needsOperator(tx, ownerRef, plan);
    if (waits) {
      await insertRun(tx, ownerRef, { plan, status: "waiting" });
      const left = settled.filter(({ effect }) => effect.action === "none");
      await applyChanges(tx, by, { ...planPairs(left), events: [heldEvent(plan)] });
    } else {
      const applied = await applyRun(tx, by, settled, plan);
      if (!isEmptyPlan(plan)) await insertRun(tx, ownerRef, { plan: applied, status: "applied" });
    }

    // Changed pairs are compared again, and those that wait after a decision.
    const compared = settled.filter(({ effect }) =>
      effect.action === "none" ? effect.why !== "changed" : !waits,
    );
    await keepCompared(tx, ownerRef, compared);

    // Complete the task; left pairs are for another run.
    const more = work.more || pairs.length < work.pairs.length;
    const doneUntil = await revisionDone(tx, { ...work, more }, owner.revision);
    await completeWork(tx, claim, { doneUntil });
    return settled;
  });
  logSettled(deps, settled, waits);
  return settled;
}

/** Applies effects and the verdicts on doubts to a locked owner. */
export async function applyRun(
  tx: Connection,
  by: Changer,
  settled: readonly SettledPair[],
  plan: ConsolidationPlan,
): Promise<ConsolidationPlan> {
  await applyChanges(tx, by, { ...planPairs(settled), events: settled.map(settledEvent) });
  // Afterwards, since a pair may have ended a memory in doubt.
  await applyChanges(tx, by, await settleDoubts(tx, by.ownerRef, plan.doubts));
  return appliedPlan(tx, by.ownerRef, plan);
}

/**
 * Decides the effects in the order of `pairs`. Optimistic concurrency check: none on changed
 * memories.
 */
export async function decideEffects(
  tx: Connection,
  { config }: ConsolidationRuntime,
  { pairs, owner }: { readonly pairs: readonly AgreedPair[]; readonly owner: LockedOwner },
): Promise<SettledPair[]> {
  const stored = await findStored(tx, owner.ref, refsOf(pairs));
  const linked = await findLinked(tx, pairs);
  const isChanged = ({ ref, revision }: StoredMemory) => stored.get(ref)?.revision !== revision;
  const judged = pairs.map((pair, at): JudgedPair => {
    const changed = isChanged(pair.first) || isChanged(pair.second);
    return { ...pair, changed, linked: linked[at] === true };
  });
  const effects = settlePairs(judged, { ...config, ...owner });
  return effects.map((effect, at) => ({ ...(judged[at] as JudgedPair), effect }));
}

/**
 * The owner's revision, if only this run changed it. With pairs for another day, the owner counts
 * as changed.
 */
async function revisionDone(
  tx: Connection,
  { scope, doneUntil, more }: ConsolidationWork,
  before: number,
): Promise<number> {
  if (more) return -1;
  if (before > doneUntil) return doneUntil;
  return (await lockOwner(tx, scope)).revision;
}

function settledEvent({
  first,
  effect,
  vote,
  similarity,
}: SettledPair): ChangeSet["events"][number] {
  const { id: memoryId, category } = first;
  const about = { memoryId, category, similarity };
  const event = { step: "consolidation", op: "classify", ...about } as const;
  const isRefused = effect.action === "none" && effect.why !== null;
  return isRefused
    ? { ...event, status: "skipped", detail: `${vote.verdict}, ${effect.why}` }
    : { ...event, status: "ok", detail: vote.verdict };
}

/** That a run waits, and how much it would close. */
const heldEvent = (plan: ConsolidationPlan): ChangeSet["events"][number] => ({
  step: "consolidation",
  op: "merge",
  status: "skipped",
  detail: `waits for an operator: ${goneIn(plan).size} to close`,
});

function logSettled(
  { logger }: Pick<ConsolidationRuntime, "logger">,
  settled: readonly SettledPair[],
  waits: boolean,
): void {
  const { outcomes, inWords } = tally(settled.map(({ effect }) => effect.action));
  const memoryIds = settled.flatMap(({ effect }) => ("gone" in effect ? [effect.gone.id] : []));
  const end = waits ? ", which waits for an operator: it would close many" : "";
  logger.info(`${settled.length} pairs of memories were compared: ${inWords}${end}`, {
    step: "consolidation",
    outcomes,
    memoryIds,
  });
}
