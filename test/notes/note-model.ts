import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory } from "../../src/memory.js";
import type { ScriptedReply } from "../../src/testing/index.js";
import { type TaskReplies, taskModel } from "../support/task-model.js";
import type { TestDatabase } from "../support/test-database.js";
import type { TestOptions } from "../support/test-memory.js";

/** A conversation of a user with an app. */
export interface AppAddress {
  readonly scope: { readonly userId: string; readonly appId: string; readonly tenantId?: string };
  readonly threadId: string;
}

/** A thread of a new user of `appId`. */
export const newTalk = (appId: string = randomUUID(), tenantId?: string): AppAddress => ({
  scope: { userId: randomUUID(), appId, ...(tenantId !== undefined && { tenantId }) },
  threadId: randomUUID(),
});

/** A memory on `db`, and a conversation of a new user with a new app. */
export const openTalk = (db: TestDatabase, options?: TestOptions) => ({
  memory: db.memory(options),
  talk: newTalk(),
});

/** The answer of a model that notes. */
export const noted = (
  note: string,
  fields: { importance?: number; tags?: string[] } = {},
): ScriptedReply => ({
  structured: { reasoning: "", note, importance: 3, tags: [], ...fields },
});

/** The answer of a model that compacts. */
export const decided = (
  decision: Partial<Record<"action" | "target" | "with" | "text" | "reason", unknown>>,
): ScriptedReply => ({
  structured: {
    reasoning: "",
    action: "delete",
    with: null,
    text: null,
    reason: "It says the least.",
    ...decision,
  },
});

/**
 * A model that notes what a conversation is about, by its `call`, and deletes the first note of too
 * many.
 */
export function noteModel(replies: TaskReplies = {}) {
  return taskModel({
    app_note: (_, call) => noted(`Conversation ${call} was about subject ${call}.`),
    note_compaction: () => decided({ target: 1 }),
    ...replies,
  });
}

/** One turn of `talk`. */
export function say(memory: Memory, talk: AppAddress, says: string, answer = "I see.") {
  return memory.remember({ ...talk, messages: [new HumanMessage(says), new AIMessage(answer)] });
}

/** A conversation of one turn that ends. */
export async function talkAndEnd(
  memory: Memory,
  talk: AppAddress,
  says = "Meetings after 2 pm, please.",
) {
  await say(memory, talk, says);
  return memory.threads.end(talk);
}

/** The scope of the app itself. */
export const appOf = ({ scope: { userId: _, ...app } }: AppAddress) => app;

/** The texts of an app's notes, oldest first. */
export async function notesOf(memory: Memory, talk: AppAddress): Promise<string[]> {
  const notes = await memory.memories.list({ scope: appOf(talk), kinds: ["note"], limit: 1_000 });
  return notes.map(({ text }) => text).toReversed();
}

/** Makes a thread of the app silent for `ms`. */
export async function silence(
  { pool, schema }: TestDatabase,
  { threadId }: AppAddress,
  ms: number,
) {
  // Citus takes no interval in an update, but in a part before it.
  const earlier = (column: string, table: string) =>
    `with earlier as materialized (
       select id, ${column} - $2 * interval '1 millisecond' as at from "${schema}".${table}
     )
     update "${schema}".${table} t set ${column} = e.at from earlier e where t.id = e.id`;
  await pool.query(`${earlier("last_activity_at", "thread")} and t.thread_id = $1`, [threadId, ms]);
  await pool.query(
    `${earlier("retry_at", "work")} and t.kind = 'notes'
     and t.thread_ref in (select id from "${schema}".thread where thread_id = $1)`,
    [threadId, ms],
  );
}
