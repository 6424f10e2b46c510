import sql, { type Sql } from "sql-template-tag";
import { z } from "zod";
import { pageRowsField, parseInput, smallCount } from "../input/parse-input.js";
import type { Connection } from "../postgres/connection.js";
import { requiredScope, requiredThread, type Scope, threadForbidden } from "../scope/scope.js";
import { isOwnThread, isSeenFrom, threadIs, uuidOf } from "../scope/scope-predicates.js";
import { timeZoneField } from "../text/time-zone.js";

/** Where a memory stands in the block, or in what a turn adds to it. */
export const blockParts = ["profile", "relevant", "episodes", "related", "rest", "notes"] as const;
export type BlockPart = (typeof blockParts)[number];

/** "told": a change told it in full, so no list repeats it. */
export const shownParts = [...blockParts, "told"] as const;
export type ShownPart = (typeof shownParts)[number];

/** What may add to a memory's score, or take from it. */
export const scoreSignals = [
  ...(["words", "vector", "sourceMessage", "identifier", "relation", "date", "speaker"] as const),
  ...(["importance", "recency", "insight", "pinned"] as const),
] as const;
export type ScoreSignal = (typeof scoreSignals)[number];

/** Stored in single precision. */
const measure = z.number().min(-1e9).max(1e9);
const memoryId = z.string().refine((id) => uuidOf(id) !== null, "is the id of no memory");
const count = z.int().min(0);

export const scorePartsSchema = z.partialRecord(z.enum(scoreSignals), measure);

/** Far more than a prompt has room for. The caller passes it, and each later turn reads it again. */
const mostMemories = 10_000;
const mostNews = 100;

const newsSchema = z.strictObject({
  /** The revision that the thread was told last, and how many changes there were. */
  since: count.optional(),
  count: count.optional(),
  /** Revision, event, and the memory that it replaces. */
  changes: z
    .array(z.tuple([count, z.string(), memoryId.nullable()]))
    .max(mostNews)
    .optional(),
  /** The request, and the memory that it would change. */
  consents: z
    .array(z.tuple([memoryId, memoryId.nullable()]))
    .max(mostNews)
    .optional(),
  /** Thread and seq of messages of other threads. */
  unread: z
    .array(z.tuple([count, smallCount]))
    .max(mostNews)
    .optional(),
  /** Memories whose line said that they may no longer hold, and since when. */
  doubts: z
    .array(z.tuple([memoryId, z.iso.datetime()]))
    .max(mostMemories)
    .optional(),
  /** How many memories that are always shown were over budget. */
  omitted: smallCount.optional(),
  /** The day that the prompt was told, as "2026-11-28". */
  day: z.iso.date().optional(),
  /** With it, where the conversation before it begins or goes on on another day: message and day. */
  days: z
    .array(z.tuple([z.string().max(1_000), z.iso.date()]))
    .max(mostNews)
    .optional(),
});

const exportedPlace = z.tuple([z.string(), smallCount]);

/** Of an export: its threads have ids, as other databases number them otherwise. */
export const exportedNewsSchema = newsSchema.extend({ unread: z.array(exportedPlace).optional() });

const nullableText = z.string().nullable();

const toldChange = z.object({
  rev: count,
  memoryId: z.string(),
  event: z.string(),
  line: z.string(),
  importance: z.number(),
  insteadId: nullableText,
  instead: nullableText,
  doubtedAt: nullableText.default(null),
});

const toldConsent = z.object({
  id: z.string(),
  category: z.string(),
  key: nullableText,
  value: nullableText,
  text: nullableText,
  currentId: nullableText,
  current: nullableText,
});

const saidWords = { text: z.string(), saidAt: nullableText.default(null) };

const toldSchema = z.object({
  changes: z.array(toldChange),
  consents: z.array(toldConsent),
  unread: z.array(z.object({ place: z.tuple([count, smallCount]), ...saidWords })),
});

/** The words of `news` when a turn was told them. */
export interface ToldWords extends z.output<typeof toldSchema> {}

export const exportedToldSchema = toldSchema.extend({
  unread: z.array(z.object({ place: exportedPlace, ...saidWords })),
});

/**
 * What a turn was told beside memories, by reference, so that later prompts of its epoch say the
 * same, and forgetting reaches it.
 */
export type ShownNews = z.input<typeof newsSchema>;

/** Messages of a conversation that a turn's note of its prompt has at most. */
export const maxTalk = 10_000;

/** A replay makes a row of each seq before it counts them. */
const isShortRun = ([first, last]: readonly unknown[]) => Number(last) - Number(first) < maxTalk;
const longRun = `has more than ${maxTalk} messages`;

/** A place in the conversation: a message's id if it has no seq yet; null: the turn's own, without id. */
const talkPlace = z.union([
  z.null(),
  z.string().max(1_000),
  z.tuple([smallCount, smallCount]).refine(isShortRun, longRun),
  z.tuple([smallCount, smallCount, z.literal("held")]).refine(isShortRun, longRun),
]);

export const handedSchema = z.strictObject({
  /** Where memory went. */
  injectAs: z.enum(["message", "system", "text"]),
  timeZone: timeZoneField,
  /** The message that opened the epoch; undefined for this turn's. */
  openedBy: z.string().max(1_000).optional(),
  /**
   * The messages shown verbatim: first and last seq of each run, "held" if the caller's own were
   * shown instead of the transcript's.
   */
  talk: z.array(talkPlace).max(maxTalk),
  /** Two hexadecimal digits for each of them. @default redaction forbids checksums */
  checks: z
    .string()
    .max(2 * maxTalk)
    .optional(),
  /** Of the texts of memory, 15 bits: whether a replay prints the same. */
  check: smallCount,
  /** Messages whose new words the transcript lacked. */
  edited: z.array(z.string().max(1_000)).max(1_000).optional(),
  /** Messages before the conversation that no summary has. */
  omittedMessages: smallCount.optional(),
  omittedAtLeast: z.literal(true).optional(),
  /** A memory of which only so many characters had room. */
  cut: z.tuple([memoryId, smallCount]).optional(),
  /** Place in the conversation, number and tokens of messages whose texts were cut. */
  shortened: z.tuple([smallCount, smallCount, smallCount]).optional(),
  /** Tokens of tool results above which older ones were replaced by a line each. */
  toolResultTokens: smallCount.optional(),
  /** Roles and texts alone, as `promptFor` gives them. */
  isPlain: z.literal(true).optional(),
});

/** How a turn's prompt was printed, without its words. */
export interface HandedOn extends z.output<typeof handedSchema> {}

export const shownContextSchema = z.strictObject({
  revision: z.int().min(0),
  memoryIds: z.array(z.string()).max(mostMemories),
  /** The best memory's, null if none was found; undefined without a search. */
  similarity: measure.nullish(),
  /** Memories by part, for `threads.shown`. @default none */
  parts: z.partialRecord(z.enum(shownParts), z.array(memoryId).max(mostMemories)).optional(),
  /** Scores of the found memories by id. @default none */
  scores: z.record(z.string(), measure).optional(),
  /** What each signal adds to these scores, by id. @default none */
  scoreParts: z.record(z.string(), scorePartsSchema).optional(),
  recallMs: measure.min(0).optional(),
  summaryId: z.int().nullish(),
  /** Existing memories that were not shown. @default 0 */
  omitted: smallCount.optional(),
  /** If the turn opens an epoch: `seq` of the first message shown verbatim. */
  firstSeq: smallCount.optional(),
  readable: z.array(z.string()).optional(),
  news: newsSchema.optional(),
  handed: handedSchema.optional(),
});

/**
 * What a turn was shown: counts as seen once the turn is recorded. `shownBy` makes it from a
 * recall.
 */
export interface ShownContext extends z.input<typeof shownContextSchema> {}

/**
 * CTE `shown_turn`: what the turn was shown, stored with the user's message, else with the last
 * one.
 */
export function saveShown(db: Connection, scope: Scope, shown: ShownContext | undefined): Sql {
  const { parts = {}, scores = {}, scoreParts = {}, revision = 0 } = shown ?? {};
  const {
    summaryId = null,
    omitted = 0,
    firstSeq = null,
    readable = [],
    news,
    handed,
  } = shown ?? {};
  const hasWords = Boolean(news?.changes ?? news?.consents ?? news?.unread);
  const listed = shownParts.flatMap((part) => (parts[part] ?? []).map((id) => ({ part, id })));
  const ids = listed.map(({ id }) => id);
  const scoresOfIds = ids.map((id) => scores[id] ?? null);
  const scorePartsOfIds = ids.map((id) => scoreParts[id] ?? null);
  // Citus refuses an insert that reads a table in a subquery, so that a CTE reads it.
  return sql`
    line_check as materialized (
      select array(
        select ${db.schema}.line_check(category, key, value, content, trust)
        from unnest(${ids}::uuid[]) with ordinality e (id, place)
        left join ${db.schema}.memory m on m.id = e.id and ${isSeenFrom(scope)} order by place
      ) as checks, ${hasWords ? toldWords(db, scope, news) : sql`null::jsonb`} as told
    ),
    shown_turn as (
      insert into ${db.schema}.shown
        (thread_ref, seq, turn, revision, first_seq, reader, memory_ids, parts, checks, scores, score_parts, news, told, handed, recall_ms, summary_id, omitted, created_at)
      select f.thread_ref, f.seq, owned.turns, ${revision}::bigint, ${firstSeq}::int, hashtext(${readable}::text[]::text),
        ${ids}::uuid[], ${listed.map(({ part }) => part)}::text[], l.checks,
        ${scoresOfIds}::real[],
        ${JSON.stringify(scorePartsOfIds)}::jsonb, ${jsonOf(news)}::jsonb, l.told, ${jsonOf(handed)}::jsonb, ${shown?.recallMs ?? null}::real,
        ${summaryId}::bigint, ${omitted}::int, ${db.now()}
      from owned join fresh f on f.thread_ref = owned.id cross join line_check l
      where ${shown?.parts !== undefined}
      order by f.role = 'user' desc, f.seq desc limit 1
      on conflict do nothing
    )`;
}

const jsonOf = (value: unknown): string | null =>
  value === undefined ? null : JSON.stringify(value);

/** The stored words of `news`, never a caller's. An app's requests stay with the app. */
function toldWords(db: Connection, { appId = "" }: Scope, news: ShownNews | undefined): Sql {
  const turns = sql`json_build_array(json_build_array('', ${jsonOf(news)}::json))`;
  return sql`(
        ${db.schema}.told_news_1(array(select owner_ref from owned), (select owner_ref from owned), ${appId}, ${turns}, ${db.now()}) -> 0
      )::jsonb - 'messageId' - 'news'`;
}

interface ShownMemory {
  readonly id: string;
  readonly part: ShownPart;
  /** Today's text; null if it was removed, or the scope may not see it. */
  readonly text: string | null;
  /** As `text`: null where that is. */
  readonly createdAt: Date | null;
  readonly origin: string | null;
  /** Comparable within its turn; null if shown unasked, or before scores were kept. */
  readonly score: number | null;
  /** What each signal added to it, such as `{ words: 0.2 }`; null where `score` is. */
  readonly scoreParts: Readonly<Partial<Record<ScoreSignal, number>>> | null;
}

export interface ShownTurn {
  readonly turn: number;
  readonly seq: number;
  readonly messageId: string;
  readonly at: Date;
  readonly revision: number;
  readonly summaryId: number | null;
  readonly memories: readonly ShownMemory[];
  /** Existing memories that were not shown. */
  readonly omitted: number;
  /** If the turn opened an epoch: `seq` of the first message shown verbatim; else null. */
  readonly firstSeq: number | null;
}

export const turnsPageSchema = z.strictObject({
  scope: requiredScope,
  threadId: requiredThread,
  /** Turns, 1 to 1,000. @default 100 */
  limit: pageRowsField,
  /** Only turns before this `seq`. */
  before: smallCount.optional(),
});

export interface ListShown extends z.input<typeof turnsPageSchema> {}

/**
 * One round trip; empty for an unknown thread.
 * @throws MemoryError `THREAD_FORBIDDEN`, `INVALID_INPUT`
 */
export async function listShown(db: Connection, input: ListShown): Promise<ShownTurn[]> {
  const { scope, threadId, limit, before } = parseInput(turnsPageSchema, input, "page of turns");
  const isOwned = isOwnThread(scope);
  const rows = await db.query<StoredTurn>(sql`
    select ${isOwned} as owned, x.*
    from ${db.schema}.thread t left join lateral (
      select s.turn, s.seq, g.message_id as "messageId", s.created_at as at, s.revision::float8 as revision,
        s.summary_id::float8 as "summaryId", s.omitted, s.first_seq as "firstSeq",
        (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', e.id, 'part', e.part, 'text', m.content, 'score', e.score, 'scoreParts', s.score_parts -> (e.place - 1)::int, 'origin', m.origin,
            'createdAt', date_part('epoch', m.created_at) * 1000
          ) order by e.place), '[]')
          from unnest(s.memory_ids, s.parts, s.scores) with ordinality as e (id, part, score, place)
          left join ${db.schema}.memory m
            on m.id = e.id and m.state in ('active', 'superseded', 'merged') and ${isSeenFrom(scope)}
        ) as memories
      from ${db.schema}.shown s join ${db.schema}.message g on g.thread_ref = s.thread_ref and g.seq = s.seq
      where s.thread_ref = t.id and s.seq < coalesce(${before ?? null}::int, 2147483647)
      order by s.seq desc limit ${limit}
    ) x on ${isOwned}
    where ${threadIs(scope.tenantId ?? "", threadId)}
    order by x.seq desc`);
  if (rows.some(({ owned }) => !owned)) throw threadForbidden(threadId);
  return rows.flatMap(({ owned: _, memories, ...turn }) => {
    if (memories === null) return [];
    const dated = memories.map(({ createdAt, ...memory }) => ({
      ...memory,
      createdAt: createdAt === null ? null : new Date(createdAt),
    }));
    return { ...turn, memories: dated };
  });
}

/** Null is no turn. Times of memories in milliseconds, as JSON has none. */
interface StoredTurn extends Omit<ShownTurn, "memories"> {
  readonly owned: boolean;
  readonly memories:
    | (Omit<ShownMemory, "createdAt"> & { readonly createdAt: number | null })[]
    | null;
}
