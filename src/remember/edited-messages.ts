import { SystemMessage } from "@langchain/core/messages";
import sql from "sql-template-tag";
import { applyChanges } from "../memories/apply/apply-changes.js";
import { hideMemories } from "../memories/apply/change-set.js";
import { encodeMessage } from "../messages/message-codec.js";
import { insertEvents } from "../observability/events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import type { Runtime } from "../runtime.js";
import type { ThreadAddress } from "../scope/scope.js";
import { lockOwner, scopeColumns, threadIs } from "../scope/scope-predicates.js";
import {
  type RecordConfig,
  type RecordedTurn,
  type RecordInput,
  record,
} from "../transcript/record.js";
import type { NewMessage } from "../transcript/record-messages.js";
import { eraseTold } from "../transcript/told-words.js";
import { markWork } from "../work/work-table.js";
import { type ChangedThread, type Ending, settleResting } from "./settle-resting.js";

export type EditRuntime = Pick<
  Runtime<{ readonly lifecycle: { readonly purgeAfterMs: number } }>,
  "db" | "config"
>;

/** The words of a message in the caller's state, by which its facts still hold or not. */
interface EditedWords {
  readonly messageId: string;
  readonly words: string;
}

/**
 * Closes what rests on the recorded words of edited messages, before a prompt shows it. The new
 * words are recorded at the end of the turn: until then its run may redact them. Returns whether
 * anything was closed.
 */
export async function closeEdited(
  deps: EditRuntime,
  { scope, threadId }: ThreadAddress,
  edits: readonly EditedWords[],
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const owner = await lockOwner(tx, scope);
    const thread = await findChanged(tx, { scope, threadId }, edits);
    const settling = { ownerRef: owner.ref, scope, threadId, thread, actor: "edit", unread: null };
    return (await settleResting(tx, settling, hiddenEnding(deps))).isAnything;
  });
}

async function findChanged(
  tx: Connection,
  { scope, threadId }: ThreadAddress,
  edits: readonly EditedWords[],
): Promise<ChangedThread> {
  const { schema } = tx;
  const rows = await tx.query<{
    ref: number;
    id: string;
    seq: number;
    role: string;
    before: string;
  }>(sql`
    select m.thread_ref::float8 as ref, m.message_id as id, m.seq, m.role, m.content as before
    from ${schema}.thread t join ${schema}.message m on m.thread_ref = t.id
    where ${threadIs(scopeColumns(scope).tenantId, threadId)} and m.message_id = any (${edits.map(({ messageId }) => messageId)}::text[])`);
  const words = new Map(edits.map((edit) => [edit.messageId, edit.words]));
  const messages = rows.map(({ ref: _, id, ...message }) => {
    return { ...message, words: words.get(id) ?? "" };
  });
  return { threadRef: rows[0]?.ref ?? 0, messages };
}

const editedReason = "The message that it was learned from was edited.";

/** Hides memories, so that they can be restored. */
const hiddenEnding = ({ config }: EditRuntime): Ending => ({
  states: ["active"],
  async end(tx, { threadId, ...by }, { memories, consents }) {
    const hidden = hideMemories(memories, config.lifecycle, "UPDATE", () => ({
      reason: editedReason,
    }));
    const changes = hidden.changes.map((change) => ({ ...change, threadId }));
    const settled = consents.map((id) => ({ id, status: "superseded", actor: by.actor }) as const);
    await applyChanges(tx, { ...by, step: "remember" }, { ...hidden, changes, settled });
  },
});

interface Edits extends ThreadAddress {
  readonly threadRef: number;
  readonly ownerRef: number;
  readonly edits: readonly NewMessage[];
  readonly actor: string;
  /** Whether extraction reads what users say. */
  readonly extracts: boolean;
}

/**
 * Records new words of recorded messages of a locked owner, and closes what rests on the old ones.
 * `count`: how many were others; `isUnread`: whether extraction has to read some.
 */
export async function recordEdits(deps: EditRuntime, tx: Connection, input: Edits) {
  const { threadRef, extracts, ...settling } = input;
  const thread = await storeEdits(tx, input);
  await eraseToldMessages(tx, input.ownerRef, thread);
  const said = thread.messages.flatMap(({ seq, role }) => (role === "user" ? seq : []));
  const unread = extracts && said.length > 0 ? Math.min(...said) - 1 : null;
  if (unread !== null)
    await markWork(tx, { kind: "facts", of: "thread", ref: threadRef }, { from: unread });
  const { memoryIds } = await settleResting(
    tx,
    { ...settling, thread, unread },
    hiddenEnding(deps),
  );
  return { memoryIds, count: thread.messages.length, isUnread: unread !== null };
}

type RecordDue = NonNullable<Parameters<typeof record>[2]>;

/** 10,000 in one transaction take longer than a statement may; the next turn finds those left. */
const editsPerTransaction = 500;

/**
 * Stores a turn (`record`) and then, in transactions of their own, the new words of messages that
 * were edited: few turns have any.
 */
export async function recordTurn(
  deps: EditRuntime & Pick<Runtime<RecordConfig>, "config" | "redactor" | "describer">,
  input: RecordInput,
  due: RecordDue = {},
): Promise<RecordedTurn> {
  const turn = await record(deps, input, due);
  if (turn.edits.length === 0) return turn;
  const { scope, threadId } = input;
  // What rests on messages of several batches ends with the words of all.
  if (turn.edits.length > editsPerTransaction) {
    const edited = turn.edits.map(({ messageId, text: words }) => ({ messageId, words }));
    await closeEdited(deps, input, edited);
  }
  let isUnread = false;
  for (let at = 0; at < turn.edits.length; at += editsPerTransaction) {
    const edits = turn.edits.slice(at, at + editsPerTransaction);
    await deps.db.transaction(async (tx) => {
      const { ref: ownerRef } = await lockOwner(tx, scope);
      const extracts = due.extract !== undefined;
      const recording = { ...turn, edits, scope, threadId, ownerRef, actor: "edit", extracts };
      const stored = await recordEdits(deps, tx, recording);
      const event = { scope, threadId, step: "remember", op: "update", status: "ok" } as const;
      await insertEvents(tx, Array(stored.count).fill({ ...event, detail: "edited" }));
      isUnread ||= stored.isUnread;
    });
  }
  // The counts of before include summaries and episodes that are gone.
  const { recorded, closed, extractInMs, edits, messages, summarisedByOthers } = turn;
  const now = await record(deps, { scope, threadId, messages: [] });
  const kept = { recorded, closed, edits, messages, summarisedByOthers };
  return { ...now, ...kept, extractInMs: isUnread ? 0 : extractInMs };
}

/** Stores new words in the places of the old, with their search terms. */
async function storeEdits(
  tx: Connection,
  { threadRef, ownerRef, edits }: Pick<Edits, "threadRef" | "ownerRef" | "edits">,
): Promise<ChangedThread> {
  const { schema } = tx;
  const column = <Key extends keyof NewMessage>(key: Key) => edits.map((edit) => edit[key]);
  const changed = await tx.query<ChangedThread["messages"][number] & { readonly id: string }>(sql`
    with changed as (
      update ${schema}.message m
      set content = i.content, serialised = i.serialised, words_check = i.words_check, state_check = null,
        version = m.version + 1, earlier_checks = array_remove(array_append(m.earlier_checks, m.words_check), null),
        edited_at_seq = (select max(l.seq) from ${schema}.message l where l.thread_ref = ${threadRef})
      from unnest(
        ${column("messageId")}::text[], ${column("text")}::text[], ${column("serialised")}::text[], ${column("check")}::integer[]
      ) i (message_id, content, serialised, words_check)
      join ${schema}.message b on b.thread_ref = ${threadRef} and b.message_id = i.message_id
      where m.thread_ref = ${threadRef} and m.seq = b.seq and m.words_check is distinct from i.words_check
      returning m.message_id, m.seq, m.role, m.content, b.content as before
    ),
    gone as (
      delete from ${schema}.message_term t using changed c
      where t.thread_ref = ${threadRef} and t.seq = c.seq returning t.seq, t.length
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count - g.count, message_length = o.message_length - g.length
      from (
        select count(*) as count, coalesce(sum(length), 0) as length
        from (select max(length) as length from gone group by seq) m
      ) g
      where o.id = ${ownerRef}
    )
    select message_id as id, seq, role, content as words, before from changed`);
  const termsOf = new Map(edits.map(({ messageId, terms }) => [messageId, terms]));
  await tx.query(sql`
    with term as (
      select i.seq, w.lexeme, w.frequency, sum(w.frequency) over (partition by i.seq) as length
      from unnest(
        ${changed.map(({ seq }) => seq)}::integer[], ${changed.map(({ id }) => termsOf.get(id))}::text[]
      ) i (seq, terms)
      cross join lateral ${lexemes(tx, sql`i.terms`)} w
    ),
    indexed as (
      insert into ${schema}.message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
      select ${ownerRef}, lexeme, ${threadRef}, seq, frequency, length from term
    )
    update ${schema}.owner o
    set message_count = o.message_count + (select count(distinct seq) from term),
      message_length = o.message_length + (select coalesce(sum(frequency), 0) from term)
    where o.id = ${ownerRef}`);
  return { threadRef, messages: changed };
}

/** Other conversations of the owner may have been told the old words. */
async function eraseToldMessages(
  tx: Connection,
  ownerRef: number,
  { threadRef, messages }: ChangedThread,
): Promise<void> {
  const seqs = messages.map(({ seq }) => seq);
  if (seqs.length > 0) await eraseTold(tx, { ownerRef, threads: [threadRef], seqs });
}

/**
 * Leaves an empty system message in the place of one, which no prompt shows: its id stays known, so
 * that a client that still has the message cannot record it again.
 */
export async function blankMessage(
  tx: Connection,
  { threadRef, ownerRef, messageId }: { threadRef: number; ownerRef: number; messageId: string },
): Promise<ChangedThread> {
  const { schema } = tx;
  const serialised = encodeMessage(new SystemMessage({ id: messageId, content: "" }));
  const messages = await tx.query<ChangedThread["messages"][number]>(sql`
    with changed as (
      update ${schema}.message m
      set role = 'system', content = '', actor = null, serialised = ${serialised}, words_check = null, state_check = null,
        earlier_checks = '{}', version = m.version + 1
      from ${schema}.message b
      where b.thread_ref = ${threadRef} and b.message_id = ${messageId} and m.thread_ref = ${threadRef} and m.seq = b.seq
      returning m.seq, b.role, b.content as before
    ),
    gone as (
      delete from ${schema}.message_term t using changed c
      where t.thread_ref = ${threadRef} and t.seq = c.seq returning t.length
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count - 1, message_length = o.message_length - g.length
      from (select max(length) as length from gone having count(*) > 0) g
      where o.id = ${ownerRef}
    ),
    turns as (
      update ${schema}.thread t set turns = t.turns - 1
      from changed c where t.id = ${threadRef} and c.role = 'user'
    )
    select seq, role, '' as words, before from changed`);
  const thread = { threadRef, messages };
  await eraseToldMessages(tx, ownerRef, thread);
  return thread;
}
