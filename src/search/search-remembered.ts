import sql, { raw, type Sql } from "sql-template-tag";
import {
  type AsOfTimes,
  clockAt,
  type KnownThen,
  knownThen,
  type MissingRow,
  wasTrue,
} from "../memories/audit/as-of.js";
import { believedStates } from "../memories/audit/list-remembered.js";
import { missingColumns, remembered } from "../memories/audit/remembered.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { memoryTerms } from "../memories/item/memory-fields.js";
import {
  listingConditions,
  type MemoryJson,
  memoryJson,
  memoryOf,
} from "../memories/item/memory-row.js";
import { createPauses } from "../pauses.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import type { MemoryCandidate } from "./rank-memories.rule.js";
import type { EmbeddedQuestion } from "./read-question.js";
import { type AskedWord, type FoundWord, fitOfWords } from "./remembered-words.rule.js";
import { filtersOf, isBroadQuestion, type SearchConditions } from "./search-memories.js";

/** What memory knew at a past time, with the features that rank it. */
export interface RememberedCandidates {
  readonly candidates: readonly MemoryCandidate[];
  /** The most important ones, if the question is broad. */
  readonly important: readonly MemoryItem[];
  readonly past: KnownThen;
  /** How many have no vector, since their text changed or is gone. */
  readonly byWords: number;
}

type RememberedRow = readonly [memory: MemoryJson, cosine: number | null];

/**
 * Finds what memory knew at a past time and searched then. Its index has today's texts only, so
 * the words of each text of then are compared; neither source messages nor links count.
 */
export async function searchRemembered(
  db: Connection,
  question: EmbeddedQuestion,
  search: SearchConditions & { readonly maxHits: number; readonly asOf: AsOfTimes },
  { now, idKey }: { readonly now: Date; readonly idKey: string | undefined },
): Promise<RememberedCandidates> {
  const { scope, kinds, categories, filter, maxHits, asOf } = search;
  const { validAt } = asOf;
  const at = clockAt(db, asOf);
  const states = validAt && believedStates;
  const isSearched = sql`${listingConditions(at, { scope, kinds, categories, states }, raw("remembered"))}
        and ${validAt ? wasTrue(validAt) : sql`true`} and ${db.schema}.fits_filters_1(
          ${filtersOf(filter)}::jsonb, m.agent_id, m.run_id, m.actor_id, m.role, m.category, m.pinned, m.importance,
          m.updated_at, m.metadata, m.trust
        )`;
  const [row] = await db.query<
    MissingRow & { readonly isBroad: boolean; readonly found: readonly RememberedRow[] }
  >(sql`
    with remembered as materialized (${remembered(db, scope, asOf)}
    )
    select ${isBroadQuestion(db, question.terms)} as "isBroad", coalesce((
        select json_agg(json_build_array(${memoryJson(at)}, ${cosineOf(db, question)})
          order by m.pinned desc, m.importance desc, m.updated_at desc, m.ref)
        from remembered m where ${isSearched}
      ), '[]') as found, ${missingColumns(db, scope, asOf, idKey)}`);
  const { isBroad, found, ...missing } = row as NonNullable<typeof row>;
  const past = knownThen(asOf, missing, now);
  const memories = found.map(([memory]) => memoryOf(memory));
  const byWords = question.vector ? found.filter(([, cosine]) => cosine === null).length : 0;
  if (isBroad) {
    const hasBegun = ({ validFrom }: MemoryItem) => validFrom <= (asOf.knownAt ?? now);
    const important = memories.filter(hasBegun).slice(0, maxHits);
    return { candidates: [], important, past, byWords };
  }
  const fits = await fitsOf(db, question, memories);
  const candidates = memories.map((memory, place): MemoryCandidate => {
    const { words, hasIdentifier } = fits.get(place) ?? { words: 0, hasIdentifier: false };
    const cosine = found[place]?.[1] ?? null;
    return { memory, words, hasIdentifier, cosine, source: 0, relation: 0, linked: [] };
  });
  return { candidates, important: [], past, byWords };
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

async function fitsOf(
  db: Connection,
  { terms }: EmbeddedQuestion,
  memories: readonly MemoryItem[],
) {
  const pause = createPauses();
  const texts: string[] = [];
  for (const memory of memories) {
    texts.push(memoryTerms(memory));
    await pause();
  }
  const [row] = await db.query<{
    readonly asked: readonly AskedWord[];
    readonly found: readonly FoundWord[];
    readonly length: number;
  }>(sql`
    with asked as materialized (select lexeme, frequency = 0 as is_part, is_aside from ${lexemes(db, terms)}),
    word as materialized (
      select t.place - 1 as place, w.lexeme, w.frequency, sum(w.frequency) over (partition by t.place) as length
      from unnest(${texts}::text[]) with ordinality t (terms, place) cross join lateral ${lexemes(db, sql`t.terms`)} w
    )
    select (select json_agg(json_build_array(lexeme, is_part, is_aside)) from asked) as asked,
      coalesce((
        select json_agg(json_build_array(place, lexeme, frequency, length)) from word
        where lexeme in (select lexeme from asked)
      ), '[]') as found,
      (select coalesce(sum(frequency), 0) from word)::float8 as length`);
  const { asked, found, length } = row as NonNullable<typeof row>;
  const total = texts.length;
  return fitOfWords(asked, found, { total, averageLength: length / Math.max(1, total) });
}
