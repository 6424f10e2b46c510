import sql, { raw, type Sql } from "sql-template-tag";
import { memoryJson } from "../../memories/item/memory-row.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";

/** A memory as it travels into the process that holds it. */
export interface HeldMemoryRow {
  readonly ref: number;
  /** Of one that is not, nothing else is told: it is held no longer. */
  readonly active: boolean;
  /** The thread it was learned in, by its ref. */
  readonly thread: number | null;
  /** A `MemoryJson`, as text. */
  readonly memory: string | null;
  /** Its words, and how often it has each. */
  readonly lexemes: readonly string[];
  readonly frequencies: readonly number[];
  /** Words of its speaker's name. */
  readonly speakers: readonly string[];
  /** Its length in words; 0 without any. */
  readonly length: number;
  /** Its vector as pgvector sends a `halfvec`, in base64; null without one in the space asked for. */
  readonly vector: string | null;
  /** All that it is linked to, with the strength of each link. */
  readonly links: readonly (readonly [ref: number, strength: number])[];
}

/** The row `m` of `memory` as a `HeldMemoryRow`, one JSON object, with its vector in `space`. */
export function heldMemoryJson(db: Connection, space: Pick<EmbeddingSpace, "ref" | "type"> | null): Sql {
  const { schema } = db;
  const speaks = sql`left(t.lexeme, 1) = '@'`;
  return sql`(
    select json_build_object(
      'ref', m.ref, 'active', m.state = 'active',
      'thread', case when m.state = 'active' then m.thread_ref end,
      'memory', case when m.state = 'active' then ${memoryJson(db)}::text end,
      'lexemes', w.lexemes, 'frequencies', w.frequencies, 'speakers', w.speakers, 'length', w.length,
      'vector', ${space ? vectorIn(db, space) : sql`null`},
      'links', (
        select coalesce(json_agg(json_build_array(l.ref, l.strength)), '[]') from (
          select r.to_ref as ref, r.strength from ${schema}.relation r where r.from_ref = m.ref and m.state = 'active'
          union all
          select r.from_ref, r.strength from ${schema}.relation r where r.to_ref = m.ref and m.state = 'active'
        ) l
      )
    )
    from (
      select coalesce(array_agg(t.lexeme) filter (where not ${speaks}), '{}') as lexemes,
        coalesce(array_agg(t.frequency) filter (where not ${speaks}), '{}') as frequencies,
        coalesce(array_agg(substr(t.lexeme, 2)) filter (where ${speaks}), '{}') as speakers,
        coalesce(max(t.length) filter (where not ${speaks}), 0) as length
      from ${schema}.memory_term t where t.memory_ref = m.ref and m.state = 'active'
    ) w
  )`;
}

function vectorIn({ schema }: Connection, { ref, type }: Pick<EmbeddingSpace, "ref" | "type">): Sql {
  return sql`(
        select encode(${raw(`${type.text}_send`)}(e.embedding), 'base64') from ${schema}.memory_embedding e
        where e.memory_ref = m.ref and e.space_ref = ${ref} and e.active
      )`;
}
