import { randomUUID } from "node:crypto";
import { minSimilarity } from "../../models/unrelated-similarity.rule.js";
import { scopeColumns } from "../../scope/scope-predicates.js";
import { contentHash } from "../../text/normal-value.js";
import {
  type ChangeSet,
  joinChanges,
  type MemoryLink,
  type MovedInterval,
  type NewMemory,
  type Sighting,
  sightingOf,
} from "../apply/change-set.js";
import { changeOf, type MemoryChange } from "../audit/memory-change.js";
import { endedDoubt } from "../item/doubt.rule.js";
import type { MemoryItem, MemoryVersion } from "../item/memory.js";
import { contentOf, learnedFrom, setFields, versionNames } from "../item/memory-fields.js";
import { boundedMetadata } from "../item/memory-metadata.rule.js";
import {
  conflictReason,
  heldSince,
  type IntervalMove,
  mergeRepeat,
  startOfTaken,
} from "../slot/slot-timeline.rule.js";
import { absorbed, type WriteDecision } from "./decide-write.rule.js";
import type { ExistingMemory, FoundStatement } from "./find-existing.js";
import type { Statement } from "./prepare-drafts.js";
import type { WriteContext, WriteOutcome } from "./write-types.js";

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
  const problems = ["instruction"] as const;
  const [seen] = found.existing;
  if (seen) {
    const seenCount = seen.seenCount + 1;
    const sightings = [sightingOf({ ...seen, seenCount })];
    const changes = [changeOf(seen, "MERGE", { new: { seenCount } })];
    const outcome = { outcome: "quarantined", id: seen.id, problems } as const;
    return { outcome, set: { sightings, changes } };
  }
  const state = "quarantined";
  const memory = { ...newMemory(context, found, []), state } as const;
  const added = changeOf(memory, "ADD", { new: { ...contentOf(memory), state } });
  const outcome = { outcome: "quarantined", id: memory.id, problems } as const;
  return { outcome, set: { created: [memory], changes: [added] } };
}

type Decided<Action extends WriteDecision["action"]> = Extract<WriteDecision, { action: Action }>;

function planNew(
  context: WriteContext,
  found: FoundStatement,
  decision: Decided<"create"> | Decided<"replace">,
): PlannedWrite {
  const { existing } = found;
  const old = decision.action === "replace" ? byId(existing, decision.id) : undefined;
  const duplicate = absorbed(existing);
  const saidAt = heldSince(found, old);
  const others = existing.filter(({ foundAs }) => foundAs !== "near" && foundAs !== "same");
  const start = startOfTaken(saidAt, found.holdsSince, others);
  const validFrom = start.toISOString();
  const near = existing.filter(({ id }) => id !== old?.id && id !== duplicate?.id);
  const created = { ...newMemory(context, found, near), validFrom };
  const { id } = created;
  const added = changeOf({ ...found, id }, "ADD", {
    new: { ...contentOf(created), ...learned(found) },
    as: old ? "updated" : "created",
    similarity: existing.find(({ foundAs }) => foundAs === "near")?.similarity ?? null,
  });
  const set = joinChanges([
    old ? supersede(old, found, { id, validFrom }) : {},
    duplicate ? absorbKeyless(duplicate, found, id) : {},
    {
      moves: decision.action === "create" ? movesTo(decision.moves, id) : [],
      created: [created],
      sightings: start < saidAt ? [sightingOfNew(created, found, saidAt)] : [],
      changes: [added, ...linkChanges(created, created.links)],
    },
  ]);
  return planned(old ? "replaced" : "created", id, set);
}

/** `created` was said after all that is known of its slot, whatever its start. */
const sightingOfNew = (created: NewMemory, found: FoundStatement, assertedAt: Date) =>
  sightingOf({
    ...created,
    expiresAt: found.expiresAt ?? null,
    turn: created.assertedTurn,
    assertedAt,
  });

function planClosed(
  context: WriteContext,
  found: FoundStatement,
  { id: supersededBy, until, moves, split }: Decided<"insert_closed">,
): PlannedWrite {
  const created = newMemory(context, found, []);
  const { id } = created;
  const splits = split ? [{ ...split, copyId: randomUUID(), supersededBy: id }] : [];
  const added = { ...contentOf(created), ...learned(found) };
  const copies = splits.map((part) =>
    changeOf({ ...found, id: part.copyId }, "ADD", {
      new: { copyOf: part.id, supersededBy: id },
    }),
  );
  return planned("closed", id, {
    created: [{ ...created, state: "superseded", validTo: until.toISOString(), supersededBy }],
    moves: movesTo(moves, id),
    splits,
    changes: [changeOf({ ...found, id }, "ADD", { new: added }), ...copies],
  });
}

function planSighting(
  found: FoundStatement,
  { id, moves }: Decided<"touch" | "update">,
): PlannedWrite {
  const { existing, text: said } = found;
  const seen = byId(existing, id);
  const { text, seenCount } = seen;
  const isSameText = contentHash(text) === contentHash(said);
  // Whether the statement says all that is shown of `seen`: its text, and its slot.
  const isSlot = existing.some((each) => each.id === id && each.foundAs === "slot");
  const sighting = seenAgain(found, seen, isSameText && (isSlot || !seen.keyed));
  // Equal text is no delta, and in a slot only the value counts.
  const about = { ...found, id, text, seenCount: sighting.seenCount };
  const merged = changeOf(about, "MERGE", {
    old: { text, seenCount },
    new: { text: said, seenCount: sighting.seenCount, ...learned(found) },
    as: seen.keyed || isSameText ? null : "merged",
    similarity: 1,
  });
  return planned("merged", id, {
    moves: movesTo(moves, id),
    sightings: [sighting],
    settledDoubts: endedDoubt(seen),
    changes: [merged],
  });
}

function planUpdate(
  context: WriteContext,
  found: FoundStatement,
  { id, moves }: Decided<"touch" | "update">,
): PlannedWrite {
  const { existing, vector, origin, trust, text } = found;
  const old = byId(existing, id);
  // The memory then has the statement's words alone.
  const sighting = { ...seenAgain(found, old, true), origin, trust };
  const { importance, seenCount, expiresAt } = sighting;
  const { category, pinned, tags } = old;
  // Unset fields keep their values.
  const version = Object.fromEntries(
    versionNames.map((name) => [name, found[name] ?? old[name]]),
  ) as MemoryVersion;
  const others = existing.filter((each) => each.id !== id);
  const links = nearestLinks(others, context);
  const rewrite = {
    ...found,
    ...version,
    ...sighting,
    category,
    pinned,
    tags,
    expiresAt: expiresAt?.toISOString() ?? null,
    vector,
    links,
    state: "active" as const,
  };
  const updated = changeOf({ ...found, id, category, importance }, "UPDATE", {
    old: { text: old.text, seenCount: old.seenCount },
    new: { text, seenCount, ...learned(found), origin, trust },
    as: "updated",
    similarity: old.similarity,
  });
  const duplicate = absorbed(existing);
  const set = joinChanges([
    duplicate ? absorbKeyless(duplicate, found, id) : {},
    {
      moves: movesTo(moves, undefined),
      sightings: [sighting],
      rewrites: [rewrite],
      settledDoubts: endedDoubt(old),
      changes: [updated, ...linkChanges(old, links)],
    },
  ]);
  return planned("updated", id, set);
}

/** Only the audit trail stores a value that ranks lower. */
function planKept(found: FoundStatement, { id }: Decided<"keep">): PlannedWrite {
  const { text: refused, confidence, origin } = found;
  const reason = conflictReason(byId(found.existing, id), found);
  const recorded = { new: { refused, confidence, origin, reason } };
  return planned("kept", id, { changes: [changeOf({ ...found, id }, "UPDATE", recorded)] });
}

/** `old` ends where its successor starts. */
function supersede(
  old: ExistingMemory,
  found: FoundStatement,
  { id: supersededBy, validFrom: validTo }: { readonly id: string; readonly validFrom: string },
): Partial<ChangeSet> {
  const { id, text, confidence, origin } = old;
  const replaced = changeOf({ ...found, id }, "UPDATE", {
    old: { text, confidence, origin },
    new: { supersededBy, reason: conflictReason(old, found) },
  });
  return { deactivated: [{ id, state: "superseded", validTo, supersededBy }], changes: [replaced] };
}

/** The keyless memory with the same text becomes part of `supersededBy`. */
function absorbKeyless(
  { id, text }: ExistingMemory,
  found: FoundStatement,
  supersededBy: string,
): Partial<ChangeSet> {
  const merged = changeOf({ ...found, id }, "MERGE", { old: { text }, new: { supersededBy } });
  return { deactivated: [{ id, state: "merged", supersededBy }], changes: [merged] };
}

/** The audit trail of an app names no thread, which may be a user's. */
function learned(statement: Statement): object {
  return statement.scope.userId === undefined ? {} : learnedFrom(statement);
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

/**
 * `seen` after the statement repeated it.
 * @param takesOrigin whether the memory then has the statement's words alone
 */
function seenAgain(found: FoundStatement, seen: ExistingMemory, takesOrigin: boolean): Sighting {
  const { rank, origin, trust, expiresAt = null } = found;
  const isVouched = rank === seen.rank && trust === "operator" && seen.trust === "untrusted";
  const repeat = { ...found, assertedAt: heldSince(found, seen), expiresAt, seenCount: 1 };
  return sightingOf({
    ...mergeRepeat(seen, repeat),
    // What is noted last wins.
    metadata: boundedMetadata({ ...seen.metadata, ...found.metadata }, seen.metadata),
    ...(takesOrigin && (rank > seen.rank || isVouched) && { origin, trust }),
  });
}

function newMemory(
  context: WriteContext,
  found: FoundStatement,
  near: readonly ExistingMemory[],
): NewMemory {
  const { source, turns, trust, contentHash, terms, vector } = found;
  return {
    ...setFields(found),
    ...scopeColumns(found.scope),
    id: randomUUID(),
    trust,
    contentHash,
    terms,
    vector,
    state: "active",
    threadId: source?.threadId ?? null,
    sourceSeqs: source?.seqs ?? [],
    evidence: source?.quote ?? null,
    turnStart: turns?.start ?? null,
    turnEnd: turns?.end ?? null,
    assertedTurn: found.turn,
    seenCount: 1,
    validFrom: (found.validFrom ?? found.now).toISOString(),
    validTo: null,
    expiresAt: found.expiresAt?.toISOString() ?? null,
    supersededBy: null,
    links: nearestLinks(near, context),
  };
}

/** The target of a model's relation comes first. `existing` must not contain the memory itself. */
export function nearestLinks(
  existing: readonly ExistingMemory[],
  { config, comparedIn }: Pick<WriteContext, "config" | "comparedIn">,
): MemoryLink[] {
  const { linkSimilarity, links } = config.memories;
  const least = linkSimilarity ?? minSimilarity(comparedIn, "linked");
  const target = existing.filter(({ foundAs }) => foundAs === "target");
  const near = existing.filter(({ foundAs, similarity, id }) => {
    return foundAs === "near" && similarity >= least && target[0]?.id !== id;
  });
  return [...target, ...near]
    .slice(0, links)
    .map(({ ref, id, similarity }) => ({ ref, id, strength: similarity }));
}

export function linkChanges(
  memory: Pick<MemoryItem, "id" | "category" | "text" | "importance">,
  links: readonly MemoryLink[],
): MemoryChange[] {
  const [strongest] = links;
  if (!strongest) return [];
  const created = links.map(({ id: to, strength }) => ({ to, strength }));
  return [changeOf(memory, "LINK", { new: { links: created }, similarity: strongest.strength })];
}
