import type { ResolvedConfig } from "../options.js";
import type { WriteCandidate } from "../store/find-write-candidates.js";
import type { MemoryLink } from "../store/insert-memories.js";
import type { MemoryChange } from "../store/record-changes.js";

/** The links of a memory to the nearest of `rivals`, which must not hold the memory itself. */
export function nearestLinks(
  rivals: readonly WriteCandidate[],
  { memories }: Pick<ResolvedConfig, "memories">,
): MemoryLink[] {
  return rivals
    .filter(({ relation, similarity }) => relation === "near" && similarity >= memories.linkSimilarity)
    .slice(0, memories.links)
    .map(({ ref, similarity }) => ({ ref, strength: similarity }));
}

/** The entry of the audit trail for links just made; none where none were. */
export function linkChanges(
  { id, category }: { readonly id: string; readonly category: string },
  links: readonly MemoryLink[],
  rivals: readonly WriteCandidate[],
): MemoryChange[] {
  const [strongest] = links;
  if (!strongest) return [];
  const ids = new Map(rivals.map((rival) => [rival.ref, rival.id]));
  const linked = links.map(({ ref, strength }) => ({ to: ids.get(ref), strength }));
  const similarity = strongest.strength;
  return [
    { memoryId: id, event: "LINK", old: null, new: { links: linked }, news: null, category, similarity },
  ];
}
