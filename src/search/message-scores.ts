import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { retrievalWeights as weights } from "./retrieval-weights.js";
import { ideal, normed, rarity, saturated, weighted } from "./word-scores.js";

/** Whose words make up the score of a message. */
export interface MessageSelection {
  /** Only this app's threads; all where it is empty. */
  readonly appId: string;
  /** Only those of the rows `h` of `thread` for which it holds. @default all */
  readonly inThread?: Sql | undefined;
  /** Whether the words of facts learned from a message are taken for its own as well. */
  readonly facts?: boolean;
  /** Messages looked at with their neighbours. */
  readonly most: number;
}

/**
 * CTEs `thread_own` (thread_ref, score) and `message_context` (thread_ref, seq, score, own): how well each
 * thread as a whole, and each message with its neighbours and alone, fit what is asked.
 *
 * Only the `most` best messages, alone, lend their words to their neighbours: in a transcript of years, words in
 * thousands of messages make tens of thousands of neighbours that no answer is among.
 *
 * A message is scored as BM25F scores a text of several fields: the neighbours' words (and with `facts` those of
 * the facts learned from it, which needs the CTEs of `memoryScores` before) are taken for its own, at a lower
 * weight, before saturation. So one word said by everyone counts once, and different words add up.
 *
 * Every term's rarity is counted in the index before its rows are read. What may be large is joined in full: how
 * often a word is said differs a thousandfold, so the planner is wrong about it, and only a full join is never made
 * by comparing all with all.
 */
export function messageScores(
  db: Connection,
  { appId, inThread, facts = false, most }: MessageSelection,
): Sql {
  const { schema } = db;
  const { k1, b } = weights.message;
  const inApp = appId === "" ? sql`true` : sql`h.app_id = ${appId}`;
  const everywhere = appId === "" && inThread === undefined;
  const searched = (thread: Sql) =>
    everywhere
      ? sql`true`
      : sql`exists (select from ${schema}.thread h where h.id = ${thread} and ${inApp} and ${inThread ?? sql`true`})`;
  return sql`
    message_weight as materialized (
      ${weighted({ found: sql`a.messages`, all: sql`s.message_count`, length: sql`s.message_length` })}
    ),
    message_ideal as materialized (
      ${ideal(sql`message_weight`)}
    ),
    message_match as materialized (
      select t.thread_ref, t.seq, w.n, w.weight, w.gain, t.frequency,
        ${normed(sql`t.frequency`, sql`t.length`, sql`w.average`, b)} as normed
      from message_weight w
      join ${schema}.message_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      where ${searched(sql`t.thread_ref`)}
    ),
    message_hit as materialized (
      select m.*, sum(gain * ${saturated(sql`normed`, k1)}) over same_message as total,
        row_number() over same_message as nth
      from message_match m window same_message as (partition by thread_ref, seq)
    ),
    message_field as (
      select m.thread_ref, m.seq + near.seqs as seq, m.n, m.gain, m.normed * near.weight as frequency,
        case near.seqs when 0 then m.normed else 0 end as own
      from message_hit m
      cross join (values
        (0, 1::float8),
        (1, ${weights.previousTurn}::float8), (-1, ${weights.nextTurn}::float8),
        (2, ${weights.secondPreviousTurn}::float8), (-2, ${weights.secondNextTurn}::float8)
      ) as near (seqs, weight)
      where m.total >= (
        select min(total) from (select total from message_hit where nth = 1 order by total desc limit ${most}) best
      )
      ${facts ? factFields(db, appId, searched(sql`m.thread_ref`)) : empty}
    ),
    message_term_score as (
      select thread_ref, seq, max(gain) as gain, sum(frequency) as frequency, sum(own) as own
      from message_field group by thread_ref, seq, n
    ),
    message_context as materialized (
      select t.thread_ref, t.seq, sum(t.gain * ${saturated(sql`t.frequency`, k1)}) / (select gain from message_ideal) as score,
        sum(t.gain * ${saturated(sql`t.own`, k1)}) / (select gain from message_ideal) as own
      from message_term_score t
      group by t.thread_ref, t.seq
    ),
    thread_match as materialized (
      select thread_ref, n, sum(frequency)::float8 as frequency, max(weight) as weight,
        count(*) over (partition by n)::float8 as threads
      from message_match group by thread_ref, n
    ),
    thread_size as materialized (
      select r.thread_ref, l.messages::float8 as messages, greatest(1, avg(l.messages) over ())::float8 as average
      from (select distinct thread_ref from thread_match) r
      cross join lateral (
        select max(m.seq) + 1 as messages from ${schema}.message m where m.thread_ref = r.thread_ref
      ) l
    ),
    thread_total as materialized (
      select count(*)::float8 as threads from ${schema}.thread h
      where h.owner_ref in (select id from seer) ${appId === "" ? empty : sql`and h.app_id = ${appId}`}
    ),
    thread_weight as (
      select w.term, w.weight * ${rarity(sql`n.threads`, sql`coalesce(m.threads, 0)`, 0)} as gain
      from message_weight w left join (select distinct n, threads from thread_match) m using (n) cross join thread_total n
    ),
    thread_ideal as materialized (${ideal(sql`thread_weight`)}),
    thread_own as materialized (
      select thread_ref, sum(m.weight * ${rarity(sql`n.threads`, sql`m.threads`, 0)}
        * ${saturated(sql`(${normed(sql`m.frequency`, sql`z.messages`, sql`z.average`, b)})`, k1)}) / (select gain from thread_ideal) as score
      from thread_match m full join thread_size z using (thread_ref) cross join thread_total n
      group by thread_ref
    )`;
}

/** The words of facts, as words of the messages that they were learned from. */
function factFields(db: Connection, appId: string, searched: Sql): Sql {
  return sql`
    union all
    select m.thread_ref, cited.seq, w.n, max(g.gain),
      ${weights.factWord}::float8 * max(${normed(sql`t.frequency`, sql`t.length`, sql`w.average`, weights.memory.b)}), 0
    from memory_weight w
    join message_weight g on g.owner_ref = w.owner_ref and g.n = w.n
    join ${db.schema}.memory_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
    join ${db.schema}.memory m on m.ref = t.memory_ref and m.kind = 'fact' and m.app_id in ('', ${appId})
    cross join lateral unnest(m.source_seqs) as cited (seq)
    where m.thread_ref is not null and ${searched}
    group by m.thread_ref, cited.seq, w.n`;
}
