import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "./scope.js";
import {
  isId,
  ownerColumns,
  ownerIs,
  type ScopeColumns,
  scopeColumns,
  withinScope,
} from "./scope-predicates.js";

/** One thread, and which of the memories that were learned in it go with it. */
export interface ErasedThread {
  readonly threadId: string;
  /** "episodes": those that are its text in short. "all": what was learned there, too. */
  readonly memories: "episodes" | "all";
}

/**
 * What belongs to a scope for good: of `{ userId }` everything of the user in all apps, of `{ userId, appId }` what
 * the user has in that app, of `{ appId }` what the app has of its own. Or of all that one thread.
 */
export interface ErasureScope extends ScopeColumns {
  readonly thread: ErasedThread | null;
  /** The owner's row, a bigint as text; null when there is none. */
  readonly ownerRef: string | null;
  /** Whether the owner's row belongs to the scope, and not just a part of what is the owner's. */
  readonly whole: boolean;
}

/** `scope`, or one thread of it, with its owner's row as it is now. */
export async function findErasureScope(
  db: Connection,
  scope: Scope,
  thread: ErasedThread | null = null,
): Promise<ErasureScope> {
  const columns = scopeColumns(scope);
  const [row] = await db.query<{ id: string }>(
    sql`select o.id from ${db.schema}.owner o where ${ownerIs(ownerColumns(scope))}`,
  );
  const whole = thread === null && (columns.userId === "" || columns.appId === "");
  return { ...columns, thread, ownerRef: row?.id ?? null, whole };
}

/** Whether the row `x`, which has all three columns of a scope and names a thread, belongs to it. */
export function hasScope(scope: ErasureScope): Sql {
  const within = withinScope(scope, "x");
  const own = scope.userId === "" ? sql`${within} and x.user_id = ''` : within;
  return scope.thread ? sql`${own} and ${isId(sql`x.thread_id`, scope.thread.threadId)}` : own;
}

/**
 * Whether the memory `x` goes with the scope. With all that was learned in a thread go the insights that rest on it, which are
 * found as long as it is there.
 */
export function hasMemory(db: Connection, scope: ErasureScope): Sql {
  const { thread, ownerRef } = scope;
  if (!thread) return hasOwner(scope);
  const learned = sql`select m.ref from ${db.schema}.memory m
    where m.owner_ref = ${ownerRef}::bigint and m.thread_ref in (${threadsOf(db, scope)})`;
  if (thread.memories === "episodes") return sql`x.ref in (${learned} and m.kind = 'episode')`;
  return sql`x.owner_ref = ${ownerRef}::bigint and x.ref in (
      ${learned} union
      select r.from_ref from ${db.schema}.relation r where r.relation_type = 'evidence' and r.to_ref in (${learned})
    )`;
}

/** Whether the notes that apps made of the scope's threads go with them, as what else was learned there. */
export function takesNotes({ thread }: ErasureScope): boolean {
  return thread === null || thread.memories === "all";
}

/** Ids of those notes, as a query. */
export function notesOf(db: Connection, scope: ErasureScope): Sql {
  return sql`select n.memory_id from ${db.schema}.note_source n
    where ${takesNotes(scope)} and n.thread_ref in (${threadsOf(db, scope)})`;
}

/** The refs of the scope's threads, as a query. */
export function threadsOf(db: Connection, scope: ErasureScope): Sql {
  return sql`select x.id from ${db.schema}.thread x where ${hasScope(scope)}`;
}

/** Whether the row `x` belongs to the owner, and to the scope's app where it is only that. */
export function hasOwner({ ownerRef, userId, appId }: ErasureScope): Sql {
  return sql`x.owner_ref = ${ownerRef}::bigint and (${userId === "" || appId === ""} or x.app_id = ${appId})`;
}
