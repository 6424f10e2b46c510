import { randomUUID } from "node:crypto";
import type { BaseMessage } from "@langchain/core/messages";
import type { Memory } from "../../src/index.js";
import { type ScriptedCall, ScriptedChatModel } from "../../src/testing/index.js";

/** A supervisor's call of a subagent, as its model makes it. */
export function delegate(name: string, task: string) {
  return { name, args: { task } };
}

/** A fresh thread of Ana's: its run config and its address in memory. */
export function newThread() {
  const threadId = randomUUID();
  return {
    config: { configurable: { thread_id: threadId, user_id: "ana" } },
    address: { scope: { userId: "ana" }, threadId },
  };
}

/** Each message as "type: text", calls of tools as "type: →name". */
export function told(messages: readonly BaseMessage[]): string[] {
  return messages.map((message) => {
    const calls = "tool_calls" in message ? (message.tool_calls as { name: string }[]) : [];
    return `${message.getType()}: ${[message.text, ...calls.map(({ name }) => `→${name}`)].filter(Boolean).join(" ")}`;
  });
}

/** What a model was shown in one of its calls. */
export const shown = (call: ScriptedCall | undefined) => told(call?.messages ?? []);

/** The whole transcript of a thread that has no summary. */
export async function transcript(memory: Memory, address: ReturnType<typeof newThread>["address"]) {
  return told((await memory.recall(address)).gap);
}

/** A model that is never to be called. */
export const silentModel = () => new ScriptedChatModel({ replies: [] });
