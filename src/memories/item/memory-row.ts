import sql, { raw, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { scopeOf } from "../../scope/scope-predicates.js";
import type { MemoryItem, MemoryKind, MemoryLifecycle } from "./memory.js";
import type { MemoryOrigin, MemoryTrust } from "./trust.js";

/** A row of `memory`, with the thread's own id, as a JSON array: names would be most of what is sent. */
export type MemoryJson = readonly [
  id: string,
  tenantId: string,
  userId: string,
  appId: string,
  kind: MemoryKind,
  category: string,
  key: string | null,
  value: string | null,
  text: string,
  importance: number,
  confidence: number,
  pinned: boolean,
  state: MemoryLifecycle,
  tags: string[],
  agentId: string | null,
  runId: string | null,
  actorId: string | null,
  role: string | null,
  threadId: string | null,
  sourceSeqs: number[],
  evidence: string | null,
  turnStart: number | null,
  turnEnd: number | null,
  seenCount: number,
  validFrom: number,
  validTo: number | null,
  supersededBy: string | null,
  lastAccessedAt: number,
  purgeAt: number | null,
  createdAt: number,
  updatedAt: number,
  origin: MemoryOrigin,
  trust: MemoryTrust,
  revision: number,
];

/** Milliseconds since 1970: a date's text takes ten times as long to write, send and read. */
const time = (column: string): Sql => raw(`date_part('epoch', m.${column}) * 1000`);

/** The row `m` of `memory` as `MemoryJson`. */
export const memoryJson = ({ schema }: Connection): Sql => sql`json_build_array(
  m.id, m.tenant_id, m.user_id, m.app_id, m.kind, m.category, m.key, m.value, m.content, m.importance, m.confidence,
  m.pinned, m.state, m.tags, m.agent_id, m.run_id, m.actor_id, m.role, (select t.thread_id from ${schema}.thread t where t.id = m.thread_ref), m.source_seqs, m.evidence,
  m.turn_start, m.turn_end, m.seen_count, ${time("valid_from")}, ${time("valid_to")}, m.superseded_by,
  ${time("last_accessed_at")}, ${time("purge_at")}, ${time("created_at")}, ${time("updated_at")},
  m.origin, m.trust, m.revision
)`;

/** A row as a memory. */
export function memoryOf(row: MemoryJson): MemoryItem {
  // biome-ignore format: in the order of the columns
  const [
    id, tenantId, userId, appId, kind, category, key, value, text, importance, confidence, pinned, state, tags,
    agentId, runId, actorId, role, threadId, sourceSeqs, evidence, turnStart, turnEnd, seenCount, validFrom, validTo,
    supersededBy, lastAccessedAt, purgeAt, createdAt, updatedAt, origin, trust, revision,
  ] = row;
  return {
    id,
    scope: scopeOf({ tenant_id: tenantId, user_id: userId, app_id: appId }),
    kind,
    category,
    key,
    value,
    text,
    importance,
    confidence,
    pinned,
    state,
    tags,
    agentId,
    runId,
    actorId,
    role,
    origin,
    trust,
    seenCount,
    supersededBy,
    source:
      threadId === null
        ? null
        : { threadId, seqs: sourceSeqs, ...(evidence !== null && { quote: evidence }) },
    turns: turnStart === null || turnEnd === null ? null : { start: turnStart, end: turnEnd },
    validFrom: new Date(validFrom),
    validTo: validTo === null ? null : new Date(validTo),
    lastAccessedAt: new Date(lastAccessedAt),
    purgeAt: purgeAt === null ? null : new Date(purgeAt),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    revision,
  };
}
