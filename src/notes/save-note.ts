import sql, { type Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import { errorLine, type Logger } from "../logger.js";
import { applyChanges } from "../memories/apply/apply-changes.js";
import { hideMemories } from "../memories/apply/change-set.js";
import { isActive, memoryJson, readMemories } from "../memories/item/memory-row.js";
import { classified, writeMemories } from "../memories/write/write-memories.js";
import type { WriteOutcome } from "../memories/write/write-types.js";
import { insertEvents } from "../observability/events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import { lockOwner, ownerColumns, ownerIs } from "../scope/scope-predicates.js";
import { commonOrigin } from "../transcript/find-messages.js";
import type { Taken } from "../work/work-definition.js";
import { completeWork } from "../work/work-table.js";
import type { NotesRuntime, NoteWork } from "./load-note.js";
import type { NoteContent, ProposedNote } from "./note-text.rule.js";
import { shareOfUser } from "./notes-options.js";

const noteWriter = "worker:notes";

export interface Noted {
  said: ProposedNote | null;
  content: NoteContent | null;
  memoryId: string | null;
}

/**
 * Writes a note and the cursor in one transaction. Returns its id, or that of an equal note.
 * @throws LeaseLost
 */
export async function saveNote(
  deps: NotesRuntime,
  { claim, work, content }: Taken<NoteWork, Noted>,
): Promise<string | null> {
  const { scope, threadId, owner, messages } = work;
  const speaker = commonOrigin(messages);
  const source = { threadId, seqs: messages.map(({ seq }) => seq) };
  const draft = content && {
    ...content,
    ...speaker,
    kind: "note" as const,
    origin: "worker" as const,
    source,
  };
  const event = { threadId, ...speaker, scope, step: "notes", op: "classify" } as const;
  const [outcome] = await writeMemories(deps, {
    scope: owner,
    drafts: draft ? [draft] : [],
    origin: { actor: noteWriter, step: "notes", threadId },
    finish: async (tx, [written]) => {
      if (written?.id) {
        const startSeq = messages[0]?.seq ?? 0;
        await addNoteSources(
          tx,
          sql`
          select ${claim.ref}, ${written.id}, o.id, ${startSeq}, ${work.doneUntil}
          from ${tx.schema}.owner o where ${ownerIs(ownerColumns(owner))}`,
        );
        await limitUserShare(deps, tx, work);
      }
      await completeWork(tx, claim, work);
      const outcome = content
        ? classified(written, false)
        : ({ status: "skipped", detail: "nothing_to_note" } as const);
      await insertEvents(tx, [{ ...event, ...outcome }]);
    },
  });
  logNote(deps.logger, work, outcome);
  return outcome?.id ?? null;
}

function logNote(
  logger: Logger,
  { owner, threadId }: NoteWork,
  outcome: WriteOutcome | undefined,
): void {
  const { appId } = owner;
  const fields = {
    threadId,
    appId,
    step: "notes",
    ...(outcome?.id && { memoryIds: [outcome.id] }),
  };
  if (outcome?.outcome === "created") {
    logger.info(`📝 Created memory for app ${appId} from conversation ${threadId}`, fields);
  } else if (!outcome?.id || outcome.outcome === "quarantined") {
    logger.debug(`Conversation ${threadId} left no memory for app ${appId}`, fields);
  } else {
    logger.info(`📝 Conversation ${threadId} said again what app ${appId} remembers`, fields);
  }
}

/**
 * Lets forgetting a user find the notes of their conversations; never shown.
 * @param rows thread_ref, memory_id, owner_ref, start_seq, end_seq
 */
export async function addNoteSources(tx: Connection, rows: Sql): Promise<void> {
  await tx.query(sql`
    insert into ${tx.schema}.note_source as s (thread_ref, memory_id, owner_ref, start_seq, end_seq) ${rows}
    on conflict (thread_ref, memory_id) do update
      set start_seq = least(s.start_seq, excluded.start_seq), end_seq = greatest(s.end_seq, excluded.end_seq)`);
}

/**
 * Over the app's limit, deletes the oldest notes above a user's share, if there are notes of other
 * users.
 */
async function limitUserShare(
  deps: NotesRuntime,
  tx: Connection,
  { scope, owner, app }: NoteWork,
): Promise<void> {
  const { schema } = tx;
  if (scope.userId === undefined) return;
  const { ref: ownerRef } = await lockOwner(tx, owner);
  const excess = await readMemories(
    tx,
    sql`
    with note as (
      select m.ref, m.created_at, s.user_id, m.trust <> 'operator' and not m.pinned as may_go,
        count(*) over () - ${app.limit} as too_many, count(s.user_id) over () as of_users,
        count(*) over (partition by s.user_id) as of_user,
        row_number() over (partition by s.user_id order by m.created_at desc, m.ref desc) as place
      from ${schema}.memory m left join lateral (
        select min(t.user_id) as user_id
        from ${schema}.note_source s join ${schema}.thread t on t.id = s.thread_ref
        where s.owner_ref = ${ownerRef} and s.memory_id = m.id having min(t.user_id) = max(t.user_id)
      ) s on true
      where m.owner_ref = ${ownerRef} and m.kind = 'note' and ${isActive(tx)}
    ),
    gone as (
      select n.ref, n.too_many, row_number() over (order by n.created_at, n.ref) as place
      from note n
      where n.may_go and n.user_id is not null and n.place > ${shareOfUser(app)} and n.of_user < n.of_users
    )
    select ${memoryJson(tx)} as memory
    from gone g cross join lateral (select * from ${schema}.memory where ref = g.ref limit 1) m
    where g.place <= g.too_many
    order by m.ref`,
  );
  const reason = `Where others' are there too, a user's conversations leave at most ${shareOfUser(app)} notes.`;
  const details = { reason, by: "share" };
  const hidden = hideMemories(excess, deps.config.lifecycle, "DELETE", () => details);
  const by = { ownerRef, scope: owner, actor: noteWriter, step: "notes" } as const;
  await applyChanges(tx, by, hidden);
}

const databaseErrors: readonly string[] = [
  "BUSY",
  "DATABASE_ERROR",
  "DATABASE_TIMEOUT",
  "DATABASE_UNAVAILABLE",
];

/** Repeats `work` once, and logs it, except after a MemoryError that is not the database's. */
export async function retryOnce<Result>(
  logger: Logger,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (MemoryError.is(error) && !databaseErrors.includes(error.code)) throw error;
    logger.error(`❌ ${what}: ${errorLine(error)} It is tried once more.`);
    return work();
  }
}
