import sql, { type Sql } from "sql-template-tag";
import { hasVectors } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import type { ScopeColumns } from "../scope/scope-predicates.js";
import { isId, withinScope } from "../scope/scope-predicates.js";

/** An owner's counters, under its lock. */
export interface OwnerCounters {
  readonly ref: number;
  readonly revision: number;
  readonly turns: number;
  readonly trimmedTo: number;
}

/** What moves from one locked owner to another. */
export interface Move {
  readonly from: ScopeColumns & OwnerCounters;
  readonly to: ScopeColumns & OwnerCounters;
  /** Of the threads that move; all of them are locked. */
  readonly threads: readonly string[];
  readonly threadIds: readonly string[];
  /** Refs and ids of the memories that move. */
  readonly memories: readonly string[];
  readonly memoryIds: readonly string[];
  /** Whether all moves that the source has. */
  readonly whole: boolean;
  /** Of what was an app's: the categories that stay within the app. */
  readonly appCategories: readonly string[];
}

/** How many rows moved, by table. */
export type MovedRows = Readonly<Record<string, number>>;

/** The turn that counts as now for both: the longer history of the two, so that nothing seems fresher than it is. */
export function mergedTurns({ from, to }: Pick<Move, "from" | "to">): number {
  return Math.max(from.turns, to.turns);
}

/** Makes the memories of the target as old, in turns, as they were. To be done before anything is compared. */
export async function alignTurns(tx: Connection, { from, to }: Pick<Move, "from" | "to">): Promise<void> {
  const ahead = mergedTurns({ from, to }) - to.turns;
  if (ahead === 0) return;
  await tx.query(sql`
    with kept as (
      update ${tx.schema}.memory m set asserted_turn = m.asserted_turn + ${ahead} where m.owner_ref = ${to.ref}
    )
    update ${tx.schema}.owner o set turns = o.turns + ${ahead} where o.id = ${to.ref}`);
}

/** Makes all of `move` the target's, with its index, its vectors and all that was written down of it. */
export async function moveRows(tx: Connection, move: Move): Promise<MovedRows> {
  return {
    ...(await moveMemories(tx, move)),
    ...(await moveRecords(tx, move)),
    ...(await moveThreads(tx, move)),
    ...(await moveItems(tx, move)),
  };
}

async function moveMemories(tx: Connection, move: Move): Promise<MovedRows> {
  const { schema } = tx;
  const { from, to, memories, appCategories } = move;
  const refs = sql`${memories}::bigint[]`;
  const appId = sql`case when ${from.userId} <> '' or m.category = any (${appCategories}::text[]) then m.app_id else '' end`;
  const [moved] = await tx.query<{ memory: number }>(sql`
    with moved as (
      update ${schema}.memory m
      set owner_ref = ${to.ref}, user_id = ${to.userId}, app_id = ${appId},
        asserted_turn = greatest(0, ${mergedTurns(move)}::bigint - (${from.turns}::bigint - m.asserted_turn))
      where m.ref = any (${refs})
      returning m.ref, m.state
    ),
    term as (
      update ${schema}.memory_term t set owner_ref = ${to.ref} where t.memory_ref = any (${refs})
      returning t.memory_ref, t.length
    ),
    size as (
      select (select count(*) from moved where state = 'active') as count, (
        select coalesce(sum(length), 0) from (select max(length) as length from term group by memory_ref) d
      ) as length
    ),
    counted as (
      update ${schema}.owner o
      set memory_count = o.memory_count + case when o.id = ${to.ref} then size.count else -size.count end,
        memory_length = o.memory_length + case when o.id = ${to.ref} then size.length else -size.length end
      from size where o.id in (${from.ref}, ${to.ref})
    )
    select count(*)::int as memory from moved`);
  if (await hasVectors(tx)) {
    await tx.query(sql`
      update ${schema}.memory_embedding e set owner_ref = ${to.ref} where e.memory_ref = any (${refs})`);
  }
  return { memory: moved?.memory ?? 0 };
}

/**
 * The audit trail and the news, whose revisions go on after the target's: nothing of what its threads were told counts
 * anew, and all that came is news to them. Requests for consent: of two that wait for one slot the target's.
 */
async function moveRecords(tx: Connection, move: Move): Promise<MovedRows> {
  const { schema } = tx;
  const { from, to, whole, memoryIds, threadIds } = move;
  const ofMemories = sql`x.owner_ref = ${from.ref} and (${whole} or x.memory_id = any (${memoryIds}::uuid[]))`;
  const revision = whole
    ? sql`${to.revision}::bigint + greatest(x.rev - ${from.trimmedTo}::bigint, 0)`
    : sql`${to.revision}::bigint`;
  const app = from.userId === "" ? sql`''` : sql`x.app_id`;
  const [row] = await tx.query<{ history: number; change_log: number; consent_request: number }>(sql`
    with history as (
      update ${schema}.history x set owner_ref = ${to.ref}, rev = ${revision}, app_id = ${app}
      where ${ofMemories} returning 1
    ),
    news as (
      update ${schema}.change_log x set owner_ref = ${to.ref}, rev = ${revision}
      where ${whole} and x.owner_ref = ${from.ref} returning 1
    ),
    consent as (
      update ${schema}.consent_request x
      set owner_ref = ${to.ref}, user_id = ${to.userId}, app_id = ${app},
        status = case when taken.yes then 'superseded' else x.status end,
        decided_at = case when taken.yes then ${tx.now()} else x.decided_at end,
        decided_by = case when taken.yes then 'merge' else x.decided_by end,
        decided_via = case when taken.yes then 'code' else x.decided_via end
      from (
        select c.ref, c.status = 'pending' and exists (
          select from ${schema}.consent_request o
          where o.owner_ref = ${to.ref} and o.status = 'pending' and o.category = c.category and o.slot = c.slot
            and o.app_id = ${from.userId === "" ? sql`''` : sql`c.app_id`}
        ) as yes
        from ${schema}.consent_request c
        where c.owner_ref = ${from.ref}
          and (${whole} or c.draft #>> '{source,threadId}' = any (${threadIds}::text[]))
      ) taken
      where x.ref = taken.ref
      returning 1
    ),
    advanced as (
      update ${schema}.owner o set revision = o.revision + ${whole ? from.revision - from.trimmedTo : 0}::bigint
      where o.id = ${to.ref}
    )
    select (select count(*) from history)::int as history, (select count(*) from news)::int as change_log,
      (select count(*) from consent)::int as consent_request`);
  return { ...row };
}

/**
 * The threads with what was said in them. Whoever works on one of them loses the lease: what it was about to write would
 * become the source's.
 */
async function moveThreads(tx: Connection, move: Move): Promise<MovedRows> {
  const { schema } = tx;
  const { from, to, threads, whole } = move;
  const refs = sql`${threads}::bigint[]`;
  const seen = whole
    ? sql`${to.revision}::bigint + greatest(t.rev_seen - ${from.trimmedTo}::bigint, 0)`
    : sql`${to.revision}::bigint`;
  const [row] = await tx.query<{ thread: number; message: number; event: number }>(sql`
    with moved as (
      update ${schema}.thread t set user_id = ${to.userId}, owner_ref = ${to.ref}, rev_seen = ${seen}
      where t.id = any (${refs}) returning 1
    ),
    fenced as (
      update ${schema}.thread_task k
      set attempts = k.attempts + 1, lease_until = null, retry_at = coalesce(k.retry_at, ${tx.now()})
      where k.thread_ref = any (${refs}) and k.lease_until is not null
    ),
    term as (
      update ${schema}.message_term t set owner_ref = ${to.ref} where t.thread_ref = any (${refs})
      returning t.thread_ref, t.seq, t.lexeme, t.frequency
    ),
    -- Speakers' names, which are marked with "@", are in the index but not in the counts.
    size as (
      select count(distinct (thread_ref, seq)) as count, coalesce(sum(frequency), 0) as length
      from term where left(lexeme, 1) <> '@'
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count + case when o.id = ${to.ref} then size.count else -size.count end,
        message_length = o.message_length + case when o.id = ${to.ref} then size.length else -size.length end
      from size where o.id in (${from.ref}, ${to.ref})
    ),
    event as (
      update ${schema}.event e set user_id = ${to.userId} where ${ofSource(move)} returning 1
    ),
    usage as (
      update ${schema}.usage e set user_id = ${to.userId} where ${ofSource(move)}
    )
    select (select count(*) from moved)::int as thread, (select count(*) from event)::int as event,
      (select count(*) from ${schema}.message m where m.thread_ref = any (${refs}))::int as message`);
  return { ...row };
}

/** Whether the event, or the call of a model, `e` is of what moves. */
function ofSource({ from, threadIds }: Move): Sql {
  const ids = { tenantId: from.tenantId, userId: from.userId, appId: from.appId };
  if (from.userId !== "") return withinScope({ ...ids, appId: "" }, "e");
  return sql`${isId(sql`e.tenant_id`, from.tenantId)} and ${isId(sql`e.user_id`, "")}
    and e.app_id = ${from.appId} and e.thread_id = any (${threadIds}::text[])`;
}

/** A user's items in LangGraph's store. Of two of one name the one that was written last stays; those of an app stay with it. */
async function moveItems(tx: Connection, { from, to }: Move): Promise<MovedRows> {
  if (from.userId === "") return {};
  const { schema } = tx;
  const ofUser = ({ tenantId, userId }: ScopeColumns) =>
    sql`${isId(sql`i.tenant_id`, tenantId)} and ${isId(sql`i.user_id`, userId)}`;
  // What has moved is looked for by its user: in a statement of its own, since one sees nothing of what it changes itself.
  await tx.query(sql`
    with item as (
      select i.ref, row_number() over (partition by i.app_id, i.item order by i.updated_at desc, i.ref desc) as place
      from ${schema}.store_item i where (${ofUser(from)}) or (${ofUser(to)})
    )
    delete from ${schema}.store_item d using item where item.place > 1 and d.ref = item.ref`);
  const rows = await tx.query(sql`
    update ${schema}.store_item i set user_id = ${to.userId} where ${ofUser(from)} returning 1`);
  return { store_item: rows.length };
}
