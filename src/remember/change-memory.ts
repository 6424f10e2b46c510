import { z } from "zod";
import type { Connection } from "../database/connection.js";
import { type ChangeEvent, changeLine } from "../domain/change-line.js";
import type { MemoryItem } from "../domain/memory.js";
import { parseScope, type Scope } from "../domain/scope.js";
import { searchText } from "../domain/search-text.js";
import { MemoryError } from "../errors.js";
import { deactivateMemories } from "../store/deactivate-memories.js";
import { findMemory } from "../store/find-memories.js";
import { type LockedOwner, lockOwner } from "../store/lock-owner.js";
import { type HistoryEvent, recordChanges } from "../store/record-changes.js";
import { rewriteMemory } from "../store/rewrite-memory.js";
import { prepareMemory } from "./prepare-memory.js";
import type { WriteDeps } from "./write-memories.js";

/** What of a memory may be changed by hand. */
export interface MemoryPatch {
  readonly text?: string;
  readonly value?: string;
  readonly category?: string;
  readonly importance?: number;
  readonly confidence?: number;
  readonly pinned?: boolean;
  readonly tags?: readonly string[];
}

/** Which memory, and who changes it. */
export interface ChangeInput {
  readonly scope: Scope;
  readonly id: string;
  /** For the audit trail. */
  readonly actor: string;
}

/** A soft-deleted memory can be restored for this long (seed 004 §7). */
const purgeAfterMs = 30 * 86_400_000;

/**
 * Changes a memory in place.
 *
 * @throws MemoryError `NOT_FOUND`, `INVALID_INPUT` when the new text breaks the writing constraints, `CONFLICT`
 *   when another active memory says the same.
 */
export async function updateMemory(
  deps: WriteDeps,
  input: ChangeInput & { patch: MemoryPatch },
): Promise<MemoryItem> {
  const patch = parsePatch(input.patch);
  const vector = patch.text === undefined ? null : ((await deps.embedder?.documents([patch.text])) ?? null);
  return change(deps, input, async (tx, owner, memory) => {
    requireState(memory, "active");
    await rewrite(deps, tx, owner, { ...memory, ...patch }, vector);
    const line = patch.text === undefined ? null : "updated";
    return { event: "UPDATE", news: line, old: fields(memory), new: patch };
  });
}

/**
 * Hides a memory from every search at once; for 30 days it can be restored.
 *
 * @throws MemoryError `NOT_FOUND`, `CONFLICT` when it is not active.
 */
export async function removeMemory(deps: WriteDeps, input: ChangeInput): Promise<MemoryItem> {
  return change(deps, input, async (tx, owner, memory) => {
    requireState(memory, "active");
    await deactivateMemories(tx, {
      ownerRef: owner.ref,
      changes: [{ id: memory.id, state: "soft_deleted", supersededBy: null, validTo: null, purgeAfterMs }],
      vectors: deps.embedder !== null,
    });
    return { event: "DELETE", news: "soft_deleted", old: fields(memory), new: { state: "soft_deleted" } };
  });
}

/**
 * Brings a removed memory back.
 *
 * @throws MemoryError `NOT_FOUND`, `CONFLICT` when it was not removed, or its slot or statement is held by another.
 */
export async function restoreMemory(deps: WriteDeps, input: ChangeInput): Promise<MemoryItem> {
  const known = await requireMemory(deps.db, input);
  const vector = (await deps.embedder?.documents([known.text])) ?? null;
  return change(deps, input, async (tx, owner, memory) => {
    requireState(memory, "soft_deleted");
    await rewrite(deps, tx, owner, memory, vector);
    return { event: "RESTORE", news: "restored", old: { state: memory.state }, new: fields(memory) };
  });
}

const patchSchema = z.strictObject({
  text: z.string().optional(),
  value: z.string().optional(),
  category: z.string().optional(),
  importance: z.number().min(1).max(5).optional(),
  confidence: z.number().min(0).max(1).optional(),
  pinned: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
});

/** Only what is set: an unset field must not overwrite. */
function parsePatch(patch: MemoryPatch): MemoryPatch {
  const parsed = patchSchema.safeParse(patch);
  if (!parsed.success)
    throw new MemoryError("INVALID_INPUT", `Invalid change: ${z.prettifyError(parsed.error)}`);
  return Object.fromEntries(Object.entries(parsed.data).filter(([, value]) => value !== undefined));
}

interface Changed {
  readonly event: HistoryEvent;
  readonly news: ChangeEvent | null;
  readonly old: unknown;
  readonly new: unknown;
}

async function change(
  deps: WriteDeps,
  input: ChangeInput,
  apply: (tx: Connection, owner: LockedOwner, memory: MemoryItem) => Promise<Changed>,
): Promise<MemoryItem> {
  const { scope } = await requireMemory(deps.db, input);
  try {
    return await deps.db.transaction(async (tx) => {
      const owner = await lockOwner(tx, scope);
      // Read again: it may have changed while the lock was waited for.
      const memory = await requireMemory(tx, input);
      const { event, news, old, new: next } = await apply(tx, owner, memory);
      const changed = await requireMemory(tx, input);
      const line = news && { event: news, line: changeLine(news, changed), importance: changed.importance };
      await recordChanges(tx, {
        ownerRef: owner.ref,
        scope,
        actor: input.actor,
        node: "api",
        changes: [
          {
            memoryId: memory.id,
            event,
            old,
            new: next,
            news: line,
            category: memory.category,
            similarity: null,
          },
        ],
      });
      return changed;
    });
  } catch (error) {
    throw isTaken(error)
      ? new MemoryError("CONFLICT", `Another active memory holds the slot or says the same as ${input.id}.`, {
          cause: error,
        })
      : error;
  }
}

async function rewrite(
  { config }: WriteDeps,
  tx: Connection,
  owner: LockedOwner,
  memory: Omit<MemoryItem, "value"> & { value?: string | null | undefined },
  embedded: Awaited<ReturnType<NonNullable<WriteDeps["embedder"]>["documents"]>> | null,
): Promise<void> {
  const { id, text, importance, confidence, pinned, tags, kind, key, value } = memory;
  const prepared = prepareMemory(
    {
      ...{
        text,
        kind,
        importance,
        confidence,
        pinned,
        tags,
        category: memory.category,
        key: key ?? undefined,
      },
      source: memory.source ?? undefined,
      turns: memory.turns ?? undefined,
    },
    {
      ...memory.scope,
      ...(kind === "note" && memory.scope.appId !== undefined && { appId: memory.scope.appId }),
    },
    config,
  );
  if ("problems" in prepared) {
    throw new MemoryError("INVALID_INPUT", `That text cannot be a memory: ${prepared.problems.join(", ")}.`);
  }
  const { language } = config.retrieval;
  await rewriteMemory(tx, {
    ownerRef: owner.ref,
    language,
    space: embedded?.space ?? null,
    rewrite: {
      ...prepared,
      id,
      state: "active",
      value: value ?? null,
      actorTerms: searchText(memory.actorId ?? "", language),
      vector: embedded?.vectors[0] ?? null,
    },
  });
}

async function requireMemory(
  db: Connection,
  { scope, id }: { scope: Scope; id: string },
): Promise<MemoryItem> {
  const memory = await findMemory(db, parseScope(scope), id);
  if (memory) return memory;
  throw new MemoryError("NOT_FOUND", `There is no memory ${id} in this scope.`);
}

function requireState(memory: MemoryItem, state: MemoryItem["state"]): void {
  if (memory.state === state) return;
  throw new MemoryError("CONFLICT", `Memory ${memory.id} is ${memory.state}, not ${state}.`);
}

function fields({ text, category, value, importance, confidence, pinned }: MemoryItem) {
  return { text, category, value, importance, confidence, pinned };
}

function isTaken(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { constraint?: string } | undefined) : undefined;
  return cause?.constraint === "memory_slot" || cause?.constraint === "memory_content";
}
