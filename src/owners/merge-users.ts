import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { insertEvent } from "../events/event-log.js";
import { wordlessLine } from "../memories/changes/change-line.js";
import { recordChanges } from "../memories/changes/record-changes.js";
import { expireMemories } from "../memories/write/expire-memories.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import { hasVectors } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { asTenant } from "../postgres/isolation.js";
import { retryOn } from "../postgres/retry.js";
import { parseScope, parseThreadId, type Scope, scopeField } from "../scope/scope.js";
import { isId, lockOwner, scopeColumns } from "../scope/scope-predicates.js";
import { parseInput } from "../text/parse-input.js";
import { settleMemories } from "./merge-memories.js";
import { alignTurns, type Move, type MovedRows, moveRows, type OwnerCounters } from "./move-rows.js";

/** Whose becomes whose. */
export interface MergeUsers {
  /** `{ userId }`: all of a user, who is nobody afterwards. `{ appId }`: of an app, the conversations `threadIds`. */
  readonly from: Scope;
  /** The user that it becomes: `{ userId }`, of the same tenant. */
  readonly to: Scope;
  /**
   * Of an app: which of its conversations were this user's, begun before there was one. They move with what was learned
   * there; the app's notes stay.
   */
  readonly threadIds?: readonly string[] | undefined;
  /** Only say what would move. @default false */
  readonly dryRun?: boolean | undefined;
  /** For the audit trail. @default "api" */
  readonly actor?: string | undefined;
}

/** What a merge did, or would do. */
export interface Merged {
  readonly threads: number;
  readonly messages: number;
  /** Memories that moved, in whatever state. */
  readonly memories: number;
  /** Of both: those that became one with another that says the same. */
  readonly merged: number;
  /** Of both: those that gave way to another value of their slot, and are kept, closed. */
  readonly closed: number;
  /** Entries of the audit trail, news, requests for consent and events that moved. */
  readonly records: number;
  /** Items of LangGraph's store that moved; of two of one name the one written last stays. */
  readonly items: number;
}

const mergeSchema = z.strictObject({
  from: scopeField,
  to: scopeField,
  threadIds: z.array(z.unknown()).min(1).max(1_000).optional(),
  dryRun: z.boolean().default(false),
  actor: z.string().default("api"),
});

/** What a dry run throws, so that all it did is undone. */
class Undone extends Error {
  readonly merged: Merged;

  constructor(merged: Merged) {
    super("dry run");
    this.merged = merged;
  }
}

/**
 * Makes all of one user another's, in one transaction that holds both of them and all threads that move: what others
 * write meanwhile waits. Whoever goes on writing to the user that went begins that user anew.
 *
 * @throws MemoryError see `UsersApi.merge`
 */
export async function mergeUsers(
  { db, config }: { readonly db: Database; readonly config: WriteConfig },
  input: MergeUsers,
): Promise<Merged> {
  const { dryRun, actor, ...whose } = parseInput(mergeSchema, input, "merge");
  const asked = { ...whoseOf(whose), actor };
  const run = () =>
    // Threads are locked before owners, as those who record do; writers of memories who go the other way may collide.
    retryOn(
      ["40P01", "55P03"],
      () =>
        db.patient.transaction(async (tx) => {
          const merged = await merge(tx, config, asked);
          if (dryRun) throw new Undone(merged);
          return merged;
        }),
      { most: 10, stepMs: 20, busy: "Others kept writing to both users, so nothing was merged. Try again." },
    );
  try {
    return await asTenant(asked.from.tenantId, run);
  } catch (error) {
    if (error instanceof Undone) return error.merged;
    throw error;
  }
}

interface Asked {
  readonly from: Scope;
  readonly to: Scope;
  /** Null: all. */
  readonly threadIds: readonly string[] | null;
  readonly actor: string;
}

function whoseOf(input: { from?: unknown; to?: unknown; threadIds?: unknown[] | undefined }) {
  const [from, to] = [parseScope(input.from), parseScope(input.to)];
  const threadIds = input.threadIds?.map(parseThreadId) ?? null;
  const refuse = (problem: string) => new MemoryError("INVALID_INPUT", `Invalid merge: ${problem}`);
  if (from.tenantId !== to.tenantId) throw refuse("`from` and `to` are of two tenants, which share nothing.");
  if (to.userId === undefined || to.appId !== undefined) {
    throw refuse("`to` must name a user, without an app: { userId } with the tenant where there is one.");
  }
  if (from.userId !== undefined && from.appId !== undefined) {
    throw refuse("`from` must name a user or an app, not both: a user moves with what there is in all apps.");
  }
  if (from.userId === to.userId) throw refuse("`from` and `to` are the same user.");
  if ((from.userId === undefined) !== (threadIds !== null)) {
    throw refuse(
      threadIds === null
        ? "an app is shared by all of its users: name the conversations that move in `threadIds`."
        : "`threadIds` are for an app; a user moves as a whole.",
    );
  }
  return { from, to, threadIds };
}

async function merge(tx: Connection, config: WriteConfig, asked: Asked): Promise<Merged> {
  const columns = { from: scopeColumns(asked.from), to: scopeColumns(asked.to) };
  await lockThreads(tx, asked);
  const owners = await lockOwners(tx, config, asked);
  // Of those that came since nobody holds one: whoever made it is done, or waits for its owner.
  const threads = await lockThreads(tx, asked, "nowait");
  const missing = asked.threadIds?.find((id) => !threads.some(({ threadId }) => threadId === id));
  if (missing !== undefined) {
    throw new MemoryError("NOT_FOUND", `The app has no thread "${missing}" that is no user's.`);
  }
  const whole = asked.threadIds === null;
  const memories = await tx.query<{ ref: string; id: string }>(sql`
    select m.ref::text as ref, m.id from ${tx.schema}.memory m
    where m.owner_ref = ${owners.from.ref}
      and (${whole} or (m.thread_ref = any (${threads.map(({ ref }) => ref)}::bigint[]) and m.kind <> 'note'))
    order by m.ref for no key update of m`);
  const move: Move = {
    ...{ from: { ...columns.from, ...owners.from }, to: { ...columns.to, ...owners.to }, whole },
    ...{ threads: threads.map(({ ref }) => ref), threadIds: threads.map(({ threadId }) => threadId) },
    ...{ memories: memories.map(({ ref }) => ref), memoryIds: memories.map(({ id }) => id) },
    appCategories: [...config.policy.categories.values()]
      .filter(({ level }) => level === "app")
      .map(({ name }) => name),
  };
  await alignTurns(tx, move);
  const met = await settleMemories(tx, config, move, owners.now);
  const moved = await moveRows(tx, move);
  if (met.changes.length > 0) {
    await recordChanges(tx, {
      ...{ ownerRef: move.to.ref, scope: asked.to, actor: asked.actor, step: "merge" },
      changes: met.changes,
    });
  }
  await leave(tx, move);
  const merged = countsOf(moved, met);
  await insertEvent(tx, {
    ...{ scope: asked.to, step: "merge", op: "merge", status: "ok" },
    detail: Object.entries(merged)
      .map(([what, count]) => `${what}=${count}`)
      .join(" "),
  });
  return merged;
}

function countsOf(moved: MovedRows, { merged, closed }: { merged: number; closed: number }): Merged {
  const {
    thread = 0,
    message = 0,
    memory = 0,
    history = 0,
    change_log = 0,
    consent_request = 0,
    event = 0,
    store_item: items = 0,
  } = moved;
  const records = history + change_log + consent_request + event;
  return { threads: thread, messages: message, memories: memory, merged, closed, records, items };
}

/**
 * Both owners, locked: the older row first, in whichever direction they are merged. What has expired of theirs is hidden
 * before they are counted, since that is news with revisions of its own.
 */
async function lockOwners(tx: Connection, { lifecycle: { purgeAfterMs } }: WriteConfig, { from, to }: Asked) {
  const vectors = await hasVectors(tx);
  const rows: Record<string, OwnerCounters & { now: Date }> = {};
  // Made where they are new, which locks them; nobody else holds two users at once.
  const made = [from, to].map((scope) => JSON.stringify(scopeColumns(scope)));
  const inOrder = made[0] === made.toSorted()[0] ? [from, to] : [to, from];
  for (const scope of inOrder) {
    const { ref, turns, now } = await lockOwner(tx, scope);
    await expireMemories(tx, { owner: { ref }, scope, purgeAfterMs, vectors });
    const [row] = await tx.query<{ revision: number; trimmed: number }>(sql`
      select o.revision::float8 as revision, o.changes_trimmed_to::float8 as trimmed
      from ${tx.schema}.owner o where o.id = ${ref} for update`);
    const { revision, trimmed: trimmedTo } = row ?? { revision: 0, trimmed: 0 };
    rows[scope === from ? "from" : "to"] = { ref, revision, turns, now, trimmedTo };
  }
  const found = rows as Record<"from" | "to", OwnerCounters & { now: Date }>;
  return { from: found.from, to: found.to, now: found.to.now };
}

/** The threads that move, locked. */
async function lockThreads(tx: Connection, { from, threadIds }: Asked, wait: "wait" | "nowait" = "wait") {
  const { tenantId, userId, appId } = scopeColumns(from);
  const of =
    threadIds === null ? sql`true` : sql`t.app_id = ${appId} and t.thread_id = any (${threadIds}::text[])`;
  return tx.query<{ ref: string; threadId: string }>(sql`
    select t.id::text as ref, t.thread_id as "threadId" from ${tx.schema}.thread t
    where ${isId(sql`t.tenant_id`, tenantId)} and ${isId(sql`t.user_id`, userId)} and ${of}
    order by t.id for no key update ${wait === "nowait" ? sql`nowait` : sql``}`);
}

/** The user that went is nobody; of an app, news of what moved are told without their words. */
async function leave(tx: Connection, { from, whole, memoryIds }: Move): Promise<void> {
  if (whole) {
    await tx.query(sql`delete from ${tx.schema}.owner o where o.id = ${from.ref}`);
    return;
  }
  await tx.query(sql`
    update ${tx.schema}.change_log c set line = ${wordlessLine}
    where c.owner_ref = ${from.ref} and c.memory_id = any (${memoryIds}::uuid[])`);
}
