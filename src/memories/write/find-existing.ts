import sql, { empty, raw, type Sql } from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import { selected } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import { lexemes } from "../../postgres/lexemes.js";
import type { OwnerRef } from "../../scope/scope.js";
import { isId } from "../../scope/scope-predicates.js";
import type { EarlierRequest } from "../consent/consent-request.rule.js";
import type { MemoryKind, MemoryOrigin, MemoryTrust, MemoryVersion } from "../item/memory.js";
import { versionColumns } from "../item/memory-fields.js";
import { unexpired } from "../item/memory-row.js";
import { type SlotValue, sourceRank } from "../slot/slot-timeline.rule.js";
import type { Statement } from "./prepare-drafts.js";

export interface ExistingMemory extends SlotValue, MemoryVersion {
  /**
   * "slot": has the same slot. "same": has the same text. "near": one of the most similar.
   * "before", "after": closed values of the slot around the statement's time. "target": a model
   * says that the statement is about it.
   */
  readonly foundAs: "slot" | "before" | "after" | "same" | "near" | "target";
  /** Null when an earlier draft of the batch created it. */
  readonly ref: number | null;
  readonly kind: MemoryKind;
  readonly keyed: boolean;
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
  readonly seenCount: number;
  /** It has expired, but the sweep has not hidden it yet. */
  readonly expired: boolean;
  readonly actorId: string | null;
  readonly doubtedAt: Date | null;
  /** 1 except for "near". */
  readonly similarity: number;
}

/** A statement under the owner's lock, with what it may change. */
export interface FoundStatement extends Statement {
  /** See `sourceRank`. */
  readonly rank: number;
  /** The owner's turn in which it was said. */
  readonly turn: number;
  readonly now: Date;
  readonly existing: readonly ExistingMemory[];
  /** Pending or recently refused requests for its slot, or for its category without a key. */
  readonly requests: readonly EarlierRequest[];
}

/** Memories with rare words that are compared in full. */
const comparedByTerms = 20;
/** A word in this many of the owner's memories is not looked up: batches would take minutes. */
const commonWord = 500;
/** The exact search of 200 vectors among 20,000 takes some seconds. */
const maxProbes = 200;
export const nearestCount = 5;

/**
 * Vectors of the first pass, before the filter by app. With fewer than `nearestCount` hits, a
 * second pass reads all.
 */
const firstPass = 64;

interface ExistingSearch {
  readonly ownerRef: OwnerRef;
  readonly statements: readonly Statement[];
  /** Where they are compared; null: by their words. */
  readonly space: EmbeddingSpace | null;
  /** The edited memory, which is not near itself. */
  readonly self?: string | undefined;
}

interface VectorSearch extends Pick<ExistingSearch, "ownerRef"> {
  readonly space: EmbeddingSpace;
  readonly isBatch: boolean;
}

interface ExistingRow extends Omit<ExistingMemory, "rank"> {
  readonly probe: number;
}

/**
 * Finds for each statement its slot, the closed values around its time, equal text, the target of
 * a model's relation, and the nearest memories; in quarantine only equal text. Similarity, 0 to 1: 1 − cosine distance with
 * embeddings, else Dice's coefficient on stemmed terms of texts that share a rare word. One
 * query for every 200.
 */
export async function findExisting(
  db: Connection,
  search: ExistingSearch,
): Promise<ExistingMemory[][]> {
  const found = search.statements.map((): ExistingMemory[] => []);
  for (let from = 0; from < found.length; from += maxProbes) {
    const statements = search.statements.slice(from, from + maxProbes);
    for (const { probe, ...row } of await findRows(db, { ...search, statements })) {
      found[from + probe]?.push({ ...row, rank: sourceRank(row) });
    }
  }
  return found;
}

async function findRows(db: Connection, search: ExistingSearch): Promise<ExistingRow[]> {
  const { schema } = db;
  const { ownerRef, space, statements, self } = search;
  const probes = statements.map((statement, index) => {
    const { scope, kind, category, key, terms, validFrom, contentHash, relation } = statement;
    const hidden = statement.quarantined && self === undefined;
    const probe = { index, appId: scope.appId ?? "", kind, category, validFrom, contentHash };
    const words = hidden ? { terms: "" } : { key, terms };
    return { ...probe, ...words, self, target: relation?.target, hidden };
  });
  const vectors = statements.map(({ vector }) => vector);
  const embedding = space ? sql`((${vectors}::text[])[p.index + 1])::${space.type}` : sql`null`;
  const near = space
    ? nearByVector(db, { ownerRef, space, isBatch: statements.length > 1 })
    : nearByTerms(db, ownerRef);
  /** The first memory under `condition` for each probe; by default only for probes with a key. */
  const one = (
    foundAs: ExistingMemory["foundAs"],
    condition: Sql,
    order = empty,
    where = sql`where p.key is not null`,
  ) => sql`
      select p.index as probe, ${raw(`'${foundAs}'`)} as found_as, m.ref, 1::float8 as similarity
      from probe p cross join lateral (
        select ref from ${schema}.memory
        where owner_ref = ${ownerRef} and ${isId(sql`app_id`, sql`p."appId"`)} and ${condition}
        ${order} limit 1
      ) m ${where}`;
  const from = sql`coalesce(p."validFrom", ${db.now()})`;
  return db.query<ExistingRow>(
    sql`
    with probe as materialized (
      select p.*, ${embedding} as embedding from json_to_recordset(${JSON.stringify(probes)}::json) as p (
        index integer, "appId" text, kind text, category text, key text, "contentHash" text, terms text, self uuid, target uuid,
        "validFrom" timestamptz, hidden boolean
      )
    ),
    ${near},
    candidate as materialized (
      ${one("slot", sql`${ofSlot} and state = 'active'`)}
      union all
      ${one("before", sql`${closedInSlot} and valid_from <= ${from}`, sql`order by valid_from desc, valid_to desc nulls first`)}
      union all
      ${one("after", sql`${closedInSlot} and valid_from > ${from}`, sql`order by valid_from`)}
      union all
      ${one("same", sql`${sameWords} and state = 'active'`, empty, sql`where not p.hidden`)}
      ${probes.some(({ hidden }) => hidden) ? sql`union all ${one("same", sql`${sameWords} and state = 'quarantined'`, empty, sql`where p.hidden`)}` : empty}
      ${probes.some(({ target }) => target) ? sql`union all ${one("target", sql`id = p.target and state = 'active' and kind = p.kind`, empty, sql`where p.target is not null`)}` : empty}
      union all
      select probe, 'near', ref, similarity from near
    )
    select c.probe, c.found_as as "foundAs", m.ref::float8 as ref, m.id, m.kind, m.key is not null as keyed, ${selected(versionColumns, "m")},
      m.origin, m.trust, m.actor_id as "actorId", m.state = 'active' and not ${unexpired(db)} as expired,
      m.asserted_turn::float8 as turn, m.seen_count as "seenCount",
      m.doubted_at as "doubtedAt", m.valid_from as "validFrom", m.valid_to as "validTo", coalesce(m.asserted_at, m.valid_from) as "assertedAt",
      m.updated_at::text as "updatedAt", c.similarity
    from candidate c cross join lateral (select * from ${schema}.memory where ref = c.ref limit 1) m
    order by c.probe, c.found_as, c.similarity desc`,
    { prepare: true },
  );
}

const ofSlot = sql`category = p.category and key = p.key`;
const sameWords = sql`kind = p.kind and content_hash = p."contentHash"`;
const closedInSlot = sql`${ofSlot} and state = 'superseded' and (valid_to is null or valid_to > valid_from)`;

function nearByTerms(db: Connection, ownerRef: number): Sql {
  const { schema } = db;
  return sql`term as materialized (
    select p.index, v.lexeme, v.frequency, (
      select count(*) from (
        select from ${schema}.memory_term t where t.owner_ref = ${ownerRef} and t.lexeme = v.lexeme limit ${commonWord}
      ) found
    ) as memories
    from probe p cross join lateral ${lexemes(db, sql`p.terms`)} v
  ),
  document as materialized (
    select index, sum(frequency) as length, array_agg(lexeme) as lexemes, array_agg(frequency) as frequencies,
      array_agg(lexeme) filter (where memories between 1 and ${commonWord - 1}) as rare,
      array_agg(frequency) filter (where memories between 1 and ${commonWord - 1}) as rare_frequencies
    from term group by index
  ),
  near as materialized (
    select p.index as probe, n.ref, n.similarity
    from probe p join document d on d.index = p.index
    cross join lateral (
      select m.ref, (2.0 * o.shared / (d.length + o.length))::float8 as similarity
      from (
        select t.memory_ref
        from unnest(d.rare, d.rare_frequencies) as q (lexeme, frequency)
        cross join lateral (
          select memory_ref, frequency from ${schema}.memory_term
          where owner_ref = ${ownerRef} and lexeme = q.lexeme limit ${commonWord}
        ) t
        group by t.memory_ref
        order by sum(least(q.frequency, t.frequency)) desc, t.memory_ref desc limit ${comparedByTerms}
      ) hint
      cross join lateral (
        select sum(least(q.frequency, t.frequency)) as shared, max(t.length) as length
        from unnest(d.lexemes, d.frequencies) as q (lexeme, frequency)
        cross join lateral (
          select frequency, length from ${schema}.memory_term
          where owner_ref = ${ownerRef} and lexeme = q.lexeme and memory_ref = hint.memory_ref limit 1
        ) t
      ) o
      cross join lateral (select * from ${schema}.memory where ref = hint.memory_ref limit 1) m
      where m.app_id = p."appId" and m.id is distinct from p.self
      order by similarity desc, m.ref desc limit ${nearestCount}
    ) n
  )`;
}

/**
 * CTE `near` (probe, ref, similarity): the owner's nearest memories for each row of the CTE
 * `probe`.
 */
function nearByVector(db: Connection, search: VectorSearch): Sql {
  // A batch reads the vectors once.
  return sql`${search.isBatch ? sql`own_vector as materialized (${vectorsOf(db, search)}),` : empty}
  nearest as materialized (
    select p.index as probe, n.ref, n.similarity from probe p ${scan(db, search, sql`limit ${firstPass}`)}
    where not p.hidden
  ),
  sparse as materialized (
    select p.* from probe p
    where not p.hidden and (select count(*) from nearest n where n.probe = p.index) < ${nearestCount}
  ),
  near as materialized (
    select * from nearest where probe not in (select index from sparse)
    union all
    select p.index, n.ref, n.similarity from sparse p ${scan(db, search, sql`offset 0`)}
  )`;
}

function vectorsOf({ schema }: Connection, { ownerRef, space }: VectorSearch): Sql {
  return sql`select memory_ref, embedding from ${schema}.memory_embedding
    where owner_ref = ${ownerRef} and space_ref = ${space.ref} and active`;
}

/** Joins the nearest memories to the probe `p`; `cut` limits the vectors that are read. */
function scan(db: Connection, search: VectorSearch, cut: Sql): Sql {
  const { space, isBatch } = search;
  return sql`cross join lateral (
      select m.ref, least(1, -e.product) as similarity
      from (
        select memory_ref, embedding ${space.product} p.embedding as product
        from ${isBatch ? sql`own_vector` : sql`(${vectorsOf(db, search)}) own_vector`}
        order by product, memory_ref ${cut}
      ) e cross join lateral (select * from ${db.schema}.memory where ref = e.memory_ref limit 1) m
      where m.app_id = p."appId" and m.state = 'active' and m.id is distinct from p.self
      order by e.product, m.ref limit ${nearestCount}
    ) n`;
}
