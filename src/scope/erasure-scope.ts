import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { delegatedMark, type Scope } from "./scope.js";
import {
  findOwner,
  isId,
  type ScopeColumns,
  scopeColumns,
  withinScope,
} from "./scope-predicates.js";

export interface ErasedThread {
  readonly threadId: string;
  /** "episodes": only the episodes of the thread. "all": everything learned in it. */
  readonly memories: "episodes" | "all";
}

/**
 * `{ userId }`: the user in all apps; `{ userId, appId }`: the user in one app; `{ appId }`: the
 * app's own data.
 */
export interface ErasureScope extends ScopeColumns {
  readonly thread: ErasedThread | null;
  readonly ownerRef: string | null;
  readonly whole: boolean;
}

export async function findErasureScope(
  db: Connection,
  scope: Scope,
  thread: ErasedThread | null = null,
): Promise<ErasureScope> {
  const columns = scopeColumns(scope);
  const owner = await findOwner(db, scope);
  const whole = thread === null && (columns.userId === "" || columns.appId === "");
  return { ...columns, thread, ownerRef: owner === null ? null : String(owner), whole };
}

export function hasScope(scope: ErasureScope): Sql {
  const within = withinScope(scope, "x");
  const own = scope.userId === "" ? sql`${within} and x.user_id = ''` : within;
  if (!scope.thread) return own;
  const { threadId: id } = scope.thread;
  return sql`${own} and (${isId(sql`x.thread_id`, id)} or starts_with(x.thread_id, ${id + delegatedMark}))`;
}

// Includes insights derived from a thread's memories, which can only be found while those exist.
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

export const takesNotes = ({ thread }: ErasureScope): boolean =>
  thread === null || thread.memories === "all";

export function notesOf(db: Connection, scope: ErasureScope): Sql {
  return sql`select n.memory_id from ${db.schema}.note_source n
    where ${takesNotes(scope)} and n.thread_ref in (${threadsOf(db, scope)})`;
}

export const threadsOf = (db: Connection, scope: ErasureScope): Sql =>
  sql`select x.id from ${db.schema}.thread x where ${hasScope(scope)}`;

export const hasOwner = ({ ownerRef, userId, appId }: ErasureScope): Sql =>
  sql`x.owner_ref = ${ownerRef}::bigint and (${userId === "" || appId === ""} or x.app_id = ${appId})`;
