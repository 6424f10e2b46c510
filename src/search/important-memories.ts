import sql, { type Sql } from "sql-template-tag";
import { memoryJson } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { visible } from "./memory-signals.js";
import { asksForAll, type SeenOwners } from "./question-terms.js";
import type { Question } from "./read-question.js";

/** Pinned memories (above 10), then by importance; the expression of their index. */
export const importanceRank: Sql = sql`(m.importance + 10 * m.pinned::integer)`;

/** CTE `important`, rows of `FoundMemory`. Reads no row unless the question asks for everything. */
export function importantMemories(
  db: Connection,
  owners: SeenOwners,
  question: Pick<Question, "telling">,
  most: number,
): Sql {
  return sql`
    important as (
      select 'important' as list, m.ref::float8 as ref,
        to_json(row_number() over (order by ${importanceRank} desc, m.updated_at desc, m.ref)) as signals,
        ${memoryJson(db)} as memory
      from (
        select l.* from ${owners} s cross join wanted w cross join lateral (
          select * from ${db.schema}.memory m
          where m.owner_ref = s.id and ${asksForAll(db, question)} and ${visible} and m.valid_from <= ${db.now()}
          order by ${importanceRank} desc, m.updated_at desc, m.ref limit ${most}
        ) l
      ) m
      order by ${importanceRank} desc, m.updated_at desc, m.ref limit ${most}
    )`;
}
