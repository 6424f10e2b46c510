import sql from "sql-template-tag";
import { expect } from "vitest";
import type { Connection } from "../../../src/postgres/connection.js";
import {
  askedTerms,
  type CountedTexts,
  unknownTerms,
  type WordForms,
} from "../../../src/search/held/asked-terms.rule.js";
import {
  type HeldSelection,
  heldCandidates,
  type SpokenSignals,
  visibleIn,
} from "../../../src/search/held/held-candidates.js";
import type { HeldMemories } from "../../../src/search/held/held-memories.js";
import { memoryHits, searchedBy } from "../../../src/search/memory-hits.js";
import type { VisibleMemories } from "../../../src/search/memory-signals.js";
import { questionTerms, seenOwners } from "../../../src/search/question-terms.js";
import type { EmbeddedQuestion } from "../../../src/search/read-question.js";
import { weightedTerms } from "../../../src/search/word-weights.rule.js";

/** What the database tells of a question and its owners beside their memories. */
interface Told {
  readonly owners: readonly {
    readonly id: number;
    readonly memory_count: number;
    readonly memory_length: number;
    readonly messages: Readonly<Record<string, number>>;
  }[];
  readonly lexemes: readonly string[];
  readonly speakers: readonly string[];
  readonly named: readonly string[];
  readonly now: number;
  readonly sources: Readonly<Record<string, number>>;
  readonly threads: Readonly<Record<string, number>>;
  readonly matched: number;
  readonly rest: Readonly<Record<string, number>>;
}

/** What is asked of memories: what `searchMemories` is asked. */
export type Asked = VisibleMemories & { readonly limit: number };

/**
 * The candidates that held memories give, with what messages say of them as the statement has it.
 *
 * @param held by the ref of the owner.
 */
export async function candidatesOfHeld(
  db: Connection,
  held: ReadonlyMap<number, HeldMemories>,
  question: EmbeddedQuestion,
  asked: Asked,
) {
  const told = await toldOf(db, question, asked);
  const memories = told.owners.map(({ id }) => held.get(id) as HeldMemories);
  const texts = told.owners.map(
    (owner, place): CountedTexts => ({
      memories: (lexeme) => (memories[place] as HeldMemories).found(lexeme),
      messages: (lexeme) => owner.messages[lexeme] ?? 0,
    }),
  );
  const isSpeaker = (word: string) =>
    memories.some((each) => each.hasSpeaker(word)) || texts.some(({ messages }) => messages(`@${word}`) > 0);
  const words = {
    lexemes: told.lexemes,
    named: new Set(await lexemesOf(db, question.words.filter(isSpeaker))),
    correctable: question.correctable,
  };
  const unknown = unknownTerms(words, texts);
  const forms = unknown.size > 0 ? await formsOf(db, question.correctable) : new Map<string, WordForms>();
  const terms = askedTerms(words, texts, forms);
  const numbered = (record: Readonly<Record<string, number>>) =>
    new Map(Object.entries(record).map(([ref, value]) => [Number(ref), value]));
  const messages: SpokenSignals = {
    sources: numbered(told.sources),
    threads: numbered(told.threads),
    matched: told.matched,
    restSources: () => numbered(told.rest),
  };
  const weighted = weightedTerms(
    terms,
    told.owners.map((owner, place) => ({
      count: owner.memory_count,
      length: owner.memory_length,
      found: (memories[place] as HeldMemories).found,
    })),
  );
  const { vector, times } = searchedBy(question);
  const selection: HeldSelection = { ...asked, vector, times, nowMs: told.now };
  const isVisible = visibleIn(memories, selection);
  expect([...messages.sources.keys(), ...messages.restSources().keys()].every(isVisible)).toBe(true);
  return heldCandidates({ owners: memories, terms: weighted, messages, selection });
}

async function toldOf(db: Connection, question: EmbeddedQuestion, asked: Asked): Promise<Told> {
  const { schema } = db;
  const { ctes, owners } = seenOwners(db, asked.scope);
  const terms = questionTerms(db, owners, question);
  const hits = memoryHits(db, { owners, terms: terms.terms }, { ...asked, ...searchedBy(question) });
  const [told] = await db.query<{ told: Told }>(sql`
    with ${ctes},${terms.ctes},${hits.ctes}
    select json_build_object(
      'owners', (select coalesce(json_agg(json_build_object(
        'id', s.id, 'memory_count', s.memory_count, 'memory_length', s.memory_length,
        'messages', (select coalesce(json_object_agg(lexeme, n), '{}') from (
          select lexeme, count(*) as n from ${schema}.message_term t where t.owner_ref = s.id group by 1
        ) c)
      )), '[]') from ${owners} s),
      'lexemes', (
        select coalesce(json_agg(v.lexeme order by n), '[]')
        from unnest(to_tsvector(${db.language}::regconfig, ${question.terms})) with ordinality v (lexeme, p, w, n)
      ),
      'now', date_part('epoch', ${db.now()}) * 1000,
      'sources', (select coalesce(json_object_agg(ref, value), '{}') from source_best),
      'threads', (select coalesce(json_object_agg(thread_ref, score), '{}') from thread_score),
      'matched', (select count(*) from (select from message_word where nth = 1 limit ${asked.limit * 8}) h),
      'rest', (select coalesce(json_object_agg(ref, value), '{}') from rest_source)
    ) as told`);
  return (told as { told: Told }).told;
}

async function lexemesOf(db: Connection, words: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ lexeme: string }>(sql`
    select v.lexeme from unnest(${words}::text[]) word
    cross join lateral unnest(to_tsvector(${db.language}::regconfig, word)) v`);
  return rows.map(({ lexeme }) => lexeme);
}

async function formsOf(db: Connection, words: readonly string[]): Promise<ReadonlyMap<string, WordForms>> {
  const lexemes = (text: unknown) =>
    sql`array(select v.lexeme from unnest(to_tsvector(${db.language}::regconfig, ${text})) v)`;
  const rows = await db.query<{ word: string } & WordForms>(sql`
    select word, ${lexemes(sql`word`)} as lexemes, ${lexemes(sql`${db.schema}.one_edit_away(word)`)} as near
    from unnest(${words}::text[]) word`);
  return new Map(rows.map(({ word, lexemes, near }) => [word, { lexemes, near }]));
}
