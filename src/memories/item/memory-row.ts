import sql, { type Sql } from "sql-template-tag";
import {
  bigint,
  boolean,
  elements,
  integer,
  integers,
  type RowOf,
  readRow,
  real,
  type Time,
  text,
  texts,
  timestamp,
  uuid,
  without,
} from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import { scopeOf } from "../../scope/scope-predicates.js";
import type { MemoryItem, MemoryKind, MemoryLifecycle } from "./memory.js";
import type { MemoryOrigin, MemoryTrust } from "./trust.js";

/**
 * The columns of `memory` but its refs: what is inserted, read, exported and imported is made of them. A new column is
 * a line here and its migration; the compiler then asks what it is where memories are made, shown and imported.
 */
export const memoryColumns = {
  id: uuid("id"),
  tenantId: text("tenant_id"),
  userId: text("user_id"),
  appId: text("app_id"),
  kind: text<MemoryKind>("kind"),
  category: text("category"),
  key: text<string | null>("key"),
  value: text<string | null>("value"),
  text: text("content"),
  contentHash: text("content_hash"),
  importance: real("importance"),
  confidence: real("confidence"),
  pinned: boolean("pinned"),
  state: text<MemoryLifecycle>("state"),
  origin: text<MemoryOrigin>("origin"),
  trust: text<MemoryTrust>("trust"),
  tags: texts("tags"),
  agentId: text<string | null>("agent_id"),
  runId: text<string | null>("run_id"),
  actorId: text<string | null>("actor_id"),
  role: text<string | null>("role"),
  /** The thread's own id, for which a statement puts the thread's ref, or reads it from there. */
  threadId: text<string | null>("thread_ref"),
  sourceSeqs: integers("source_seqs"),
  evidence: text<string | null>("evidence"),
  turnStart: integer<number | null>("turn_start"),
  turnEnd: integer<number | null>("turn_end"),
  /** The owner's turn at which it was last said. */
  assertedTurn: bigint("asserted_turn"),
  validFrom: timestamp("valid_from"),
  validTo: timestamp<Time | null>("valid_to"),
  /** When it was last said to hold; null: since then. */
  assertedAt: timestamp<Time | null>("asserted_at"),
  supersededBy: uuid<string | null>("superseded_by"),
  seenCount: integer("seen_count"),
  accessCount: integer("access_count"),
  lastAccessedAt: timestamp("last_accessed_at"),
  purgeAt: timestamp<Time | null>("purge_at"),
  createdAt: timestamp("created_at"),
  updatedAt: timestamp("updated_at"),
  revision: bigint("revision"),
};

/** What a `MemoryItem` is made of. */
const itemColumns = without(memoryColumns, "contentHash", "assertedTurn", "assertedAt", "accessCount");

/** A row of `memory` as a JSON array, for `memoryOf`. */
export type MemoryJson = readonly unknown[];

/** The row `m` of `memory` as `MemoryJson`. */
export const memoryJson = ({ schema }: Connection): Sql => {
  const threadId = sql`(select t.thread_id from ${schema}.thread t where t.id = m.thread_ref)`;
  // m.id, m.tenant_id, …, date_part('epoch', m.updated_at) * 1000, m.revision
  return sql`json_build_array(${elements(itemColumns, "m", { threadId })})`;
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

/** A row of `memory` as it is written, times in ISO 8601. */
export type MemoryRow = RowOf<typeof memoryColumns>;
