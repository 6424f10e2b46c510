import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";

/** A message's words, as they travel: `frequencies` of `lexemes`, how many words it has in all, and its speaker's names. */
export type HeldMessageWords = readonly [
  seq: number,
  length: number,
  lexemes: readonly string[],
  frequencies: readonly number[],
  speakers: readonly string[],
];

/** A thread with the words of some of its messages. */
export interface HeldMessageRow {
  /** `thread.id`. */
  readonly thread: number;
  /** The app it belongs to; "" for none. */
  readonly app: string;
  /** How many messages it has, those without words among them. */
  readonly size: number;
  /** By seq. Messages without words are left out. */
  readonly messages: readonly HeldMessageWords[];
}

/**
 * The `HeldMessageRow` of the row `t` of `thread` as json, with the words of its messages from `first` on.
 *
 * @param next the first message that is left out again. @default none
 */
export function heldThreadJson({ schema }: Connection, first: Sql, next?: Sql): Sql {
  const isWord = sql`filter (where not starts_with(x.lexeme, '@'))`;
  return sql`json_build_object(
      'thread', t.id, 'app', t.app_id,
      'size', coalesce((
        select z.seq + 1 from ${schema}.message z where z.thread_ref = t.id order by z.seq desc limit 1
      ), 0),
      'messages', (
        select coalesce(json_agg(json_build_array(w.seq, w.length, w.lexemes, w.frequencies, w.speakers) order by w.seq), '[]')
        from (
          select x.seq, coalesce(max(x.length) ${isWord}, 0) as length,
            coalesce(array_agg(x.lexeme) ${isWord}, '{}') as lexemes,
            coalesce(array_agg(x.frequency) ${isWord}, '{}') as frequencies,
            coalesce(array_agg(substr(x.lexeme, 2)) filter (where starts_with(x.lexeme, '@')), '{}') as speakers
          from ${schema}.message_term x
          where x.thread_ref = t.id and x.seq >= ${first} ${next ? sql`and x.seq < ${next}` : empty}
          group by x.seq
        ) w
      )
    )`;
}

/** A thread of an owner: `[thread.id, its app, how many messages it has]`. */
export type HeldThread = readonly [thread: number, app: string, size: number];

/** The `HeldThread`s of an owner as a json array, in no order. */
export function heldThreadsJson({ schema }: Connection, ownerRef: Sql): Sql {
  return sql`(
      select coalesce(json_agg(json_build_array(h.id, h.app_id, z.seq + 1)), '[]')
      from ${schema}.thread h
      cross join lateral (
        select seq from ${schema}.message where thread_ref = h.id order by seq desc limit 1
      ) z
      where h.owner_ref = ${ownerRef}
    )`;
}
