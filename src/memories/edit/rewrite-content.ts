import { MemoryError } from "../../errors.js";
import { markWork } from "../../jobs/work-table.js";
import type { Embedded } from "../../models/embedder.js";
import type { Connection } from "../../postgres/connection.js";
import type { LockedOwner } from "../../scope/scope-predicates.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { CategoryPolicy } from "../item/category.rule.js";
import type { MemoryItem } from "../item/memory.js";
import { type MemoryWords, screenedNames, setFields, wordsIn } from "../item/memory-fields.js";
import { findSlotIntervals } from "../slot/slot-intervals.js";
import { freeSince } from "../slot/slot-timeline.rule.js";
import { linkChanges, nearestLinks } from "../write/apply-plan.js";
import { findCandidates } from "../write/find-candidates.js";
import { itemDraft, type PreparedMemory, prepareMemory } from "../write/prepare-memory.js";
import { type MemoryRewrite, rewriteMemory } from "../write/rewrite-memory.js";
import type { WriteRuntime } from "../write/write-runtime.js";
import { instructionsIn } from "../write/writing-constraints.rule.js";

/**
 * Gives the memory `before` the content of `next` and makes it active. New text gets new links. A memory that takes a
 * slot holds since the slot's last value ended. @throws MemoryError `INVALID_INPUT` for text that cannot be a memory
 * @param how.embedded null keeps the vector.
 * @param how.vouched whether it may read as instructions to a model: a person approved it, or it was screened.
 */
export async function rewriteContent(
  { config }: WriteRuntime,
  { tx, owner, before, passed }: Editing,
  next: MemoryItem,
  how: Pick<MemoryRewrite, "origin" | "trust"> & { embedded: Embedded | null; vouched: boolean },
): Promise<MemoryChange[]> {
  const { id } = next;
  const memory = prepareRewrite(config.policy, next);
  if (!how.vouched) requireScreened(memory, before, passed);
  const vector = how.embedded?.vectors[0] ?? null;
  const place = { ownerRef: owner.ref, space: how.embedded?.space ?? null };
  const relinked = next.text !== before.text || before.state === "quarantined";
  const sought = relinked ? [{ memory, vector, self: id }] : [];
  const [near = []] = await findCandidates(tx, { ...place, sought });
  const links = relinked ? nearestLinks(near, config) : null;
  const moved = before.state !== "active" || next.category !== before.category;
  const heldSince = moved ? await heldFrom(tx, owner, next) : undefined;
  await rewriteMemory(tx, {
    ...place,
    rewrite: {
      ...memory,
      ...setFields(memory),
      id,
      vector,
      links,
      heldSince,
      state: "active",
      origin: how.origin,
      trust: how.trust,
      expiresAt: memory.expiresAt?.toISOString() ?? null,
    },
  });
  if (next.kind === "note" && before.state !== "active") {
    await markWork(tx, { kind: "compaction", of: "owner", ref: owner.ref });
  }
  return linkChanges(next, links ?? []);
}

/** Under the lock of its owner. */
export interface Editing {
  readonly tx: Connection;
  readonly owner: LockedOwner;
  readonly before: MemoryItem;
  /** Words that the screen let through. */
  readonly passed: ReadonlySet<string>;
}

/** The words that the screen lets through, asked before the lock is taken: a classifier may take its time. */
export async function screenedWords(
  { config, screen }: WriteRuntime,
  before: MemoryItem,
  next: MemoryItem,
): Promise<ReadonlySet<string>> {
  const memory = prepareRewrite(config.policy, next);
  const words = unknownWords(memory, before, new Set());
  const found = await instructionsIn(screen, memory, words);
  return new Set(words.filter((each) => !found.includes(each)));
}

function unknownWords(next: MemoryWords, before: MemoryItem, passed: ReadonlySet<string>): string[] {
  const known = before.state === "active" ? wordsIn(before, screenedNames) : [];
  return wordsIn(next, screenedNames).filter((each) => !passed.has(each) && !known.includes(each));
}

function requireScreened(next: PreparedMemory, before: MemoryItem, passed: ReadonlySet<string>): void {
  if (next.origin === "operator" || unknownWords(next, before, passed).length === 0) return;
  throw new MemoryError(
    "INVALID_INPUT",
    "That text cannot be a memory: it reads as instructions to a model. Add it as a new memory, which puts it " +
      'in quarantine, or with `origin: "operator"`.',
  );
}

/** An expired memory that is shown again never expires. */
export function unexpiredFrom({ owner }: Pick<Editing, "owner">, next: MemoryItem): MemoryItem {
  const over = next.expiresAt !== null && next.expiresAt <= owner.now;
  return over ? { ...next, expiresAt: null } : next;
}

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

function prepareRewrite(policy: CategoryPolicy, memory: MemoryItem): PreparedMemory {
  const prepared = prepareMemory(itemDraft(memory), memory.scope, policy);
  if (!("problems" in prepared)) return prepared;
  throw new MemoryError("INVALID_INPUT", `That text cannot be a memory. ${prepared.message}`);
}
