import { MemoryError } from "../../errors.js";
import type { Embedded } from "../../models/embedder.js";
import type { Connection } from "../../postgres/connection.js";
import type { LockedOwner } from "../../scope/lock-owner.js";
import { searchName } from "../../text/search-text.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { CategoryPolicy } from "../item/category.js";
import type { MemoryItem } from "../item/memory.js";
import type { MemoryTrust } from "../item/trust.js";
import { findSlotIntervals } from "../slot/slot-intervals.js";
import { freeSince } from "../slot/slot-timeline.js";
import { findWriteCandidates } from "../write/find-write-candidates.js";
import { linkChanges, nearestLinks } from "../write/new-memory.js";
import { itemDraft, type PreparedMemory, prepareMemory } from "../write/prepare-memory.js";
import { rewriteMemory } from "../write/rewrite-memory.js";
import type { WriteRuntime } from "../write/write-runtime.js";

/**
 * Gives a memory of a locked owner the content of `memory` and makes it active. One that takes a slot again, or another
 * one, holds since what held that slot meanwhile ended.
 *
 * @param options.moves whether it was not active, or of another category.
 * @param options.embedded the text's vector; null keeps the one there is.
 * @param options.vouched whether instructions to a model may stand in it: a person approved it, or it was active
 *   with these very words before.
 * @param options.relink whether it is linked anew to what is nearest now: its text is another, or it never was.
 * @returns the further entries that the audit trail needs.
 * @throws MemoryError `INVALID_INPUT` when the text breaks the writing constraints.
 */
export async function rewriteContent(
  { config }: WriteRuntime,
  tx: Connection,
  owner: LockedOwner,
  memory: MemoryItem,
  options: {
    readonly embedded: Embedded | null;
    readonly vouched: boolean;
    readonly relink: boolean;
    readonly moves: boolean;
    readonly trust?: MemoryTrust | undefined;
  },
): Promise<MemoryChange[]> {
  const { id } = memory;
  const prepared = prepareRewrite({ policy: config.policy, language: tx.language }, memory, options.vouched);
  const vector = options.embedded?.vectors[0] ?? null;
  const place = { ownerRef: owner.ref, space: options.embedded?.space ?? null };
  const sought = options.relink ? [{ memory: prepared, vector, self: id }] : [];
  const [near = []] = await findWriteCandidates(tx, { ...place, sought });
  const links = options.relink ? nearestLinks(near, config) : null;
  const since = options.moves ? await heldFrom(tx, owner, memory) : undefined;
  await rewriteMemory(tx, {
    ...place,
    rewrite: {
      ...prepared,
      ...{ id, vector, links },
      state: "active",
      value: prepared.value ?? null,
      ...{ trust: options.trust, heldSince: since },
      actorTerms: searchName(memory.actorId ?? "", tx.language),
    },
  });
  return linkChanges(memory, links ?? [], near);
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
