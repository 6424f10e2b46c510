import sql from "sql-template-tag";
import { endIdleThread } from "../conversation/end-thread.js";
import type { TurnMessage } from "../conversation/find-messages.js";
import type { TaskRuntime } from "../jobs/jobs-options.js";
import { limitMaterial } from "../jobs/limit-material.js";
import type { JobStatus, ThreadWork } from "../jobs/settle-failure.js";
import { type Claim, deferWork, isHeld, skipWork } from "../jobs/work-table.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import type { Scope } from "../scope/scope.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { hasWords } from "../text/storable-text.js";
import { type AppNotes, appNotes, type NotesOptions } from "./notes-options.js";

export type NotesRuntime = Runtime<WriteConfig & { readonly notes: NotesOptions }> & TaskRuntime;

/** A conversation of an app that is over, and its messages without a note. */
export interface NoteWork extends ThreadWork {
  readonly owner: Scope & { readonly appId: string };
  readonly app: AppNotes;
  /** Of users and assistants, in order. */
  readonly messages: TurnMessage[];
}

/** More than calls hold, so that the middle is omitted anyway. */
const mostMessages = 2_000;

/**
 * The work behind `claim`, or how it ended: the conversation goes on, or nothing new was said. A conversation that was
 * silent for `idleMs` ends here.
 */
export async function loadNote(deps: NotesRuntime, claim: Claim): Promise<NoteWork | JobStatus> {
  const { db, config } = deps;
  const thread = await findNoteThread(db, claim);
  if (!thread) return "lost";
  const { scope, threadId, lastSeq } = thread;
  const { appId, tenantId } = scope;
  const nothing = { doneUntil: Math.max(claim.doneUntil, lastSeq) };
  if (appId === undefined || lastSeq <= claim.doneUntil) return skipWork(db, claim, nothing);

  const { idleMs } = config.notes;
  if (!(await endIdleThread(db, { threadRef: claim.ref, idleMs }))) {
    return deferWork(db, claim, new Date(thread.lastActivityAt.getTime() + idleMs));
  }

  const said = await findSaid(db, { ...claim, toSeq: lastSeq });
  if (said.length === 0) return skipWork(db, claim, nothing);
  const owner = { ...(tenantId !== undefined && { tenantId }), appId };
  return {
    ...{ scope, threadId, owner, messages: said, app: appNotes(config.notes, appId) },
    doneUntil: lastSeq,
  };
}

export async function limitNote(deps: NotesRuntime, work: NoteWork): Promise<NoteWork> {
  const of = { scope: work.scope, threadId: work.threadId, step: "note" } as const;
  const { messages } = await limitMaterial(deps, of, work.messages, deps.config.upkeep);
  return { ...work, messages };
}

interface NoteThread {
  readonly scope: Scope;
  readonly threadId: string;
  readonly lastActivityAt: Date;
  /** −1 before the first message. */
  readonly lastSeq: number;
}

/** Null when the claim was lost. */
async function findNoteThread(db: Connection, claim: Claim): Promise<NoteThread | null> {
  const [row] = await db.query<
    ScopeRow & { thread_id: string; last_activity_at: Date; last_seq: number }
  >(sql`
    select t.tenant_id, t.user_id, t.app_id, t.thread_id, t.last_activity_at, coalesce((
      select m.seq from ${db.schema}.message m where m.thread_ref = t.id order by m.seq desc limit 1
    ), -1) as last_seq
    from ${db.schema}.work k join ${db.schema}.thread t on t.id = k.thread_ref
    where ${isHeld(claim)}`);
  if (!row) return null;
  const { thread_id: threadId, last_activity_at: lastActivityAt, last_seq: lastSeq } = row;
  return { scope: scopeOf(row), threadId, lastActivityAt, lastSeq };
}

async function findSaid(
  db: Connection,
  { ref, doneUntil, toSeq }: Pick<Claim, "ref" | "doneUntil"> & { readonly toSeq: number },
): Promise<TurnMessage[]> {
  const latest = await db.query<TurnMessage>(sql`
    select m.seq, m.role, m.actor, m.content as text, m.said_at as "saidAt", m.agent_id as "agentId", m.run_id as "runId"
    from ${db.schema}.message m
    where m.thread_ref = ${ref} and m.role in ('user', 'assistant') and m.seq > ${doneUntil} and m.seq <= ${toSeq}
    order by m.seq desc limit ${mostMessages}`);
  return latest.reverse().filter(({ text }) => hasWords(text));
}
