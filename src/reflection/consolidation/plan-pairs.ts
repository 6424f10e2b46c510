import { randomUUID } from "node:crypto";
import {
  type ChangeSet,
  type JoinedMemory,
  joinChanges,
  mergeMemories,
} from "../../memories/apply/change-set.js";
import { changeOf } from "../../memories/audit/memory-change.js";
import { versionOf } from "../../memories/item/memory-fields.js";
import { conflictReason, mergeRepeat } from "../../memories/slot/slot-timeline.rule.js";
import type { StoredMemory } from "./choose-pairs.rule.js";
import type { JudgedPair, PairEffect, SettledPair } from "./settle-pairs.rule.js";

export function planPairs(settled: readonly SettledPair[]): Partial<ChangeSet> {
  const sets: Partial<ChangeSet>[] = [];
  // By the id of the memory that stays.
  const groups = new Map<string, Group>();
  for (const pair of settled) {
    const { effect } = pair;
    if (effect.action === "close") sets.push(planClose(pair, effect));
    if (effect.action === "link") sets.push(planLink(pair));
    if (effect.action === "none") sets.push(planConflict(pair, effect));
    if (effect.action === "merge") {
      const { kept, gone } = effect;
      const { members, merged } = groups.get(kept.id) ?? { members: [kept], merged: kept };
      const tags = givesWords(gone, merged) ? gone.tags : [];
      const after = mergeRepeat(merged, { ...gone, tags });
      groups.set(kept.id, { members: [...members, gone], merged: after });
      sets.push(planMerge(pair, effect, after));
    }
  }
  return { ...joinChanges(sets), joined: [...groups.values()].map(joinedMemory) };
}

/** A memory with those merged into it. */
interface Group {
  /** The one that stays is first. */
  readonly members: readonly StoredMemory[];
  readonly merged: StoredMemory;
}

type Effect<Action extends PairEffect["action"]> = Extract<PairEffect, { action: Action }>;

/** Tags and quotes are words too: none of an untrusted memory's become those of another. */
function givesWords({ trust }: StoredMemory, kept: StoredMemory): boolean {
  return trust !== "untrusted" || kept.trust === trust;
}

function planMerge(
  { vote, similarity }: JudgedPair,
  { kept, gone }: Effect<"merge">,
  after: StoredMemory,
): Partial<ChangeSet> {
  const { verdict, reason } = vote;
  const { seenCount } = after;
  return mergeMemories(after, gone, {
    gone: {
      old: { text: gone.text },
      new: { supersededBy: kept.id, verdict, reason },
      similarity,
    },
    kept: {
      // As it was before the run, for its revert.
      old: { ...versionOf(kept), seenCount: seenCount - gone.seenCount },
      new: { text: gone.text, seenCount, merged: gone.id, source: gone.source, verdict, reason },
      similarity,
    },
  });
}

function planClose(
  { vote, similarity }: JudgedPair,
  { kept, gone, validTo, split }: Effect<"close">,
): Partial<ChangeSet> {
  const { verdict, reason } = vote;
  const { id, category, text, confidence, origin } = gone;
  const decidedBy = conflictReason(gone, { ...kept, correction: false });
  const replaced = changeOf(kept, "UPDATE", {
    old: { text, confidence, origin },
    new: { supersededBy: kept.id, decidedBy, verdict, reason },
    // Agents see what holds now.
    as: "updated",
    similarity,
  });
  const set: Partial<ChangeSet> = {
    deactivated: [
      { id, state: "superseded", supersededBy: kept.id, validTo: validTo.toISOString() },
    ],
    changes: [{ ...replaced, memoryId: id, category }],
  };
  if (!split) return set;
  const copyId = randomUUID();
  const copied = changeOf({ ...gone, id: copyId }, "ADD", {
    new: { copyOf: split.id, supersededBy: id },
    similarity,
  });
  return joinChanges([
    set,
    { splits: [{ ...split, copyId, supersededBy: id }], changes: [copied] },
  ]);
}

function planLink({ first, second, similarity, vote }: JudgedPair): Partial<ChangeSet> {
  const links = [{ to: first.id, strength: similarity }];
  const linked = changeOf(second, "LINK", { new: { links, reason: vote.reason }, similarity });
  return {
    links: [{ from: second.ref, to: first.ref, strength: similarity }],
    changes: [linked],
  };
}

/** A conflict that rules leave as it is: the audit trail of each memory says so. */
function planConflict(
  { first, second, similarity, vote }: JudgedPair,
  { why }: Effect<"none">,
): Partial<ChangeSet> {
  const { verdict, reason } = vote;
  const isConflict = verdict === "contradicts" || verdict === "updates";
  if (!isConflict || why === null || why === "changed" || why === "settled") return {};
  const entryOf = (of: StoredMemory, other: StoredMemory) => {
    const links = [{ to: other.id, strength: similarity }];
    return changeOf(of, "LINK", { new: { links, verdict, reason, left: why }, similarity });
  };
  return { changes: [entryOf(first, second), entryOf(second, first)] };
}

function joinedMemory({ members, merged }: Group): JoinedMemory {
  const { id, pinned, tags } = merged;
  const said = members.filter((member) => givesWords(member, merged) && member.source !== null);
  const [first] = said;
  const seqs = new Set<number>();
  for (const { source } of said) {
    if (source?.threadId === first?.source?.threadId)
      for (const seq of source?.seqs ?? []) seqs.add(seq);
  }
  return {
    id,
    gone: members.slice(1).map((member) => member.id),
    pinned,
    tags,
    sourceOf: first?.id ?? null,
    seqs: [...seqs].toSorted((one, other) => one - other),
  };
}
