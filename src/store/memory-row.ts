import sql, { type Sql } from "sql-template-tag";
import type { MemoryItem, MemoryKind, MemoryLifecycle } from "../domain/memory.js";
import { scopeOf } from "./scope-columns.js";

/** A row of `memory` as JSON, with the thread's own id: see `memoryJson`. */
export interface MemoryJson {
  readonly id: string;
  readonly tenant_id: string;
  readonly user_id: string;
  readonly app_id: string;
  readonly kind: MemoryKind;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly content: string;
  readonly importance: number;
  readonly confidence: number;
  readonly pinned: boolean;
  readonly state: MemoryLifecycle;
  readonly tags: string[];
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly actor_id: string | null;
  readonly role: string | null;
  readonly thread_id: string | null;
  readonly source_seqs: number[];
  readonly evidence: string | null;
  readonly turn_start: number | null;
  readonly turn_end: number | null;
  readonly seen_count: number;
  readonly valid_from: string;
  readonly valid_to: string | null;
  readonly superseded_by: string | null;
  readonly last_accessed_at: string;
  readonly purge_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The row `m` of `memory`, joined with its source thread `t`, as one JSON value. */
export const memoryJson: Sql = sql`json_build_object(
  'id', m.id, 'tenant_id', m.tenant_id, 'user_id', m.user_id, 'app_id', m.app_id, 'kind', m.kind,
  'category', m.category, 'key', m.key, 'value', m.value, 'content', m.content, 'importance', m.importance,
  'confidence', m.confidence, 'pinned', m.pinned, 'state', m.state, 'tags', m.tags, 'agent_id', m.agent_id,
  'run_id', m.run_id, 'actor_id', m.actor_id, 'role', m.role, 'thread_id', t.thread_id,
  'source_seqs', m.source_seqs, 'evidence', m.evidence, 'turn_start', m.turn_start, 'turn_end', m.turn_end,
  'seen_count', m.seen_count, 'valid_from', m.valid_from, 'valid_to', m.valid_to,
  'superseded_by', m.superseded_by, 'last_accessed_at', m.last_accessed_at, 'purge_at', m.purge_at,
  'created_at', m.created_at, 'updated_at', m.updated_at
)`;

/** A row as a memory. */
export function memoryOf(row: MemoryJson): MemoryItem {
  return {
    id: row.id,
    scope: scopeOf(row),
    kind: row.kind,
    category: row.category,
    key: row.key,
    value: row.value,
    text: row.content,
    importance: row.importance,
    confidence: row.confidence,
    pinned: row.pinned,
    state: row.state,
    tags: row.tags,
    agentId: row.agent_id,
    runId: row.run_id,
    actorId: row.actor_id,
    role: row.role,
    source:
      row.thread_id === null
        ? null
        : {
            threadId: row.thread_id,
            seqs: row.source_seqs,
            ...(row.evidence !== null && { quote: row.evidence }),
          },
    turns:
      row.turn_start === null || row.turn_end === null ? null : { start: row.turn_start, end: row.turn_end },
    seenCount: row.seen_count,
    validFrom: new Date(row.valid_from),
    validTo: row.valid_to === null ? null : new Date(row.valid_to),
    supersededBy: row.superseded_by,
    lastAccessedAt: new Date(row.last_accessed_at),
    purgeAt: row.purge_at === null ? null : new Date(row.purge_at),
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}
