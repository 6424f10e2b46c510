import sql from "sql-template-tag";
import { z } from "zod";
import type { MessageRole } from "../messages/message-text.js";
import type { Connection } from "../postgres/connection.js";
import {
  listed,
  parseThreadId,
  type Scope,
  scopeField,
  tenantField,
  threadField,
} from "../scope/scope.js";
import {
  ofTenant,
  ownerColumns,
  ownerIs,
  type ScopeRow,
  scopeColumns,
  withScope,
} from "../scope/scope-predicates.js";
import { timeZoneField } from "../text/time-zone.js";
import { forgottenMessages } from "../transcript/forgotten-messages.js";
import { nearnessInTime, rangesOf } from "./question-dates.rule.js";
import { shareOfWords } from "./rank-memories.rule.js";
import { type Question, readQuestion } from "./read-question.js";
import { floors, type SearchRuntime, retrievalWeights as weights } from "./retrieval-options.js";
import { wordWeights } from "./search-memories.js";

export interface TranscriptHit {
  readonly scope: Scope;
  readonly threadId: string;
  readonly seq: number;
  readonly messageId: string;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly text: string;
  readonly saidAt: Date;
  /** Where it was said. */
  readonly timeZone: string;
  /**
   * Share of the question's words in it or around it, 0 to 1; rare ones count more. At least 0.3 on
   * a named day.
   */
  readonly similarity: number;
  /** Determines the rank; comparable within one search. */
  readonly score: number;
  readonly reason: string;
}

type FoundMessage = Omit<TranscriptHit, "scope" | "similarity" | "score" | "reason"> &
  ScopeRow & {
    /** BM25 fit including the messages around it, 0 to 1. */
    readonly fit: number;
    /** BM25 fit of the message alone, 0 to 1. */
    readonly ownFit: number;
  };

/** Candidates that reach the threshold, best first. Without one: none unless the best is good. */
function rankTranscript(
  candidates: readonly FoundMessage[],
  { spans, isNamed }: Pick<Question, "spans" | "isNamed">,
  threshold: number | undefined,
) {
  const { best, each } = floors.messages;
  const ranked = candidates.map((candidate) => {
    const { actor, saidAt, fit } = candidate;
    const isByNamed = actor !== null && isNamed(actor);
    const date = weights.date * nearnessInTime(saidAt, spans);
    return {
      ...candidate,
      score: fit * (isByNamed ? 1 + weights.speaker : 1) + date,
      similarity: Math.max(date, shareOfWords(fit)),
      reason: reasonOf(candidate, isByNamed),
    };
  });
  if (threshold === undefined && !ranked.some(({ similarity }) => similarity >= best)) return [];
  return ranked
    .filter(({ similarity }) => similarity >= (threshold ?? each))
    .toSorted((first, second) => second.score - first.score);
}

const querySchema = z.strictObject({
  scope: scopeField,
  /** Without a scope: only this tenant. @default all tenants */
  tenantId: tenantField,
  /** At most 10,000 characters. */
  query: z.string().max(10_000),
  threadId: threadField,
  /** Time zone of the days that `query` names: "Europe/Lisbon". @default retrieval.timeZone */
  timeZone: timeZoneField.optional(),
  /** 1 to 200. @default 10 */
  topK: z.int().min(1).max(200).default(10),
  /** Least similarity of a hit, 0 to 1. @default 0.05, and no hits when the best is below 0.1 */
  threshold: z.number().min(0).max(1).optional(),
});

export interface TranscriptQuery extends Omit<z.input<typeof querySchema>, "scope" | "threadId"> {
  /** @default everybody's, for operators */
  readonly scope?: Scope | undefined;
  /** Only this thread. @default every thread of the scope */
  readonly threadId?: string | undefined;
}

/** Speaker and date reorder only the head of the list. */
const candidatesPerHit = 4;

/** Finds the messages that fit `query` best, by words, speaker and date. One round trip. */
export async function searchTranscript(
  runtime: Pick<SearchRuntime, "db" | "clock" | "config">,
  input: TranscriptQuery,
): Promise<TranscriptHit[]> {
  return listed(querySchema, input, "search", async (request) => {
    const question = readQuestion(runtime, request.query, request.timeZone);
    const candidates = await findCandidates(runtime.db, question, request);
    return rankTranscript(candidates, question, request.threshold)
      .slice(0, request.topK)
      .map(({ ownFit: _, fit: __, ...hit }) => withScope(hit));
  });
}

function findCandidates(
  db: Connection,
  { terms, spans }: Question,
  request: z.output<typeof querySchema> & { readonly scope: Scope | undefined },
): Promise<FoundMessage[]> {
  const threadId = request.threadId === undefined ? null : parseThreadId(request.threadId);
  const maxCandidates = Math.max(200, request.topK * candidatesPerHit);
  const { schema } = db;
  const { scope, tenantId } = request;
  const { appId } = scopeColumns(scope ?? {});
  // Conversations of an app without a user are the app's own: its memories are shown to all users, these are not.
  const owners = scope
    ? sql`select o.id from ${schema}.owner o where ${ownerIs(ownerColumns(scope))}`
    : sql`select o.id from ${schema}.owner o where ${ofTenant(sql`o.tenant_id`, tenantId)} order by o.id`;
  return db.query<FoundMessage>(
    sql`
    with owner as materialized (select array(${owners}) as ids),
    forgotten as materialized (
      select thread_ref, seq
      from (${forgottenMessages(db, sql`(select unnest(ids) as id from owner)`)}) f where wholly
    ),
    fitting as (
      select thread_ref, seq, max(fit) as fit, max(own_fit) as own_fit, max(dated) as dated
      from (
        (
          select thread_ref, seq, fit, own_fit, 0::float8 as dated
          from ${schema}.search_messages_1(
            (select ids from owner), ${appId}, ${threadId},
            ${schema}.asked_words_1((select ids from owner), ${db.language}::regconfig, ${terms}), ${maxCandidates},
            array(select thread_ref from forgotten order by thread_ref, seq), array(select seq from forgotten order by thread_ref, seq),
            ${wordWeights}
          )
          order by fit desc, thread_ref, seq limit ${maxCandidates}
        )
        union all (
          select m.thread_ref, m.seq, 0, 0, ${schema}.nearness_1(m.said_at, d.span) as dated
          -- One thread after the other: joined, the messages of all owners would be read.
          from unnest(${rangesOf(spans)}::tstzrange[]) d (span) cross join unnest((select ids from owner)) o (id)
          cross join lateral (select * from ${schema}.thread h where h.owner_ref = o.id offset 0) h
          cross join lateral (
            select * from ${schema}.message m
            where m.thread_ref = h.id and m.role in ('user', 'assistant')
              and m.said_at >= lower(d.span) - interval '2 days' and m.said_at < upper(d.span) + interval '7 days'
            offset 0
          ) m
          where ${appId} in ('', h.app_id)
            and (${threadId}::text is null or h.thread_id = ${threadId})
          order by dated desc, m.thread_ref, m.seq limit ${maxCandidates}
        )
      ) f
      group by thread_ref, seq
    )
    select t.thread_id as "threadId", t.tenant_id, t.user_id, t.app_id, f.seq, m.message_id as "messageId", m.role, m.actor, m.content as text,
      m.said_at as "saidAt", m.time_zone as "timeZone", f.fit, f.own_fit as "ownFit"
    from fitting f
    cross join lateral (select * from ${schema}.message where thread_ref = f.thread_ref and seq = f.seq limit 1) m
    cross join lateral (select * from ${schema}.thread where id = f.thread_ref limit 1) t
    where m.role in ('user', 'assistant') and (f.thread_ref, f.seq) not in (select thread_ref, seq from forgotten)
    order by f.fit + ${weights.date}::float8 * f.dated desc, m.said_at desc, f.seq, f.thread_ref`,
    { prepare: true },
  );
}

function reasonOf({ fit, ownFit }: Pick<FoundMessage, "fit" | "ownFit">, isNamed: boolean): string {
  const words =
    ownFit > 0 ? "its words" : fit > 0 ? "what was said around it" : "the time it was said at";
  return isNamed ? `${words}; said by who is asked about` : words;
}
