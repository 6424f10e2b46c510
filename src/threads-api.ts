import type { ReplayedTurn, ReplayInput } from "./prompt/replay.js";
import type { ListShownWords, ShownWords } from "./prompt/shown-words.js";
import type { ThreadCost } from "./prompt/thread-cost.js";
import type {
  ChangedTranscript,
  MessageRemoval,
  MessageReplacement,
} from "./remember/change-transcript.js";
import type { DeleteThread, Forgotten } from "./retention/forgetting/forget.js";
import type { TranscriptHit, TranscriptQuery } from "./search/search-transcript.js";
import type { EndedThread, EndThread } from "./transcript/end-thread.js";
import type { ListMessages, ThreadMessage } from "./transcript/list-messages.js";
import type { ListThreads, Thread } from "./transcript/list-threads.js";
import type { ListShownTo, ShownTo } from "./transcript/shown-to.js";
import type { ListShown, ShownTurn } from "./transcript/shown-turns.js";

/** The messages of conversations, word for word. */
export interface TranscriptApi {
  /**
   * Messages that fit a question, best first. Without a scope: everybody's, for operators.
   * @example
   * ```ts
   * for (const { role, text, reason } of await memory.transcript.search({
   *   scope: { userId: "ana" },
   *   query: "Where did we want to eat?",
   * }))
   *   console.log(role, text, reason);
   * ```
   * @throws MemoryError `INVALID_INPUT`
   */
  search(input: TranscriptQuery): Promise<TranscriptHit[]>;
  /**
   * Removes one message for good: from the transcript, with its search terms and the summaries,
   * episodes, notes and facts that rest on it alone, and from every list of messages in the
   * thread's checkpoints that `memory.checkpointer()` wrote. Repeat it after a run that was under
   * way.
   * @example
   * ```ts
   * await memory.transcript.remove({ scope: { userId: "ana" }, threadId: "t1", messageId: "m7" });
   * ```
   * @throws MemoryError `NOT_FOUND`, `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`, `BUSY`
   */
  remove(input: MessageRemoval): Promise<ChangedTranscript>;
  /**
   * Gives one message of the user or assistant other words, in the same places. What was learned
   * from the old words alone is closed, and can be restored; the new ones are read.
   * @example
   * ```ts
   * await memory.transcript.replace({
   *   scope: { userId: "ana" },
   *   threadId: "t1",
   *   messageId: "m7",
   *   text: "I am vegetarian.",
   * });
   * ```
   * @throws MemoryError as `remove`, and `REDACTION_FAILED`
   */
  replace(input: MessageReplacement): Promise<ChangedTranscript>;
}

/**
 * Conversations: list, end and delete them, read their messages, and see what their turns were shown
 * and cost.
 */
export interface ThreadsApi {
  /**
   * An app's threads or a user's (without `appId`, in all apps), latest first. Without a scope:
   * everybody's, for operators.
   * @example
   * ```ts
   * const [latest] = await memory.threads.list({ scope: { userId: "ana" }, limit: 1 });
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  list(input?: ListThreads): Promise<Thread[]>;
  /**
   * Ends a conversation. With an app, it leaves a note of the messages since its last note, made
   * in the background; see `config.notes`. Ending it again changes nothing; a message reopens it.
   * @example
   * ```ts
   * await memory.threads.end({ scope: { userId: "ana", appId: "shop" }, threadId: "t2", reason: "resolved" });
   * ```
   * @throws MemoryError `NOT_FOUND`, `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`
   */
  end(input: EndThread): Promise<EndedThread>;
  /**
   * Deletes a thread with its messages, summaries, episodes, checkpoints and events. Memories
   * learned there stay without their source, or are deleted too.
   * @example
   * ```ts
   * const { removed } = await memory.threads.delete({ scope: { userId: "ana" }, threadId: "t1" });
   * console.log(removed.message, "messages");
   * ```
   * @throws MemoryError `NOT_FOUND`, `SCOPE_REQUIRED`, `INVALID_INPUT`, `BUSY`
   */
  delete(input: DeleteThread): Promise<Forgotten>;
  /**
   * Which memories each turn of a thread was shown in which part of the block, latest first, and
   * how many were omitted.
   * @example
   * ```ts
   * const [latest] = await memory.threads.shown({ scope: { userId: "ana" }, threadId: "t1" });
   * for (const { part, text } of latest?.memories ?? []) console.log(part, text);
   * ```
   * @throws MemoryError `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`
   */
  shown(input: ListShown): Promise<ShownTurn[]>;
  /**
   * Which words each memory in a turn's prompt shares with the turn's question, as the search matches
   * them, and with its answer. `seq` is that of the turn in `shown`.
   * @example
   * ```ts
   * const turn = { scope: { userId: "ana" }, threadId: "t1", seq: 0 };
   * for (const { id, question } of await memory.threads.shownWords(turn)) console.log(id, question);
   * ```
   * @throws MemoryError `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`
   */
  shownWords(input: ListShownWords): Promise<ShownWords[]>;
  /**
   * The messages that memory handed on in a turn, rebuilt from what is stored of them: memory,
   * summary and conversation, without the app's own instructions. What was forgotten or edited since
   * has a mark in its place, and `complete` is false. `without`, `with` and `memory: "today"` print a
   * changed version beside it; a `model` answers both, without tools. Nothing is recorded.
   * @example
   * ```ts
   * const scope = { userId: "ana" };
   * const [latest] = await memory.threads.shown({ scope, threadId: "t1" });
   * const { messages, complete } = await memory.threads.replay({
   *   scope,
   *   threadId: "t1",
   *   turn: latest?.turn ?? 1,
   * });
   * for (const { role, content } of messages) console.log(role, content, complete);
   * ```
   * @throws MemoryError `NOT_FOUND`, `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`,
   * `MODEL_REQUIRED`
   */
  replay(input: ReplayInput): Promise<ReplayedTurn>;
  /**
   * The turns whose prompts a memory came into, latest first, in the scope's conversations: after a
   * correction, whom the wrong words reached.
   * @example
   * ```ts
   * const scope = { userId: "ana" };
   * const [wrong] = await memory.memories.list({ scope, keys: ["diet"] });
   * for (const { threadId, turn } of await memory.threads.shownTo({ scope, memoryId: wrong?.id ?? "" }))
   *   console.log(threadId, turn);
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`
   */
  shownTo(input: ListShownTo): Promise<ShownTo[]>;
  /**
   * A thread's use of models, in tokens: turn by turn, latest first, and in total; shared and
   * cached parts of prompts; and background calls by kind. As models report it, else estimated.
   * @example
   * ```ts
   * const { total, turns } = await memory.threads.cost({ scope: { userId: "ana" }, threadId: "t1" });
   * console.log(turns.length, "turns,", total.promptTokens, "tokens of prompts");
   * ```
   * @throws MemoryError `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`
   */
  cost(input: ListShown): Promise<ThreadCost>;
  /**
   * Messages of a thread, in order, page by page: the last ones, those before a `seq`, or those
   * after one.
   * @example
   * ```ts
   * for (const { role, text } of await memory.threads.messages({
   *   scope: { userId: "ana" },
   *   threadId: "t1",
   *   limit: 20,
   * }))
   *   console.log(role, text);
   * ```
   * @throws MemoryError `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`
   */
  messages(input: ListMessages): Promise<ThreadMessage[]>;
}
