import sql from "sql-template-tag";
import { type Claim, completeWork } from "../jobs/work-table.js";
import { applyChanges } from "../memories/apply/apply-changes.js";
import type { ChangeSet } from "../memories/apply/change-set.js";
import { expireMemories } from "../memories/write/expire-memories.js";
import type { Connection } from "../postgres/connection.js";
import { type LockedOwner, lockOwner } from "../scope/scope-predicates.js";
import { fingerprintOf, type StoredMemory } from "./choose-pairs.rule.js";
import { type ConsolidationRuntime, consolidator } from "./consolidation-options.js";
import { findStored } from "./find-pairs.js";
import type { ConsolidationWork, VotedPair } from "./load-consolidation.js";
import { findLinked, keepCompared } from "./pair-statements.js";
import { verdictOf } from "./pair-votes.rule.js";
import { planPairs } from "./plan-pairs.js";
import { type SettledPair, settlePairs } from "./settle-pairs.rule.js";

type Judged = Pick<ConsolidationWork, "scope" | "ownerRef"> & {
  readonly pairs: readonly VotedPair[];
};

/**
 * Decides the effects in the order of `pairs`. Optimistic concurrency check: none on changed
 * memories.
 */
async function settle(
  db: Connection,
  { config }: Pick<ConsolidationRuntime, "config">,
  { ownerRef, pairs }: Pick<Judged, "ownerRef" | "pairs">,
  owner: Pick<LockedOwner, "turns" | "now">,
): Promise<SettledPair[]> {
  const ids = pairs.flatMap(({ first, second }) => [first.id, second.id]);
  const stored = await findStored(db, { ownerRef, ids });
  const links = pairs.map(({ first, second }) => ({ from: second.ref, to: first.ref }));
  const linked = await findLinked(db, links);
  const judged = pairs.map((pair) => {
    const name = `${pair.second.ref} ${pair.first.ref}`;
    return { ...pair, vote: verdictOf(pair.votes), linked: linked.has(name) };
  });
  const isUnchanged = ({ id, revision }: StoredMemory) => stored.get(id)?.revision === revision;
  const unchanged = judged.filter(({ first, second }) => isUnchanged(first) && isUnchanged(second));
  const effects = settlePairs(unchanged, { ...config, ...owner });
  return judged.map((pair): SettledPair => {
    const effect = effects[unchanged.indexOf(pair)] ?? { action: "none", why: "changed" };
    return { ...pair, effect };
  });
}

/** Applies the verdicts and completes the task in one transaction. @throws LeaseLost */
export async function saveConsolidation(
  deps: ConsolidationRuntime,
  input: { readonly claim: Claim; readonly work: ConsolidationWork } & Pick<Judged, "pairs">,
): Promise<SettledPair[]> {
  const { claim, work, pairs } = input;
  const { scope, ownerRef } = work;
  const settled = await deps.db.transaction(async (tx) => {
    const owner = await lockOwner(tx, scope);
    const changed = { ownerRef, scope, hasVectors: deps.embedder !== null };
    await expireMemories(tx, changed, deps.config.lifecycle);
    const effects = await settle(tx, deps, { ownerRef, pairs }, owner);
    const by = { ownerRef, scope, actor: consolidator, step: "consolidation" } as const;
    const events = effects.map(eventOf);
    await applyChanges(tx, by, { ...planPairs(effects), events });
    await keepCompared(tx, { ownerRef, pairs: comparedOf(effects) });
    const more = work.more || pairs.length < work.pairs.length;
    await completeWork(tx, claim, {
      doneUntil: await revisionDone(tx, { ...work, more }, owner.revision),
    });
    return effects;
  });
  logOutcomes(deps, settled);
  return settled;
}

/** Omits changed pairs, which are compared again. */
function comparedOf(settled: readonly SettledPair[]) {
  const unchanged = settled.filter(
    ({ effect }) => effect.action !== "none" || effect.why !== "changed",
  );
  return unchanged.map((pair) => ({
    fingerprint: fingerprintOf(pair),
    verdict: pair.vote.verdict,
  }));
}

/**
 * The owner's revision, if only this run changed it. With pairs for another day, the owner counts
 * as changed.
 */
async function revisionDone(
  tx: Connection,
  { ownerRef, doneUntil, more }: ConsolidationWork,
  before: number,
): Promise<number> {
  if (more) return -1;
  if (before > doneUntil) return doneUntil;
  const statement = sql`select revision from ${tx.schema}.owner where id = ${ownerRef}`;
  const [row] = await tx.query<{ revision: string }>(statement);
  return Number(row?.revision ?? doneUntil);
}

function eventOf({ first, effect, vote, similarity }: SettledPair): ChangeSet["events"][number] {
  const { id: memoryId, category } = first;
  const about = { memoryId, category, similarity };
  const event = { step: "consolidation", op: "classify", ...about } as const;
  const isRefused = effect.action === "none" && effect.why !== null;
  return isRefused
    ? { ...event, status: "skipped", detail: `${vote.verdict}, ${effect.why}` }
    : { ...event, status: "ok", detail: vote.verdict };
}

function logOutcomes(
  { logger }: Pick<ConsolidationRuntime, "logger">,
  settled: readonly SettledPair[],
): void {
  const outcomes: Record<string, number> = {};
  for (const { effect } of settled) outcomes[effect.action] = (outcomes[effect.action] ?? 0) + 1;
  const summary = Object.entries(outcomes).map(([action, count]) => `${count} ${action}`);
  const memoryIds = settled.flatMap(({ effect }) => ("gone" in effect ? [effect.gone.id] : []));
  logger.info(`${settled.length} pairs of memories were compared: ${summary.join(", ")}`, {
    step: "consolidation",
    outcomes,
    memoryIds,
  });
}
