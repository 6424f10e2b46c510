import sql from "sql-template-tag";
import { parseInput } from "../input/parse-input.js";
import type { Connection } from "../postgres/connection.js";
import { type Scope, threadForbidden } from "../scope/scope.js";
import { isId, isOwnThread, isSeenFrom, threadIs } from "../scope/scope-predicates.js";
import { bytesPerToken } from "../text/estimate-tokens.js";
import { type ListShown, turnsPageSchema } from "../transcript/shown-turns.js";
import { episodeCharacters, frameBytes } from "./memory-block.js";

/** Tokens of answered calls: the recorded messages of assistants. */
interface CallCosts {
  /** Null if the model did not report it, and what the turn was shown is not stored. */
  readonly promptTokens: number | null;
  /** Sent already by the epoch's previous call: the most that a provider's cache can serve. */
  readonly sharedTokens: number | null;
  /** Read from a cache, as the model reports; null without a report. */
  readonly cachedTokens: number | null;
  readonly outputTokens: number;
  readonly calls: number;
}

interface TurnCost extends CallCosts {
  readonly turn: number;
  readonly seq: number;
  /**
   * "model": it reported the tokens of each call (`usage_metadata`); else estimated, four bytes
   * each.
   */
  readonly source: "model" | "estimate";
}

export interface ThreadCost {
  /** Latest first. */
  readonly turns: readonly TurnCost[];
  /** All turns of all pages, without unknown tokens. */
  readonly total: CallCosts;
  /**
   * Calls of the last 90 days for summaries, facts, episodes, notes and procedures of this thread.
   */
  readonly background: readonly {
    readonly kind: string;
    readonly calls: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
  }[];
}

export const noCost: ThreadCost = {
  turns: [],
  total: { promptTokens: null, sharedTokens: null, cachedTokens: null, outputTokens: 0, calls: 0 },
  background: [],
};

/** A section's heading and delimiters. */
const headingBytes = 40;
/** A line besides category and text: "- [] " and its end. */
const lineBytes = 6;

/** One round trip. @throws MemoryError `THREAD_FORBIDDEN`, `INVALID_INPUT` */
export async function threadCost(db: Connection, input: ListShown): Promise<ThreadCost> {
  const { scope, threadId, limit, before } = parseInput(turnsPageSchema, input, "page of turns");
  const { tenantId = "", userId = "" } = scope;
  const sums = sql`sum(x.prompt) as "promptTokens", sum(x.shared) as "sharedTokens", sum(x.cached) as "cachedTokens",
    coalesce(sum(x.output), 0) as "outputTokens", count(x.output) as calls`;
  const [row] = await db.query<ThreadCost & { readonly owned: boolean }>(sql`
    with t as materialized (
      select t.id, ${isOwnThread(scope)} as owned from ${db.schema}.thread t
      where ${threadIs(tenantId, threadId)}
    ),
    ${addedBytes(db, scope)},
    ${pricedCalls(db)}
    select t.owned,
      array(
        select row_to_json(p) from (
          select m.turn, m.seq, ${sums}, case when bool_and(x.input is not null) then 'model' else 'estimate' end as source
          from (
            select m.turn, coalesce(min(m.seq) filter (where m.role = 'user'), min(m.seq)) as seq from said m group by m.turn
          ) m
          left join priced x on x.turn = m.turn
          where m.seq < coalesce(${before ?? null}::int, 2147483647)
          group by m.turn, m.seq order by m.seq desc limit ${limit}
        ) p
      ) as turns,
      (select row_to_json(p) from (select ${sums} from priced x) p) as total,
      array(
        select row_to_json(p) from (
          select x.kind, count(*) as calls, sum(x.input_tokens) as "inputTokens", sum(x.output_tokens) as "outputTokens"
          from ${db.schema}.usage x
          where t.owned and ${isId(sql`x.tenant_id`, tenantId)} and ${isId(sql`x.user_id`, userId)} and x.thread_id = ${threadId}
          group by x.kind order by x.kind
        ) p
      ) as background
    from t`);
  if (!row) return noCost;
  const { owned, ...cost } = row;
  if (!owned) throw threadForbidden(threadId);
  return cost;
}

/** CTE over the thread `t`: bytes that memory added to each turn's prompt, and to its epoch so far. */
const addedBytes = (db: Connection, scope: Scope) => sql`
    added as (
      select s.seq, max(s.first_seq) over epoch as first_seq,
        case when s.number > 0 then min(s.seq) over epoch end as epoch,
        sum(s.bytes) over (epoch order by s.seq) as bytes
      from (
        select s.seq, s.reader, s.first_seq, count(s.first_seq) over (partition by s.reader order by s.seq) as number,
          coalesce(l.bytes + ${headingBytes}::int, 0) + coalesce(octet_length(u.content), 0) + case
            when s.first_seq is not null and coalesce(l.bytes, u.id) is not null then ${frameBytes}::int
            else 0
          end as bytes
        from t join ${db.schema}.shown s on s.thread_ref = t.id and t.owned
        left join ${db.schema}.summary u on u.id = s.summary_id and u.thread_ref = t.id and s.first_seq is not null
        cross join lateral (
          select sum(${lineBytes}::int + octet_length(m.category) + octet_length(case
            when e.part = 'episodes' then left(m.content, ${episodeCharacters}::int) else m.content
          end)) as bytes
          from unnest(s.memory_ids, s.parts) e (id, part) join ${db.schema}.memory m on m.id = e.id
          where ${isSeenFrom(scope)}
        ) l
      ) s
      window epoch as (partition by s.reader, s.number)
    )`;

/** A count that the model reported: no call takes more than seven digits, and some clients report 0. */
const reported = (path: string, first = "[1-9]") =>
  sql`substring(m.usage #>> ${path}::text[] from ${`^${first}[0-9]{0,6}$`})::int`;

/** CTEs over `t` and `added`: what each call took, as reported, else estimated by its bytes. */
const pricedCalls = (db: Connection) => sql`
    said as (
      select m.seq, m.role, octet_length(m.content) as bytes, sum(octet_length(m.content)) over thread as upto,
        greatest(1, count(*) filter (where m.role = 'user') over thread) as turn,
        -- JSON escapes by \\u are not needed, and PostgreSQL may refuse them.
        case when m.role = 'assistant' and m.serialised like '%"usage_metadata":{%'
          then replace(m.serialised, ${"\\u"}, '/')::json #> '{data,usage_metadata}' end as usage
      from t join ${db.schema}.message m on m.thread_ref = t.id and t.owned
      window thread as (order by m.seq)
    ),
    call as (
      select m.turn, m.seq, a.epoch, ${reported("{input_tokens}")} as input,
        ceil((a.bytes + m.upto - m.bytes - f.upto + f.bytes) / ${bytesPerToken}::numeric) as estimate,
        ${reported("{input_token_details,cache_read}", "[0-9]")} as cached,
        coalesce(${reported("{output_tokens}")}, ceil(m.bytes / ${bytesPerToken}::numeric)) as output
      from (
        select m.*, max(a.seq) over (partition by m.turn order by m.seq) as shown_seq
        from said m left join added a on a.seq = m.seq
      ) m
      left join added a on a.seq = m.shown_seq
      left join said f on f.seq = a.first_seq
      where m.role = 'assistant'
    ),
    priced as (
      select c.*, coalesce(c.input, c.estimate) as prompt, case when c.epoch is not null then least(
        coalesce(c.input, c.estimate),
        coalesce(lag(coalesce(c.input, c.estimate)) over (partition by c.epoch order by c.seq), 0)
      ) end as shared
      from call c
    )`;
