import { common, commonOrigin } from "../../conversation/find-messages.js";
import type { EventPlace } from "../../events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { LockedOwner } from "../../scope/lock-owner.js";
import { scopeColumns } from "../../scope/scope-predicates.js";
import { searchName } from "../../text/search-text.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { OwnerDraft } from "./draft-waves.js";
import type { WriteCandidate } from "./find-write-candidates.js";
import type { MemoryLink, NewMemory } from "./insert-memories.js";
import type { WriteConfig, WriteOrigin } from "./write-runtime.js";

/** The links of a memory to the nearest of `rivals`, which must not hold the memory itself. */
export function nearestLinks(
  rivals: readonly WriteCandidate[],
  { memories }: Pick<WriteConfig, "memories">,
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

/** Where drafts are written. */
export interface WriteContext {
  readonly tx: Connection;
  readonly owner: LockedOwner;
  readonly config: WriteConfig;
  /** What this very write has made so far: links lead to what was known before it. */
  readonly fresh: Set<string>;
}

/** The owner's turn at which a draft was said. */
export function saidTurn({ owner }: WriteContext, { turnsAgo }: OwnerDraft): number {
  return Math.max(0, owner.turns - turnsAgo);
}

/** `draft` as a row to insert, active, linked to the nearest of `rivals`. */
export function newMemory(
  context: WriteContext,
  draft: OwnerDraft,
  id: string,
  seenCount: number,
  rivals: readonly WriteCandidate[],
): NewMemory {
  const { config } = context;
  const { memory, vector } = draft;
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
    actorTerms: searchName(memory.actorId ?? "", context.tx.language),
    role: memory.role ?? null,
    threadId: memory.source?.threadId ?? null,
    sourceSeqs: memory.source?.seqs ?? [],
    evidence: memory.source?.quote ?? null,
    turnStart: memory.turns?.start ?? null,
    turnEnd: memory.turns?.end ?? null,
    assertedTurn: saidTurn(context, draft),
    seenCount,
    validFrom: (memory.validFrom ?? context.owner.now).toISOString(),
    validTo: null,
    supersededBy: null,
    vector,
    links: nearestLinks(rivals, config),
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

/** Where a draft was said. */
export function placeOf(origin: Pick<WriteOrigin, "threadId">, { memory }: OwnerDraft): EventPlace {
  const threadId = memory.source?.threadId ?? origin.threadId;
  return { threadId, agentId: memory.agentId, runId: memory.runId };
}

/** What the places of `drafts` have in common. */
export function commonPlace(
  origin: Pick<WriteOrigin, "threadId">,
  drafts: readonly OwnerDraft[],
): EventPlace {
  const places = drafts.map((draft) => placeOf(origin, draft));
  return { threadId: common(places.map(({ threadId }) => threadId)), ...commonOrigin(places) };
}
