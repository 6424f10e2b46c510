import { randomUUID } from "node:crypto";
import { contentHash } from "../../text/normal-value.js";
import { searchName } from "../../text/search-text.js";
import { changeLine } from "../changes/change-line.js";
import type { MemoryChange } from "../changes/record-changes.js";
import { type ConflictReason, conflictReason, sourceRank } from "../slot/slot-conflict.js";
import type { MovedInterval, SplitInterval } from "../slot/slot-intervals.js";
import { heldSince, type IntervalMove } from "../slot/slot-timeline.js";
import { proposalOf, type SettledDecision } from "./decide-draft.js";
import type { OwnerDraft } from "./draft-waves.js";
import type { WriteCandidate } from "./find-write-candidates.js";
import type { NewMemory } from "./insert-memories.js";
import type { Deactivation, Sighting } from "./memory-states.js";
import {
  contentOf,
  linkChanges,
  nearestLinks,
  newMemory,
  saidTurn,
  type WriteContext,
} from "./new-memory.js";
import type { PreparedMemory } from "./prepare-memory.js";
import type { MemoryRewrite } from "./rewrite-memory.js";
import { absorbed } from "./write-decision.js";
import type { WriteOutcome } from "./write-runtime.js";

/** All that one wave of drafts changes. */
export interface WritePlan {
  readonly created: NewMemory[];
  readonly deactivated: Deactivation[];
  readonly sightings: Sighting[];
  readonly rewrites: MemoryRewrite[];
  readonly moves: MovedInterval[];
  readonly splits: SplitInterval[];
  readonly changes: MemoryChange[];
}

/** A plan that does nothing. */
export function emptyPlan(): WritePlan {
  return { created: [], deactivated: [], sightings: [], rewrites: [], moves: [], splits: [], changes: [] };
}

/**
 * Adds to `plan` what `decision` makes of drafts that say one and the same.
 *
 * Whether it may be done is not asked here: see `planGuardedDraft`.
 */
export function planDraft(
  context: WriteContext,
  plan: WritePlan,
  doubles: OwnerDraft[],
  rivals: WriteCandidate[],
  decision: SettledDecision,
): WriteOutcome {
  const draft = doubles[0] as OwnerDraft;
  const { memory } = draft;
  if (decision.action === "update") {
    planMoves(plan, decision.moves ?? [], null);
    return planUpdate(context, plan, draft, { times: doubles.length, id: decision.id, rivals });
  }
  if (decision.action === "touch") {
    planMoves(plan, decision.moves ?? [], decision.id);
    return planSighting(context, plan, draft, { times: doubles.length, decision, rivals });
  }
  if (decision.action === "keep") {
    const { text, confidence, origin } = memory;
    const reason = reasonOf(context, draft, rivals, decision.id);
    plan.changes.push(
      change(memory, decision.id, "UPDATE", null, { refused: text, confidence, origin, reason }),
    );
    return { outcome: "kept", id: decision.id, problems: [] };
  }

  const id = randomUUID();
  const double = absorbed(rivals);
  const others = rivals.filter((rival) => rival.id !== double?.id && !context.fresh.has(rival.id));
  const made = newMemory(context, draft, id, doubles.length, others);
  if (decision.action === "insert_closed") return planClosed(plan, memory, made, decision);
  const old = decision.action === "replace" ? rivals.find((rival) => rival.id === decision.id) : undefined;
  const since = sinceWhen(context, memory, old).toISOString();
  const created = { ...made, validFrom: since };
  plan.created.push(created);
  if (decision.action === "create") planMoves(plan, decision.moves ?? [], id);
  if (old) {
    plan.deactivated.push({
      ...{ id: old.id, state: "superseded", supersededBy: id, validTo: since, purgeAfterMs: null },
    });
    const { text, confidence, origin } = old;
    const reason = reasonOf(context, draft, rivals, old.id);
    plan.changes.push(
      change(memory, old.id, "UPDATE", { text, confidence, origin }, { supersededBy: id, reason }),
    );
  }
  if (double) {
    const gone = { state: "merged", supersededBy: id, validTo: null, purgeAfterMs: null } as const;
    plan.deactivated.push({ ...gone, id: double.id });
    plan.changes.push(change(memory, double.id, "MERGE", { text: double.text }, { supersededBy: id }));
  }
  const event = decision.action === "replace" ? "updated" : "created";
  plan.changes.push({
    ...change(memory, id, "ADD", null, contentOf(created)),
    news: {
      event,
      line: changeLine(event, { ...memory, seenCount: doubles.length }),
      importance: memory.importance,
    },
    similarity: rivals.find((rival) => rival.relation === "near")?.similarity ?? null,
  });
  plan.changes.push(...linkChanges(created, created.links, rivals));
  return { outcome: decision.action === "replace" ? "replaced" : "created", id, problems: [] };
}

/** A value of the past, stored between the others of its slot. */
function planClosed(
  plan: WritePlan,
  memory: PreparedMemory,
  made: NewMemory,
  { id: supersededBy, until, moves = [], split }: Extract<SettledDecision, { action: "insert_closed" }>,
): WriteOutcome {
  const { id } = made;
  plan.created.push({ ...made, state: "superseded", validTo: until.toISOString(), supersededBy });
  plan.changes.push(change(memory, id, "ADD", null, contentOf(made)));
  planMoves(plan, moves, id);
  if (split) {
    const copyId = randomUUID();
    plan.splits.push({ ...split, copyId, supersededBy: id });
    plan.changes.push(change(memory, copyId, "ADD", null, { copyOf: split.id, supersededBy: id }));
  }
  return { outcome: "closed", id, problems: [] };
}

/** What ends earlier than it did gives way to `successor`, where there is one. */
function planMoves(plan: WritePlan, moves: readonly IntervalMove[], successor: string | null): void {
  for (const move of moves) {
    const supersededBy = move.validTo && successor !== null ? successor : undefined;
    plan.moves.push({ ...move, supersededBy });
  }
}

/** Since when `memory` holds, which takes the place of `known` or says the same. */
function sinceWhen(
  { owner }: WriteContext,
  { validFrom }: PreparedMemory,
  known: WriteCandidate | undefined,
): Date {
  return heldSince({ validFrom: validFrom ?? null, now: owner.now }, known);
}

function reasonOf(
  context: WriteContext,
  draft: OwnerDraft,
  rivals: readonly WriteCandidate[],
  id: string,
): ConflictReason {
  const rival = rivals.find((other) => other.id === id) as WriteCandidate;
  const proposal = proposalOf(draft.memory, { now: context.owner.now, turn: saidTurn(context, draft) });
  return conflictReason({ ...rival, rank: sourceRank(rival) }, proposal);
}

function planSighting(
  context: WriteContext,
  plan: WritePlan,
  draft: OwnerDraft,
  {
    times,
    decision: { id, similarity },
    rivals,
  }: { times: number; decision: { id: string; similarity: number }; rivals: readonly WriteCandidate[] },
): WriteOutcome {
  const { memory } = draft;
  const known = rivals.find((rival) => rival.id === id) as WriteCandidate;
  const { importance } = memory;
  plan.sightings.push(sightingOf(context, draft, known, times));
  const seenCount = known.seenCount + times;
  const old = { text: known.text, seenCount: known.seenCount };
  const line = changeLine("merged", { ...memory, text: known.text, seenCount });
  // The same words again are no news, in another order they are two notes; of a slot only its value counts.
  const isNews = similarity < 1 || (!known.keyed && contentHash(known.text) !== contentHash(memory.text));
  const news = isNews ? { event: "merged" as const, line, importance } : null;
  plan.changes.push({
    ...change(memory, id, "MERGE", old, { text: memory.text, seenCount }),
    news,
    similarity,
  });
  return { outcome: "merged", id, problems: [] };
}

/** `known`, said again: the word of whoever is believed less makes it neither surer nor fresher. */
function sightingOf(
  context: WriteContext,
  draft: OwnerDraft,
  known: WriteCandidate,
  times: number,
): Sighting {
  const { memory } = draft;
  const { importance, origin, trust } = memory;
  const [rank, before] = [sourceRank(memory), sourceRank(known)];
  const since = sinceWhen(context, memory, known);
  return {
    ...{ id: known.id, times, importance, rank },
    ...(rank < before
      ? { confidence: known.confidence, assertedTurn: known.turn, assertedAt: null }
      : {
          confidence: memory.confidence,
          assertedTurn: saidTurn(context, draft),
          assertedAt: since.toISOString(),
        }),
    ...(rank > before ? { origin, trust } : { origin: null, trust: null }),
  };
}

function planUpdate(
  context: WriteContext,
  plan: WritePlan,
  draft: OwnerDraft,
  { times, id, rivals }: { times: number; id: string; rivals: readonly WriteCandidate[] },
): WriteOutcome {
  const { memory, vector } = draft;
  const known = rivals.find((rival) => rival.id === id) as WriteCandidate;
  const { category, pinned, tags, actorId, similarity } = known;
  const others = rivals.filter((rival) => rival.id !== id && !context.fresh.has(rival.id));
  const links = nearestLinks(others, context.config);
  const importance = Math.max(known.importance, memory.importance);
  const confidence = Math.max(known.confidence, memory.confidence);
  const seenCount = known.seenCount + times;
  plan.sightings.push(sightingOf(context, draft, known, times));
  plan.rewrites.push({
    ...memory,
    ...{ id, category, pinned, tags, importance, confidence, vector, links },
    state: "active",
    value: memory.value ?? known.value,
    actorTerms: searchName(actorId ?? "", context.tx.language),
  });
  plan.changes.push({
    ...change(
      memory,
      id,
      "UPDATE",
      { text: known.text, seenCount: known.seenCount },
      { text: memory.text, seenCount },
    ),
    news: { event: "updated", line: changeLine("updated", { ...memory, category, seenCount }), importance },
    category,
    similarity,
  });
  plan.changes.push(...linkChanges(known, links, others));
  return { outcome: "updated", id, problems: [] };
}

function change(
  { category }: PreparedMemory,
  memoryId: string,
  event: MemoryChange["event"],
  old: unknown,
  next: unknown,
): MemoryChange {
  return { memoryId, event, old: old ?? null, new: next, news: null, category, similarity: null };
}
