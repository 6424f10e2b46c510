import { MemoryError } from "../../errors.js";
import { markWork } from "../../jobs/work-table.js";
import type { Embedded } from "../../models/embedder.js";
import type { Connection } from "../../postgres/connection.js";
import type { LockedOwner } from "../../scope/scope-predicates.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { CategoryPolicy } from "../item/category.rule.js";
import type { MemoryItem } from "../item/memory.js";
import { type MemoryWords, screenedNames, setFields, wordsIn } from "../item/memory-fields.js";
import { findEndedIntervals } from "../slot/slot-intervals.js";
import { freeSince } from "../slot/slot-timeline.rule.js";
import { linkChanges, nearestLinks } from "../write/apply-plan.js";
import { findCandidates } from "../write/find-candidates.js";
import { itemDraft, type PreparedMemory, prepareMemory } from "../write/prepare-memory.js";
import { rewriteMemory } from "../write/rewrite-memory.js";
import type { WriteRuntime } from "../write/write-types.js";
import { instructionsIn } from "../write/writing-constraints.rule.js";

/**
 * Gives the memory `before` the content and trust of `next` and makes it active. New text gets new links.
 * @param how.embedded null keeps the vector.
 * @param how.vouched skips screening: a person approved the memory.
 * @throws MemoryError `INVALID_INPUT` for text that cannot be a memory
 */
export async function rewriteContent(
  { config }: WriteRuntime,
  { tx, owner, before, passed }: Editing,
  next: MemoryItem,
  how: { embedded: Embedded | null; vouched: boolean },
): Promise<MemoryChange[]> {
  const { id } = next;
  const memory = prepareRewrite(config.policy, next);
  if (!how.vouched) requireScreened(memory, before, passed);
  const vector = how.embedded?.vectors[0] ?? null;
  const place = { ownerRef: owner.ref, space: how.embedded?.space ?? null };
  const isRelinked = next.text !== before.text || before.state === "quarantined";
  const sought = isRelinked ? [{ memory, vector, self: id }] : [];
  const [near = []] = await findCandidates(tx, { ...place, sought });
  const links = isRelinked ? nearestLinks(near, { ...place, config }) : null;
  const takesSlot = before.state !== "active" || next.category !== before.category;
  const heldSince = takesSlot ? await slotFreeSince(tx, owner, next) : undefined;
  const { origin, trust } = next;
  const expiresAt = memory.expiresAt?.toISOString() ?? null;
  const content = {
    ...memory,
    ...setFields(memory),
    id,
    vector,
    expiresAt,
    state: "active" as const,
  };
  await rewriteMemory(tx, { ...place, rewrite: { ...content, origin, trust, links, heldSince } });
  if (next.kind === "note" && before.state !== "active") {
    await markWork(tx, { kind: "compaction", of: "owner", ref: owner.ref });
  }
  return linkChanges(next, links ?? []);
}

/** An edit under the owner's lock. */
export interface Editing {
  readonly tx: Connection;
  readonly owner: LockedOwner;
  readonly before: MemoryItem;
  /** Texts that passed the screen. */
  readonly passed: ReadonlySet<string>;
}

/** The new texts that pass the screen. Called before the lock: a classifier may be slow. */
export async function screenedWords(
  { config, screen }: WriteRuntime,
  before: MemoryItem,
  next: MemoryItem,
): Promise<ReadonlySet<string>> {
  const memory = prepareRewrite(config.policy, next);
  const texts = newTexts(memory, before);
  const instructions = new Set(await instructionsIn(screen, memory, texts));
  return new Set(texts.filter((text) => !instructions.has(text)));
}

function newTexts(next: MemoryWords, before: MemoryItem): string[] {
  const old = before.state === "active" ? wordsIn(before, screenedNames) : [];
  return wordsIn(next, screenedNames).filter((text) => !old.includes(text));
}

function requireScreened(
  next: PreparedMemory,
  before: MemoryItem,
  passed: ReadonlySet<string>,
): void {
  if (next.origin === "operator" || newTexts(next, before).every((text) => passed.has(text)))
    return;
  const problem = "That text cannot be a memory: it reads as instructions to a model.";
  const advice =
    'Add it as a new memory, which puts it in quarantine, or with `origin: "operator"`.';
  throw new MemoryError("INVALID_INPUT", `${problem} ${advice}`);
}

/** A restored memory whose expiry has passed never expires. */
export function unexpiredFrom({ owner }: Pick<Editing, "owner">, next: MemoryItem): MemoryItem {
  const isExpired = next.expiresAt !== null && next.expiresAt <= owner.now;
  return isExpired ? { ...next, expiresAt: null } : next;
}

/** The end of the slot's last value, when that is later than `validFrom`. */
async function slotFreeSince(
  tx: Connection,
  owner: LockedOwner,
  memory: MemoryItem,
): Promise<string | undefined> {
  if (memory.key === null) return undefined;
  const from = memory.validFrom.toISOString();
  const since = freeSince(from, await findEndedIntervals(tx, owner.ref, memory));
  return since === from ? undefined : since;
}

function prepareRewrite(policy: CategoryPolicy, memory: MemoryItem): PreparedMemory {
  const prepared = prepareMemory(itemDraft(memory), memory.scope, policy);
  if (!("problems" in prepared)) return prepared;
  throw new MemoryError("INVALID_INPUT", `That text cannot be a memory. ${prepared.message}`);
}
