import sql, { empty, join, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryItem, MemoryKind } from "../domain/memory.js";
import type { StoreFilter } from "../domain/memory-filter.js";
import type { TimeSpan } from "../domain/question-dates.js";
import { retrievalWeights as weights } from "../domain/retrieval-weights.js";
import type { Scope } from "../domain/scope.js";
import type { EmbeddingSpace } from "./embedding-space.js";
import { type MemoryJson, memoryJson, memoryOf } from "./memory-row.js";
import { memoryScores } from "./memory-scores.js";
import { messageScores } from "./message-scores.js";
import { scopeColumns } from "./scope-columns.js";

/** Which memories a search may return. */
export interface HitSelection {
  readonly scope: Scope;
  readonly kinds: readonly MemoryKind[];
  readonly categories: readonly string[];
  readonly filter: StoreFilter;
  /** The question's vector; null without embeddings. */
  readonly vector: { readonly space: EmbeddingSpace; readonly value: string } | null;
  /** Times that the question names: what holds since then is found without a word of it. */
  readonly spans: readonly TimeSpan[];
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
  readonly memory: MemoryItem;
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
  readonly linked: MemoryItem | null;
}

/** Nearest vectors looked at for each candidate: words bring in others. */
const nearestPerCandidate = 2;

/** Best matches looked at for each candidate, of messages always, of memories when next to nothing is filtered out. */
const matchesPerCandidate = 8;

/**
 * CTE `found` with a row for each candidate ("hit") and for each memory that one of them is most strongly linked to
 * ("link"), as `FoundMemory`.
 *
 * Needs the CTEs of `questionTerms`. Filters hold before anything is cut
 * off, so the best of what they leave is never missed.
 */
export function memoryHits(db: Connection, selection: HitSelection): Sql {
  const { schema } = db;
  const { vector } = selection;
  const shown = visible(selection);
  const most = selection.limit * matchesPerCandidate;
  // Without a number there is no limit.
  const cut = sql`limit ${selection.everything ? null : most}`;
  return sql`
    ${messageScores(db, { appId: selection.scope.appId ?? "", most })},
    ${memoryScores(db)},
    ${vector ? questionVector(vector) : empty}
    source as materialized (select thread_ref, seq, score from message_context order by score desc ${cut}),
    cited as materialized (
      -- By thread and not by message: a long thread has many of both.
      select m.ref, h.thread_ref, cited.seq
      from (select distinct thread_ref from source) h
      cross join lateral (
        select ref, source_seqs from ${schema}.memory
        where thread_ref = h.thread_ref and state = 'active' and owner_ref in (select id from seer) offset 0
      ) m
      cross join lateral unnest(m.source_seqs) as cited (seq)
    ),
    said as materialized (select ref, score from cited full join source using (thread_ref, seq)),
    lift as (select ref, max(score) as source from said where ref is not null and score is not null group by ref),
    signal as (
      (select ref, score as lexical, 0::float8 as source, null::float8 as similarity, 0::float8 as boost from memory_own
        order by score desc ${cut})
      union all
      select ref, 0, source, null, 0 from lift
      ${vector ? nearRows(db, vector, selection.limit * nearestPerCandidate) : empty}
      ${datedRows(db, selection, shown)}
    ),
    best as (
      -- Its order is that of "chosen", so that memories are looked up in it, one by one, until there are enough.
      select *, lexical + ${weights.source}::float8 * source + ${weights.vector}::float8 * coalesce(similarity, 0) + boost as rank
      from (
        select ref, max(lexical) as lexical, max(source) as source, max(similarity) as similarity, max(boost) as boost
        from signal group by ref
      ) s
      order by rank desc
      ${cut}
    ),
    chosen as materialized (
      select m.ref, m.thread_ref, s.lexical, s.source, s.similarity, ${memoryJson(db)} as memory
      from best s cross join lateral (select * from ${schema}.memory where ref = s.ref limit 1) m
      where ${shown}
      order by s.rank desc
      limit ${selection.limit}
    ),
    bond as materialized (
      select c.ref, max(l.strength) filter (where o.ref is not null) as relation,
        (array_agg(m.ref order by l.strength desc) filter (where o.ref is null and ${shown}))[1] as linked
      from chosen c
      join lateral (
        select r.to_ref as other, r.strength from ${schema}.relation r where r.from_ref = c.ref
        union all
        select r.from_ref, r.strength from ${schema}.relation r where r.to_ref = c.ref
      ) l on true
      join ${schema}.memory m on m.ref = l.other
      left join chosen o on o.ref = l.other
      group by c.ref
    ),
    found as (
      select 'hit' as list, c.ref::float8 as ref, json_build_array(
        c.lexical, c.source, coalesce(h.score, 0), ${vector ? similarityOf(db, vector) : sql`null`},
        coalesce(b.relation, 0), b.linked
      ) as signals, c.memory
      from chosen c
      left join thread_own h on h.thread_ref = c.thread_ref
      left join bond b on b.ref = c.ref
      union all
      select 'link', m.ref, null, ${memoryJson(db)}
      from (select distinct linked from bond) b
      join ${schema}.memory m on m.ref = b.linked
    )`;
}

/** A row of `found`. */
export interface FoundMemory {
  readonly list: string;
  readonly ref: number;
  /** Of a "hit"; of other lists, the place in them. */
  readonly signals: Signals | number | null;
  readonly memory: MemoryJson;
}

/** The candidates among `rows`, in no order. */
export function candidatesOf(rows: readonly FoundMemory[]): MemoryCandidate[] {
  const links = new Map(rows.filter(({ list }) => list === "link").map((row) => [row.ref, row.memory]));
  return rows
    .filter(({ list }) => list === "hit")
    .map(({ memory, signals }) => {
      const [lexical, source, thread, similarity, relation, linked] = signals as Signals;
      const link = linked === null ? undefined : links.get(linked);
      const scores = { lexical, source, thread, similarity, relation };
      return { ...scores, memory: memoryOf(memory), linked: link ? memoryOf(link) : null };
    });
}

type Signals = readonly [
  lexical: number,
  source: number,
  thread: number,
  similarity: number | null,
  relation: number,
  linked: number | null,
];

type Vector = NonNullable<HitSelection["vector"]>;

/** CTE `question_vector` (value): the vector is read from its text once, and not at each mention. */
function questionVector({ space, value }: Vector): Sql {
  return sql`question_vector as materialized (select ${value}::${space.type} as value),`;
}

function nearRows(db: Connection, { space }: Vector, limit: number): Sql {
  return sql`
    union all
    select ref, 0, 0, least(1, -product), 0 from (
      select e.memory_ref as ref, e.embedding ${space.product} (select value from question_vector) as product
      from seer s join ${db.schema}.memory_embedding e on e.owner_ref = s.id and e.space_ref = ${space.ref} and e.active
      order by product limit ${limit}
    ) n`;
}

function similarityOf(db: Connection, { space }: Vector): Sql {
  return sql`coalesce(c.similarity, (
    select least(1, -(e.embedding ${space.product} (select value from question_vector)))
    from ${db.schema}.memory_embedding e where e.memory_ref = c.ref and e.space_ref = ${space.ref}
  ))`;
}

/** The memories that hold since one of the times asked about, and what that adds to their rank. */
function datedRows(db: Connection, { spans }: HitSelection, shown: Sql): Sql {
  return sql`
    union all
    select m.ref, 0, 0, null, ${weights.date}::float8 + ${weights.importance}::float8 * (m.importance - 1) / 4
    from seer s
    cross join unnest(
      ${spans.map(({ from }) => from)}::timestamptz[], ${spans.map(({ before }) => before)}::timestamptz[]
    ) as span (since, before)
    cross join lateral (
      select * from ${db.schema}.memory
      where owner_ref = s.id and valid_from >= span.since and valid_from < span.before offset 0
    ) m
    where ${shown}`;
}

/**
 * Active, of this user or app, of the kinds and categories allowed, and as filtered. Its text is the same for all
 * filters: a session keeps the plan of every text there is.
 */
function visible({ scope, kinds, categories, filter }: HitSelection): Sql {
  const { appId } = scopeColumns(scope);
  const unset = (value: unknown, type: Sql) => sql`${value}::${type} is null`;
  const is = (column: Sql, value: string | null) =>
    sql`(${unset(value, sql`text`)} or m.${column} = ${value})`;
  const { pinned, importanceMin, importanceMax, updatedAfter, updatedBefore } = filter;
  return join(
    [
      sql`m.state = 'active' and m.app_id in ('', ${appId})`,
      sql`m.kind = any (${kinds}::text[]) and m.category = any (${categories}::text[])`,
      is(sql`agent_id`, filter.agentId),
      is(sql`run_id`, filter.runId),
      is(sql`actor_id`, filter.actorId),
      is(sql`role`, filter.role),
      is(sql`category`, filter.category),
      sql`(${unset(pinned, sql`boolean`)} or m.pinned = ${pinned})`,
      sql`(${unset(importanceMin, sql`real`)} or m.importance >= ${importanceMin}::real)`,
      sql`(${unset(importanceMax, sql`real`)} or m.importance <= ${importanceMax}::real)`,
      sql`(${unset(updatedAfter, sql`timestamptz`)} or m.updated_at >= ${updatedAfter}::timestamptz)`,
      sql`(${unset(updatedBefore, sql`timestamptz`)} or m.updated_at < ${updatedBefore}::timestamptz)`,
    ],
    " and ",
  );
}
