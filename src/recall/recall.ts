import type { BaseMessage } from "@langchain/core/messages";
import type { Connection } from "../database/connection.js";
import { parseScope, type Scope } from "../domain/scope.js";
import { parseThreadId, threadForbidden } from "../domain/thread-id.js";
import { type Conversation, findConversation } from "../store/find-conversation.js";
import { decodeMessage } from "../store/message-codec.js";

/** What memory knows at the start of a round. */
export interface Recalled {
  /** The latest completed summary; null before the first. */
  readonly summary: Conversation["summary"];
  /** A newer summary that is still being made: then the gap is larger. */
  readonly processing: Conversation["processing"];
  /** Every recorded message after the summary's end, in order. */
  readonly gap: readonly BaseMessage[];
  readonly lastSeq: number;
  /** Id of the last recorded message; null before the first. */
  readonly lastMessageId: string | null;
}

/**
 * The memory of a thread, in one round trip. A thread not seen before has none, and is not made by this.
 *
 * @param input.messageIds ids of the messages of one branch of the conversation: then the summary is the
 *   latest one that ends with one of them, or before all of them.
 * @throws MemoryError `SCOPE_REQUIRED`, `THREAD_REQUIRED`, or `THREAD_FORBIDDEN` when the thread belongs to
 *   another scope.
 */
export async function recall(
  db: Connection,
  input: { scope: Scope; threadId: string; messageIds?: readonly string[] | undefined },
): Promise<Recalled> {
  const scope = parseScope(input.scope);
  const threadId = parseThreadId(input.threadId);
  const found = await findConversation(db, { scope, threadId, messageIds: input.messageIds });
  if (found === null) throw threadForbidden(threadId);
  if (found === undefined)
    return { summary: null, processing: null, gap: [], lastSeq: -1, lastMessageId: null };
  const gap = await Promise.all(found.gap.map((message) => decodeMessage(message.serialised)));
  return { ...found, gap };
}
