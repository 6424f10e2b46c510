import { contentHash } from "../../text/normal-value.js";
import { type ChangeEvent, changeLine } from "../changes/change-line.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { MemoryVersion } from "../item/memory.js";
import { contentOf, learnedFrom, versionNames } from "../item/memory-fields.js";
import { type Noted, notedAgain } from "../item/memory-metadata.rule.js";
import { conflictReason } from "../slot/slot-conflict.rule.js";
import { heldSince, type IntervalMove } from "../slot/slot-timeline.rule.js";
import { linkChanges, nearestLinks, newMemory, type WritePlan } from "./apply-plan.js";
import { absorbed, type WriteDecision } from "./decide-write.rule.js";
import type { Sighting } from "./memory-states.js";
import type {
  ExistingMemory,
  FoundStatement,
  RankedMemory,
  RankedStatement,
  WriteContext,
} from "./statement.js";
import type { WriteOutcome } from "./write-types.js";

export interface PlannedWrite {
  readonly outcome: WriteOutcome;
  readonly plan: Partial<WritePlan>;
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

/** Stores text that reads as instructions without slot, links and delta line. */
export function planQuarantined(
  context: WriteContext,
  { statement, existing }: FoundStatement,
): PlannedWrite {
  const outcome = (id: string) =>
    ({ outcome: "quarantined", id, problems: ["instruction"] }) as const;
  const [seen] = existing;
  if (seen) {
    const { id, seenCount, turn: assertedTurn } = seen;
    const again = change(seen, id, "MERGE", null, { seenCount: seenCount + 1 });
    const unchanged = {
      ...seen,
      times: 1,
      assertedTurn,
      assertedAt: null,
      origin: null,
      trust: null,
    };
    return { outcome: outcome(id), plan: { sightings: [unchanged], changes: [again] } };
  }
  const memory = { ...newMemory(context, statement, []), state: "quarantined" } as const;
  const { id, state } = memory;
  const added = change(memory, id, "ADD", null, { ...contentOf(memory), state });
  return { outcome: outcome(id), plan: { created: [memory], changes: [added] } };
}

type Decided<Action extends WriteDecision["action"]> = Extract<WriteDecision, { action: Action }>;

function planNew(
  context: WriteContext,
  { statement, existing }: FoundStatement,
  decision: Decided<"create"> | Decided<"replace">,
): PlannedWrite {
  const { memory } = statement;
  const old = decision.action === "replace" ? byId(existing, decision.id) : undefined;
  const duplicate = absorbed(existing);
  const validFrom = heldSince(memory, old).toISOString();
  const near = existing.filter(({ id }) => id !== old?.id && id !== duplicate?.id);
  const created = { ...newMemory(context, statement, near), validFrom };
  const { id } = created;
  const merged = mergeInto(id, memory, duplicate);
  const superseded = {
    state: "superseded",
    validTo: validFrom,
    supersededBy: id,
    purgeAfterMs: null,
  } as const;
  return {
    outcome: { outcome: old ? "replaced" : "created", id, problems: [] },
    plan: {
      deactivated: [...(old ? [{ ...superseded, id: old.id }] : []), ...merged.deactivated],
      moves: decision.action === "create" ? movesTo(decision.moves, id) : [],
      created: [created],
      changes: [
        ...(old ? [replacedBy(old, memory, id)] : []),
        ...merged.changes,
        {
          ...change(memory, id, "ADD", null, { ...contentOf(created), ...learned(memory) }),
          delta: deltaOf(old ? "updated" : "created", memory, 1),
          similarity: existing.find(({ relation }) => relation === "near")?.similarity ?? null,
        },
        ...linkChanges(created, created.links),
      ],
    },
  };
}

function planClosed(
  context: WriteContext,
  { statement }: FoundStatement,
  { id: supersededBy, until, moves, split }: Decided<"insert_closed">,
): PlannedWrite {
  const { memory } = statement;
  const created = newMemory(context, statement, []);
  const { id } = created;
  const parts = split ? [{ ...split, copyId: context.newId(), supersededBy: id }] : [];
  return {
    outcome: { outcome: "closed", id, problems: [] },
    plan: {
      created: [{ ...created, state: "superseded", validTo: until.toISOString(), supersededBy }],
      moves: movesTo(moves, id),
      splits: parts,
      changes: [
        change(memory, id, "ADD", null, { ...contentOf(created), ...learned(memory) }),
        ...parts.map((part) =>
          change(memory, part.copyId, "ADD", null, { copyOf: part.id, supersededBy: id }),
        ),
      ],
    },
  };
}

function planSighting(
  found: FoundStatement,
  { id, moves }: Decided<"touch" | "update">,
): PlannedWrite {
  const { statement, existing } = found;
  const { memory } = statement;
  const seen = byId(existing, id);
  const { text, seenCount } = seen;
  const times = seenCount + 1;
  // Equal text is no delta, and in a slot only the value counts.
  const isNews = !seen.keyed && contentHash(text) !== contentHash(memory.text);
  const now = { text: memory.text, seenCount: times, ...learned(memory) };
  const merged = change(memory, id, "MERGE", { text, seenCount }, now);
  return {
    outcome: { outcome: "merged", id, problems: [] },
    plan: {
      moves: movesTo(moves, id),
      sightings: [sightingOf(statement, seen, confirms(found, seen))],
      changes: [
        {
          ...merged,
          similarity: 1,
          delta: isNews ? deltaOf("merged", { ...memory, text }, times) : null,
        },
      ],
    },
  };
}

function planUpdate(
  context: WriteContext,
  { statement, existing }: FoundStatement,
  { id, moves }: Decided<"touch" | "update">,
): PlannedWrite {
  const { memory, vector } = statement;
  const old = byId(existing, id);
  const { category, pinned, tags, similarity, text, seenCount } = old;
  const merged = mergeInto(id, memory, absorbed(existing));
  const others = existing.filter((each) => each.id !== id);
  const links = nearestLinks(others, context);
  const times = seenCount + 1;
  const { metadata, expiresAt } = notedOf(memory, old);
  const { origin, trust } = memory;
  const now = { text: memory.text, seenCount: times, ...learned(memory), origin, trust };
  const updated = change(old, id, "UPDATE", { text, seenCount }, now);
  const importance = Math.max(old.importance, memory.importance);
  const confidence = Math.max(old.confidence, memory.confidence);
  // Unset fields keep their values.
  const version = Object.fromEntries(
    versionNames.map((name) => [name, memory[name] ?? old[name]]),
  ) as MemoryVersion;
  const merging = {
    category,
    pinned,
    tags,
    importance,
    confidence,
    metadata,
    expiresAt: expiresAt?.toISOString() ?? null,
  };
  const rewrite = {
    ...memory,
    ...version,
    ...merging,
    id,
    vector,
    links,
    state: "active" as const,
  };
  return {
    outcome: { outcome: "updated", id, problems: [] },
    plan: {
      deactivated: merged.deactivated,
      moves: movesTo(moves, undefined),
      sightings: [sightingOf(statement, old, true)],
      rewrites: [rewrite],
      changes: [
        ...merged.changes,
        {
          ...updated,
          similarity,
          delta: { ...deltaOf("updated", { ...memory, category }, times), importance },
        },
        ...linkChanges(old, links),
      ],
    },
  };
}

function mergeInto(
  supersededBy: string,
  memory: RankedMemory,
  duplicate: ExistingMemory | undefined,
): Pick<WritePlan, "deactivated" | "changes"> {
  if (!duplicate) return { deactivated: [], changes: [] };
  const { id, text } = duplicate;
  return {
    deactivated: [{ id, supersededBy, state: "merged", validTo: null, purgeAfterMs: null }],
    changes: [change(memory, id, "MERGE", { text }, { supersededBy })],
  };
}

/** Only the audit trail stores a value that ranks lower. */
function planKept(
  { statement: { memory }, existing }: FoundStatement,
  { id }: Decided<"keep">,
): PlannedWrite {
  const { text: refused, confidence, origin } = memory;
  const reason = conflictReason(byId(existing, id), memory);
  return {
    outcome: { outcome: "kept", id, problems: [] },
    plan: {
      changes: [change(memory, id, "UPDATE", null, { refused, confidence, origin, reason })],
    },
  };
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
): WritePlan["moves"] {
  return moves.map((move) => ({ ...move, supersededBy: move.validTo && successor }));
}

/** Whether the statement says all that is shown of `seen`: its text, and its slot. */
function confirms({ statement: { memory }, existing }: FoundStatement, seen: ExistingMemory) {
  const isSlot = existing.some(({ id, relation }) => id === seen.id && relation === "slot");
  return (isSlot || !seen.keyed) && contentHash(seen.text) === contentHash(memory.text);
}

/**
 * A lower-ranking statement raises neither confidence nor recency.
 * @param takesSource whether the memory then has the statement's words alone
 */
function sightingOf(
  { memory }: RankedStatement,
  seen: ExistingMemory,
  takesSource: boolean,
): Sighting {
  const { importance, confidence, origin, trust, rank, turn } = memory;
  const assertedAt = heldSince(memory, seen).toISOString();
  const isVouched = rank === seen.rank && trust === "operator" && seen.trust === "untrusted";
  return {
    id: seen.id,
    times: 1,
    importance,
    rank,
    ...notedOf(memory, seen),
    ...(rank < seen.rank
      ? { confidence: seen.confidence, assertedTurn: seen.turn, assertedAt: null }
      : { confidence, assertedTurn: turn, assertedAt }),
    ...(takesSource && (rank > seen.rank || isVouched)
      ? { origin, trust }
      : { origin: null, trust: null }),
  };
}

function notedOf({ metadata, expiresAt }: RankedMemory, existing: ExistingMemory): Noted {
  return notedAgain(existing, { metadata, expiresAt: expiresAt ?? null });
}

function replacedBy(old: ExistingMemory, memory: RankedMemory, supersededBy: string): MemoryChange {
  const { id, text, confidence, origin } = old;
  const reason = conflictReason(old, memory);
  return change(memory, id, "UPDATE", { text, confidence, origin }, { supersededBy, reason });
}

function deltaOf(
  event: ChangeEvent,
  memory: RankedMemory,
  seenCount: number,
): MemoryChange["delta"] & object {
  return {
    event,
    line: changeLine(event, { ...memory, seenCount }),
    importance: memory.importance,
  };
}

function change(
  { category }: { readonly category: string },
  memoryId: string,
  event: MemoryChange["event"],
  old: unknown,
  next: unknown,
): MemoryChange {
  return { memoryId, event, old, new: next, category };
}
