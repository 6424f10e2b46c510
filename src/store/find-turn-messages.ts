import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { SaidIn } from "../domain/common-origin.js";
import type { TurnRange } from "../domain/episode-range.js";
import type { MessageRole } from "../domain/transcript-message.js";

/** One message of a stretch of turns. */
export interface TurnMessage extends SaidIn {
  readonly seq: number;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly text: string;
  readonly saidAt: Date;
}

/** What users and assistants said in a stretch of a thread's turns, in order. */
export async function findTurnMessages(
  db: Connection,
  { threadRef, start, end }: TurnRange & { readonly threadRef: number },
): Promise<TurnMessage[]> {
  return db.query<TurnMessage>(sql`
    with turn as (
      select seq, row_number() over (order by seq) as number
      from ${db.schema}.message where thread_ref = ${threadRef} and role = 'user'
    )
    select m.seq, m.role, m.actor, m.content as text, m.said_at as "saidAt", m.agent_id as "agentId", m.run_id as "runId"
    from ${db.schema}.message m
    where m.thread_ref = ${threadRef} and m.role in ('user', 'assistant')
      and m.seq >= (select seq from turn where number = ${start})
      and m.seq < coalesce((select seq from turn where number = ${end + 1}), 2147483647)
    order by m.seq`);
}
