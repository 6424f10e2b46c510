import type { BaseMessage, MessageType } from "@langchain/core/messages";
import type { Recalled } from "mnemograph";
import { memoryBlock, messageText, scoreSignals, shownBy } from "mnemograph/contract";
import { z } from "zod";
import {
  anyObject,
  described,
  each,
  nullableText,
  pastQueryAnswer,
  scope,
  time,
  withDescription,
} from "./fields.js";
import { memoryHit, memoryItem } from "./memory-answers.js";

const chatMessage = z
  .strictObject({
    role: z.enum(["user", "assistant", "system", "tool", "other"]),
    content: z.string(),
    ...each(z.string().optional(), "id", "name", "toolCallId"),
    toolCalls: z
      .array(z.strictObject({ id: z.string().optional(), name: z.string(), args: z.unknown() }))
      .optional(),
  })
  .register(described, { id: "ChatMessage" });

const summary = z.strictObject({
  ...each(z.number(), "id", "startSeq", "endSeq", "startTurn", "endTurn"),
  ...each(z.string(), "text", "endMessageId"),
});

const rankedHit = memoryHit.extend({ parts: z.record(z.enum(scoreSignals), z.number()) });

export const recallAnswer = z.strictObject({
  mode: z.string(),
  block: withDescription(nullableText, "Memories and summary as text for a prompt; null if empty."),
  shown: withDescription(anyObject, "Pass it to `remember`: then what was shown counts as seen."),
  epoch: withDescription(
    z.strictObject({ isNew: z.boolean(), firstSeq: z.number() }),
    "Turns that extend one prompt: whether this one opens it, and the first message shown verbatim.",
  ),
  summary: summary.nullable(),
  processing: z.strictObject(each(z.number(), "id", "startSeq", "endSeq")).nullable(),
  ...each(z.array(chatMessage), "gap", "recent", "lastTurn"),
  omitted: z.strictObject({ messages: z.number(), endMessageId: z.string() }).nullable(),
  shortened: z.array(z.string()),
  lastSeq: z.number(),
  lastMessageId: nullableText,
  memories: z.strictObject({
    ...each(z.array(memoryItem), "profile", "related", "rest", "notes"),
    ...each(z.array(rankedHit), "relevant", "episodes"),
    omitted: z.number(),
    ...each(z.boolean().optional(), "omittedAtLeast", "timedOut"),
  }),
  appName: z.string().optional(),
  ...each(z.string(), "day", "timeZone"),
  changes: z.strictObject({
    ...each(z.number(), "since", "revision", "count"),
    top: z.array(
      z.strictObject({
        rev: z.number(),
        ...each(z.string(), "memoryId", "event", "line"),
        insteadId: nullableText,
        isDoubted: z.boolean(),
      }),
    ),
  }),
  unread: z.array(z.string()),
  consents: z.array(
    z.strictObject({
      ...each(z.string(), "id", "category", "text"),
      ...each(nullableText, "key", "value", "current", "currentId"),
    }),
  ),
});

export function recallOf(recalled: Recalled) {
  const { gap, recent, lastTurn, brought: __, epoch, ...others } = recalled;
  return {
    ...others,
    epoch: { isNew: epoch.isNew, firstSeq: epoch.firstSeq },
    block: memoryBlock(recalled),
    shown: { ...shownBy(recalled) },
    unread: recalled.unread.map(({ text }) => text),
    gap: gap.map(chatMessageOf),
    recent: recent.map(chatMessageOf),
    lastTurn: lastTurn.map(chatMessageOf),
  };
}

const chatRoles: Partial<Record<MessageType, z.output<typeof chatMessage>["role"]>> = {
  human: "user",
  ai: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
};

function chatMessageOf(message: BaseMessage): z.output<typeof chatMessage> {
  const { id, name } = message;
  const { tool_calls: calls, tool_call_id: answered } = message as {
    readonly tool_calls?: readonly {
      readonly id?: string;
      readonly name: string;
      readonly args: unknown;
    }[];
    readonly tool_call_id?: unknown;
  };
  return {
    ...(id !== undefined && { id }),
    role: chatRoles[message.getType()] ?? "other",
    content: messageText(message),
    ...(name !== undefined && { name }),
    ...(Array.isArray(calls) &&
      calls.length > 0 && {
        toolCalls: calls.map(({ id, name, args }) => ({
          ...(id !== undefined && { id }),
          name,
          args,
        })),
      }),
    ...(typeof answered === "string" && { toolCallId: answered }),
  };
}

export const recordAnswer = z.strictObject({ recorded: z.number(), lastSeq: z.number() });

export const rememberAnswer = recordAnswer.extend({
  summary: z.strictObject({ started: z.boolean(), reason: z.string().optional() }),
});

export const explanation = z
  .strictObject({
    question: z.strictObject({
      text: z.string(),
      lexemes: z.array(z.string()),
      embedded: z.boolean(),
      lacksEmbeddings: z.boolean(),
      broad: z.boolean(),
    }),
    floor: z.union([z.number(), z.strictObject({ best: z.number(), each: z.number() })]),
    budgetTokens: z.number().nullable(),
    hits: z.array(rankedHit.extend({ rank: z.number(), matched: z.array(z.string()) })),
    omitted: z.array(
      z.strictObject({
        memory: memoryItem,
        reason: z.enum([
          "floor",
          "limit",
          "budget",
          "allowlist",
          "category",
          "kind",
          "filter",
          "state",
          "expired",
        ]),
        detail: z.string(),
        score: z.number().nullable(),
      }),
    ),
    past: z.strictObject(pastQueryAnswer).optional(),
  })
  .register(described, { id: "Explanation" });

export const queryAnswer = z.strictObject({
  hits: z.array(
    z.union([
      memoryHit,
      z
        .strictObject({
          text: z.string(),
          ...each(z.string().optional(), "id", "category", "reason", "since", "caution"),
          similarity: z.number().optional(),
          related: z.array(z.string()).optional(),
          metadata: z.looseObject({}).optional(),
        })
        .register(described, { id: "MemoryBullet" }),
    ]),
  ),
  ...pastQueryAnswer,
});

export const transcriptAnswer = z.strictObject({
  hits: z.array(
    z.strictObject({
      ...each(z.string(), "threadId", "messageId", "role", "text", "reason", "timeZone"),
      ...each(z.number(), "seq", "similarity", "score"),
      actor: nullableText,
      saidAt: time,
      scope,
    }),
  ),
});
