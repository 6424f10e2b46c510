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
  flag,
  givenTexts,
  listOf,
  moment,
  nullableNumber,
  nullableText,
  nullableTime,
  number,
  numberedPage,
  optionalText,
  page,
  pageFrom,
  pageOf,
  rowNumber,
  scope,
  text,
  texts,
  time,
  withDescription,
} from "./fields.js";
import { operation } from "./operation.js";

const thread = { threadId: text };

const messageAddress = { ...thread, messageId: text };

const changedTranscript = z
  .strictObject({
    ...each(text, "threadId", "messageId"),
    ...each(number, "seq", "checkpointValues"),
    memoryIds: texts,
  })
  .register(described, { id: "ChangedTranscript" });

export const forgotten = z
  .strictObject({
    removed: counts,
    total: number,
    complete: flag,
    sharedThreads: texts,
  })
  .register(described, { id: "Forgotten" });

const summaryVersion = z
  .strictObject({
    ...thread,
    ...each(number, "id", "startSeq", "endSeq"),
    ...each(nullableNumber, "baseId", "baseEndSeq", "generationTimeMs"),
    status: z.enum(["processing", "completed", "failed"]),
    ...each(nullableText, "text", "error"),
    createdAt: time,
  })
  .register(described, { id: "Summary" });

const failedHelp = "Whether background work of it failed, or was given up, and was not done since.";

const callCosts = {
  ...each(nullableNumber, "promptTokens", "sharedTokens", "cachedTokens"),
  ...each(number, "outputTokens", "calls"),
};

const handedMessages = z.array(
  z.strictObject({
    role: z.enum(["system", "user", "assistant", "tool", "other"]),
    content: withDescription(z.unknown(), "Text, or parts as LangChain has them."),
    ...each(optionalText, "name", "tool_call_id"),
    tool_calls: z
      .array(z.strictObject({ id: optionalText, name: text, args: anyObject }))
      .optional(),
  }),
);

const replayAnswer = z.strictObject({
  text,
  toolCalls: withDescription(texts, "Tools that it would call: none is run."),
  error: nullableText,
});

const replayedTurn = z
  .strictObject({
    ...each(text, "threadId", "messageId"),
    ...each(number, "turn", "seq"),
    at: time,
    agentId: nullableText,
    complete: withDescription(flag, "Whether the messages are what was handed on, byte for byte."),
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
        line: text,
      }),
    ),
    changed: handedMessages.nullable(),
    answers: z.strictObject({ asShown: replayAnswer, changed: replayAnswer.nullable() }).nullable(),
    canAsk: withDescription(flag, "Whether there is a model that `ask` would ask for you."),
  })
  .register(described, { id: "ReplayedTurn" });

const replayTexts = givenTexts.optional();

export const threadOperations = {
  listThreads: operation("get", "/threads", "listed", {
    does: "Conversations, most recently active first; for operators also of everybody",
    input: {
      ...page,
      summarized: flag.optional(),
      ...each(moment.optional(), "since", "until"),
      state: z.enum(threadStates).optional(),
    },
    answer: pageOf(
      "threads",
      z.strictObject({
        ...thread,
        scope,
        title: nullableText,
        last: z.strictObject({ role: z.enum(["user", "assistant"]), text }).nullable(),
        failed: withDescription(flag, failedHelp),
        messages: number,
        cursor: text,
        ...each(time, "createdAt", "lastActivityAt"),
        endedAt: nullableTime,
        endedReason: nullableText,
      }),
    ),
    call: ({ memory, target }, input) =>
      pageFrom(
        "threads",
        input,
        memory.threads.list({ ...target, ...input }),
        ({ cursor }) => cursor,
      ),
  }),
  endThread: operation("post", "/threads/:threadId/end", "scope", {
    does: "End a conversation; one with an app leaves a note",
    input: {
      ...thread,
      reason: optionalText,
      afterTurn: flag.optional(),
    },
    answer: z.strictObject({ ...thread, endedAt: time, endedReason: nullableText }),
    call: ({ memory, target }, input) => memory.threads.end({ ...target, ...input }),
  }),
  deleteThread: operation("delete", "/threads/:threadId", "scope", {
    does: "Delete a conversation for good; what was learned there stays unless `memories=remove`",
    input: {
      ...thread,
      memories: z.enum(["keep", "remove"]).optional(),
      dryRun: flag.optional(),
    },
    answer: forgotten,
    call: ({ memory, target, signal }, input) =>
      memory.threads.delete({ ...target, ...input, signal }),
  }),
  shownTurns: operation("get", "/threads/:threadId/shown", "scope", {
    does: "What each turn was shown of memory, latest first",
    input: { ...thread, ...numberedPage },
    answer: pageOf(
      "turns",
      z.strictObject({
        ...each(number, "turn", "seq", "revision", "omitted"),
        ...each(nullableNumber, "summaryId", "firstSeq"),
        messageId: text,
        at: time,
        memories: z.array(
          z.strictObject({
            id: text,
            part: z.enum(shownParts),
            ...each(nullableText, "text", "origin"),
            createdAt: nullableTime,
            score: nullableNumber,
            scoreParts: z.partialRecord(z.enum(scoreSignals), number).nullable(),
          }),
        ),
      }),
    ),
    call({ memory, target }, input) {
      const turns = emptyIfForbidden(memory.threads.shown({ ...target, ...input }), []);
      return pageFrom("turns", input, turns, ({ seq }) => seq);
    },
  }),
  replayTurn: operation("post", "/threads/:threadId/replay", "scope", {
    does: "The messages that memory handed on in a turn, and what a model says to them, or to others",
    input: {
      ...thread,
      turn: rowNumber,
      seq: rowNumber.optional(),
      agentId: optionalText,
      without: withDescription(replayTexts, "Takes away: ids of memories and requests, or lines."),
      with: withDescription(replayTexts, "Texts that the turn adds as well."),
      memory: z.enum(["then", "today"]).optional(),
      ask: withDescription(
        flag.optional(),
        "For operators: whether the memory's own model answers.",
      ),
    },
    answer: replayedTurn,
    async call({ memory, target, caller }, { ask, ...input }) {
      const isOperator = caller.role === "operator";
      // No budget of the user's is charged for the answers.
      if (ask && !isOperator)
        throw new MemoryError("INVALID_INPUT", "`ask` is for operators: leave it out.");
      const model = ask ? ({ model: "memory" } as const) : {};
      const replayed = await memory.threads.replay({ ...target, ...input, ...model });
      const isModel = ({ group, name }: { readonly group: string; readonly name: string }) =>
        group === "createMemory" && name === "model";
      return { ...replayed, canAsk: isOperator && memory.settings().some(isModel) };
    },
  }),
  shownTo: operation("get", "/memories/:id/shown", "scope", {
    does: "The turns whose prompts a memory came into, latest first",
    operators: true,
    input: { id: text, limit: page.limit },
    answer: listOf(
      "turns",
      z.strictObject({
        scope,
        ...each(text, "threadId", "question"),
        ...each(number, "turn", "seq"),
        at: time,
        part: z.enum(shownParts),
        score: nullableNumber,
      }),
    ),
    call: async ({ memory, target }, { id, limit }) => ({
      turns: await memory.threads.shownTo({ ...target, memoryId: id, limit }),
    }),
  }),
  shownWords: operation("get", "/threads/:threadId/shown/words", "scope", {
    does: "The words that each memory in a turn's prompt shares with the turn's question and answer",
    input: { ...thread, seq: rowNumber },
    answer: listOf("memories", z.strictObject({ id: text, ...each(texts, "question", "answer") })),
    call: async ({ memory, target }, input) => ({
      memories: await emptyIfForbidden(memory.threads.shownWords({ ...target, ...input }), []),
    }),
  }),
  threadCost: operation("get", "/threads/:threadId/cost", "scope", {
    does: "Tokens of each turn's prompts and answers, latest first; of all turns, and of background calls",
    input: { ...thread, ...numberedPage },
    answer: pageOf(
      "turns",
      z.strictObject({
        ...each(number, "turn", "seq"),
        ...callCosts,
        source: z.enum(["model", "estimate"]),
      }),
    ).extend({
      total: z.strictObject(callCosts),
      background: z.array(
        z.strictObject({
          kind: text,
          ...each(number, "calls", "inputTokens", "outputTokens"),
        }),
      ),
    }),
    async call({ memory, target }, input) {
      const cost = memory.threads.cost({ ...target, ...input });
      const { turns, ...totals } = await emptyIfForbidden(cost, noCost);
      return { ...(await pageFrom("turns", input, turns, ({ seq }) => seq)), ...totals };
    },
  }),
  threadMessages: operation("get", "/threads/:threadId/messages", "scope", {
    does: "What was said, in its order: the last messages, those before a seq, or those after one",
    input: {
      ...thread,
      limit: page.limit,
      before: rowNumber.optional(),
      // -1: before the first.
      after: z.int().min(-1).optional(),
      maxCharacters: z.int().min(1).max(1_000_000_000).optional(),
    },
    answer: listOf(
      "messages",
      z.strictObject({
        ...each(number, "seq", "characters"),
        ...each(text, "messageId", "role", "text", "timeZone"),
        ...each(nullableText, "actor", "agentId"),
        saidAt: time,
      }),
    ),
    call: async ({ memory, target }, input) => ({
      messages: await emptyIfForbidden(memory.threads.messages({ ...target, ...input }), []),
    }),
  }),
  exportCase: operation("get", "/threads/:threadId/case", "scope", {
    does: "A conversation as a test case in YAML, without the names of user, app, tenant and thread",
    input: thread,
    answer: z.strictObject({ yaml: text }),
    async call({ memory, target: { scope } }, { threadId }) {
      const messages = await emptyIfForbidden(allMessages(memory, { scope, threadId }), []);
      if (messages.length === 0) throw nothingHere();
      const names = await namesOf(memory, scope);
      const [latest] = await memory.threads.shown({ scope, threadId, limit: 1 });
      const shown = latest?.memories.flatMap(({ text }) => text ?? []) ?? [];
      return { yaml: exportCase({ scope, threadId, names, messages, shown }) };
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
    input: { ...messageAddress, text },
    answer: changedTranscript,
    call: ({ memory, target, actor }, input) =>
      memory.transcript.replace({ ...target, ...input, actor }),
  }),
  listSummaries: operation("get", "/threads/:threadId/summaries", "scope", {
    does: "Every version of a thread's summary, oldest first, failed ones too",
    input: { ...thread, limit: page.limit, before: rowNumber.optional() },
    answer: listOf("summaries", summaryVersion),
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
  let found: ThreadMessage[];
  do {
    found = await memory.threads.messages({ ...address, limit, after: all.at(-1)?.seq ?? -1 });
    all.push(...found);
  } while (found.length === limit && all.length < maxMessages);
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
