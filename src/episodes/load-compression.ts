import sql from "sql-template-tag";
import { findTurnMessages, type TurnMessage, type TurnRange } from "../conversation/find-messages.js";
import { isHeld } from "../jobs/lease.js";
import { limitMaterial } from "../jobs/limit-material.js";
import type { JobStatus } from "../jobs/settle-failure.js";
import { skipTask, type TaskClaim, type TaskWork, threadTasks } from "../jobs/thread-task.js";
import type { Connection } from "../postgres/connection.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import type { ThreadAddress } from "../scope/thread-id.js";
import { hasWords } from "../text/storable-text.js";
import { type EpisodesRuntime, episodeRange } from "./episode-text.js";

/** A thread whose older turns may be due to become an episode. */
interface CompressionWork extends ThreadAddress {
  /** Turns it has. */
  readonly turns: number;
}

/** The work behind `claim`; null when the claim was lost. */
async function findCompressionWork(db: Connection, claim: TaskClaim): Promise<CompressionWork | null> {
  const [row] = await db.query<ScopeRow & { thread_id: string; turns: number }>(sql`
    select t.tenant_id, t.user_id, t.app_id, t.thread_id,
      (select count(*) from ${db.schema}.message m where m.thread_ref = t.id and m.role = 'user')::int as turns
    from ${db.schema}.thread_task k join ${db.schema}.thread t on t.id = k.thread_ref
    where ${isHeld(threadTasks, claim)}`);
  return row ? { scope: scopeOf(row), threadId: row.thread_id, turns: row.turns } : null;
}

/** A stretch of turns to become an episode. */
export interface EpisodeWork extends TaskWork {
  readonly turns: TurnRange;
  /** What users and assistants said in them, in order. */
  readonly messages: TurnMessage[];
}

/** What `claim` is about, or how it ended: no stretch of turns is due, or nothing was said in it. */
export async function loadCompression(
  deps: EpisodesRuntime,
  claim: TaskClaim,
): Promise<EpisodeWork | JobStatus> {
  const { memories } = deps.config;
  const thread = await findCompressionWork(deps.db, claim);
  if (!thread) return "lost";
  const turns = episodeRange(thread.turns, claim.doneUntil, memories);
  if (!turns) return skipTask(deps.db, claim, { doneUntil: claim.doneUntil, more: false });

  const messages = await findTurnMessages(deps.db, { threadRef: claim.threadRef, ...turns });
  const more = episodeRange(thread.turns, turns.end, memories) !== null;
  const said = messages.filter(({ text }) => hasWords(text));
  if (said.length === 0) return skipTask(deps.db, claim, { doneUntil: turns.end, more });
  const address = { scope: thread.scope, threadId: thread.threadId };
  const of = { ...address, step: "compress" } as const;
  const { messages: limited } = await limitMaterial(deps, of, said, deps.config.upkeep);
  return { ...address, turns, messages: limited, doneUntil: turns.end, more };
}
