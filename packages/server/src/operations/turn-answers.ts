import type { BaseMessage } from "@langchain/core/messages";
import type { Recalled } from "mnemograph";
import {
  defined,
  handedForm,
  memoryBlock,
  messageText,
  scoreSignals,
  shownBy,
} from "mnemograph/contract";
import { z } from "zod";
import {
  anyObject,
  described,
  each,
  flag,
  listOf,
  nullableNumber,
  nullableText,
  number,
  optionalText,
  pastQueryAnswer,
  scope,
  text,
  texts,
  time,
  withDescription,
} from "./fields.js";
import { memoryHit, memoryItem } from "./memory-answers.js";

const chatMessage = z
  .strictObject({
    role: z.enum(["user", "assistant", "system", "tool", "other"]),
    content: text,
    ...each(optionalText, "id", "name", "toolCallId"),
    toolCalls: z
      .array(z.strictObject({ id: optionalText, name: text, args: z.unknown() }))
      .optional(),
  })
  .register(described, { id: "ChatMessage" });

const summary = z.strictObject({
  ...each(number, "id", "startSeq", "endSeq", "startTurn", "endTurn"),
  ...each(text, "text", "endMessageId"),
});

const rankedHit = memoryHit.extend({ parts: z.record(z.enum(scoreSignals), number) });

export const recallAnswer = z.strictObject({
  mode: text,
  block: withDescription(nullableText, "Memories and summary as text for a prompt; null if empty."),
  shown: withDescription(anyObject, "Pass it to `remember`: then what was shown counts as seen."),
  epoch: withDescription(
    z.strictObject({ isNew: flag, firstSeq: number }),
    "Turns that extend one prompt: whether this one opens it, and the first message shown verbatim.",
  ),
  summary: summary.nullable(),
  processing: z.strictObject(each(number, "id", "startSeq", "endSeq")).nullable(),
  ...each(z.array(chatMessage), "gap", "recent", "lastTurn"),
  omitted: z.strictObject({ messages: number, endMessageId: text }).nullable(),
  shortened: texts,
  lastSeq: number,
  lastMessageId: nullableText,
  memories: z.strictObject({
    ...each(z.array(memoryItem), "profile", "related", "rest", "notes"),
    ...each(z.array(rankedHit), "relevant", "episodes"),
    omitted: number,
    ...each(flag.optional(), "omittedAtLeast", "timedOut"),
  }),
  appName: optionalText,
  ...each(text, "day", "timeZone"),
  changes: z.strictObject({
    ...each(number, "since", "revision", "count"),
    top: z.array(
      z.strictObject({
        rev: number,
        ...each(text, "memoryId", "event", "line"),
        insteadId: nullableText,
        isDoubted: flag,
      }),
    ),
  }),
  unread: texts,
  consents: z.array(
    z.strictObject({
      ...each(text, "id", "category", "text"),
      ...each(nullableText, "key", "value", "current", "currentId"),
    }),
  ),
});

export function recallOf(recalled: Recalled) {
  const { gap, recent, lastTurn, brought: __, days: ___, epoch, ...others } = recalled;
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

function chatMessageOf(message: BaseMessage) {
  const { role, name, tool_calls: toolCalls, tool_call_id: toolCallId } = handedForm(message);
  const content = messageText(message);
  return defined({ id: message.id, role, content, name, toolCalls, toolCallId });
}

export const recordAnswer = z.strictObject({ recorded: number, lastSeq: number });

export const rememberAnswer = recordAnswer.extend({
  summary: z.strictObject({ started: flag, reason: optionalText }),
});

export const explanation = z
  .strictObject({
    question: z.strictObject({
      text,
      lexemes: texts,
      embedded: flag,
      lacksEmbeddings: flag,
      broad: flag,
    }),
    floor: z.union([number, z.strictObject({ best: number, each: number })]),
    budgetTokens: nullableNumber,
    hits: z.array(rankedHit.extend({ rank: number, matched: texts })),
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
        detail: text,
        score: nullableNumber,
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
          text,
          ...each(optionalText, "id", "category", "reason", "since", "caution"),
          similarity: number.optional(),
          related: texts.optional(),
          metadata: z.looseObject({}).optional(),
        })
        .register(described, { id: "MemoryBullet" }),
    ]),
  ),
  ...pastQueryAnswer,
});

export const transcriptAnswer = listOf(
  "hits",
  z.strictObject({
    ...each(text, "threadId", "messageId", "role", "text", "reason", "timeZone"),
    ...each(number, "seq", "similarity", "score"),
    actor: nullableText,
    saidAt: time,
    scope,
  }),
);
