import sql, { type Sql } from "sql-template-tag";
import { column, jsonRow, readRow, type Time, without } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import { scopeOf } from "../../scope/scope-predicates.js";
import type { MemoryItem, MemoryKind, MemoryLifecycle } from "./memory.js";
import type { MemoryOrigin, MemoryTrust } from "./trust.js";

/**
 * The columns of `memory` but its refs: what is inserted, read, exported and imported is made of them. A new column is
 * a line here and its migration; the compiler then asks what it is where memories are made, shown and imported.
 */
export const memoryColumns = {
  id: column.uuid("id"),
  tenantId: column.text("tenant_id"),
  userId: column.text("user_id"),
  appId: column.text("app_id"),
  kind: column.text<MemoryKind>("kind"),
  category: column.text("category"),
  key: column.text<string | null>("key"),
  value: column.text<string | null>("value"),
  text: column.text("content"),
  contentHash: column.text("content_hash"),
  importance: column.real("importance"),
  confidence: column.real("confidence"),
  pinned: column.boolean("pinned"),
  state: column.text<MemoryLifecycle>("state"),
  origin: column.text<MemoryOrigin>("origin"),
  trust: column.text<MemoryTrust>("trust"),
  tags: column.texts("tags"),
  agentId: column.text<string | null>("agent_id"),
  runId: column.text<string | null>("run_id"),
  actorId: column.text<string | null>("actor_id"),
  role: column.text<string | null>("role"),
  /** The thread's own id, for which a statement puts the thread's ref, or reads it from there. */
  threadId: column.text<string | null>("thread_ref"),
  sourceSeqs: column.integers("source_seqs"),
  evidence: column.text<string | null>("evidence"),
  turnStart: column.integer<number | null>("turn_start"),
  turnEnd: column.integer<number | null>("turn_end"),
  /** The owner's turn at which it was last said. */
  assertedTurn: column.bigint("asserted_turn"),
  validFrom: column.time("valid_from"),
  validTo: column.time<Time | null>("valid_to"),
  /** When it was last said to hold; null: since then. */
  assertedAt: column.time<Time | null>("asserted_at"),
  supersededBy: column.uuid<string | null>("superseded_by"),
  seenCount: column.integer("seen_count"),
  accessCount: column.integer("access_count"),
  lastAccessedAt: column.time("last_accessed_at"),
  purgeAt: column.time<Time | null>("purge_at"),
  createdAt: column.time("created_at"),
  updatedAt: column.time("updated_at"),
  revision: column.bigint("revision"),
};

/** What a `MemoryItem` is made of. */
const itemColumns = without(memoryColumns, "contentHash", "assertedTurn", "assertedAt", "accessCount");

/** A row of `memory` as a JSON array, for `memoryOf`. */
export type MemoryJson = readonly unknown[];

/** The row `m` of `memory` as `MemoryJson`. */
export const memoryJson = ({ schema }: Connection): Sql => {
  const threadId = sql`(select t.thread_id from ${schema}.thread t where t.id = m.thread_ref)`;
  // json_build_array(m.id, m.tenant_id, …, date_part('epoch', m.updated_at) * 1000, m.revision)
  return jsonRow(itemColumns, "m", { threadId });
};

/** A row as a memory. */
export function memoryOf(row: MemoryJson): MemoryItem {
  const { tenantId, userId, appId, threadId, sourceSeqs, evidence, turnStart, turnEnd, ...own } = readRow(
    itemColumns,
    row,
  );
  return {
    ...own,
    scope: scopeOf({ tenant_id: tenantId, user_id: userId, app_id: appId }),
    source:
      threadId === null
        ? null
        : { threadId, seqs: sourceSeqs, ...(evidence !== null && { quote: evidence }) },
    turns: turnStart === null || turnEnd === null ? null : { start: turnStart, end: turnEnd },
  };
}
