import { randomUUID } from "node:crypto";
import type { Connection } from "../database/connection.js";
import { changeLine } from "../domain/change-line.js";
import type { Scope } from "../domain/scope.js";
import { decideWrite, type WriteDecision } from "../domain/write-decision.js";
import { searchText } from "../domain/search-text.js";
import type { ResolvedConfig } from "../options.js";
import { type Deactivation, deactivateMemories } from "../store/deactivate-memories.js";
import type { EmbeddingSpace } from "../store/embedding-space.js";
import { findWriteCandidates, type WriteCandidate } from "../store/find-write-candidates.js";
import { insertMemories, type NewMemory } from "../store/insert-memories.js";
import type { LockedOwner } from "../store/lock-owner.js";
import { type MemoryChange, recordChanges } from "../store/record-changes.js";
import { scopeColumns } from "../store/scope-columns.js";
import { type Sighting, touchMemories } from "../store/touch-memories.js";
import type { PreparedMemory } from "./prepare-memory.js";
import type { WriteOrigin, WriteOutcome } from "./write-memories.js";

/** A draft on its way to an owner. */
export interface OwnerDraft {
  readonly index: number;
  readonly memory: PreparedMemory;
  readonly vector: string | null;
  readonly sameAs: (id: string) => boolean;
}

interface Context {
  readonly tx: Connection;
  readonly owner: LockedOwner;
  readonly scope: Scope;
  readonly config: ResolvedConfig;
  readonly space: EmbeddingSpace | null;
  readonly origin: WriteOrigin;
}

/** All that one wave of drafts changes. */
interface Plan {
  readonly created: NewMemory[];
  readonly deactivated: Deactivation[];
  readonly sightings: Sighting[];
  readonly changes: MemoryChange[];
}

/** Writes an owner's drafts within the transaction that holds its lock. Outcomes by the drafts' indexes. */
export async function writeForOwner(
  context: Context,
  drafts: readonly OwnerDraft[],
): Promise<Map<number, WriteOutcome>> {
  const outcomes = new Map<number, WriteOutcome>();
  for (const wave of waves(drafts)) {
    const first = wave.map((doubles) => doubles[0] as OwnerDraft);
    const candidates = await findWriteCandidates(context.tx, {
      ownerRef: context.owner.ref,
      probes: first.map(({ memory, vector }) => ({ ...memory, appId: memory.scope.appId ?? "", key: memory.key ?? null, vector })),
      language: context.config.retrieval.language,
      space: context.space,
    });
    const plan: Plan = { created: [], deactivated: [], sightings: [], changes: [] };
    for (const [probe, doubles] of wave.entries()) {
      const rivals = candidates.filter((candidate) => candidate.probe === probe);
      const outcome = planDraft(context, plan, doubles, rivals);
      for (const { index } of doubles) outcomes.set(index, outcome);
    }
    await apply(context, plan);
  }
  return outcomes;
}

/**
 * Drafts in groups that can be written at once: within a wave, no two share a slot or say the same.
 *
 * Drafts that say the same are one entry; drafts for the same slot come one wave after another.
 */
function waves(drafts: readonly OwnerDraft[]): OwnerDraft[][][] {
  const entries = new Map<string, OwnerDraft[]>();
  for (const draft of drafts) {
    const { kind, contentHash, scope, key } = draft.memory;
    const same = JSON.stringify([kind, contentHash, scope.appId ?? null, key ?? null]);
    entries.set(same, [...(entries.get(same) ?? []), draft]);
  }
  const result: OwnerDraft[][][] = [];
  const taken: Set<string>[] = [];
  for (const entry of entries.values()) {
    const { scope, category, key, kind, contentHash } = (entry[0] as OwnerDraft).memory;
    const claims = [JSON.stringify(["same", scope.appId, kind, contentHash])];
    if (key !== undefined) claims.push(JSON.stringify(["slot", scope.appId, category, key]));
    // After the last wave that shares a claim, so that later drafts meet earlier ones in their order.
    const at = taken.findLastIndex((wave) => claims.some((claim) => wave.has(claim))) + 1;
    result[at] = [...(result[at] ?? []), entry];
    taken[at] = new Set([...(taken[at] ?? []), ...claims]);
  }
  return result;
}

function planDraft(context: Context, plan: Plan, doubles: OwnerDraft[], rivals: WriteCandidate[]): WriteOutcome {
  const draft = doubles[0] as OwnerDraft;
  const { memory } = draft;
  const turn = context.owner.turns;
  const decision = settleAsk(
    decideWrite(
      {
        ...memory,
        key: memory.key ?? null,
        value: memory.value ?? null,
        turn,
        validFrom: memory.validFrom ?? null,
      },
      rivals,
      {
        merge: context.config.memories.mergeSimilarity,
        ask: context.config.memories.askSimilarity,
        review: context.config.memories.reviewSimilarity,
      },
    ),
    draft,
  );
  if (decision.action === "touch") return planSighting(plan, draft, doubles.length, decision, rivals, turn);
  if (decision.action === "keep") {
    plan.changes.push(change(memory, decision.id, "UPDATE", null, { refused: memory.text, confidence: memory.confidence }));
    return { outcome: "kept", id: decision.id, problems: [] };
  }

  const id = randomUUID();
  const created = newMemory(context, draft, id, doubles.length, rivals);
  if (decision.action === "insert_closed") {
    const closed = { state: "superseded", validTo: decision.until.toISOString(), supersededBy: decision.id } as const;
    plan.created.push({ ...created, ...closed });
    plan.changes.push(change(memory, id, "ADD", null, content(created)));
    return { outcome: "closed", id, problems: [] };
  }
  plan.created.push(created);
  if (decision.action === "replace") {
    const old = rivals.find((rival) => rival.id === decision.id);
    const validTo = (memory.validFrom ?? new Date()).toISOString();
    plan.deactivated.push({ id: decision.id, state: "superseded", supersededBy: id, validTo, purgeAfterMs: null });
    plan.changes.push(
      change(memory, decision.id, "UPDATE", old && { text: old.text, confidence: old.confidence }, { supersededBy: id }),
    );
  }
  const event = decision.action === "replace" ? "updated" : "created";
  plan.changes.push({
    ...change(memory, id, "ADD", null, content(created)),
    news: { event, line: changeLine(event, { ...memory, seenCount: doubles.length }), importance: memory.importance },
    similarity: rivals.find((rival) => rival.relation === "near")?.similarity ?? null,
  });
  return { outcome: decision.action === "replace" ? "replaced" : "created", id, problems: [] };
}

/** A pair that needs a model's word gets the one given before the transaction; without one it stays two. */
function settleAsk(decision: WriteDecision, draft: OwnerDraft): Exclude<WriteDecision, { action: "ask" }> {
  if (decision.action !== "ask") return decision;
  return draft.sameAs(decision.id) ? { ...decision, action: "touch" } : { action: "create" };
}

function planSighting(
  plan: Plan,
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
  // The same words again are no news.
  const news = similarity < 1 ? { event: "merged" as const, line, importance } : null;
  plan.changes.push({ ...change(memory, id, "MERGE", old, { text: memory.text, seenCount }), news, similarity });
  return { outcome: "merged", id, problems: [] };
}

function newMemory(
  { owner, config }: Context,
  { memory, vector }: OwnerDraft,
  id: string,
  seenCount: number,
  rivals: readonly WriteCandidate[],
): NewMemory {
  const links = rivals
    .filter(({ relation, similarity }) => relation === "near" && similarity >= config.memories.linkSimilarity)
    .slice(0, config.memories.links)
    .map(({ ref, similarity }) => ({ ref, strength: similarity }));
  return {
    ...memory,
    ...scopeColumns(memory.scope),
    id,
    key: memory.key ?? null,
    value: memory.value ?? null,
    state: "active",
    agentId: memory.agentId ?? null,
    runId: memory.runId ?? null,
    actorId: memory.actorId ?? null,
    actorTerms: searchText(memory.actorId ?? "", config.retrieval.language),
    role: memory.role ?? null,
    threadId: memory.source?.threadId ?? null,
    sourceSeqs: memory.source?.seqs ?? [],
    evidence: memory.source?.quote ?? null,
    turnStart: memory.turns?.start ?? null,
    turnEnd: memory.turns?.end ?? null,
    assertedTurn: owner.turns,
    seenCount,
    validFrom: memory.validFrom?.toISOString() ?? null,
    validTo: null,
    supersededBy: null,
    vector,
    links,
  };
}

function content({ text, category, key, value, importance, confidence }: NewMemory) {
  return { text, category, key, value, importance, confidence };
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

async function apply({ tx, owner, scope, config, space, origin }: Context, plan: Plan): Promise<void> {
  const ownerRef = owner.ref;
  await deactivateMemories(tx, { ownerRef, changes: plan.deactivated, vectors: space !== null });
  await insertMemories(tx, { ownerRef, memories: plan.created, language: config.retrieval.language, space });
  await touchMemories(tx, { ownerRef, sightings: plan.sightings });
  await recordChanges(tx, { ownerRef, scope, actor: origin.actor, node: origin.node, changes: plan.changes });
}
