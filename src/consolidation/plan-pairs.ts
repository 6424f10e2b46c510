import { randomUUID } from "node:crypto";
import { changeLine } from "../memories/changes/change-line.js";
import type { MemoryChange } from "../memories/changes/record-changes.js";
import { type Noted, notedAgain } from "../memories/item/memory-metadata.rule.js";
import { conflictReason } from "../memories/slot/slot-conflict.rule.js";
import { joinPlans, type WritePlan } from "../memories/write/apply-plan.js";
import type { Sighting } from "../memories/write/memory-states.js";
import type { StoredMemory } from "./choose-pairs.rule.js";
import type { JoinedMemory, MemoryPairLink } from "./pair-statements.js";
import type { JudgedPair, PairEffect, SettledPair } from "./settle-pairs.rule.js";

export function planPairs(settled: readonly SettledPair[]) {
  const merged = new Map<string, StoredMemory>();
  const plans = settled.map((pair): Partial<WritePlan> => {
    const { effect } = pair;
    if (effect.action === "close") return planClose(pair, effect);
    if (effect.action !== "merge")
      return effect.action === "link" ? { changes: [linkChange(pair)] } : {};
    const { kept, gone } = effect;
    const before = merged.get(kept.id) ?? kept;
    const seenCount = before.seenCount + gone.seenCount;
    const after = { ...kept, ...notedAgain(gone, before), seenCount };
    merged.set(kept.id, after);
    return planMerge(pair, effect, after);
  });
  const links = settled.flatMap(({ first, second, similarity, effect }): MemoryPairLink[] =>
    effect.action === "link" ? [{ from: second.ref, to: first.ref, strength: similarity }] : [],
  );
  return { plan: joinPlans(plans), joined: joinedMemories(settled), links };
}

type Effect<Action extends PairEffect["action"]> = Extract<PairEffect, { action: Action }>;

function planMerge(
  { vote, similarity }: JudgedPair,
  { kept, gone }: Effect<"merge">,
  after: StoredMemory,
): Partial<WritePlan> {
  const { verdict, reason } = vote;
  const { seenCount } = after;
  const about = { category: kept.category, similarity };
  const line = changeLine("merged", after);
  return {
    deactivated: [
      { id: gone.id, state: "merged", supersededBy: kept.id, validTo: null, purgeAfterMs: null },
    ],
    sightings: [sightingOf(kept, gone, after)],
    changes: [
      {
        ...about,
        memoryId: gone.id,
        event: "MERGE",
        delta: null,
        old: { text: gone.text },
        new: { supersededBy: kept.id, verdict, reason },
      },
      {
        ...about,
        memoryId: kept.id,
        event: "MERGE",
        old: { text: kept.text, seenCount: seenCount - gone.seenCount },
        new: { text: gone.text, seenCount, merged: gone.id, source: gone.source, verdict, reason },
        delta: { event: "merged", line, importance: Math.max(kept.importance, gone.importance) },
      },
    ],
  };
}

/**
 * Counts `gone` as a repeat of `kept`: a less trusted source raises neither confidence nor recency.
 */
function sightingOf(
  kept: StoredMemory,
  gone: StoredMemory,
  { metadata, expiresAt }: Noted,
): Sighting {
  const isLessTrusted = gone.rank < kept.rank;
  return {
    id: kept.id,
    times: gone.seenCount,
    importance: gone.importance,
    rank: gone.rank,
    metadata,
    expiresAt,
    ...(isLessTrusted
      ? { confidence: kept.confidence, assertedTurn: kept.turn, assertedAt: null }
      : {
          confidence: gone.confidence,
          assertedTurn: gone.turn,
          assertedAt: gone.assertedAt.toISOString(),
        }),
    origin: null,
    trust: null,
  };
}

function planClose(
  { vote, similarity }: JudgedPair,
  { kept, gone, validTo, split }: Effect<"close">,
): Partial<WritePlan> {
  const { verdict, reason } = vote;
  const { text, confidence, origin } = gone;
  const decidedBy = conflictReason(gone, { ...kept, correction: false });
  const splits = split ? [{ ...split, copyId: randomUUID(), supersededBy: gone.id }] : [];
  const about = { category: gone.category, similarity };
  const ending = {
    state: "superseded",
    supersededBy: kept.id,
    validTo: validTo.toISOString(),
  } as const;
  return {
    deactivated: [{ ...ending, id: gone.id, purgeAfterMs: null }],
    splits,
    changes: [
      {
        ...about,
        memoryId: gone.id,
        event: "UPDATE",
        old: { text, confidence, origin },
        new: { supersededBy: kept.id, decidedBy, verdict, reason },
        delta: { event: "updated", line: changeLine("updated", kept), importance: kept.importance },
      },
      ...splits.map(
        ({ copyId, id }): MemoryChange => ({
          ...about,
          memoryId: copyId,
          event: "ADD",
          old: null,
          delta: null,
          new: { copyOf: id, supersededBy: gone.id },
        }),
      ),
    ],
  };
}

function linkChange({ first, second, similarity, vote }: JudgedPair): MemoryChange {
  return {
    memoryId: second.id,
    event: "LINK",
    category: second.category,
    similarity,
    old: null,
    delta: null,
    new: { links: [{ to: first.id, strength: similarity }], reason: vote.reason },
  };
}

const maxTags = 32;

function joinedMemories(settled: readonly SettledPair[]): JoinedMemory[] {
  const groups = new Map<string, StoredMemory[]>();
  for (const { effect } of settled) {
    if (effect.action !== "merge") continue;
    const { kept, gone } = effect;
    groups.set(kept.id, [...(groups.get(kept.id) ?? [kept]), gone]);
  }
  return [...groups].map(([id, group]) => {
    const [kept] = group as [StoredMemory];
    // Tags and quotes are words too: none of an untrusted memory's become those of another.
    const joined = group.filter(({ trust }) => trust !== "untrusted" || kept.trust === trust);
    const origin = joined.find(({ source }) => source !== null);
    const seqs = joined.flatMap(
      ({ source }) => (source?.threadId === origin?.source?.threadId ? source?.seqs : []) ?? [],
    );
    return {
      id,
      gone: group.slice(1).map((memory) => memory.id),
      pinned: group.some(({ pinned }) => pinned),
      tags: [...new Set(joined.flatMap(({ tags }) => tags))].slice(0, maxTags),
      sourceOf: origin?.id ?? null,
      seqs: [...new Set(seqs)].toSorted((one, other) => one - other),
    };
  });
}
