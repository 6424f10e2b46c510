import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import type { Connection } from "../../postgres/connection.js";
import { findQuote } from "../../text/find-quote.js";
import { parseInput } from "../../text/parse-input.js";
import { redactFields } from "../../text/redactor.js";
import { isApproved, type MemoryItem, type MemoryPatch, type MemoryVersion } from "../item/memory.js";
import { changeFields, versionOf, wordNames } from "../item/memory-fields.js";
import { hideMemories } from "../write/memory-states.js";
import { removeResting } from "../write/remove-resting.js";
import type { WriteRuntime } from "../write/write-runtime.js";
import { cutOff, trimToLength } from "../write/writing-constraints.rule.js";
import { type ChangeInput, editMemory, requireMemory } from "./edit-memory.js";
import { rejectMemory } from "./quarantine.js";
import { type Editing, rewriteContent, unexpiredFrom } from "./rewrite-content.js";

/** @throws MemoryError `INVALID_INPUT` when the text breaks the writing constraints; as `editMemory`. */
export async function updateMemory(
  deps: WriteRuntime,
  input: ChangeInput & { patch: MemoryPatch },
): Promise<MemoryItem> {
  const patch = await redactFields(deps.redactor, parsePatch(input.patch), wordNames);
  const embedded = patch.text === undefined ? null : ((await deps.embedder?.documents([patch.text])) ?? null);
  const states = patch.expiresAt === undefined ? (["active"] as const) : (["active", "soft_deleted"] as const);
  const nextOf = (before: MemoryItem): MemoryItem => {
    requireWhole(before, patch.text);
    return { ...before, ...patch, ...(outgrows(before, patch) && { value: null }) };
  };
  return editMemory(deps, { ...input, states, next: nextOf }, async (editing) => {
    const { before } = editing;
    requireExpired(editing);
    const next = nextOf(before);
    const also = await rewriteContent(deps, editing, next, { embedded, vouched: isApproved(before) });
    if (before.state !== "active") {
      return { event: "RESTORE", news: "restored", old: { state: before.state }, new: versionOf(next), also };
    }
    const news = patch.text === undefined ? null : "updated";
    return { event: "UPDATE", news, old: versionOf(before), new: versionOf(next), also };
  });
}

/** Hides a memory, and the insights that rest on it; a memory in quarantine is deleted for good. */
export async function removeMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  try {
    return await hideMemory(deps, input);
  } catch (error) {
    // Few memories are in quarantine: no other removal reads the state before.
    const current = MemoryError.is(error, "WRONG_STATE") ? error.details.current : null;
    if ((current as MemoryItem | null)?.state === "quarantined") return rejectMemory(deps, input);
    throw error;
  }
}

function hideMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const { purgeAfterMs } = deps.config.lifecycle;
  return editMemory(deps, { ...input, states: ["active"] }, async ({ tx, owner, before }) => {
    const whose = { ownerRef: owner.ref, vectors: deps.embedder !== null };
    const how = { ...whose, purgeAfterMs, event: "DELETE" } as const;
    await requireFew(tx, owner.ref, input);
    const [hidden] = await hideMemories(tx, how, [before], () => ({}));
    const also = await removeResting(tx, { ...whose, removed: [before.id], purgeAfterMs });
    return { event: "DELETE", news: "soft_deleted", old: hidden?.old, new: hidden?.new, also };
  });
}

/** Removals that one message of a user may ask for, whoever reads it: no model hides all there is. */
const mostAsked = 3;

async function requireFew(tx: Connection, owner: number, { messageId, threadId }: ChangeInput): Promise<void> {
  if (messageId === undefined) return;
  const asked = await tx.query(sql`
    select from ${tx.schema}.history h
    where h.owner_ref = ${owner} and h.event = 'DELETE' and h.new ->> 'state' = 'soft_deleted'
      and h.new #>> '{evidence,messageId}' = ${messageId}
      and h.new #>> '{evidence,threadId}' is not distinct from ${threadId ?? null}::text
    limit ${mostAsked}`);
  if (asked.length < mostAsked) return;
  throw new MemoryError(
    "CONFLICT",
    `One message of the user may have ${mostAsked} memories forgotten, and this one had. Ask the user which others to ` +
      "forget: the next message may have as many. All of a user's memories are forgotten by the app, with memory.forget.",
  );
}

/** Restores a removed, aged or expired memory, or a statement that a later one closed. @throws as `editMemory` */
export async function restoreMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const { key } = await requireMemory(deps.db, input);
  // A former value of a slot has its place in the past of the slot.
  const states = key === null ? (["soft_deleted", "superseded"] as const) : (["soft_deleted"] as const);
  const known = await requireMemory(deps.db, input, states);
  const embedded = (await deps.embedder?.documents([known.text])) ?? null;
  const next = (before: MemoryItem) => before;
  return editMemory(deps, { ...input, states, next }, async (editing) => {
    const before = unexpiredFrom(editing, editing.before);
    // Its links stay: they were made of the same text, and are hidden with it.
    await rewriteContent(deps, editing, before, { embedded, vouched: isApproved(before) });
    return { event: "RESTORE", news: "restored", old: { state: before.state }, new: versionOf(before) };
  });
}

function requireExpired({ before, owner }: Editing): void {
  if (before.state === "active" || (before.expiresAt !== null && before.expiresAt <= owner.now)) return;
  throw new MemoryError(
    "WRONG_STATE",
    `Memory ${before.id} was removed and has not expired: bring it back with memory.memories.restore.`,
    { details: { current: before } },
  );
}

function requireWhole({ kind, id }: MemoryItem, text: string | undefined): void {
  const rest = text === undefined ? "" : cutOff(text, trimToLength(kind, text) ?? text);
  if (rest === "") return;
  throw new MemoryError(
    "INVALID_INPUT",
    `Memory ${id} cannot be given that text: a memory has two sentences at most (a note four). ` +
      `Add this by itself: ${rest}`,
  );
}

/** A text without the slot's value would show the old value. */
function outgrows({ value, text: before }: MemoryItem, { text, value: next }: ParsedPatch): boolean {
  if (text === undefined || next !== undefined || value === null) return false;
  return findQuote(before, value) !== null && findQuote(text, value) === null;
}

const patchSchema = z.strictObject(changeFields);

type ParsedPatch = Partial<MemoryVersion>;

/** An unset field must not overwrite. */
function parsePatch(patch: MemoryPatch): ParsedPatch {
  const parsed = Object.entries(parseInput(patchSchema, patch, "change"));
  return Object.fromEntries(parsed.filter(([, value]) => value !== undefined));
}
