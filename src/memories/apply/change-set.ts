import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { EventPlace, EventStep } from "../../observability/events/event-log.js";
import { type RowOf, without } from "../../postgres/columns.js";
import type { OwnerRef, Scope } from "../../scope/scope.js";
import type { InsightsDue } from "../../work/work-table.js";
import { changeOf, type HistoryEvent, type MemoryChange } from "../audit/memory-change.js";
import type { ConsentPlan } from "../consent/consent-statements.js";
import type {
  MemoryItem,
  MemoryKind,
  MemoryLifecycle,
  MemoryOrigin,
  MemorySource,
  MemoryTrust,
} from "../item/memory.js";
import { learnedFrom, memoryColumns, versionColumns, versionOf } from "../item/memory-fields.js";
import type { IntervalMove, IntervalSplit } from "../slot/slot-timeline.rule.js";

/**
 * What changes memories of one owner, as a value: rules make it, `applyChanges` applies it, in an
 * order of its own.
 */
export interface ChangeSet extends ConsentPlan {
  /** Leave every search. */
  readonly deactivated: readonly Deactivation[];
  readonly moves: readonly MovedInterval[];
  readonly splits: readonly SplitInterval[];
  readonly created: readonly NewMemory[];
  readonly sightings: readonly Sighting[];
  /** Get new content, and become active. */
  readonly rewrites: readonly MemoryRewrite[];
  /** Take over tags, pins and sources of memories that were merged into them. */
  readonly joined: readonly JoinedMemory[];
  readonly links: readonly StoredLink[];
  /** Messages that memories do not rest on any more: they also rest on others. */
  readonly parted: readonly MessagesOfThread[];
  /** Records of the above: for the audit trail, the events, and agents. */
  readonly changes: readonly MemoryChange[];
  /** Ids of inactive memories to delete for good; the audit trail keeps them. */
  readonly purged: readonly string[];
  /** Ids of memories that forgetting deletes: what rests on them may no longer hold. */
  readonly ended: readonly string[];
  /** Ids of memories that are not in doubt any more: `changes` says why, or they were said again. */
  readonly settledDoubts: readonly string[];
}

/** Whose memories change, who changes them, and where. */
export interface Changer {
  readonly ownerRef: OwnerRef;
  readonly scope: Scope;
  readonly actor: string;
  readonly step: EventStep;
  /** The space of new vectors. @default none */
  readonly space?: EmbeddingSpace | null | undefined;
  /** Marks insights as due after new evidence. @default none */
  readonly insights?: InsightsDue | undefined;
  /** The search before the changes, for its event. @default none */
  readonly search?:
    | {
        /** Similarity of the nearest memory; null without any. */
        readonly similarity: number | null;
        readonly place: EventPlace;
      }
    | undefined;
}

export interface Deactivation {
  readonly id: string;
  readonly state: Exclude<MemoryLifecycle, "active">;
  readonly supersededBy?: string;
  /** End of its validity. @default only hidden */
  readonly validTo?: string;
  /** @default never purged */
  readonly purgeAfterMs?: number | undefined;
  /** Hidden for another reason than that it is wrong. @default what rests on it gets into doubt */
  readonly mayHold?: boolean | undefined;
}

export interface MovedInterval extends IntervalMove {
  readonly supersededBy?: string | undefined;
}

export interface SplitInterval extends IntervalSplit {
  readonly copyId: string;
  readonly supersededBy: string;
}

export interface MemoryLink {
  /** Null for a memory of the same insert. */
  readonly ref: number | null;
  readonly id: string;
  readonly strength: number;
}

export const newColumns = without(
  memoryColumns,
  ...(["assertedAt", "accessCount", "lastAccessedAt", "purgeAt"] as const),
  ...(["createdAt", "updatedAt", "revision", "doubtedAt"] as const),
);

export interface NewMemory extends RowOf<typeof newColumns> {
  /** Text prepared by `searchText`. */
  readonly terms: string;
  /** In pgvector's text form; null without embeddings. */
  readonly vector: string | null;
  readonly links: readonly MemoryLink[];
}

/** A memory after it was seen once more. The last sighting of a memory counts. */
export interface Sighting
  extends Pick<
    MemoryItem,
    "id" | "seenCount" | "importance" | "confidence" | "origin" | "trust" | "metadata" | "expiresAt"
  > {
  /** The owner's turn. An earlier one than the stored one does not count, as for the time. */
  readonly turn?: number | undefined;
  readonly assertedAt?: Date | undefined;
}

const { state, contentHash } = memoryColumns;
export const rewrittenColumns = { ...versionColumns, state, contentHash };

export interface MemoryRewrite extends RowOf<typeof rewrittenColumns> {
  readonly id: string;
  readonly kind: MemoryKind;
  readonly terms: string;
  /** Null keeps the vector. */
  readonly vector: string | null;
  /** Unset keeps it, as for the next three. */
  readonly origin?: MemoryOrigin | undefined;
  readonly trust?: MemoryTrust | undefined;
  readonly source?: MemorySource | undefined;
  readonly heldSince?: string | undefined;
  /** Replace the old text's links in both directions; null keeps these. */
  readonly links: readonly MemoryLink[] | null;
  /** Whether it was not active. @default false */
  readonly revived?: boolean;
}

export interface JoinedMemory {
  readonly id: string;
  readonly gone: readonly string[];
  readonly pinned: boolean;
  readonly tags: readonly string[];
  /** Id of the memory whose source it takes over; null without sources. */
  readonly sourceOf: string | null;
  /** Source messages of all of them in that source's thread. */
  readonly seqs: readonly number[];
}

/** Type of the links from an insight to its evidence. */
export const evidenceLink = "evidence";

/** A link between two stored memories, by ref. */
export interface StoredLink {
  readonly from: number;
  readonly to: number;
  /** 0 to 1. */
  readonly strength: number;
  /** An evidence link replaces a link by similarity. @default by similarity */
  readonly type?: typeof evidenceLink;
}

/** What is stored of `memory` after a sighting. */
export function sightingOf(memory: Sighting): Sighting {
  const { id, seenCount, importance, confidence, origin, trust } = memory;
  const { metadata, expiresAt, turn, assertedAt } = memory;
  const ratings = { importance, confidence, origin, trust };
  return { id, seenCount, ...ratings, metadata, expiresAt, turn, assertedAt };
}

export interface MessagesOfThread {
  readonly threadRef: number;
  readonly seqs: readonly number[];
}

/** One set with everything of `sets`, in their order. */
export function joinChanges(sets: readonly Partial<ChangeSet>[]): Partial<ChangeSet> {
  const joined: Record<string, unknown[]> = {};
  for (const set of sets) {
    for (const [kind, added] of Object.entries(set)) {
      joined[kind] ??= [];
      joined[kind].push(...added);
    }
  }
  return joined as Partial<ChangeSet>;
}

type Entry = Pick<MemoryChange, "old" | "new" | "similarity">;

/** Hides `gone`, which is merged into `kept`, and counts what `kept` has of it. */
export function mergeMemories(
  kept: MemoryItem & Pick<Sighting, "turn" | "assertedAt">,
  gone: MemoryItem,
  entries: { readonly kept: Entry; readonly gone: Entry },
  purgeAfterMs?: number,
): Pick<ChangeSet, "deactivated" | "sightings" | "changes"> {
  const removed = changeOf({ ...gone, category: kept.category }, "MERGE", entries.gone);
  const extended = changeOf(kept, "MERGE", { ...entries.kept, as: "merged" });
  return {
    deactivated: [{ id: gone.id, state: "merged", supersededBy: kept.id, purgeAfterMs }],
    sightings: [sightingOf(kept)],
    changes: [removed, extended],
  };
}

/** Hides active memories, so that they can be restored until their purge. */
export function hideMemories(
  memories: readonly MemoryItem[],
  { purgeAfterMs, mayHold }: Pick<Deactivation, "purgeAfterMs" | "mayHold">,
  event: HistoryEvent,
  detailsOf: (memory: MemoryItem) => object = () => ({}),
): Pick<ChangeSet, "deactivated" | "changes"> {
  const state = "soft_deleted";
  return {
    deactivated: memories.map(({ id }) => ({ id, state, purgeAfterMs, mayHold })),
    changes: memories.map((memory) =>
      changeOf(memory, event, {
        old: { ...versionOf(memory), state: memory.state },
        new: { state, ...learnedFrom(memory), ...detailsOf(memory) },
        as: state,
      }),
    ),
  };
}
