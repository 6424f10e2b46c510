import { z } from "zod";
import { shownParts } from "../../conversation/shown-turns.js";
import { MemoryError } from "../../errors.js";
import {
  counts,
  cursorAfter,
  described,
  flag,
  nextCursor,
  numberBetween,
  page,
  rowNumber,
  scope,
  time,
} from "../answers/fields.js";
import { route } from "../route/route.js";

const params = z.strictObject({ threadId: z.string() });
/** A seq, or -1 for before the first. */
const afterSeq = z.union([z.literal("-1").transform(Number), rowNumber]);

/** What was deleted for good. */
export const forgotten = z
  .strictObject({
    removed: counts,
    total: z.number(),
    sharedThreads: z.array(z.string()),
    complete: z.boolean(),
  })
  .register(described, { id: "Forgotten" });

const summary = z
  .strictObject({
    ...{ id: z.number(), threadId: z.string(), startSeq: z.number(), endSeq: z.number() },
    ...{ baseId: z.number().nullable(), baseEndSeq: z.number().nullable() },
    status: z.enum(["processing", "completed", "failed"]),
    ...{ text: z.string().nullable(), generationTimeMs: z.number().nullable(), attempts: z.number() },
    ...{ error: z.string().nullable(), leaseUntil: time.nullable(), retryAt: time.nullable() },
    ...{ createdAt: time },
  })
  .register(described, { id: "Summary" });

/** Conversations, and their summaries. */
export const threadRoutes = {
  listThreads: route({
    ...{ method: "get", path: "/threads", reach: "scope" },
    summary: "Conversations, most recently active first",
    query: z.strictObject(page),
    answer: z.strictObject({
      threads: z.array(
        z.strictObject({
          ...{ threadId: z.string(), scope, messages: z.number(), createdAt: time, lastActivityAt: time },
          ...{ endedAt: time.nullable(), endedReason: z.string().nullable() },
        }),
      ),
      nextCursor,
    }),
    async call({ memory, whose, query: { limit, cursor: after } }) {
      const rows = await memory.threads.list({ ...whose, limit, after });
      const threads = rows.map(({ cursor: _, ...thread }) => thread);
      return { threads, nextCursor: cursorAfter(rows, limit, ({ cursor }) => cursor) };
    },
  }),
  endThread: route({
    ...{ method: "post", path: "/threads/:threadId/end", reach: "scope", params },
    summary: "End a conversation; one with an app leaves a note",
    body: z.strictObject({ reason: z.string().optional(), afterRound: z.boolean().optional() }),
    answer: z.strictObject({ threadId: z.string(), endedAt: time, endedReason: z.string().nullable() }),
    call: ({ memory, whose, params: { threadId }, body }) =>
      present(threadId, memory.threads.end({ ...whose, ...body, threadId })),
  }),
  deleteThread: route({
    ...{ method: "delete", path: "/threads/:threadId", reach: "scope", params },
    summary: "Delete a conversation for good; what was learned there stays unless `memories=remove`",
    query: z.strictObject({ memories: z.enum(["keep", "remove"]).optional(), dryRun: flag.optional() }),
    answer: forgotten,
    call: ({ memory, whose, params: { threadId }, query, signal }) =>
      present(threadId, memory.threads.delete({ ...whose, ...query, threadId, signal })),
  }),
  shownTurns: route({
    ...{ method: "get", path: "/threads/:threadId/shown", reach: "scope", params },
    summary: "What each turn was shown of memory, latest first",
    query: z.strictObject({ limit: page.limit, cursor: rowNumber.optional() }),
    answer: z.strictObject({
      turns: z.array(
        z.strictObject({
          ...{ turn: z.number(), seq: z.number(), messageId: z.string(), at: time, revision: z.number() },
          summaryId: z.number().nullable(),
          memories: z.array(
            z.strictObject({
              ...{ id: z.string(), part: z.enum(shownParts), text: z.string().nullable() },
              score: z.number().nullable(),
            }),
          ),
          leftOut: z.number(),
        }),
      ),
      nextCursor,
    }),
    async call({ memory, whose, params: { threadId }, query: { limit, cursor: before } }) {
      const turns = await ofOwnThread(memory.threads.shown({ ...whose, threadId, limit, before }));
      return { turns, nextCursor: cursorAfter(turns, limit, ({ seq }) => seq) };
    },
  }),
  threadMessages: route({
    ...{ method: "get", path: "/threads/:threadId/messages", reach: "scope", params },
    summary: "What was said, in its order: the last messages, those before a seq, or those after one",
    query: z.strictObject({
      ...{ limit: page.limit, before: rowNumber.optional(), after: afterSeq.optional() },
      mostCharacters: numberBetween(1, 1_000_000_000).optional(),
    }),
    answer: z.strictObject({
      messages: z.array(
        z.strictObject({
          ...{ seq: z.number(), messageId: z.string(), role: z.string(), actor: z.string().nullable() },
          ...{ agentId: z.string().nullable(), text: z.string(), characters: z.number(), saidAt: time },
        }),
      ),
    }),
    call: async ({ memory, whose, params: { threadId }, query }) => ({
      messages: await ofOwnThread(memory.threads.messages({ ...whose, ...query, threadId })),
    }),
  }),
  listSummaries: route({
    ...{ method: "get", path: "/threads/:threadId/summaries", reach: "scope", params },
    summary: "Every version of a thread's summary, oldest first, failed ones too",
    query: z.strictObject({ limit: page.limit, before: rowNumber.optional() }),
    answer: z.strictObject({ summaries: z.array(summary) }),
    call: async ({ memory, whose, params, query }) => ({
      summaries: await memory.summaries.list({ ...whose, ...params, ...query }),
    }),
  }),
};

/** What `listed` gives; of another's thread nothing, as of one that there is not. */
async function ofOwnThread<Row>(listed: Promise<Row[]>): Promise<Row[]> {
  try {
    return await listed;
  } catch (error) {
    if (MemoryError.is(error, "THREAD_FORBIDDEN")) return [];
    throw error;
  }
}

/** What a call about a thread gives. Of another's thread it fails as of one that there is not, word for word. */
async function present<Result>(threadId: string, call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (!MemoryError.is(error, "THREAD_FORBIDDEN") && !MemoryError.is(error, "NOT_FOUND")) throw error;
    throw new MemoryError("NOT_FOUND", `There is no thread "${threadId}" for you here.`);
  }
}
