import sql, { empty } from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { parseInput, storableText } from "../input/parse-input.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import {
  type AppScope,
  requiredScope,
  requiredThread,
  type ThreadAddress,
  type ThreadRef,
  threadForbidden,
} from "../scope/scope.js";
import { isOwnThread, scopeColumns, threadIs, withinScope } from "../scope/scope-predicates.js";
import { clipped, onOneLine, visibleText } from "../text/storable-text.js";
import { claimThread } from "./claim-thread.js";

export interface EndedThread {
  readonly threadId: string;
  /** The first end and its reason: ending it again changes neither. */
  readonly endedAt: Date;
  readonly endedReason: string | null;
}

export interface ThreadEnding extends EndedThread {
  readonly threadRef: number;
  readonly noteDue: boolean;
}

const maxReasonCharacters = 300;

/** An agent's last answers take seconds. */
const closingMs = 600_000;

const endSchema = z.strictObject({
  scope: requiredScope,
  threadId: requiredThread,
  /** For people: "resolved", "The user said goodbye". Cut at 300 characters. @default none */
  reason: storableText.optional(),
  /**
   * Whether the turn continues: what it records within ten minutes still belongs to it.
   * @default false
   */
  afterTurn: z.boolean().default(false),
});

export interface EndThread extends z.input<typeof endSchema> {}

/**
 * Ends a conversation until its next message. With an app and `leavesNote`, its note becomes due.
 */
export async function endThread(
  { db, redactor }: Pick<Runtime, "db" | "redactor">,
  input: EndThread,
  leavesNote: boolean,
): Promise<ThreadEnding> {
  const { scope, threadId, afterTurn, ...end } = parseInput(
    endSchema,
    input,
    "end of a conversation",
  );
  const line = onOneLine(visibleText(await redactor.text(end.reason ?? ""))).trim();
  const reason = line === "" ? null : clipped(line, maxReasonCharacters);
  const ending = { scope, threadId, reason, afterTurn, leavesNote };
  let ended = await writeEnd(db, ending);
  // The first turn of a graph without our checkpointer is recorded after its tools ran.
  if (ended === undefined && afterTurn && (await claimThread(db, { scope, threadId })))
    ended = (await writeEnd(db, ending)) ?? null;
  if (ended) return { threadId, ...ended };
  if (ended === null) throw threadForbidden(threadId);
  throw new MemoryError("NOT_FOUND", `This scope has no thread "${threadId}".`);
}

async function writeEnd(
  db: Connection,
  input: ThreadAddress & { reason: string | null; afterTurn: boolean; leavesNote: boolean },
): Promise<Omit<ThreadEnding, "threadId"> | null | undefined> {
  const { schema } = db;
  const { reason, afterTurn, leavesNote } = input;
  const { tenantId = "", appId = "" } = input.scope;
  const [row] = await db.query<Omit<EndedThread, "threadId"> & { id: string | null; due: boolean }>(
    sql`
    with known as (
      select t.id, ${isOwnThread(input.scope)} as owned, t.ended_at, t.closing_until,
        ${db.now()} as now, ${db.now()} + ${closingMs} * interval '1 millisecond' as closes_at
      from ${schema}.thread t where ${threadIs(tenantId, input.threadId)}
      for no key update
    ),
    ended as (
      update ${schema}.thread t
      set ended_at = coalesce(k.ended_at, k.now),
        ended_reason = case when k.ended_at is null then ${reason}::text else t.ended_reason end,
        closing_until = case
          when not ${afterTurn}::boolean then null
          when k.ended_at is null then k.closes_at
          else k.closing_until
        end
      from known k where t.id = k.id and k.owned
      returning t.id, t.ended_at, t.ended_reason, t.closing_until,
        k.ended_at is null or (k.closing_until is not null and t.closing_until is null) as changed
    )
    ${leavesNote && appId !== "" ? dueNote(db) : empty}
    select e.id, e.ended_at as "endedAt", e.ended_reason as "endedReason",
      ${leavesNote && appId !== ""}::boolean and e.changed and e.closing_until is null as due
    from known left join ended e on e.id = known.id`,
  );
  if (!row) return undefined;
  const { id, endedAt, endedReason, due } = row;
  return id === null ? null : { threadRef: Number(id), endedAt, endedReason, noteDue: due };
}

/** A failed note keeps its retry time. */
function dueNote(db: Connection) {
  return sql`,
    task as (
      insert into ${db.schema}.work as k (thread_ref, kind, done_until, retry_at)
      select id, 'notes', -1, coalesce(closing_until, ${db.now()}) from ended where changed
      on conflict (thread_ref, kind) where given_up_at is null do update set retry_at = case
        when k.attempts > 0 then coalesce(k.retry_at, excluded.retry_at) else excluded.retry_at
      end
    )`;
}

/** Ends an app's conversation after `idleMs` of silence. Returns whether it is over. */
export async function endIdleThread(
  db: Connection,
  { threadRef, idleMs }: { threadRef: number; idleMs: number },
): Promise<boolean> {
  const rows = await db.query(sql`
    update ${db.schema}.thread t
    set ended_at = least(t.ended_at, ${db.now()}), ended_reason = case when t.ended_at is null then 'idle' else t.ended_reason end
    where t.id = ${threadRef}
      and (t.ended_at is not null or t.last_activity_at <= ${db.now()} - ${idleMs} * interval '1 millisecond')
    returning t.id`);
  return rows.length > 0;
}

const endedReason = "uninstalled";

/** Conversations ended by one statement, which locks them for some milliseconds. */
const atOnce = 500;

/** Ends all open conversations of an app. With `leaveNotes` their pending notes become due. */
export async function endAppThreads(
  db: Connection,
  { scope, leaveNotes }: { readonly scope: AppScope; readonly leaveNotes: boolean },
) {
  const { schema } = db;
  let count = 0;
  const due: ThreadRef[] = [];
  for (let ended = atOnce; ended === atOnce; ) {
    const rows = await db.query<{ id: string; due: boolean }>(sql`
      with going_on as (
        -- Citus drops the whole statement if a condition of a part is false by its parameters alone.
        select t.id, ${leaveNotes}::boolean as leaves_note from ${schema}.thread t
        where ${withinScope(scopeColumns(scope), "t")} and t.ended_at is null
        order by t.id limit ${atOnce} for no key update
      ),
      due as (
        update ${schema}.work k set retry_at = ${db.now()}
        from going_on g where k.thread_ref = g.id and k.kind = 'notes' and k.given_up_at is null
          and k.attempts = 0 and k.retry_at is not null and g.leaves_note
        returning k.thread_ref
      )
      update ${schema}.thread t set ended_at = ${db.now()}, ended_reason = ${endedReason}, closing_until = null
      from going_on g where t.id = g.id
      returning t.id, t.id in (select thread_ref from due) as due`);
    ended = rows.length;
    count += ended;
    due.push(...rows.filter((row) => row.due).map(({ id }) => Number(id)));
  }
  return { count, due };
}

/** Skips notes about everything until now; workers lose their lease. */
export async function skipAppNotes(db: Connection, scope: AppScope): Promise<void> {
  const { schema } = db;
  await db.query(sql`
    update ${schema}.work k
    set retry_at = null, lease_until = null, attempts = 0, error = null, done_until = greatest(k.done_until, coalesce((
      select m.seq from ${schema}.message m where m.thread_ref = k.thread_ref order by m.seq desc limit 1
    ), -1))
    from ${schema}.thread t
    where t.id = k.thread_ref and k.kind = 'notes' and k.given_up_at is null and ${withinScope(scopeColumns(scope), "t")}`);
}
