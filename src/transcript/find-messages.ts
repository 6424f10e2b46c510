import type { BaseMessage } from "@langchain/core/messages";
import sql, { type Sql } from "sql-template-tag";
import { storedMessage } from "../messages/message-codec.js";
import type { TranscriptMessage } from "../messages/message-text.js";
import type { Connection } from "../postgres/connection.js";
import { isMaterial } from "./forgotten-messages.js";

export type SaidIn = {
  readonly agentId?: string | null | undefined;
  readonly runId?: string | null | undefined;
};

/** The agent and run, if all of `said` share them. */
export function commonOrigin(said: readonly SaidIn[]): { agentId?: string; runId?: string } {
  const agentId = sharedValue(said.map((each) => each.agentId));
  const runId = sharedValue(said.map((each) => each.runId));
  return { ...(agentId && { agentId }), ...(runId && { runId }) };
}

export function sharedValue<Value>(values: readonly Value[]): Value | undefined {
  const [first, ...others] = values;
  return others.every((other) => other === first) ? first : undefined;
}

/** Counted from 1, inclusive. */
export type TurnRange = { readonly start: number; readonly end: number };

export const findThreadMessages = (
  db: Connection,
  input: { threadRef: number; fromSeq: number; toSeq: number },
): Promise<TurnMessage[]> =>
  findMaterial(
    db,
    input.threadRef,
    sql`m.role in ('user', 'assistant', 'tool') and m.seq between ${input.fromSeq} and ${input.toSeq}`,
  );

const findMaterial = (db: Connection, threadRef: number, isAsked: Sql): Promise<TurnMessage[]> =>
  db.query<TurnMessage>(sql`
    select m.seq, m.role, m.actor, m.content as text, m.said_at as "saidAt", m.time_zone as "timeZone", m.agent_id as "agentId", m.run_id as "runId"
    from ${db.schema}.message m
    where m.thread_ref = ${threadRef} and ${isAsked} and ${isMaterial(db, threadRef)}
    order by m.seq`);

/** The last message not from a tool, and the tool results after it; without system messages. */
export async function findLastCall(db: Connection, threadRef: number): Promise<BaseMessage[]> {
  const rows = await db.query<TranscriptMessage>(sql`
    select m.message_id as "messageId", m.role, m.actor, '' as text, m.serialised
    from ${db.schema}.message m
    where m.thread_ref = ${threadRef} and m.role <> 'system' and m.seq >= coalesce((
      select c.seq from ${db.schema}.message c
      where c.thread_ref = ${threadRef} and c.role not in ('tool', 'system') order by c.seq desc limit 1
    ), 0)
    order by m.seq`);
  return rows.map(storedMessage);
}

export interface TurnMessage
  extends SaidIn,
    Pick<TranscriptMessage, "seq" | "role" | "actor" | "text"> {
  readonly saidAt: Date;
  readonly timeZone: string;
}

export function findTurnMessages(
  db: Connection,
  { threadRef, start, end }: TurnRange & { readonly threadRef: number },
): Promise<TurnMessage[]> {
  const seqOf = (turn: number) => sql`(
        select u.seq from ${db.schema}.message u where u.thread_ref = ${threadRef} and u.role = 'user'
        order by u.seq offset ${turn - 1} limit 1
      )`;
  return findMaterial(
    db,
    threadRef,
    sql`m.role in ('user', 'assistant') and m.seq >= ${seqOf(start)} and m.seq < coalesce(${seqOf(end + 1)}, 2147483647)`,
  );
}
