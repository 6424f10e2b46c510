import sql from "sql-template-tag";
import { MemoryError } from "../../errors.js";
import type { Embedded } from "../../models/embedder.js";
import type { Connection } from "../../postgres/connection.js";
import { isId, type LockedOwner } from "../../scope/scope-predicates.js";
import type { ChangeSet } from "../apply/change-set.js";
import type { CategoryPolicy } from "../item/category.rule.js";
import { endedDoubt } from "../item/doubt.rule.js";
import { isApproved, type MemoryItem } from "../item/memory.js";
import {
  type MemoryWords,
  memoryWords,
  screenedNames,
  setFields,
  versionOf,
} from "../item/memory-fields.js";
import { findExisting } from "../write/find-existing.js";
import { linkChanges, nearestLinks } from "../write/plan-statement.js";
import { itemDraft, prepareDraft, type Statement } from "../write/prepare-drafts.js";
import type { WriteRuntime } from "../write/write-types.js";
import { instructionsIn } from "../write/writing-constraints.rule.js";

/** An edit under the owner's lock. */
export interface Editing {
  readonly tx: Connection;
  readonly owner: LockedOwner;
  readonly before: MemoryItem;
  /** Texts that passed the screen. @default all: they were screened when they were written */
  readonly passed?: ReadonlySet<string>;
  /** The new text. @default keeps the vector */
  readonly embedded?: Embedded | null;
}

/** A memory as a change leaves it, and what makes it so. */
export interface PlannedEdit {
  readonly after: MemoryItem;
  readonly set: Partial<ChangeSet>;
}

/**
 * Gives the memory `before` the content and trust of `next` and makes it active. New text gets new
 * links.
 * @param gone a memory that goes at the same time, which gets no link
 * @throws MemoryError `INVALID_INPUT` for text that cannot be a memory
 */
export async function planRewrite(
  { config }: WriteRuntime,
  { tx, owner, before, passed, embedded }: Editing,
  next: MemoryItem,
  gone?: string,
): Promise<PlannedEdit> {
  const { id, origin, trust } = next;
  const memory = prepareRewrite(config.policy, next);
  if (passed && !isApproved(next)) requireScreened(memory, before, passed);

  // New text has other neighbours.
  const vector = embedded?.vectors[0] ?? null;
  const isRelinked = next.text !== before.text || before.state === "quarantined";
  const statements = isRelinked ? [{ ...memory, vector }] : [];
  const space = embedded?.space ?? null;
  const search = { ownerRef: owner.ref, space, statements, self: id };
  const [near = []] = await findExisting(tx, search);
  const staying = near.filter((each) => each.id !== gone);
  const links = isRelinked ? nearestLinks(staying, { config, comparedIn: space }) : null;

  // In another slot it is valid only after that slot's values.
  const revived = before.state !== "active";
  const takesSlot = revived || next.category !== before.category;
  const heldSince = takesSlot ? await slotFreeSince(tx, owner, next) : undefined;

  const expiresAt = memory.expiresAt?.toISOString() ?? null;
  const content = { ...memory, ...setFields(memory), origin, trust, expiresAt };
  const rewrite = { ...content, id, vector, links, heldSince, revived, state: "active" as const };
  return {
    after: { ...next, ...versionOf(memory), state: "active" },
    set: {
      rewrites: [rewrite],
      settledDoubts: endedDoubt(before),
      changes: linkChanges(next, links ?? []),
    },
  };
}

/** The new texts that pass the screen; none is asked for where a person approved the memory. */
export async function screenedWords(
  { config, screen }: WriteRuntime,
  before: MemoryItem,
  next: MemoryItem,
): Promise<ReadonlySet<string>> {
  const memory = prepareRewrite(config.policy, next);
  const texts = isApproved(next) ? [] : newTexts(memory, before);
  const instructions = new Set(await instructionsIn(screen, memory, texts));
  return new Set(texts.filter((text) => !instructions.has(text)));
}

/** All of them, where the memory loses its approval: nobody screened what a person approved. */
function newTexts(next: MemoryWords, before: MemoryItem): string[] {
  const isOld = before.state === "active" && !isApproved(before);
  const old = isOld ? memoryWords(before, screenedNames) : [];
  return memoryWords(next, screenedNames).filter((text) => !old.includes(text));
}

function requireScreened(next: Statement, before: MemoryItem, passed: ReadonlySet<string>): void {
  if (next.origin === "operator" || newTexts(next, before).every((text) => passed.has(text)))
    return;
  const problem = "That text cannot be a memory: it reads as instructions to a model.";
  const advice =
    'Add it as a new memory, which puts it in quarantine, or with `origin: "operator"`.';
  throw new MemoryError("INVALID_INPUT", `${problem} ${advice}`);
}

/** The end of the last of the slot's superseded values, when that is later than `validFrom`. */
async function slotFreeSince(
  tx: Connection,
  owner: LockedOwner,
  { id, scope, category, key, validFrom }: MemoryItem,
): Promise<string | undefined> {
  if (key === null) return undefined;
  const [ended] = await tx.query<{ last: string | null }>(sql`
    select to_json(max(valid_to)) #>> '{}' as last
    from ${tx.schema}.memory
    where owner_ref = ${owner.ref} and ${isId(sql`app_id`, scope.appId ?? "")} and category = ${category} and key = ${key}
      and state = 'superseded' and id <> ${id} and valid_to > greatest(valid_from, ${validFrom.toISOString()})`);
  return ended?.last ?? undefined;
}

function prepareRewrite(policy: CategoryPolicy, memory: MemoryItem): Statement {
  const prepared = prepareDraft(itemDraft(memory), memory.scope, policy);
  if (!("problems" in prepared)) return prepared;
  throw new MemoryError("INVALID_INPUT", `That text cannot be a memory. ${prepared.message}`);
}
