import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryKind } from "../domain/memory.js";
import type { StoreFilter } from "../domain/memory-filter.js";
import { retrievalWeights as weights } from "../domain/retrieval-weights.js";
import type { Scope } from "../domain/scope.js";
import type { EmbeddingSpace } from "./embedding-space.js";
import { type MemoryJson, memoryJson } from "./memory-row.js";
import { scopeColumns } from "./scope-columns.js";

/** Which memories a search may return. */
export interface HitSelection {
  readonly scope: Scope;
  readonly kinds: readonly MemoryKind[];
  readonly categories: readonly string[];
  readonly filter: StoreFilter;
  /** The question's vector; null without embeddings. */
  readonly vector: { readonly space: EmbeddingSpace; readonly value: string } | null;
  /** Candidates for the final ranking. */
  readonly limit: number;
  /**
   * Whether filters may leave little: then they are applied to all that was found, else to the best of it, which
   * is many times what is needed.
   */
  readonly everything: boolean;
}

/** A memory that may answer a question, with the signals for its final rank. */
export interface MemoryCandidate {
  readonly memory: MemoryJson;
  /** How well its text fits the question, 0 to 1: comparable between questions. */
  readonly lexical: number;
  /** The same of the best message it was learned from, with those around that. */
  readonly source: number;
  /** The same of the thread it was learned in. */
  readonly thread: number;
  /** 1 − cosine distance; null without a vector. */
  readonly similarity: number | null;
  /** Strength of its strongest link to another candidate; 0 without. */
  readonly relation: number;
  /** Its strongest link that is no candidate itself. */
  readonly linked: MemoryJson | null;
}

/** Nearest vectors taken as candidates. */
const nearest = 100;

/** Best matches looked at when next to nothing is filtered out. */
const shortlist = 400;

/**
 * CTE `candidate` with one row of JSON a memory (`hit`), for `MemoryCandidate`.
 *
 * Needs the CTEs of `questionTerms`, `messageScores` and `memoryScores`. Filters hold before anything is cut
 * off, so the best of what they leave is never missed.
 */
export function memoryHits(db: Connection, selection: HitSelection): Sql {
  const { schema } = db;
  const { appId } = scopeColumns(selection.scope);
  const { vector } = selection;
  return sql`
    lift as (
      select m.ref, max(c.score) as source
      from ${schema}.memory m cross join lateral unnest(m.source_seqs) as cited (seq)
      join message_context c on c.thread_ref = m.thread_ref and c.seq = cited.seq
      where m.thread_ref in (select thread_ref from thread_own) and m.state = 'active'
        and m.owner_ref in (select id from seer)
      group by m.ref
    ),
    near as (${vector ? nearRows(db, vector) : sql`select null::bigint as ref, null::float8 as similarity where false`}),
    merged as (
      select ref, max(lexical) as lexical, max(source) as source,
        max(similarity) as similarity
      from (
        (
          select ref, score as lexical, 0::float8 as source, null::float8 as similarity from memory_own
          order by score desc limit ${selection.everything ? sql`null` : sql`${shortlist}`}
        )
        union all
        select ref, 0, source, null from lift
        union all
        select ref, 0, 0, similarity from near
      ) signal
      group by ref
    ),
    found as (
      select * from merged
      order by ${foundBy(sql`lexical`, sql`source`, sql`similarity`)} desc
      limit ${selection.everything ? sql`null` : sql`${shortlist}`}
    ),
    chosen as materialized (
      select m.ref, s.lexical, s.source, s.similarity
      from found s join ${schema}.memory m on m.ref = s.ref
      where ${visible(selection, appId)}
      order by ${foundBy(sql`s.lexical`, sql`s.source`, sql`s.similarity`)} desc
      limit ${selection.limit}
    ),
    link as (
      select c.ref, r.to_ref as other, r.strength from chosen c join ${schema}.relation r on r.from_ref = c.ref
      union all
      select c.ref, r.from_ref, r.strength from chosen c join ${schema}.relation r on r.to_ref = c.ref
    ),
    bond as materialized (
      select l.ref, max(l.strength) filter (where o.ref is not null) as relation,
        (array_agg(l.other order by l.strength desc) filter (where o.ref is null))[1] as linked
      from link l left join chosen o on o.ref = l.other
      group by l.ref
    ),
    candidate as (
      select json_build_object(
        'memory', ${memoryJson}, 'lexical', c.lexical, 'source', c.source,
        'thread', coalesce(h.score, 0),
        'similarity', ${vector ? similarityOf(db, vector) : sql`null`},
        'relation', coalesce(b.relation, 0),
        'linked', (
          select ${memoryJson} from ${schema}.memory m left join ${schema}.thread t on t.id = m.thread_ref
          where m.ref = b.linked and ${visible(selection, appId)}
        )
      ) as hit
      from chosen c
      join ${schema}.memory m on m.ref = c.ref
      left join ${schema}.thread t on t.id = m.thread_ref
      left join thread_own h on h.thread_ref = m.thread_ref
      left join bond b on b.ref = c.ref
    )`;
}

/** What decides which memories are looked at: the signals that find them, as `rankMemories` weighs them. */
function foundBy(lexical: Sql, source: Sql, similarity: Sql): Sql {
  return sql`${lexical} + ${weights.source}::float8 * ${source} + ${weights.vector}::float8 * coalesce(${similarity}, 0)`;
}

type Vector = NonNullable<HitSelection["vector"]>;

function nearRows(db: Connection, { space, value }: Vector): Sql {
  const distance = sql`e.embedding ${space.distance} ${value}::${space.type}`;
  return sql`
    select e.memory_ref as ref, (1 - (${distance}))::float8 as similarity
    from seer s join ${db.schema}.memory_embedding e on e.owner_ref = s.id and e.space_ref = ${space.ref} and e.active
    order by ${distance} limit ${nearest}`;
}

function similarityOf(db: Connection, { space, value }: Vector): Sql {
  return sql`coalesce(c.similarity, (
    select (1 - (e.embedding ${space.distance} ${value}::${space.type}))::float8
    from ${db.schema}.memory_embedding e where e.memory_ref = c.ref and e.space_ref = ${space.ref}
  ))`;
}

/** Active, of this user or app, of the kinds and categories allowed, and as filtered. */
function visible({ kinds, categories, filter }: HitSelection, appId: string): Sql {
  return sql`m.state = 'active' and m.app_id in ('', ${appId})
    and m.kind = any (${kinds}::text[]) and m.category = any (${categories}::text[])
    and (${filter.agentId}::text is null or m.agent_id = ${filter.agentId})
    and (${filter.runId}::text is null or m.run_id = ${filter.runId})
    and (${filter.actorId}::text is null or m.actor_id = ${filter.actorId})
    and (${filter.role}::text is null or m.role = ${filter.role})
    and (${filter.category}::text is null or m.category = ${filter.category})
    and (${filter.pinned}::boolean is null or m.pinned = ${filter.pinned})
    and (${filter.importanceMin}::real is null or m.importance >= ${filter.importanceMin})
    and (${filter.importanceMax}::real is null or m.importance <= ${filter.importanceMax})
    and (${filter.updatedAfter}::timestamptz is null or m.updated_at >= ${filter.updatedAfter})
    and (${filter.updatedBefore}::timestamptz is null or m.updated_at < ${filter.updatedBefore})`;
}
