import type { BaseMessage } from "@langchain/core/messages";
import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { TranscriptMessage } from "../domain/transcript-message.js";
import type { TurnMessage } from "./find-turn-messages.js";
import { storedMessage } from "./message-codec.js";

/** The messages `fromSeq` to `toSeq` of a thread, system messages excepted, in order. */
export async function findThreadMessages(
  db: Connection,
  input: { threadRef: number; fromSeq: number; toSeq: number },
): Promise<TurnMessage[]> {
  return db.query<TurnMessage>(sql`
    select m.seq, m.role, m.actor, m.content as text, m.said_at as "saidAt", m.agent_id as "agentId", m.run_id as "runId"
    from ${db.schema}.message m
    where m.thread_ref = ${input.threadRef} and m.seq between ${input.fromSeq} and ${input.toSeq}
      and m.role in ('user', 'assistant', 'tool')
    order by m.seq`);
}

/** The last message of a thread that no tool gave, and the results of tools after it, in order; system messages excepted. */
export async function findLastCall(db: Connection, threadRef: number): Promise<BaseMessage[]> {
  const rows = await db.query<TranscriptMessage & Record<string, unknown>>(sql`
    select m.message_id as "messageId", m.role, m.actor, '' as text, m.serialised
    from ${db.schema}.message m
    where m.thread_ref = ${threadRef} and m.role <> 'system' and m.seq >= coalesce((
      select c.seq from ${db.schema}.message c
      where c.thread_ref = ${threadRef} and c.role not in ('tool', 'system') order by c.seq desc limit 1
    ), 0)
    order by m.seq`);
  return Promise.all(rows.map(storedMessage));
}
