import sql, { type Sql } from "sql-template-tag";
import type { AsOfTimes } from "../memories/audit/as-of.js";
import { type PastReader, readPast } from "../memories/audit/remembered.js";
import { wordRows } from "../memories/item/index-rows.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { memoryTerms } from "../memories/item/memory-fields.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import { createPauses } from "../pauses.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import { seenOwners } from "../scope/scope-predicates.js";
import type { MemoryCandidate } from "./rank-memories.rule.js";
import type { EmbeddedQuestion } from "./read-question.js";
import { retrievalWeights as weights } from "./retrieval-options.js";
import { filtersOf, isBroadQuestion, type SearchConditions } from "./search-memories.js";

type PastSearch = SearchConditions & { readonly maxHits: number; readonly asOf: AsOfTimes };

/**
 * Finds what memory knew at a past time and searched then. Its index has today's texts only, so
 * the words of each text of then are compared; neither source messages nor links count.
 */
export async function searchRemembered(
  db: Connection,
  question: EmbeddedQuestion,
  { filter, maxHits, ...listing }: PastSearch,
  reader: PastReader,
) {
  const { row, past: known } = await readPast<{
    readonly isBroad: boolean;
    readonly found: readonly (readonly [memory: MemoryJson, cosine: number | null])[];
  }>(
    db,
    listing,
    reader,
    (at) => sql`${isBroadQuestion(db, question.terms)} as "isBroad", coalesce((
        select json_agg(json_build_array(${memoryJson(at)}, ${cosineOf(db, question)})
          order by m.pinned desc, m.importance desc, m.updated_at desc, m.ref)
        from listed m where ${db.schema}.fits_filters_1(
          ${filtersOf(filter)}::jsonb, m.agent_id, m.run_id, m.actor_id, m.role, m.category, m.pinned, m.importance,
          m.updated_at, m.metadata, m.trust
        )
      ), '[]') as found`,
  );
  const found = row.found.map(([memory, cosine]) => ({ memory: memoryOf(memory), cosine }));
  const lacksVector = found.filter(({ cosine }) => question.vector && cosine === null);
  const past = { ...known, byWords: lacksVector.length };
  const memories = found.map(({ memory }) => memory);
  if (row.isBroad) {
    const hasBegun = ({ validFrom }: MemoryItem) => validFrom <= past.asOf.knownAt;
    const important = memories.filter(hasBegun).slice(0, maxHits);
    return { candidates: [], important, past };
  }
  const fits = await fitsOf(db, question, listing, memories);
  const candidates = found.map((each): MemoryCandidate => {
    const { words, hasIdentifier } = fits.get(each.memory.id) ?? unfit;
    return { ...each, words, hasIdentifier, source: 0, relation: 0, linked: [] };
  });
  return { candidates, important: [], past };
}

/** Similarity of the row `m` by the vector that is stored of its text; null for another text. */
function cosineOf({ schema }: Connection, { vector }: EmbeddedQuestion): Sql {
  if (vector === null) return sql`null`;
  const { space } = vector;
  return sql`(
          select least(1, -(e.embedding ${space.product} ${vector.vector}::${space.type}))
          from ${schema}.memory c join ${schema}.memory_embedding e on e.memory_ref = c.ref
          where c.id = m.id and c.content = m.content and e.space_ref = ${space.ref}
        )`;
}

type TextFit = Pick<MemoryCandidate, "words" | "hasIdentifier">;

const unfit: TextFit = { words: 0, hasIdentifier: false };

/** How well the words of `memories` fit, by their ids. Words are worth what they are today. */
async function fitsOf(
  db: Connection,
  { terms }: EmbeddedQuestion,
  { scope }: Pick<PastSearch, "scope">,
  memories: readonly MemoryItem[],
): Promise<ReadonlyMap<string, TextFit>> {
  const pause = createPauses();
  const texts: string[] = [];
  for (const memory of memories) {
    texts.push(memoryTerms(memory));
    await pause();
  }
  const { schema } = db;
  const rows = await db.query<TextFit & { readonly id: string }>(sql`
    with input as (
      select * from unnest(${memories.map(({ id }) => id)}::uuid[], ${texts}::text[]) i (id, terms)
    ),
    ${wordRows(db)},
    average as (select sum(w.frequency)::float8 / ${Math.max(1, texts.length)} as length from word w)
    select w.id, sum(${schema}.term_fit_1(
        t.idf, greatest(w.frequency, ${weights.part}::float8), w.length / greatest(1, a.length), ${weights.k1}, ${weights.b}
      )) / q.best_fit as words,
      bool_or(w.frequency > 0 and ${schema}.is_identifier_1(t.lexeme, t.texts, t.is_part)) as "hasIdentifier"
    from ${schema}.question_terms_1(
        array(${seenOwners(db, scope)}),
        array(select row(lexeme, frequency = 0, is_aside)::${schema}.asked_word from ${lexemes(db, terms)}),
        false, ${weights.expectedTerms}, ${weights.part}, ${weights.aside}
      ) q
      cross join average a
      cross join unnest(q.lexemes, q.texts, q.are_parts, q.idfs) t (lexeme, texts, is_part, idf)
      join word w on w.lexeme = t.lexeme
    group by w.id, q.best_fit`);
  return new Map(rows.map(({ id, ...fit }) => [id, fit]));
}
