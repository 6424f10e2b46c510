import { MemoryError } from "../../errors.js";
import { markWork } from "../../jobs/work-table.js";
import type { Embedded } from "../../models/embedder.js";
import type { Connection } from "../../postgres/connection.js";
import type { LockedOwner } from "../../scope/scope-predicates.js";
import { searchName } from "../../text/search-text.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { CategoryPolicy } from "../item/category.rule.js";
import type { MemoryItem, MemoryOrigin, MemoryTrust } from "../item/memory.js";
import { setFields } from "../item/memory-fields.js";
import { findSlotIntervals } from "../slot/slot-intervals.js";
import { freeSince } from "../slot/slot-timeline.rule.js";
import { linkChanges, nearestLinks } from "../write/apply-plan.js";
import { findWriteCandidates } from "../write/find-write-candidates.js";
import { itemDraft, type PreparedMemory, prepareMemory } from "../write/prepare-memory.js";
import { rewriteMemory } from "../write/rewrite-memory.js";
import type { WriteRuntime } from "../write/write-runtime.js";

/**
 * Gives the memory `before` of a locked owner the content of `next` and makes it active. It is linked anew where its text
 * is another, or it never had links. Where it takes a slot (again), it holds since what had that slot meanwhile ended.
 *
 * @param how.embedded the text's vector; null keeps the one there is.
 * @param how.vouched whether instructions to a model may stand in it: a person approved it, or it was active with these
 *   very words before.
 * @param how.origin whose words they are. @default whose they were
 * @param how.trust who vouches for it. @default who did
 * @returns the further entries that the audit trail needs.
 * @throws MemoryError `INVALID_INPUT` when the text breaks the writing constraints.
 */
export async function rewriteContent(
  { config }: WriteRuntime,
  { tx, owner, before }: Editing,
  next: MemoryItem,
  how: {
    readonly embedded: Embedded | null;
    readonly vouched: boolean;
    readonly origin?: MemoryOrigin | undefined;
    readonly trust?: MemoryTrust | undefined;
  },
): Promise<MemoryChange[]> {
  const { id, actorId } = next;
  const memory = prepareRewrite({ policy: config.policy, language: tx.language }, next, how.vouched);
  const vector = how.embedded?.vectors[0] ?? null;
  const place = { ownerRef: owner.ref, space: how.embedded?.space ?? null };
  const relinked = next.text !== before.text || before.state === "quarantined";
  const sought = relinked ? [{ memory, vector, self: id }] : [];
  const [near = []] = await findWriteCandidates(tx, { ...place, sought });
  const links = relinked ? nearestLinks(near, config) : null;
  const moved = before.state !== "active" || next.category !== before.category;
  const heldSince = moved ? await heldFrom(tx, owner, next) : undefined;
  await rewriteMemory(tx, {
    ...place,
    rewrite: {
      ...{ ...memory, ...setFields(memory), id, vector, links, heldSince, state: "active" },
      ...{ origin: how.origin, trust: how.trust, expiresAt: memory.expiresAt?.toISOString() ?? null },
      actorTerms: searchName(actorId ?? "", tx.language),
    },
  });
  if (next.kind === "note" && before.state !== "active") {
    await markWork(tx, { kind: "compaction", of: "owner", ref: owner.ref });
  }
  return linkChanges(next, links ?? []);
}

/** A memory that is being edited, under the lock of its owner. */
export interface Editing {
  readonly tx: Connection;
  readonly owner: LockedOwner;
  /** As it was. */
  readonly before: MemoryItem;
}

/** `next`, which is to be seen again: for good, where its time is over. */
export function unexpiredFrom({ owner }: Pick<Editing, "owner">, next: MemoryItem): MemoryItem {
  const over = next.expiresAt !== null && next.expiresAt <= owner.now;
  return over ? { ...next, expiresAt: null } : next;
}

/** Since when `memory` holds once it is active; undefined where that does not change. */
async function heldFrom(
  tx: Connection,
  owner: LockedOwner,
  { id, scope, category, key, validFrom }: MemoryItem,
): Promise<string | undefined> {
  if (key === null) return undefined;
  const slots = [{ appId: scope.appId ?? "", category, key }];
  const others = await findSlotIntervals(tx, { ownerRef: owner.ref, slots, except: id });
  const ended = others.filter(({ active }) => !active);
  const from = validFrom.toISOString();
  const since = freeSince(from, ended);
  return since === from ? undefined : since;
}

function prepareRewrite(
  config: { readonly policy: CategoryPolicy; readonly language: string },
  memory: MemoryItem,
  vouched: boolean,
): PreparedMemory {
  const prepared = prepareMemory(itemDraft(memory), memory.scope, config);
  const problems = "problems" in prepared ? prepared.problems : [];
  if ("problems" in prepared || (prepared.quarantined && !vouched)) {
    throw new MemoryError(
      "INVALID_INPUT",
      problems.length > 0
        ? `That text cannot be a memory: ${problems.join(", ")}.`
        : "That text cannot be a memory: it reads as instructions to a model. Add it as a new memory, which puts it " +
            'in quarantine, or with `origin: "operator"`.',
    );
  }
  return prepared;
}
