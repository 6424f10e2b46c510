import { randomUUID } from "node:crypto";
import { changeLine } from "../domain/change-line.js";
import { contentHash } from "../domain/content-hash.js";
import { searchName } from "../domain/search-text.js";
import { absorbed } from "../domain/write-decision.js";
import type { Deactivation } from "../store/deactivate-memories.js";
import type { WriteCandidate } from "../store/find-write-candidates.js";
import type { NewMemory } from "../store/insert-memories.js";
import type { MemoryChange } from "../store/record-changes.js";
import type { MemoryRewrite } from "../store/rewrite-memory.js";
import type { Sighting } from "../store/touch-memories.js";
import type { SettledDecision } from "./decide-draft.js";
import type { OwnerDraft } from "./draft-waves.js";
import { linkChanges, nearestLinks } from "./memory-links.js";
import { contentOf, newMemory, saidTurn, type WriteContext } from "./new-memory.js";
import type { PreparedMemory } from "./prepare-memory.js";
import type { WriteOutcome } from "./write-memories.js";

/** All that one wave of drafts changes. */
export interface WritePlan {
  readonly created: NewMemory[];
  readonly deactivated: Deactivation[];
  readonly sightings: Sighting[];
  readonly rewrites: MemoryRewrite[];
  readonly changes: MemoryChange[];
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
  const turn = saidTurn(context, draft);
  if (decision.action === "update") {
    return planUpdate(context, plan, draft, { times: doubles.length, id: decision.id, rivals });
  }
  if (decision.action === "touch") return planSighting(plan, draft, doubles.length, decision, rivals, turn);
  if (decision.action === "keep") {
    plan.changes.push(
      change(memory, decision.id, "UPDATE", null, { refused: memory.text, confidence: memory.confidence }),
    );
    return { outcome: "kept", id: decision.id, problems: [] };
  }

  const id = randomUUID();
  const double = absorbed(rivals);
  const others = rivals.filter((rival) => rival.id !== double?.id);
  const created = newMemory(context, draft, id, doubles.length, others);
  if (decision.action === "insert_closed") {
    const closed = {
      state: "superseded",
      validTo: decision.until.toISOString(),
      supersededBy: decision.id,
    } as const;
    plan.created.push({ ...created, ...closed });
    plan.changes.push(change(memory, id, "ADD", null, contentOf(created)));
    return { outcome: "closed", id, problems: [] };
  }
  plan.created.push(created);
  if (decision.action === "replace") {
    const old = rivals.find((rival) => rival.id === decision.id);
    const validTo = (memory.validFrom ?? new Date()).toISOString();
    plan.deactivated.push({
      id: decision.id,
      state: "superseded",
      supersededBy: id,
      validTo,
      purgeAfterMs: null,
    });
    plan.changes.push(
      change(memory, decision.id, "UPDATE", old && { text: old.text, confidence: old.confidence }, {
        supersededBy: id,
      }),
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

function planSighting(
  plan: WritePlan,
  { memory }: OwnerDraft,
  times: number,
  { id, similarity }: { id: string; similarity: number },
  rivals: WriteCandidate[],
  assertedTurn: number,
): WriteOutcome {
  const known = rivals.find((rival) => rival.id === id) as WriteCandidate;
  const { confidence, importance } = memory;
  plan.sightings.push({ id, times, confidence, importance, assertedTurn });
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

function planUpdate(
  context: WriteContext,
  plan: WritePlan,
  draft: OwnerDraft,
  { times, id, rivals }: { times: number; id: string; rivals: readonly WriteCandidate[] },
): WriteOutcome {
  const { memory, vector } = draft;
  const known = rivals.find((rival) => rival.id === id) as WriteCandidate;
  const { category, pinned, tags, actorId, similarity } = known;
  const others = rivals.filter((rival) => rival.id !== id);
  const links = nearestLinks(others, context.config);
  const importance = Math.max(known.importance, memory.importance);
  const confidence = Math.max(known.confidence, memory.confidence);
  const seenCount = known.seenCount + times;
  plan.sightings.push({ id, times, confidence, importance, assertedTurn: saidTurn(context, draft) });
  plan.rewrites.push({
    ...memory,
    ...{ id, category, pinned, tags, importance, confidence, vector, links },
    state: "active",
    value: memory.value ?? known.value,
    actorTerms: searchName(actorId ?? "", context.config.retrieval.language),
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
