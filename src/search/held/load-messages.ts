import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import {
  type HeldMessageRow,
  type HeldMessageWords,
  type HeldThread,
  heldThreadJson,
} from "./held-message-row.js";

/**
 * The words of the messages that `threads` had when they were counted, page by page, a statement each.
 *
 * What is added meanwhile is left out; what is erased meanwhile is missing in the pages that follow.
 */
export async function* loadMessages(
  db: Connection,
  threads: readonly HeldThread[],
): AsyncGenerator<readonly HeldMessageRow[], void, void> {
  let left: readonly Span[] = threads.map(([thread, , next]) => ({ thread, first: 0, next }));
  while (left.length > 0) {
    const spans = pageOf(left);
    const rows = await findPage(db, spans);
    if (rows.length > 0) yield rows;
    left = after(left, endOf(spans, rows));
  }
}

/**
 * Words from which on a page is full: to take them in keeps this process for some 2 ms, and an embedded database, which
 * works in it, for some more. A message's words stay together, so the last one may go beyond.
 */
const pageWords = 2_000;

/** Messages whose words are counted for a page: of ten words each, they fill it. */
const pageMessages = 200;

/** Messages of a thread from `first` on, up to before `next`. */
interface Span {
  readonly thread: number;
  readonly first: number;
  readonly next: number;
}

/** The first `pageMessages` messages of `spans`. */
function pageOf(spans: readonly Span[]): readonly Span[] {
  const page: Span[] = [];
  let room = pageMessages;
  for (const { thread, first, next } of spans) {
    if (room <= 0) break;
    page.push({ thread, first, next: Math.min(next, first + room) });
    room -= next - first;
  }
  return page;
}

/** Up to where a page was read. */
function endOf(spans: readonly Span[], rows: readonly HeldMessageRow[]): Pick<Span, "thread" | "next"> {
  const words = rows.flatMap(({ messages }) => messages).reduce((sum, message) => sum + wordsOf(message), 0);
  const last = rows.at(-1);
  const seq = last?.messages.at(-1)?.[0];
  if (words < pageWords || !last || seq === undefined) return spans.at(-1) as Span;
  return { thread: last.thread, next: seq + 1 };
}

/** What is left of `spans`, of which each thread has one. */
function after(spans: readonly Span[], end: Pick<Span, "thread" | "next">): readonly Span[] {
  const at = spans.findIndex(({ thread }) => thread === end.thread);
  const { thread, next } = spans[at] as Span;
  const rest = spans.slice(at + 1);
  return end.next < next ? [{ thread, first: end.next, next }, ...rest] : rest;
}

/** Rows of the index that a message has. */
function wordsOf([, , lexemes, , speakers]: HeldMessageWords): number {
  return lexemes.length + speakers.length;
}

async function findPage(db: Connection, spans: readonly Span[]): Promise<HeldMessageRow[]> {
  const { schema } = db;
  const column = (key: keyof Span) => spans.map((span) => span[key]);
  const rows = await db.query<{ row: HeldMessageRow }>(
    sql`
    with
    span as (
      select * from unnest(${column("thread")}::bigint[], ${column("first")}::int[], ${column("next")}::int[])
        with ordinality s (thread, first, next, nth)
    ),
    -- How many words each message has, and all up to it.
    counted as (
      select s.nth, s.thread, x.seq, x.words, sum(x.words) over (order by s.nth, x.seq) as so_far
      from span s cross join lateral (
        select seq, count(*) as words from ${schema}.message_term
        where thread_ref = s.thread and seq >= s.first and seq < s.next
        group by seq offset 0
      ) x
    ),
    -- What fits.
    cut as (
      select nth, thread, min(seq) as first, max(seq) + 1 as next from counted
      where so_far - words < ${pageWords} group by nth, thread
    )
    select ${heldThreadJson(db, sql`c.first`, sql`c.next`)} as row
    from cut c cross join lateral (select * from ${schema}.thread where id = c.thread limit 1) t
    order by c.nth`,
    { prepare: true },
  );
  return rows.map(({ row }) => row);
}
