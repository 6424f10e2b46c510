import type { Memory, Scope, ThreadMessage } from "mnemograph";
import {
  blockParts,
  MemoryError,
  noCost,
  scoreSignals,
  shownParts,
  threadStates,
} from "mnemograph/contract";
import { z } from "zod";
import { maxMessages } from "../cases/case-file.js";
import { exportCase } from "../cases/export-case.js";
import { nothingHere } from "./caller.js";
import {
  anyObject,
  counts,
  described,
  each,
  moment,
  nullableText,
  numberedPage,
  page,
  pageFrom,
  pageOf,
  rowNumber,
  scope,
  time,
  withDescription,
} from "./fields.js";
import { operation } from "./operation.js";

const thread = { threadId: z.string() };

const messageAddress = z.strictObject({ ...thread, messageId: z.string() });

const changedTranscript = z
  .strictObject({
    ...each(z.string(), "threadId", "messageId"),
    ...each(z.number(), "seq", "checkpointValues"),
    memoryIds: z.array(z.string()),
  })
  .register(described, { id: "ChangedTranscript" });

export const forgotten = z
  .strictObject({
    removed: counts,
    total: z.number(),
    complete: z.boolean(),
    sharedThreads: z.array(z.string()),
  })
  .register(described, { id: "Forgotten" });

const summaryVersion = z
  .strictObject({
    ...thread,
    ...each(z.number(), "id", "startSeq", "endSeq"),
    ...each(z.number().nullable(), "baseId", "baseEndSeq", "generationTimeMs"),
    status: z.enum(["processing", "completed", "failed"]),
    ...each(nullableText, "text", "error"),
    createdAt: time,
  })
  .register(described, { id: "Summary" });

const failedHelp = "Whether background work of it failed, or was given up, and was not done since.";

const callCosts = {
  ...each(z.number().nullable(), "promptTokens", "sharedTokens", "cachedTokens"),
  ...each(z.number(), "outputTokens", "calls"),
};

const handedMessages = z.array(
  z.strictObject({
    role: z.enum(["system", "user", "assistant", "tool", "other"]),
    content: withDescription(z.unknown(), "Text, or parts as LangChain has them."),
    ...each(z.string().optional(), "name", "tool_call_id"),
    tool_calls: z
      .array(z.strictObject({ id: z.string().optional(), name: z.string(), args: anyObject }))
      .optional(),
  }),
);

const replayAnswer = z.strictObject({
  text: z.string(),
  toolCalls: withDescription(z.array(z.string()), "Tools that it would call: none is run."),
  error: nullableText,
});

const replayedTurn = z
  .strictObject({
    ...each(z.string(), "threadId", "messageId"),
    ...each(z.number(), "turn", "seq"),
    at: time,
    agentId: nullableText,
    complete: withDescription(
      z.boolean(),
      "Whether the messages are what was handed on, byte for byte.",
    ),
    gaps: z.array(
      z.strictObject({
        what: z.enum(["memory", "change", "consent", "unread", "summary", "message", "prompt"]),
        why: z.enum(["forgotten", "edited", "redacted", "changed", "unrecorded"]),
        id: nullableText,
      }),
    ),
    messages: handedMessages,
    lines: z.array(
      z.strictObject({
        ...each(nullableText, "id", "messageId"),
        part: z.enum([...blockParts, "change", "consent", "unread"]),
        line: z.string(),
      }),
    ),
    changed: handedMessages.nullable(),
    answers: z.strictObject({ asShown: replayAnswer, changed: replayAnswer.nullable() }).nullable(),
    canAsk: withDescription(z.boolean(), "Whether the memory has a model that `ask` would ask."),
  })
  .register(described, { id: "ReplayedTurn" });

const replayTexts = z.array(z.string()).optional();

export const threadOperations = {
  listThreads: operation("get", "/threads", "listed", {
    does: "Conversations, most recently active first; for operators also of everybody",
    input: z.strictObject({
      ...page,
      summarized: z.boolean().optional(),
      ...each(moment.optional(), "since", "until"),
      state: z.enum(threadStates).optional(),
    }),
    answer: pageOf(
      "threads",
      z.strictObject({
        ...thread,
        scope,
        title: nullableText,
        last: z.strictObject({ role: z.enum(["user", "assistant"]), text: z.string() }).nullable(),
        failed: withDescription(z.boolean(), failedHelp),
        messages: z.number(),
        cursor: z.string(),
        ...each(time, "createdAt", "lastActivityAt"),
        endedAt: time.nullable(),
        endedReason: nullableText,
      }),
    ),
    call: ({ memory, target }, input) =>
      pageFrom(
        "threads",
        input.limit,
        memory.threads.list({ ...target, ...input }),
        ({ cursor }) => cursor,
      ),
  }),
  endThread: operation("post", "/threads/:threadId/end", "scope", {
    does: "End a conversation; one with an app leaves a note",
    input: z.strictObject({
      ...thread,
      reason: z.string().optional(),
      afterTurn: z.boolean().optional(),
    }),
    answer: z.strictObject({ ...thread, endedAt: time, endedReason: nullableText }),
    call: ({ memory, target }, input) => memory.threads.end({ ...target, ...input }),
  }),
  deleteThread: operation("delete", "/threads/:threadId", "scope", {
    does: "Delete a conversation for good; what was learned there stays unless `memories=remove`",
    input: z.strictObject({
      ...thread,
      memories: z.enum(["keep", "remove"]).optional(),
      dryRun: z.boolean().optional(),
    }),
    answer: forgotten,
    call: ({ memory, target, signal }, input) =>
      memory.threads.delete({ ...target, ...input, signal }),
  }),
  shownTurns: operation("get", "/threads/:threadId/shown", "scope", {
    does: "What each turn was shown of memory, latest first",
    input: z.strictObject({ ...thread, ...numberedPage }),
    answer: pageOf(
      "turns",
      z.strictObject({
        ...each(z.number(), "turn", "seq", "revision", "omitted"),
        ...each(z.number().nullable(), "summaryId", "firstSeq"),
        messageId: z.string(),
        at: time,
        memories: z.array(
          z.strictObject({
            id: z.string(),
            part: z.enum(shownParts),
            ...each(nullableText, "text", "origin"),
            createdAt: time.nullable(),
            score: z.number().nullable(),
            scoreParts: z.partialRecord(z.enum(scoreSignals), z.number()).nullable(),
          }),
        ),
      }),
    ),
    call({ memory, target }, input) {
      const turns = emptyIfForbidden(memory.threads.shown({ ...target, ...input }), []);
      return pageFrom("turns", input.limit, turns, ({ seq }) => seq);
    },
  }),
  replayTurn: operation("post", "/threads/:threadId/replay", "scope", {
    does: "The messages that memory handed on in a turn, and what a model says to them, or to others",
    input: z.strictObject({
      ...thread,
      turn: rowNumber,
      seq: rowNumber.optional(),
      agentId: z.string().optional(),
      without: withDescription(replayTexts, "Takes away: ids of memories and requests, or lines."),
      with: withDescription(replayTexts, "Texts that the turn adds as well."),
      memory: z.enum(["then", "today"]).optional(),
      ask: withDescription(z.boolean().optional(), "Whether the memory's own model answers."),
    }),
    answer: replayedTurn,
    async call({ memory, target }, { ask, ...input }) {
      const model = ask ? ({ model: "memory" } as const) : {};
      const replayed = await memory.threads.replay({ ...target, ...input, ...model });
      const isModel = ({ group, name }: { readonly group: string; readonly name: string }) =>
        group === "createMemory" && name === "model";
      return { ...replayed, canAsk: memory.settings().some(isModel) };
    },
  }),
  shownTo: operation("get", "/memories/:id/shown", "scope", {
    does: "The turns whose prompts a memory came into, latest first",
    operators: true,
    input: z.strictObject({ id: z.string(), limit: page.limit }),
    answer: z.strictObject({
      turns: z.array(
        z.strictObject({
          scope,
          ...each(z.string(), "threadId", "question"),
          ...each(z.number(), "turn", "seq"),
          at: time,
          part: z.enum(shownParts),
          score: z.number().nullable(),
        }),
      ),
    }),
    call: async ({ memory, target }, { id, limit }) => ({
      turns: await memory.threads.shownTo({ ...target, memoryId: id, limit }),
    }),
  }),
  shownWords: operation("get", "/threads/:threadId/shown/words", "scope", {
    does: "The words that each memory in a turn's prompt shares with the turn's question and answer",
    input: z.strictObject({ ...thread, seq: rowNumber }),
    answer: z.strictObject({
      memories: z.array(
        z.strictObject({ id: z.string(), ...each(z.array(z.string()), "question", "answer") }),
      ),
    }),
    call: async ({ memory, target }, input) => ({
      memories: await emptyIfForbidden(memory.threads.shownWords({ ...target, ...input }), []),
    }),
  }),
  threadCost: operation("get", "/threads/:threadId/cost", "scope", {
    does: "Tokens of each turn's prompts and answers, latest first; of all turns, and of background calls",
    input: z.strictObject({ ...thread, ...numberedPage }),
    answer: pageOf(
      "turns",
      z.strictObject({
        ...each(z.number(), "turn", "seq"),
        ...callCosts,
        source: z.enum(["model", "estimate"]),
      }),
    ).extend({
      total: z.strictObject(callCosts),
      background: z.array(
        z.strictObject({
          kind: z.string(),
          ...each(z.number(), "calls", "inputTokens", "outputTokens"),
        }),
      ),
    }),
    async call({ memory, target }, input) {
      const cost = memory.threads.cost({ ...target, ...input });
      const { turns, ...totals } = await emptyIfForbidden(cost, noCost);
      return { ...(await pageFrom("turns", input.limit, turns, ({ seq }) => seq)), ...totals };
    },
  }),
  threadMessages: operation("get", "/threads/:threadId/messages", "scope", {
    does: "What was said, in its order: the last messages, those before a seq, or those after one",
    input: z.strictObject({
      ...thread,
      limit: page.limit,
      before: rowNumber.optional(),
      // -1: before the first.
      after: z.int().min(-1).optional(),
      maxCharacters: z.int().min(1).max(1_000_000_000).optional(),
    }),
    answer: z.strictObject({
      messages: z.array(
        z.strictObject({
          ...each(z.number(), "seq", "characters"),
          ...each(z.string(), "messageId", "role", "text", "timeZone"),
          ...each(nullableText, "actor", "agentId"),
          saidAt: time,
        }),
      ),
    }),
    call: async ({ memory, target }, input) => ({
      messages: await emptyIfForbidden(memory.threads.messages({ ...target, ...input }), []),
    }),
  }),
  exportCase: operation("get", "/threads/:threadId/case", "scope", {
    does: "A conversation as a test case in YAML, without the names of user, app, tenant and thread",
    input: z.strictObject(thread),
    answer: z.strictObject({ yaml: z.string() }),
    async call({ memory, target: { scope } }, { threadId }) {
      const messages = await emptyIfForbidden(allMessages(memory, { scope, threadId }), []);
      if (messages.length === 0) throw nothingHere();
      const names = await namesOf(memory, scope);
      return { yaml: exportCase({ scope, threadId, names, messages }) };
    },
  }),
  removeMessage: operation("delete", "/threads/:threadId/messages/:messageId", "scope", {
    does: "Remove one message for good, from transcript and checkpoints, with what rests on it alone",
    input: messageAddress,
    answer: changedTranscript,
    call: ({ memory, target, actor }, input) =>
      memory.transcript.remove({ ...target, ...input, actor }),
  }),
  replaceMessage: operation("patch", "/threads/:threadId/messages/:messageId", "scope", {
    does: "Give one message other words; what rests on the old ones alone is closed",
    input: messageAddress.extend({ text: z.string() }),
    answer: changedTranscript,
    call: ({ memory, target, actor }, input) =>
      memory.transcript.replace({ ...target, ...input, actor }),
  }),
  listSummaries: operation("get", "/threads/:threadId/summaries", "scope", {
    does: "Every version of a thread's summary, oldest first, failed ones too",
    input: z.strictObject({ ...thread, limit: page.limit, before: rowNumber.optional() }),
    answer: z.strictObject({ summaries: z.array(summaryVersion) }),
    call: async ({ memory, target }, input) => ({
      summaries: await memory.summaries.list({ ...target, ...input }),
    }),
  }),
};

/** As many as a case may have. */
async function allMessages(
  memory: Memory,
  address: { scope: Scope; threadId: string },
): Promise<ThreadMessage[]> {
  const all: ThreadMessage[] = [];
  const limit = 1_000;
  for (let page = limit; page === limit && all.length < maxMessages; ) {
    const after = all.at(-1)?.seq ?? -1;
    const found = await memory.threads.messages({ ...address, limit, after });
    all.push(...found);
    page = found.length;
  }
  return all;
}

/** What the user wants to be called, or wanted before. */
async function namesOf(memory: Memory, { appId: _, ...user }: Scope): Promise<string[]> {
  if (user.userId === undefined) return [];
  const states = ["active", "superseded"] as const;
  const keys = ["preferred_name"];
  const found = await memory.memories.list({ scope: user, keys, states: [...states] });
  return found.flatMap(({ value }) => value ?? []);
}

/** Another owner's thread looks like a missing one, which has no rows. */
function emptyIfForbidden<Found>(found: Promise<Found>, empty: Found): Promise<Found> {
  return found.catch((error: unknown) => {
    if (MemoryError.is(error, "THREAD_FORBIDDEN")) return empty;
    throw error;
  });
}
