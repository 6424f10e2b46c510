import { randomUUID } from "node:crypto";
import sql from "sql-template-tag";
import { changeLine } from "../memories/changes/change-line.js";
import type { MemoryChange } from "../memories/changes/record-changes.js";
import { memoryTerms } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import { sourceRank } from "../memories/slot/slot-conflict.rule.js";
import {
  findSlotIntervals,
  moveIntervals,
  type SplitInterval,
  splitIntervals,
} from "../memories/slot/slot-intervals.js";
import { freeInterval, freeSince } from "../memories/slot/slot-timeline.rule.js";
import { mergeThresholds } from "../memories/write/decide-write.rule.js";
import { findWriteCandidates } from "../memories/write/find-write-candidates.js";
import {
  type Deactivation,
  deactivateMemories,
  type Sighting,
  touchMemories,
} from "../memories/write/memory-states.js";
import type { ToldMemory } from "../memories/write/statement.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import { hasVectors } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import {
  type MergePlan,
  type MetMemory,
  planMerge,
  type SaidAgain,
  type Yielded,
} from "./merge-plan.rule.js";
import { type Move, mergedTurns } from "./move-rows.js";

/** What happened where memories of both met. */
export interface MetMemories {
  /** Became one with a memory that says the same. */
  readonly merged: number;
  /** Gave way in a slot to what is believed more, or is of a later time; kept, closed. */
  readonly closed: number;
  /** What the audit trail tells of it, once all have moved. */
  readonly changes: readonly MemoryChange[];
}

/** Settles where the memories of `move` meet those of the target, so that all of them can be the target's. */
export async function settleMemories(
  tx: Connection,
  config: WriteConfig,
  move: Move,
  now: Date,
): Promise<MetMemories> {
  const vectors = await hasVectors(tx);
  const met = await findMet(tx, config, move, now);
  const plan = planMerge(met);
  const copies = plan.splits.map((split) => ({ ...split, copyId: randomUUID() }));
  await apply(tx, move, { ...plan, splits: copies }, vectors);
  await placeInTime(tx, move);
  await setAsideQuarantined(tx, move);
  const yielded = [...plan.leaving, ...plan.staying];
  const merged = yielded.filter(({ state }) => state === "merged").length;
  const changes = [...changesOf(plan, met), ...copies.map((copy) => copied(copy, met))];
  return { merged, closed: yielded.length - merged, changes };
}

/** The active memories of `move`, as they would be told to the target, with what bears on them there. */
async function findMet(tx: Connection, config: WriteConfig, move: Move, now: Date): Promise<MetMemory[]> {
  const { from, to } = move;
  const rows = await tx.query<{ memory: MemoryJson; hash: string; turn: number }>(sql`
    select ${memoryJson(tx)} as memory, m.content_hash as hash, m.asserted_turn::float8 as turn
    from ${tx.schema}.memory m where m.ref = any (${move.memories}::bigint[]) and m.state = 'active'
    order by m.ref`);
  const told = rows.map(({ memory, hash, turn }): MetMemory["told"] & { id: string; seenCount: number } => {
    const { id, seenCount, scope: _, purgeAt: __, state: ___, ...item } = memoryOf(memory);
    const stays = from.userId !== "" || move.appCategories.includes(item.category);
    const appId = stays ? memoryOf(memory).scope.appId : undefined;
    const scope = { ...(to.tenantId && { tenantId: to.tenantId }), userId: to.userId };
    return {
      ...{ ...item, id, seenCount, now, correction: false, quarantined: false, contentHash: hash },
      scope: { ...scope, ...(appId !== undefined && { appId }) },
      key: item.key ?? undefined,
      value: item.value ?? undefined,
      agentId: item.agentId ?? undefined,
      runId: item.runId ?? undefined,
      actorId: item.actorId ?? undefined,
      role: item.role ?? undefined,
      source: undefined,
      turns: undefined,
      expiresAt: item.expiresAt ?? undefined,
      tags: [...item.tags],
      terms: memoryTerms(item, tx.language),
      rank: sourceRank(item),
      turn: Math.max(0, mergedTurns(move) - (from.turns - turn)),
    };
  });
  const sought = told.map((memory) => ({ memory, vector: null }));
  const known = await findWriteCandidates(tx, { ownerRef: to.ref, sought, space: null });
  return told.map(({ id, seenCount, ...memory }, at) => ({
    ...{ id, seenCount, told: memory, known: known[at] ?? [] },
    thresholds: mergeThresholds(memory, config),
  }));
}

async function apply(
  tx: Connection,
  { from, to }: Move,
  plan: MergePlan & { readonly splits: readonly SplitInterval[] },
  vectors: boolean,
): Promise<void> {
  const closing = ({ id, state, supersededBy, validTo }: Yielded): Deactivation => ({
    ...{ id, state, supersededBy, validTo: validTo?.toISOString() ?? null, purgeAfterMs: null },
  });
  await deactivateMemories(tx, { ownerRef: from.ref, changes: plan.leaving.map(closing), vectors });
  await deactivateMemories(tx, { ownerRef: to.ref, changes: plan.staying.map(closing), vectors });
  await moveIntervals(tx, { ownerRef: to.ref, moves: plan.moves });
  await splitIntervals(tx, { ownerRef: to.ref, splits: plan.splits });
  for (const { ref } of [from, to]) {
    await touchMemories(tx, { ownerRef: ref, sightings: plan.again.map(sightingOf) });
  }
}

function sightingOf({ id, times, by, assertedAt, noted }: SaidAgain): Sighting {
  const { importance, confidence, turn, rank } = by;
  return {
    ...{ id, times, importance, confidence, rank, ...noted },
    ...{ assertedTurn: turn, assertedAt: assertedAt.toISOString(), origin: null, trust: null },
  };
}

/** Gives what has or had a slot of the target times at which that held nothing else. */
async function placeInTime(tx: Connection, { from, to, memories, appCategories }: Move): Promise<void> {
  const { schema } = tx;
  const rows = await tx.query<{
    ref: string;
    appId: string;
    category: string;
    key: string;
    active: boolean;
    from: string;
    to: string | null;
  }>(sql`
    select m.ref::text as ref, m.category, m.key, m.state = 'active' as active,
      case when ${from.userId} <> '' or m.category = any (${appCategories}::text[]) then m.app_id else '' end as "appId",
      to_json(m.valid_from) #>> '{}' as "from",
      case when m.state = 'superseded' then to_json(coalesce(m.valid_to, m.valid_from)) #>> '{}' end as "to"
    from ${schema}.memory m
    where m.ref = any (${memories}::bigint[]) and m.key is not null and m.state in ('active', 'superseded')`);
  if (rows.length === 0) return;
  const held = await findSlotIntervals(tx, { ownerRef: to.ref, slots: rows });
  const nameOf = ({ appId, category, key }: { appId: string; category: string; key: string }) =>
    JSON.stringify([appId, category, key]);
  const placed = rows.flatMap((row) => {
    const others = held.filter((interval) => nameOf(interval) === nameOf(row));
    if (others.length === 0) return [];
    const ended = others.filter(({ active }) => !active);
    const interval = row.active
      ? { from: freeSince(row.from, ended), to: null }
      : freeInterval({ from: row.from, to: row.to }, others);
    return [{ ref: row.ref, validFrom: interval.from, validTo: interval.to }];
  });
  if (placed.length === 0) return;
  await tx.query(sql`
    update ${schema}.memory m set valid_from = i."validFrom", valid_to = i."validTo"
    from json_to_recordset(${JSON.stringify(placed)}::json) as i (
      ref bigint, "validFrom" timestamptz, "validTo" timestamptz
    )
    where m.ref = i.ref and (m.valid_from, m.valid_to) is distinct from (i."validFrom", i."validTo")`);
}

/** Words in quarantine are kept once. */
async function setAsideQuarantined(tx: Connection, { to, memories }: Move): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.memory m set state = 'merged', superseded_by = o.id
    from ${tx.schema}.memory o
    where m.ref = any (${memories}::bigint[]) and m.state = 'quarantined'
      and o.owner_ref = ${to.ref} and o.state = 'quarantined' and o.kind = m.kind
      and o.content_hash = m.content_hash and o.app_id = m.app_id`);
}

/** What the audit trail and the news tell of those that gave way. */
function changesOf({ leaving, staying }: MergePlan, met: readonly MetMemory[]): MemoryChange[] {
  const taking = new Map<string, ToldMemory>(met.map(({ id, told }) => [id, told]));
  return [...leaving, ...staying].map(({ id, state, supersededBy, text, category }) => {
    const winner = taking.get(supersededBy);
    const news = winner && {
      event: state === "merged" ? ("merged" as const) : ("updated" as const),
      line: changeLine(state === "merged" ? "merged" : "updated", { ...winner, seenCount: 2 }),
      importance: winner.importance,
    };
    return {
      ...{ memoryId: id, event: state === "merged" ? "MERGE" : "UPDATE", category, similarity: null },
      ...{ old: { text }, new: { supersededBy, reason: "merge" }, news: news ?? null },
    };
  });
}

/** What the audit trail tells of the closed copy of a value that was said before and after another one's. */
function copied(
  { copyId, id: copyOf, supersededBy }: SplitInterval,
  met: readonly MetMemory[],
): MemoryChange {
  const category = met.flatMap(({ known }) => known).find(({ id }) => id === copyOf)?.category ?? "";
  return {
    ...{ memoryId: copyId, event: "ADD", category, similarity: null },
    ...{ old: null, new: { copyOf, supersededBy }, news: null },
  };
}
