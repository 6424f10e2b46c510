import sql, { empty, type Sql } from "sql-template-tag";
import { forgottenMessages } from "../conversation/forgotten-messages.js";
import type { Connection } from "../postgres/connection.js";
import { type Cte, cte, float } from "./composed-statement.js";
import type { AskedTerms, SeenOwners } from "./question-terms.js";
import { retrievalWeights as weights } from "./retrieval-options.js";
import { ideal, normed, rarity, saturated, type WeightedTerms, weighted } from "./word-scores.js";

export interface MessageSelection {
  /** Only this app's threads; all where it is empty. */
  readonly appId: string;
  /** Only those of the rows `h` of `thread` for which it holds. @default all */
  readonly inThread?: Sql | undefined;
  /** Weights of the terms among memories: then words of facts learned from a message count for it as well. */
  readonly factWeights?: WeightedTerms;
  /** Only for sources of memories: scores nothing where nothing was learned. @default false */
  readonly sources?: boolean;
  /** Messages whose neighbours are smoothed, as an expression. */
  readonly most: Sql;
}

export interface MessageScores {
  readonly ctes: Sql;
  /** The messages with the question's words: a row for each word, numbered by `nth`, with the message's `total`. */
  readonly words: Cte<"thread_ref" | "seq" | "total" | "nth">;
  /** Upper bound of a message's score. */
  readonly ideal: Cte<"gain">;
  /** What is left out. */
  readonly forgotten: Cte<"thread_ref" | "seq">;
  /** Scores smoothed with neighbours (`score`) and alone (`own`). */
  readonly messages: Cte<"thread_ref" | "seq" | "score" | "own">;
  readonly threads: Cte<"thread_ref" | "score">;
}

/**
 * CTEs up to the scores of messages and threads, by BM25F: words of neighbours, and where asked of facts learned from
 * a message, count at a lower weight before saturation. A word said by everyone counts once; different words add up.
 *
 * Only the `most` best messages are smoothed: words in thousands of messages have tens of thousands of neighbours.
 * Scores are of single precision: equal fits tie, whatever the order of summation. Large inputs are joined in full:
 * frequencies differ a thousandfold, so the planner is wrong about them, and a full join is never a nested loop.
 */
export function messageScores(
  db: Connection,
  asked: { readonly terms: AskedTerms; readonly owners: SeenOwners },
  selection: MessageSelection,
): MessageScores {
  const { schema } = db;
  const { appId, inThread, factWeights, sources = false, most } = selection;
  const { k1, b } = weights.message;
  const inApp = appId === "" ? sql`true` : sql`h.app_id = ${appId}`;
  const everywhere = appId === "" && inThread === undefined;
  const searched = (thread: Sql) =>
    everywhere
      ? sql`true`
      : sql`exists (select from ${schema}.thread h where h.id = ${thread} and ${inApp} and ${inThread ?? sql`true`})`;
  const texts = { found: sql`a.messages`, all: sql`s.message_count`, length: sql`s.message_length` };
  return {
    words: cte("message_word"),
    ideal: cte("message_ideal"),
    forgotten: cte("forgotten_message"),
    messages: cte("message_score"),
    threads: cte("thread_score"),
    ctes: sql`
    -- Messages that are to be forgotten. One that other facts came from lends them no words, and can be found.
    forgotten_message as materialized (
      select thread_ref, seq from (${forgottenMessages(db, asked.owners)}) f ${sources ? empty : sql`where wholly`}
    ),
    -- What each term is worth among messages.
    message_weight as materialized (${weighted(asked, texts)}),
    -- What a message would score that has them all.
    message_ideal as materialized (${ideal(cte("message_weight"))}),
    -- Which messages have which of the terms.
    message_match as materialized (
      select t.thread_ref, t.seq, w.n, w.weight, w.gain, t.frequency,
        ${normed(sql`t.frequency`, sql`t.length`, sql`w.average`, b)} as normed
      from message_weight w
      join ${schema}.message_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      where ${searched(sql`t.thread_ref`)}
        and (t.thread_ref, t.seq) not in (select thread_ref, seq from forgotten_message)
    ),
    ${threadScores(db, asked.owners, appId)},
    -- The same with what their message scores by its own words.
    message_word as materialized (
      select m.*, (sum(gain * ${saturated(sql`normed`, k1)}) over same_message)::real::float8 as total,
        row_number() over same_message as nth
      from message_match m ${sources ? whereLearned(db) : empty} window same_message as (partition by thread_ref, seq)
    ),
    -- Words of the best messages, lent to the messages around them.
    message_field as (
      select m.thread_ref, m.seq + near.seqs as seq, m.n, m.gain, m.normed * near.weight as frequency,
        case near.seqs when 0 then m.normed else 0 end as own
      from message_word m
      cross join ${sources ? learnedNear(db) : near}
      where m.total >= (
        select min(total) from (select total from message_word where nth = 1 order by total desc limit ${most}) best
      )
      ${factWeights ? factFields(db, appId, factWeights, searched(sql`m.thread_ref`)) : empty}
    ),
    -- Each word once for a message, whoever said it.
    message_term_score as (
      select thread_ref, seq, max(gain) as gain, sum(frequency) as frequency, sum(own) as own
      from message_field group by thread_ref, seq, n
    ),
    -- How well each message fits: with those around it, and alone.
    message_score as materialized (
      select t.thread_ref, t.seq,
        (sum(t.gain * ${saturated(sql`t.frequency`, k1)}) / (select gain from message_ideal))::real::float8 as score,
        sum(t.gain * ${saturated(sql`t.own`, k1)}) / (select gain from message_ideal) as own
      from message_term_score t
      group by t.thread_ref, t.seq
    )`,
  };
}

/** By distance, what a neighbour's words count. */
const near = sql`(values
        (0, 1::float8),
        (1, ${float(weights.previousTurn)}), (-1, ${float(weights.nextTurn)}),
        (2, ${float(weights.secondPreviousTurn)}), (-2, ${float(weights.secondNextTurn)})
      ) as near (seqs, weight)`;

function learnedNear({ schema }: Connection): Sql {
  return sql`lateral (
        select seq - m.seq as seqs, case seq - m.seq
            when 0 then 1::float8
            when 1 then ${float(weights.previousTurn)} when -1 then ${float(weights.nextTurn)}
            when 2 then ${float(weights.secondPreviousTurn)} else ${float(weights.secondNextTurn)}
          end as weight
        from (
          select distinct s.seq from ${schema}.memory_source s
          where s.thread_ref = m.thread_ref and s.seq between m.seq - 2 and m.seq + 2 offset 0
        ) learned
      ) as near`;
}

function whereLearned({ schema }: Connection): Sql {
  return sql`where (select exists (
        select from (select distinct thread_ref from thread_match) t
        cross join lateral (select from ${schema}.memory_source s where s.thread_ref = t.thread_ref limit 1) learned
      ))`;
}

function threadScores({ schema }: Connection, owners: SeenOwners, appId: string): Sql {
  const { k1, b } = weights.message;
  return sql`
    -- How often each thread says each term, and how many threads do.
    thread_match as materialized (
      select thread_ref, n, max(weight) as weight, sum(frequency)::float8 as frequency, count(*) over (partition by n)::float8 as threads
      from message_match group by thread_ref, n
    ),
    -- How long those threads are.
    thread_size as materialized (
      select r.thread_ref, l.messages::float8 as messages, greatest(1, avg(l.messages) over ())::float8 as average
      from (select distinct thread_ref from thread_match) r
      cross join lateral (
        select max(m.seq) + 1 as messages from ${schema}.message m where m.thread_ref = r.thread_ref
      ) l
    ),
    -- How many threads there are.
    thread_total as materialized (
      select count(*)::float8 as threads from ${schema}.thread h
      where h.owner_ref in (select id from ${owners}) ${appId === "" ? empty : sql`and h.app_id = ${appId}`}
    ),
    -- What each term is worth among threads.
    thread_weight as (
      select w.term, w.weight * ${rarity(sql`n.threads`, sql`coalesce(m.threads, 0)`, 0)} as gain
      from message_weight w left join (select distinct n, threads from thread_match) m using (n) cross join thread_total n
    ),
    -- What a thread would score that has them all.
    thread_ideal as materialized (${ideal(cte("thread_weight"))}),
    -- What each term is worth among threads, and how often a thread of average length would say it.
    thread_word as (
      select m.thread_ref, m.weight * ${rarity(sql`n.threads`, sql`m.threads`, 0)} as gain,
        ${normed(sql`m.frequency`, sql`z.messages`, sql`z.average`, b)} as normed
      from thread_match m full join thread_size z using (thread_ref) cross join thread_total n
    ),
    -- How well each thread fits as a whole.
    thread_score as materialized (
      select thread_ref, sum(gain * ${saturated(sql`normed`, k1)}) / (select gain from thread_ideal) as score
      from thread_word group by thread_ref
    )`;
}

function factFields(db: Connection, appId: string, factWeights: WeightedTerms, searched: Sql): Sql {
  return sql`
      union all
      select m.thread_ref, cited.seq, w.n, max(g.gain),
        ${float(weights.factWord)} * max(${normed(sql`t.frequency`, sql`t.length`, sql`w.average`, weights.memory.b)}), 0
      from ${factWeights} w
      join message_weight g on g.owner_ref = w.owner_ref and g.n = w.n
      join ${db.schema}.memory_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      join ${db.schema}.memory m on m.ref = t.memory_ref and m.kind = 'fact' and m.app_id in ('', ${appId})
      cross join lateral unnest(m.source_seqs) as cited (seq)
      where m.thread_ref is not null and ${searched}
      group by m.thread_ref, cited.seq, w.n`;
}
