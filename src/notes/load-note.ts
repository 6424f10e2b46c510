import sql from "sql-template-tag";
import type { WriteConfig } from "../memories/write/write-types.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import type { Scope } from "../scope/scope.js";
import { hasWords } from "../text/storable-text.js";
import { endIdleThread } from "../transcript/end-thread.js";
import type { TurnMessage } from "../transcript/find-messages.js";
import { isMaterial } from "../transcript/forgotten-messages.js";
import type { TaskRuntime } from "../work/jobs-options.js";
import type { ThreadWork } from "../work/work-definition.js";
import {
  type Claim,
  deferWork,
  findClaimedThread,
  type NoWork,
  skipWork,
} from "../work/work-table.js";
import { type AppNotes, appNotes, type NotesOptions } from "./notes-options.js";

export type NotesRuntime = Runtime<WriteConfig & { readonly notes: NotesOptions }> & TaskRuntime;

/** An ended conversation of an app, and its messages without a note. */
export interface NoteWork extends ThreadWork {
  readonly owner: Scope & { readonly appId: string };
  readonly app: AppNotes;
  readonly messages: TurnMessage[];
}

/** More than the calls of a job take. */
const maxMessages = 2_000;

/**
 * Loads the work of `claim`, or skips or defers it. Ends a conversation that was silent for
 * `idleMs`.
 */
export async function loadNote(deps: NotesRuntime, claim: Claim): Promise<NoteWork | NoWork> {
  const { db, config } = deps;
  const thread = await findClaimedThread(db, claim);
  if (!thread) return "lost";
  const { scope, threadId, lastSeq } = thread;
  const { appId, tenantId } = scope;
  const nothing = { doneUntil: Math.max(claim.doneUntil, lastSeq) };
  if (appId === undefined) return skipWork(db, claim, nothing, "no_app");
  if (lastSeq <= claim.doneUntil) return skipWork(db, claim, nothing, "nothing_new");

  const { idleMs } = config.notes;
  if (!(await endIdleThread(db, { threadRef: claim.ref, idleMs })))
    return deferWork(db, claim, new Date(thread.lastActivityAt.getTime() + idleMs));

  const messages = await findMessages(db, { ...claim, toSeq: lastSeq });
  if (messages.length === 0) return skipWork(db, claim, nothing, "nothing_new");
  const owner = { ...(tenantId !== undefined && { tenantId }), appId };
  return {
    scope,
    threadId,
    owner,
    messages,
    app: appNotes(config.notes, appId),
    doneUntil: lastSeq,
  };
}

async function findMessages(
  db: Connection,
  { ref, doneUntil, toSeq }: Pick<Claim, "ref" | "doneUntil"> & { readonly toSeq: number },
): Promise<TurnMessage[]> {
  const latest = await db.query<TurnMessage>(sql`
    select m.seq, m.role, m.actor, m.content as text, m.said_at as "saidAt", m.time_zone as "timeZone", m.agent_id as "agentId", m.run_id as "runId"
    from ${db.schema}.message m
    where m.thread_ref = ${ref} and m.role in ('user', 'assistant') and m.seq > ${doneUntil} and m.seq <= ${toSeq}
      and ${isMaterial(db, ref)}
    order by m.seq desc limit ${maxMessages}`);
  return latest.reverse().filter(({ text }) => hasWords(text));
}
