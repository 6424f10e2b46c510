import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { TurnMessage } from "./find-turn-messages.js";

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
