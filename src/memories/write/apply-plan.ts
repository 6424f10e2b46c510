import type { EventPlace } from "../../events/event-log.js";
import { type InsightsDue, markInsights, markWork } from "../../jobs/work-table.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import { leastSimilarity } from "../../models/unrelated-similarity.rule.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { type LockedOwner, scopeColumns } from "../../scope/scope-predicates.js";
import { type MemoryChange, recordChanges } from "../changes/record-changes.js";
import { applyConsentPlan, type ConsentPlan } from "../guard/consent-statements.js";
import { setFields } from "../item/memory-fields.js";
import {
  type MovedInterval,
  moveIntervals,
  type SplitInterval,
  splitIntervals,
} from "../slot/slot-intervals.js";
import { insertMemories, type MemoryLink, type NewMemory } from "./insert-memories.js";
import {
  type Deactivation,
  deactivateMemories,
  type Sighting,
  touchMemories,
} from "./memory-states.js";
import { type MemoryRewrite, rewriteMemory } from "./rewrite-memory.js";
import type { ExistingMemory, RankedStatement, WriteContext } from "./statement.js";
import type { WriteOrigin } from "./write-types.js";

type NearMemory = Pick<ExistingMemory, "relation" | "id" | "ref" | "similarity">;

export function newMemory(
  context: WriteContext,
  { memory, vector }: RankedStatement,
  near: readonly NearMemory[],
): NewMemory {
  return {
    ...memory,
    ...scopeColumns(memory.scope),
    id: context.newId(),
    ...setFields(memory),
    state: "active",
    threadId: memory.source?.threadId ?? null,
    sourceSeqs: memory.source?.seqs ?? [],
    evidence: memory.source?.quote ?? null,
    turnStart: memory.turns?.start ?? null,
    turnEnd: memory.turns?.end ?? null,
    assertedTurn: memory.turn,
    seenCount: 1,
    validFrom: (memory.validFrom ?? memory.now).toISOString(),
    validTo: null,
    expiresAt: memory.expiresAt?.toISOString() ?? null,
    supersededBy: null,
    vector,
    links: nearestLinks(near, context),
  };
}

/** The target of a model's relation comes first. `existing` must not contain the memory itself. */
export function nearestLinks(
  existing: readonly NearMemory[],
  { config, space }: Pick<WriteContext, "config" | "space">,
): MemoryLink[] {
  const { linkSimilarity, links } = config.memories;
  const least = linkSimilarity ?? leastSimilarity(space, "linked");
  const target = existing.filter(({ relation }) => relation === "target");
  const near = existing.filter(({ relation, similarity, id }) => {
    return relation === "near" && similarity >= least && target[0]?.id !== id;
  });
  return [...target, ...near]
    .slice(0, links)
    .map(({ ref, id, similarity }) => ({ ref, id, strength: similarity }));
}

export function linkChanges(
  { id: memoryId, category }: { readonly id: string; readonly category: string },
  links: readonly MemoryLink[],
): MemoryChange[] {
  const [strongest] = links;
  if (!strongest) return [];
  const created = { links: links.map(({ id: to, strength }) => ({ to, strength })) };
  return [{ memoryId, event: "LINK", new: created, category, similarity: strongest.strength }];
}

/** In the order of execution. */
export interface WritePlan extends ConsentPlan {
  readonly deactivated: readonly Deactivation[];
  readonly moves: readonly MovedInterval[];
  readonly splits: readonly SplitInterval[];
  readonly created: readonly NewMemory[];
  readonly sightings: readonly Sighting[];
  readonly rewrites: readonly MemoryRewrite[];
  readonly changes: readonly MemoryChange[];
}

const steps = [
  ...(["deactivated", "moves", "splits", "created", "sightings", "rewrites", "changes"] as const),
  ...(["settled", "requests", "repeats", "events"] as const),
] satisfies readonly (keyof WritePlan)[];

export function joinPlans(plans: readonly Partial<WritePlan>[]): WritePlan {
  const joined = steps.map((step) => [
    step,
    plans.flatMap((plan): readonly object[] => plan[step] ?? []),
  ]);
  return Object.fromEntries(joined) as WritePlan;
}

export interface PlanTarget {
  readonly owner: Pick<LockedOwner, "ref">;
  readonly scope: Scope;
  readonly space: EmbeddingSpace | null;
  readonly origin: WriteOrigin;
  /** Marks insights as due after new evidence. @default none */
  readonly insights?: InsightsDue | undefined;
  readonly search?: { readonly searched: number | null; readonly place: EventPlace } | undefined;
}

const isEvidence = ({ kind, state }: Pick<NewMemory, "kind" | "state">) =>
  state === "active" && (kind === "fact" || kind === "episode");

/** Rows free a slot or text before others take it. Requires the owner's lock. */
export async function applyPlan(
  tx: Connection,
  target: PlanTarget,
  plan: WritePlan,
): Promise<void> {
  const { owner, scope, space, origin, insights, search } = target;
  const ownerRef = owner.ref;
  await deactivateMemories(tx, { ownerRef, changes: plan.deactivated, vectors: space !== null });
  await moveIntervals(tx, ownerRef, plan.moves);
  await splitIntervals(tx, ownerRef, plan.splits);
  const created = new Set(plan.created.map(({ id }) => id));
  const [ofStored = [], ofCreated = []] = [false, true].map((isNew) => {
    return plan.rewrites.filter(({ id }) => created.has(id) === isNew);
  });
  for (const rewrite of ofStored) await rewriteMemory(tx, { ownerRef, rewrite, space });
  await insertMemories(tx, { ownerRef, memories: plan.created, space });
  if (plan.created.some(({ kind, state }) => kind === "note" && state === "active")) {
    await markWork(tx, { kind: "compaction", of: "owner", ref: ownerRef });
  }
  const hasEvidence = [...plan.created, ...plan.rewrites].some(isEvidence);
  if (insights && hasEvidence) await markInsights(tx, insights, { ownerRef, scope });
  await touchMemories(tx, { ownerRef, sightings: plan.sightings });
  for (const rewrite of ofCreated) await rewriteMemory(tx, { ownerRef, rewrite, space });
  const { actor, step } = origin;
  await recordChanges(tx, { ownerRef, scope, actor, step, ...search, changes: plan.changes });
  await applyConsentPlan(tx, plan, { ownerRef, scope });
}
