import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { findThreadsElsewhere } from "../transcript/claim-thread.js";
import type { ErasableThread } from "../transcript/list-threads.js";

/**
 * LangGraph's tables in deletion order: checkpoints before blobs, so that a reader never finds an
 * incomplete one.
 */
export const checkpointTableNames = [
  "checkpoints",
  "checkpoint_writes",
  "checkpoint_blobs",
] as const;

/** Those of `tables` that exist: tables for vectors and checkpoints are optional. */
export async function existingTables<Table extends { readonly table: string }>(
  db: Connection,
  tables: readonly Table[],
): Promise<Table[]> {
  const names = tables.map(({ table }) => table);
  const rows = await db.query<{ name: string }>(sql`
    select c.relname as name from pg_catalog.pg_class c
    where c.relnamespace = ${db.schema.text}::regnamespace and c.relname = any (${names})`);
  const found = new Set(rows.map(({ name }) => name));
  return tables.filter(({ table }) => found.has(table));
}

/** Whether a checkpointer was ever set up. */
export async function hasCheckpoints(db: Connection): Promise<boolean> {
  return (await existingTables(db, [{ table: "checkpoints" }])).length > 0;
}

/**
 * `own`: names, and thread ids that no other tenant uses: runs without a user or without our
 * checkpointer wrote there. `shared`: thread ids whose checkpoints also hold other tenants' state.
 */
export async function checkpointNamesOf(
  db: Connection,
  { tenantId, threads }: { tenantId: string; threads: readonly ErasableThread[] },
): Promise<{ own: string[]; shared: string[] }> {
  if (!(await hasCheckpoints(db))) return { own: [], shared: [] };
  const names = threads.flatMap(({ checkpointThreadId }) => checkpointThreadId ?? []);
  const others = threads.filter(
    ({ threadId, checkpointThreadId }) => checkpointThreadId !== threadId,
  );
  const unnamed = others.map(({ threadId }) => threadId);
  const elsewhere = await findThreadsElsewhere(db, { tenantId, threadIds: unnamed });
  const used = elsewhere.filter(({ tenants }) => tenants > 0);
  const taken = new Set(used.map(({ id }) => id));
  const mixed = used.filter(({ isTaken }) => !isTaken).map(({ id }) => id);
  const own = [...names, ...unnamed.filter((id) => !taken.has(id))];
  if (mixed.length === 0) return { own, shared: [] };
  const shared = await db.query<{ id: string }>(sql`
    select t.id from unnest(${mixed}::text[]) t (id)
    where exists (select from ${db.schema}.checkpoints c where c.thread_id = t.id)`);
  return { own, shared: shared.map(({ id }) => id) };
}
