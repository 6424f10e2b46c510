import type { BaseMessage } from "@langchain/core/messages";
import { ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";
import { toolName } from "../../src/testing/scripted-reply.js";

/**
 * Replies by the name of the requested structured output; `call` counts the calls of that name from
 * 0.
 */
export type TaskReplies = Partial<
  Record<string, (prompt: string, call: number) => ScriptedReply | Promise<ScriptedReply>>
>;

const defaults: TaskReplies = {
  conversation_summary: () => ({ structured: { reasoning: "", summary: "They talked." } }),
  fact_extraction: () => ({ structured: { reasoning: "", facts: [] } }),
  episode_summary: (_, call) => ({
    structured: { reasoning: "", summary: `They talked about subject ${call}.` },
  }),
  user_insights: () => ({ structured: { insights: [] } }),
  memory_pairs: () => ({ structured: { verdicts: [] } }),
};

/** A model for background work with a script for each task. */
export function taskModel(replies: TaskReplies) {
  const counts = new Map<string, number>();
  const model = new ScriptedChatModel({
    replies: async (messages, _, { tools = [] }) => {
      const name = toolName(tools[0]!);
      const call = counts.get(name) ?? 0;
      counts.set(name, call + 1);
      const reply = replies[name] ?? defaults[name];
      if (!reply) throw new Error(`no reply for ${name}`);
      return reply(promptOf(messages), call);
    },
  });
  return Object.assign(model, {
    prompts: (name: string) =>
      model.calls
        .filter((call) => call.toolNames[0] === name)
        .map((call) => promptOf(call.messages)),
  });
}

function promptOf(messages: readonly BaseMessage[]): string {
  return messages.find((message) => message.type === "human")?.text ?? "";
}

/** A candidate of the extracting model, with defaults for other fields. */
export function candidate(
  text: string,
  quote: string,
  fields: Partial<{
    category: string;
    key: string | null;
    value: string | null;
    importance: number;
    confidence: number;
    message: number;
    relation: "new" | "same_as" | "updates" | "ends" | "adds_to";
    target: number | null;
    stated_by_user: boolean;
    personal: "preferred_name" | "pronouns" | "city" | "language" | "none";
    since: string | null;
  }> = {},
) {
  return {
    category: "knowledge",
    key: null,
    value: null,
    importance: 3,
    confidence: 0.9,
    text,
    message: 1,
    quote,
    relation: "new",
    target: null,
    stated_by_user: true,
    personal: "none",
    since: null,
    ...fields,
  };
}

export function facts(...candidates: readonly Record<string, unknown>[]): ScriptedReply {
  return { structured: { reasoning: "none", facts: candidates } };
}
