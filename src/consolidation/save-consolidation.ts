import sql from "sql-template-tag";
import { insertEvents, type MemoryEvent } from "../events/event-log.js";
import { type Claim, completeWork } from "../jobs/work-table.js";
import { applyPlan } from "../memories/write/apply-plan.js";
import { expireMemories } from "../memories/write/expire-memories.js";
import type { Connection } from "../postgres/connection.js";
import { type LockedOwner, lockOwner } from "../scope/scope-predicates.js";
import { fingerprintOf, type StoredMemory } from "./choose-pairs.rule.js";
import { type ConsolidationRuntime, consolidator } from "./consolidation-options.js";
import { findStored } from "./find-pairs.js";
import type { ConsolidationWork, VotedPair } from "./load-consolidation.js";
import { findLinked, joinMemories, keepCompared, linkPairs } from "./pair-statements.js";
import { verdictOf } from "./pair-votes.rule.js";
import { planPairs } from "./plan-pairs.js";
import { type SettledPair, settlePairs } from "./settle-pairs.rule.js";

type Judged = Pick<ConsolidationWork, "scope" | "ownerRef"> & { readonly pairs: readonly VotedPair[] };

/** Effects on `pairs`, as the memories are now, in order; none where one of them changed since it was read. */
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
  const isAsRead = ({ id, revision }: StoredMemory) => stored.get(id)?.revision === revision;
  const standing = judged.filter(({ first, second }) => isAsRead(first) && isAsRead(second));
  const { policy, consent } = config;
  const effects = settlePairs(standing, { policy, consent, turns: owner.turns, now: owner.now });
  return judged.map((pair): SettledPair => {
    const effect = effects[standing.indexOf(pair)];
    return { ...pair, effect: effect ?? { action: "none", why: "changed" } };
  });
}

/** Applies the verdicts and completes the task in one transaction. @throws LeaseLost for a lost task */
export async function saveConsolidation(
  deps: ConsolidationRuntime,
  input: { readonly claim: Claim; readonly work: ConsolidationWork } & Pick<Judged, "pairs">,
): Promise<SettledPair[]> {
  const { claim, work, pairs } = input;
  const { scope, ownerRef } = work;
  const { config } = deps;
  const settled = await deps.db.transaction(async (tx) => {
    const owner = await lockOwner(tx, scope);
    const { purgeAfterMs } = config.lifecycle;
    await expireMemories(tx, { owner, scope, purgeAfterMs, vectors: deps.embedder !== null });
    const effects = await settle(tx, deps, { ownerRef, pairs }, owner);
    const { plan, joined, links } = planPairs(effects);
    const origin = { actor: consolidator, step: "consolidate" } as const;
    await applyPlan(tx, { owner, scope, space: null, origin }, plan);
    await joinMemories(tx, { ownerRef, joined });
    await linkPairs(tx, links);
    await keepCompared(tx, { ownerRef, pairs: comparedOf(effects) });
    const events = effects.map((pair) => eventOf(scope, pair));
    await insertEvents(tx, events);
    const more = work.more || pairs.length < work.pairs.length;
    await completeWork(tx, claim, { doneUntil: await lookedAtUntil(tx, { ...work, more }, owner.revision) });
    return effects;
  });
  reportSettled(deps, settled);
  return settled;
}

/** Pairs that changed meanwhile are compared again. */
function comparedOf(settled: readonly SettledPair[]) {
  return settled.flatMap((pair) => {
    const { effect, vote } = pair;
    if (effect.action === "none" && effect.why === "changed") return [];
    return [{ fingerprint: fingerprintOf(pair), verdict: vote.verdict }];
  });
}

/** The owner's revision, if only this run changed it. With pairs left for another day, the owner counts as changed. */
async function lookedAtUntil(
  tx: Connection,
  { ownerRef, doneUntil, more }: ConsolidationWork,
  before: number,
): Promise<number> {
  if (more) return -1;
  if (before > doneUntil) return doneUntil;
  const [row] = await tx.query<{ revision: string }>(
    sql`select o.revision from ${tx.schema}.owner o where o.id = ${ownerRef}`,
  );
  return Number(row?.revision ?? doneUntil);
}

function eventOf(scope: ConsolidationWork["scope"], { first, effect, vote, similarity }: SettledPair): MemoryEvent {
  const { id: memoryId, category } = first;
  const event = { scope, step: "consolidate", op: "classify", memoryId, category, similarity } as const;
  const isRefused = effect.action === "none" && effect.why !== null;
  return isRefused
    ? { ...event, status: "skipped", detail: `${vote.verdict}, ${effect.why}` }
    : { ...event, status: "ok", detail: vote.verdict };
}

function reportSettled({ logger }: Pick<ConsolidationRuntime, "logger">, settled: readonly SettledPair[]): void {
  const outcomes: Record<string, number> = {};
  for (const { effect } of settled) outcomes[effect.action] = (outcomes[effect.action] ?? 0) + 1;
  const told = Object.entries(outcomes).map(([action, count]) => `${count} ${action}`);
  const memoryIds = settled.flatMap(({ effect }) => ("gone" in effect ? [effect.gone.id] : []));
  logger.info(`${settled.length} pairs of memories were compared: ${told.join(", ")}`, {
    step: "consolidate",
    outcomes,
    memoryIds,
  });
}
