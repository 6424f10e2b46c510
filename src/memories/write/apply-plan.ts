import type { EventPlace } from "../../events/event-log.js";
import { type InsightsDue, markInsights, markWork } from "../../jobs/work-table.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { type LockedOwner, scopeColumns } from "../../scope/scope-predicates.js";
import { type MemoryChange, recordChanges } from "../changes/record-changes.js";
import { applyConsentPlan, type ConsentPlan } from "../guard/consent-statements.js";
import { setFields } from "../item/memory-fields.js";
import { type MovedInterval, moveIntervals, type SplitInterval, splitIntervals } from "../slot/slot-intervals.js";
import { insertMemories, type MemoryLink, type NewMemory } from "./insert-memories.js";
import { type Deactivation, deactivateMemories, type Sighting, touchMemories } from "./memory-states.js";
import { type MemoryRewrite, rewriteMemory } from "./rewrite-memory.js";
import type { KnownMemory, ToldStatement, WriteContext } from "./statement.js";
import type { WriteConfig, WriteOrigin } from "./write-runtime.js";

export type NearMemory = Pick<KnownMemory, "relation" | "id" | "similarity"> & {
  readonly ref: number | null;
};

export function newMemory(
  { config, newId }: WriteContext,
  { memory, vector }: ToldStatement,
  neighbours: readonly NearMemory[],
): NewMemory {
  return {
    ...memory,
    ...scopeColumns(memory.scope),
    id: newId(),
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
    links: nearestLinks(neighbours, config),
  };
}

/** What a model says that it is about comes first. `neighbours` must not hold the memory itself. */
export function nearestLinks(
  neighbours: readonly NearMemory[],
  { memories }: Pick<WriteConfig, "memories">,
): MemoryLink[] {
  const target = neighbours.filter(({ relation }) => relation === "target");
  const near = neighbours.filter(
    ({ relation, similarity, id }) =>
      relation === "near" && similarity >= memories.linkSimilarity && target[0]?.id !== id,
  );
  return [...target, ...near]
    .slice(0, memories.links)
    .map(({ ref, id, similarity }) => ({ ref, id, strength: similarity }));
}

export function linkChanges(
  { id, category }: { readonly id: string; readonly category: string },
  links: readonly MemoryLink[],
): MemoryChange[] {
  const [strongest] = links;
  if (!strongest) return [];
  const made = { links: links.map(({ id: to, strength }) => ({ to, strength })) };
  const [memoryId, similarity] = [id, strongest.strength];
  return [{ memoryId, event: "LINK", old: null, new: made, news: null, category, similarity }];
}

/** In the order in which it is done. */
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
  const joined = steps.map((step) => [step, plans.flatMap((plan): readonly object[] => plan[step] ?? [])]);
  return Object.fromEntries(joined) as WritePlan;
}

export interface PlanTarget {
  readonly owner: Pick<LockedOwner, "ref">;
  readonly scope: Scope;
  readonly space: EmbeddingSpace | null;
  readonly origin: WriteOrigin;
  /** Insights of a user that are due after what is written. @default none */
  readonly insights?: InsightsDue | undefined;
  /** Similarity of the best memory compared, null for none; unset without a comparison. */
  readonly search?: { readonly searched: number | null; readonly place: EventPlace } | undefined;
}

const isEvidence = ({ kind, state }: Pick<NewMemory, "kind" | "state">) =>
  state === "active" && (kind === "fact" || kind === "episode");

/** Rows that give up a slot or words come before those that take them. Under the owner's lock. */
export async function applyPlan(tx: Connection, target: PlanTarget, plan: WritePlan): Promise<void> {
  const { owner, scope, space, origin, insights, search } = target;
  const ownerRef = owner.ref;
  await deactivateMemories(tx, { ownerRef, changes: plan.deactivated, vectors: space !== null });
  await moveIntervals(tx, { ownerRef, moves: plan.moves });
  await splitIntervals(tx, { ownerRef, splits: plan.splits });
  const made = new Set(plan.created.map(({ id }) => id));
  const [now, later] = [false, true].map((isNew) => plan.rewrites.filter(({ id }) => made.has(id) === isNew));
  for (const rewrite of now ?? []) await rewriteMemory(tx, { ownerRef, rewrite, space });
  await insertMemories(tx, { ownerRef, memories: plan.created, space });
  const noted = plan.created.some(({ kind, state }) => kind === "note" && state === "active");
  if (noted) await markWork(tx, { kind: "compaction", of: "owner", ref: ownerRef });
  const learned = [...plan.created, ...plan.rewrites].some(isEvidence);
  if (insights && learned) await markInsights(tx, insights, { ownerRef, scope });
  await touchMemories(tx, { ownerRef, sightings: plan.sightings });
  for (const rewrite of later ?? []) await rewriteMemory(tx, { ownerRef, rewrite, space });
  const { actor, step } = origin;
  await recordChanges(tx, { ownerRef, scope, actor, step, ...search, changes: plan.changes });
  await applyConsentPlan(tx, plan, { ownerRef, scope });
}
