import { contentHash } from "../../text/normal-value.js";
import {
  type ChangeSet,
  joinChanges,
  type MovedInterval,
  type Sighting,
  sightingOf,
} from "../apply/change-set.js";
import { changeOf, type HistoryEvent, type MemoryChange } from "../changes/memory-change.js";
import type { MemoryVersion } from "../item/memory.js";
import { contentOf, learnedFrom, versionNames } from "../item/memory-fields.js";
import { boundedMetadata } from "../item/memory-metadata.rule.js";
import { mergeOf } from "../item/merge-of.rule.js";
import { conflictReason } from "../slot/slot-conflict.rule.js";
import { heldSince, type IntervalMove } from "../slot/slot-timeline.rule.js";
import { absorbed, type WriteDecision } from "./decide-write.rule.js";
import { linkChanges, nearestLinks, newMemory } from "./new-memory.js";
import type { ExistingMemory, FoundStatement, RankedMemory, WriteContext } from "./statement.js";
import type { WriteOutcome } from "./write-types.js";

export interface PlannedWrite {
  readonly outcome: WriteOutcome;
  readonly set: Partial<ChangeSet>;
}

/** Assumes that consent is checked: see `decideDrafts`. */
export function planStatement(
  context: WriteContext,
  found: FoundStatement,
  decision: WriteDecision,
): PlannedWrite {
  switch (decision.action) {
    case "create":
    case "replace":
      return planNew(context, found, decision);
    case "insert_closed":
      return planClosed(context, found, decision);
    case "touch":
      return planSighting(found, decision);
    case "update":
      return planUpdate(context, found, decision);
    case "keep":
      return planKept(found, decision);
  }
}

function planned(
  outcome: WriteOutcome["outcome"],
  id: string,
  set: Partial<ChangeSet>,
): PlannedWrite {
  return { outcome: { outcome, id, problems: [] }, set };
}

/** Stores text that reads as instructions without slot, links and delta line. */
export function planQuarantined(context: WriteContext, found: FoundStatement): PlannedWrite {
  const [seen] = found.existing;
  if (seen) {
    const seenCount = seen.seenCount + 1;
    return inQuarantine(seen.id, {
      sightings: [sightingOf({ ...seen, seenCount })],
      changes: [changeOf(seen, "MERGE", { new: { seenCount } })],
    });
  }
  const state = "quarantined";
  const memory = { ...newMemory(context, found, []), state } as const;
  const added = changeOf(memory, "ADD", { new: { ...contentOf(memory), state } });
  return inQuarantine(memory.id, { created: [memory], changes: [added] });
}

function inQuarantine(id: string, set: Partial<ChangeSet>): PlannedWrite {
  return { outcome: { outcome: "quarantined", id, problems: ["instruction"] }, set };
}

type Decided<Action extends WriteDecision["action"]> = Extract<WriteDecision, { action: Action }>;

function planNew(
  context: WriteContext,
  found: FoundStatement,
  decision: Decided<"create"> | Decided<"replace">,
): PlannedWrite {
  const { memory, existing } = found;
  const old = decision.action === "replace" ? byId(existing, decision.id) : undefined;
  const duplicate = absorbed(existing);
  const validFrom = heldSince(memory, old).toISOString();
  const near = existing.filter(({ id }) => id !== old?.id && id !== duplicate?.id);
  const created = { ...newMemory(context, found, near), validFrom };
  const { id } = created;
  const added = changeFor(memory, id, "ADD", {
    new: { ...contentOf(created), ...learned(memory) },
    as: old ? "updated" : "created",
    similarity: existing.find(({ relation }) => relation === "near")?.similarity ?? null,
  });
  const set = joinChanges([
    old ? supersede(old, memory, { id, validFrom }) : {},
    duplicate ? absorb(duplicate, memory, id) : {},
    {
      moves: decision.action === "create" ? movesTo(decision.moves, id) : [],
      created: [created],
      changes: [added, ...linkChanges(created, created.links)],
    },
  ]);
  return planned(old ? "replaced" : "created", id, set);
}

function planClosed(
  context: WriteContext,
  found: FoundStatement,
  { id: supersededBy, until, moves, split }: Decided<"insert_closed">,
): PlannedWrite {
  const { memory } = found;
  const created = newMemory(context, found, []);
  const { id } = created;
  const splits = split ? [{ ...split, copyId: context.newId(), supersededBy: id }] : [];
  const added = { ...contentOf(created), ...learned(memory) };
  return planned("closed", id, {
    created: [{ ...created, state: "superseded", validTo: until.toISOString(), supersededBy }],
    moves: movesTo(moves, id),
    splits,
    changes: [
      changeFor(memory, id, "ADD", { new: added }),
      ...splits.map((part) =>
        changeFor(memory, part.copyId, "ADD", { new: { copyOf: part.id, supersededBy: id } }),
      ),
    ],
  });
}

function planSighting(
  found: FoundStatement,
  { id, moves }: Decided<"touch" | "update">,
): PlannedWrite {
  const { memory, existing } = found;
  const seen = byId(existing, id);
  const { text, seenCount } = seen;
  const sighting = seenAgain(memory, seen, confirms(found, seen));
  // Equal text is no delta, and in a slot only the value counts.
  const isNews = !seen.keyed && contentHash(text) !== contentHash(memory.text);
  const about = { ...memory, text, seenCount: sighting.seenCount };
  const merged = changeFor(about, id, "MERGE", {
    old: { text, seenCount },
    new: { text: memory.text, seenCount: sighting.seenCount, ...learned(memory) },
    as: isNews ? "merged" : null,
    similarity: 1,
  });
  return planned("merged", id, {
    moves: movesTo(moves, id),
    sightings: [sighting],
    changes: [merged],
  });
}

function planUpdate(
  context: WriteContext,
  { memory, vector, existing }: FoundStatement,
  { id, moves }: Decided<"touch" | "update">,
): PlannedWrite {
  const old = byId(existing, id);
  const { origin, trust } = memory;
  // The memory then has the statement's words alone.
  const sighting = { ...seenAgain(memory, old, true), origin, trust };
  const { importance, seenCount, expiresAt } = sighting;
  // Unset fields keep their values.
  const version = Object.fromEntries(
    versionNames.map((name) => [name, memory[name] ?? old[name]]),
  ) as MemoryVersion;
  const others = existing.filter((each) => each.id !== id);
  const links = nearestLinks(others, context);
  const rewrite = {
    ...memory,
    ...version,
    ...sighting,
    category: old.category,
    pinned: old.pinned,
    tags: old.tags,
    expiresAt: expiresAt?.toISOString() ?? null,
    vector,
    links,
    state: "active" as const,
  };
  const updated = changeFor({ ...memory, category: old.category, importance }, id, "UPDATE", {
    old: { text: old.text, seenCount: old.seenCount },
    new: { text: memory.text, seenCount, ...learned(memory), origin, trust },
    as: "updated",
    similarity: old.similarity,
  });
  const duplicate = absorbed(existing);
  const set = joinChanges([
    duplicate ? absorb(duplicate, memory, id) : {},
    {
      moves: movesTo(moves, undefined),
      sightings: [sighting],
      rewrites: [rewrite],
      changes: [updated, ...linkChanges(old, links)],
    },
  ]);
  return planned("updated", id, set);
}

/** Only the audit trail stores a value that ranks lower. */
function planKept({ memory, existing }: FoundStatement, { id }: Decided<"keep">): PlannedWrite {
  const { text: refused, confidence, origin } = memory;
  const reason = conflictReason(byId(existing, id), memory);
  const kept = changeFor(memory, id, "UPDATE", { new: { refused, confidence, origin, reason } });
  return planned("kept", id, { changes: [kept] });
}

/** `old` ends where its successor starts. */
function supersede(
  old: ExistingMemory,
  memory: RankedMemory,
  { id: supersededBy, validFrom: validTo }: { readonly id: string; readonly validFrom: string },
): Partial<ChangeSet> {
  const { id, text, confidence, origin } = old;
  const reason = conflictReason(old, memory);
  const replaced = changeFor(memory, id, "UPDATE", {
    old: { text, confidence, origin },
    new: { supersededBy, reason },
  });
  return { deactivated: [{ id, state: "superseded", validTo, supersededBy }], changes: [replaced] };
}

/** The keyless memory with the same text becomes part of `into`. */
function absorb(
  { id, text }: ExistingMemory,
  memory: RankedMemory,
  into: string,
): Partial<ChangeSet> {
  const merged = changeFor(memory, id, "MERGE", { old: { text }, new: { supersededBy: into } });
  return { deactivated: [{ id, state: "merged", supersededBy: into }], changes: [merged] };
}

/** The change of the memory `id` by what `memory` states. */
function changeFor(
  memory: RankedMemory,
  id: string,
  event: HistoryEvent,
  recorded: Parameters<typeof changeOf>[2],
): MemoryChange {
  return changeOf({ ...memory, id }, event, recorded);
}

/** The audit trail of an app names no thread, which may be a user's. */
function learned(memory: RankedMemory): object {
  return memory.scope.userId === undefined ? {} : learnedFrom(memory);
}

function byId(existing: readonly ExistingMemory[], id: string): ExistingMemory {
  return existing.find((memory) => memory.id === id) as ExistingMemory;
}

/** `successor` supersedes a value that now ends earlier. */
function movesTo(
  moves: readonly IntervalMove[] = [],
  successor: string | undefined,
): readonly MovedInterval[] {
  return moves.map((move) => ({ ...move, supersededBy: move.validTo && successor }));
}

/** Whether the statement says all that is shown of `seen`: its text, and its slot. */
function confirms({ memory, existing }: FoundStatement, seen: ExistingMemory): boolean {
  const isSlot = existing.some(({ id, relation }) => id === seen.id && relation === "slot");
  return (isSlot || !seen.keyed) && contentHash(seen.text) === contentHash(memory.text);
}

/**
 * `seen` after the statement repeated it. A lower-ranking one raises neither confidence nor
 * recency.
 * @param takesSource whether the memory then has the statement's words alone
 */
function seenAgain(memory: RankedMemory, seen: ExistingMemory, takesSource: boolean): Sighting {
  const { rank, origin, trust, turn } = memory;
  const isWeaker = rank < seen.rank;
  const isVouched = rank === seen.rank && trust === "operator" && seen.trust === "untrusted";
  const assertedAt = Math.max(+seen.assertedAt, +heldSince(memory, seen));
  const merged = mergeOf(seen, {
    ...memory,
    confidence: isWeaker ? 0 : memory.confidence,
    expiresAt: memory.expiresAt ?? null,
    seenCount: 1,
  });
  return sightingOf({
    ...merged,
    // What is noted last wins.
    metadata: boundedMetadata({ ...seen.metadata, ...memory.metadata }, seen.metadata),
    ...(!isWeaker && { turn: Math.max(seen.turn, turn), assertedAt: new Date(assertedAt) }),
    ...(takesSource && (rank > seen.rank || isVouched) && { origin, trust }),
  });
}
