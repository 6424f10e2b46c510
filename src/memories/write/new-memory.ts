import { leastSimilarity } from "../../models/unrelated-similarity.rule.js";
import { scopeColumns } from "../../scope/scope-predicates.js";
import type { MemoryLink, NewMemory } from "../apply/change-set.js";
import { changeOf, type MemoryChange } from "../changes/memory-change.js";
import type { MemoryItem } from "../item/memory.js";
import { setFields } from "../item/memory-fields.js";
import type { ExistingMemory, FoundStatement, WriteContext } from "./statement.js";

type NearMemory = Pick<ExistingMemory, "relation" | "id" | "ref" | "similarity">;

export function newMemory(
  context: WriteContext,
  { memory, vector }: FoundStatement,
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
  memory: Pick<MemoryItem, "id" | "category" | "text" | "importance">,
  links: readonly MemoryLink[],
): MemoryChange[] {
  const [strongest] = links;
  if (!strongest) return [];
  const created = links.map(({ id: to, strength }) => ({ to, strength }));
  return [changeOf(memory, "LINK", { new: { links: created }, similarity: strongest.strength })];
}
