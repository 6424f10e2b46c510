import sql from "sql-template-tag";
import { z } from "zod";
import { changeInCheckpoints } from "../checkpoints/change-message.js";
import { checkpointNamesOf } from "../checkpoints/checkpoint-names.js";
import { MemoryError } from "../errors.js";
import { nameText, nonBlank, parseInput, storableText } from "../input/parse-input.js";
import type { MemoriesSettings } from "../memories/item/memories-settings.js";
import { decodeMessage } from "../messages/message-codec.js";
import { type TranscriptMessage, withFields } from "../messages/message-text.js";
import { insertEvent } from "../observability/events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import {
  requiredScope,
  requiredThread,
  type ThreadAddress,
  threadForbidden,
} from "../scope/scope.js";
import { lockOwner, scopeColumns } from "../scope/scope-predicates.js";
import { findThread, type OwnedThread } from "../transcript/claim-thread.js";
import { newMessages } from "../transcript/record.js";
import type { Job } from "../work/work-kinds.rule.js";
import { blankMessage, recordEdits } from "./edited-messages.js";
import { clearQuotes, purging } from "./purge-resting.js";
import { settleResting } from "./settle-resting.js";

export interface ChangedTranscript {
  readonly threadId: string;
  readonly messageId: string;
  readonly seq: number;
  /** Ids of the memories that rested on it alone: removed for good, or closed. */
  readonly memoryIds: readonly string[];
  /** Stored values of the thread's checkpoints that had it. */
  readonly checkpointValues: number;
}

type TranscriptRuntime = Runtime<{
  readonly lifecycle: { readonly purgeAfterMs: number };
  readonly memories: MemoriesSettings;
}>;

const maxMessageCharacters = 1_000_000;

const messageField = {
  scope: requiredScope,
  threadId: requiredThread,
  messageId: nameText.min(1),
  /** Who asked for it, for the audit trail. @default "api" */
  actor: nameText.default("api"),
};
const removeSchema = z.strictObject(messageField);
const replaceSchema = z.strictObject({
  ...messageField,
  /** At most 1,000,000 characters. */
  text: storableText.max(maxMessageCharacters).and(nonBlank),
});

export interface MessageRemoval extends z.input<typeof removeSchema> {}
export interface MessageReplacement extends z.input<typeof replaceSchema> {}

/**
 * Removes one message from the transcript, and from the thread's checkpoints that
 * `memory.checkpointer()` wrote, with what was learned from it alone. Repeat it after a run that was
 * under way.
 * @throws MemoryError `NOT_FOUND`, `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`, `BUSY`
 */
export async function removeMessage(
  deps: TranscriptRuntime,
  input: MessageRemoval,
): Promise<ChangedTranscript> {
  const { messageId, actor, ...address } = parseInput(removeSchema, input, "message to remove");
  const found = await findMessage(deps.db, address, messageId);
  return changeMessage(deps, { ...address, messageId, text: null }, found, async (tx, ownerRef) => {
    const thread = await blankMessage(tx, { ...found, ownerRef, messageId });
    const settling = { ...address, ownerRef, thread, actor, unread: null };
    const { memoryIds } = await settleResting(tx, settling, purging);
    await clearQuotes(tx, settling);
    return memoryIds;
  });
}

/**
 * Gives one message of a user or assistant other words, in the transcript and in the thread's
 * checkpoints that `memory.checkpointer()` wrote. Closes what was learned from the old ones alone,
 * so that it can be restored, and reads the new ones.
 * @throws MemoryError `NOT_FOUND`, `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`,
 * `REDACTION_FAILED`, `BUSY`
 */
export async function replaceMessage(
  deps: TranscriptRuntime,
  input: MessageReplacement,
): Promise<{ readonly changed: ChangedTranscript; readonly due: readonly Job[] }> {
  const asked = parseInput(replaceSchema, input, "replacement");
  const { messageId, text: given, actor, ...address } = asked;
  const found = await findMessage(deps.db, address, messageId);
  if (found.role !== "user" && found.role !== "assistant")
    throw new MemoryError(
      "INVALID_INPUT",
      `Message "${messageId}" is no message of a user or an assistant: only those can be replaced. Remove it.`,
    );
  const said = withFields(decodeMessage(found.serialised), { id: messageId, content: given });
  const edits = await newMessages(deps.redactor, [said], address.threadId);
  const text = await deps.redactor.text(given);
  const extracts = deps.hasModel && deps.config.memories.extract;
  const change = { ...address, messageId, text };
  const changed = await changeMessage(deps, change, found, async (tx, ownerRef) => {
    const recording = { ...address, ...found, ownerRef, edits, actor, extracts };
    return (await recordEdits(deps, tx, recording)).memoryIds;
  });
  return { changed, due: extracts ? [{ kind: "facts", ref: found.threadRef }] : [] };
}

type MessageRow = Pick<TranscriptMessage, "seq" | "role" | "serialised">;
type StoredMessage = OwnedThread & MessageRow;

async function findMessage(
  db: Connection,
  address: ThreadAddress,
  messageId: string,
): Promise<StoredMessage> {
  const { threadId } = address;
  const thread = await findThread(db, address);
  if (thread === null) throw threadForbidden(threadId);
  const [message] = thread
    ? await db.query<MessageRow>(sql`
        select m.seq, m.role, m.serialised from ${db.schema}.message m
        where m.thread_ref = ${thread.threadRef} and m.message_id = ${messageId}`)
    : [];
  if (thread && message) return { ...thread, ...message };
  throw new MemoryError(
    "NOT_FOUND",
    `Thread "${threadId}" of this scope has no message "${messageId}". memory.threads.messages lists them.`,
  );
}

async function changeMessage(
  deps: TranscriptRuntime,
  { messageId, text, ...address }: MessageRemoval & { readonly text: string | null },
  { threadRef, checkpointThreadId, seq }: StoredMessage,
  change: (tx: Connection, ownerRef: number) => Promise<readonly string[]>,
): Promise<ChangedTranscript> {
  const { scope, threadId } = address;
  const { tenantId } = scopeColumns(scope);
  return deps.db.patient.transaction(async (tx) => {
    const { ref } = await lockOwner(tx, scope);
    // Writers of its checkpoints share a lock on the thread.
    await tx.query(sql`select id from ${tx.schema}.thread where id = ${threadRef} for update`);
    const memoryIds = await change(tx, ref);
    const threads = [{ ref: String(threadRef), threadId, checkpointThreadId }];
    const { own } = await checkpointNamesOf(tx, { tenantId, threads });
    const checkpointValues = await changeInCheckpoints(tx, own, { messageId, text });
    const done =
      text === null
        ? ({ step: "forget", op: "delete" } as const)
        : ({ step: "api", op: "update" } as const);
    await insertEvent(tx, { ...done, status: "ok", detail: "message", scope, threadId });
    return { threadId, messageId, seq, memoryIds, checkpointValues };
  });
}
