import { scopeColumns } from "../../scope/scope-predicates.js";
import { searchName } from "../../text/search-text.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { MemoryLink, NewMemory } from "./insert-memories.js";
import type { KnownMemory, ToldStatement, WriteContext } from "./statement.js";
import type { WriteConfig } from "./write-runtime.js";

/** `statement` as a row to insert, active and with a new id, linked to the nearest of `neighbours`. */
export function newMemory(
  { config, language, newId }: WriteContext,
  { memory, vector, said }: ToldStatement,
  neighbours: readonly KnownMemory[],
): NewMemory {
  return {
    ...memory,
    ...scopeColumns(memory.scope),
    id: newId(),
    key: memory.key ?? null,
    value: memory.value ?? null,
    state: "active",
    agentId: memory.agentId ?? null,
    runId: memory.runId ?? null,
    actorId: memory.actorId ?? null,
    actorTerms: searchName(memory.actorId ?? "", language),
    role: memory.role ?? null,
    threadId: memory.source?.threadId ?? null,
    sourceSeqs: memory.source?.seqs ?? [],
    evidence: memory.source?.quote ?? null,
    turnStart: memory.turns?.start ?? null,
    turnEnd: memory.turns?.end ?? null,
    assertedTurn: memory.turn,
    seenCount: said.length,
    validFrom: (memory.validFrom ?? memory.now).toISOString(),
    validTo: null,
    supersededBy: null,
    vector,
    links: nearestLinks(neighbours, config),
  };
}

/** What the audit trail keeps of a new memory. */
export function contentOf({
  text,
  category,
  key,
  value,
  importance,
  confidence,
  pinned,
  tags,
  origin,
}: NewMemory) {
  return { text, category, key, value, importance, confidence, pinned, tags, origin };
}

/** The links of a memory to the nearest of `neighbours`, which must not hold the memory itself. */
export function nearestLinks(
  neighbours: readonly KnownMemory[],
  { memories }: Pick<WriteConfig, "memories">,
): MemoryLink[] {
  return neighbours
    .filter(({ relation, similarity }) => relation === "near" && similarity >= memories.linkSimilarity)
    .slice(0, memories.links)
    .map(({ ref, similarity }) => ({ ref, strength: similarity }));
}

/** The entry of the audit trail for links just made; none where none were. */
export function linkChanges(
  { id, category }: { readonly id: string; readonly category: string },
  links: readonly MemoryLink[],
  known: readonly Pick<KnownMemory, "ref" | "id">[],
): MemoryChange[] {
  const [strongest] = links;
  if (!strongest) return [];
  const ids = new Map(known.map((each) => [each.ref, each.id]));
  const linked = links.map(({ ref, strength }) => ({ to: ids.get(ref), strength }));
  const similarity = strongest.strength;
  return [
    { memoryId: id, event: "LINK", old: null, new: { links: linked }, news: null, category, similarity },
  ];
}
