import sql from "sql-template-tag";
import type { Omissions } from "../models/call-structured.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import type { Scope } from "../scope/scope.js";
import { isId, ownerColumns, ownerIs } from "../scope/scope-predicates.js";
import { block, element } from "../text/prompt-text.js";
import { searchTextOf } from "../text/search-text.js";
import { forgottenMessages } from "../transcript/forgotten-messages.js";

const instruction = `
Leave out what a user asks to forget or delete, and that the user or the assistant said so.
Leave out what <forgotten> says as well, in whatever words a message or an earlier text says it.`;

const maxForgotten = 100;

/**
 * What a model must omit from `messages` and earlier texts: memories the user had removed, not
 * expired ones.
 */
export async function findOmissions(
  db: Connection,
  of: { readonly scope: Scope; readonly threadId?: string | undefined },
  messages: readonly { readonly seq: number; readonly text: string }[],
  before: readonly string[] = [],
): Promise<Omissions> {
  const removed = await findForgotten(db, of.scope);
  if (removed.length === 0) return { instruction, input: "", repeats: async () => false };
  const textOf = (items: readonly { readonly text: string }[]) =>
    items.map(({ text }) => text).join("\n");
  const texts = removed.flatMap(({ text, value, quote, request }) => {
    return [`${text} ${value ?? ""}`, quote ?? "", request ?? ""];
  });
  const given = [textOf(messages), ...before].join("\n");
  const [instructionWords = noWords, givenWords = noWords, ...facts] = await termsOf(db, [
    instruction,
    given,
    ...texts,
  ]);
  const { kept, marked } = await findKept(db, of, [
    ...new Set(facts.flatMap((words) => [...words])),
  ]);
  const last = Math.max(-1, ...marked);
  const other = messages.filter(({ seq }) => !marked.has(seq));
  const since = other.filter(({ seq }) => seq > last);
  const [otherWords = noWords, laterWords = noWords] = await termsOf(db, [
    textOf(other),
    textOf(since),
  ]);
  const forgotten = removed.map(({ text }, index) => {
    const [memory = noWords, quote = noWords, request = noWords] = facts.slice(
      3 * index,
      3 * index + 3,
    );
    const its = [...memory].filter(
      (word) => !instructionWords.has(word) && !kept.has(word) && !laterWords.has(word),
    );
    // Words of other messages may be repeated, unless the request names them.
    const words = its.filter((word) => request.has(word) || !otherWords.has(word));
    const named = words.filter((word) => request.has(word) || quote.has(word));
    return { text, words, named, isMentioned: its.some((word) => givenWords.has(word)) };
  });
  const mentioned = forgotten
    .filter(({ isMentioned }) => isMentioned)
    .map(({ text }) => element("memory", {}, text));
  return {
    instruction,
    input: mentioned.length === 0 ? "" : block("forgotten", mentioned),
    async repeats(texts) {
      const [answer = noWords] = await termsOf(db, [texts.join("\n")]);
      // A name is enough; of other words ("the customer"), which may be unrelated, more than half.
      return forgotten.some(
        ({ words, named }) =>
          named.some((word) => answer.has(word)) ||
          2 * words.filter((word) => answer.has(word)).length > words.length,
      );
    },
  };
}

/**
 * Whether extraction is reading messages up to `endSeq` or will soon: they may ask to forget.
 * Ignores failed, late work.
 */
export async function isUnread(
  db: Connection,
  threadRef: number,
  endSeq: number,
): Promise<boolean> {
  const rows = await db.query(sql`
    select from ${db.schema}.work k
    where k.thread_ref = ${threadRef} and k.kind = 'facts' and k.given_up_at is null
      and k.attempts = case when k.lease_until is null then 0 else 1 end
      and coalesce(k.lease_until, k.retry_at) > ${db.now()} - interval '1 minute'
      and (k.lease_until is not null or k.retry_at <= ${db.now()})
      and exists (
        select from ${db.schema}.message m
        where m.thread_ref = k.thread_ref and m.role = 'user' and m.seq > k.done_until
          and m.seq <= ${endSeq}
      )`);
  return rows.length > 0;
}

const noWords: ReadonlySet<string> = new Set();

async function findForgotten(db: Connection, scope: Scope) {
  const { schema } = db;
  const { appId = "" } = scope;
  type Words = string | null;
  return db.query<{ text: string; value: Words; quote: Words; request: Words }>(sql`
    with o as materialized (select id from ${schema}.owner o where ${ownerIs(ownerColumns(scope))})
    select h.old ->> 'text' as text, h.old ->> 'value' as value, coalesce(m.evidence, (
        select string_agg(g.content, ' ') from ${schema}.message g
        where g.thread_ref = m.thread_ref and g.seq = any (m.source_seqs)
      )) as quote,
      h.new #>> '{evidence,quote}' as request
    from o cross join lateral (
      select * from ${schema}.history h
      where h.owner_ref = o.id and h.event = 'DELETE' and h.new ->> 'state' = 'soft_deleted' and not h.new ? 'by'
        and h.app_id in ('', ${appId})
      order by h.created_at desc limit ${maxForgotten}
    ) h
    left join ${schema}.memory m on m.id = h.memory_id
    where m.state = 'soft_deleted' or m.id is null
    union
    select c.draft ->> 'text', c.draft ->> 'value', c.draft ->> 'evidence', c.evidence ->> 'quote'
    from o join ${schema}.consent_request c on c.owner_ref = o.id
    where c.status = 'refused' and c.decided_via = 'said' and c.app_id in ('', ${appId})`);
}

async function findKept(
  db: Connection,
  { scope, threadId }: { readonly scope: Scope; readonly threadId?: string | undefined },
  words: readonly string[],
): Promise<{ readonly kept: ReadonlySet<string>; readonly marked: ReadonlySet<number> }> {
  const { schema } = db;
  const [row] = await db.query<{ kept: string[]; marked: number[] }>(sql`
    with o as materialized (select id from ${schema}.owner o where ${ownerIs(ownerColumns(scope))})
    select array(
      select distinct t.lexeme from o
      join ${schema}.memory_term t on t.owner_ref = o.id and t.lexeme = any (${words}::text[])
      join ${schema}.memory m on m.ref = t.memory_ref and m.kind = 'fact'
    ) as kept, array(
      select f.seq from (${forgottenMessages(db, sql`o`)}) f join ${schema}.thread t on t.id = f.thread_ref
      where ${isId(sql`t.thread_id`, threadId ?? "")}
    ) as marked`);
  return { kept: new Set(row?.kept), marked: new Set(row?.marked) };
}

async function termsOf(db: Connection, texts: readonly string[]): Promise<ReadonlySet<string>[]> {
  const terms: string[] = [];
  for (const text of texts) terms.push(await searchTextOf(text));
  const rows = await db.query<{ words: string[] }>(sql`
    select array(select lexeme from ${lexemes(db, sql`t.text`)}) as words
    from unnest(${terms}::text[]) with ordinality as t (text, place)
    order by place`);
  return rows.map(({ words }) => new Set(words));
}
