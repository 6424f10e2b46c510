import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph";
import { z } from "zod";
import { createMemorySupervisor, type Memory } from "../../src/index.js";
import {
  type ScriptedCall,
  ScriptedChatModel,
  type ScriptedReply,
} from "../../src/testing/index.js";
import { addressOf, lines, newThread as newRun } from "../langgraph/conversation.js";

/** A model that answers with `replies` in order; a call beyond them fails. */
export const scripted = (...replies: ScriptedReply[]) => new ScriptedChatModel({ replies });

/** A supervisor's reply that gives each subagent its task. */
export function delegates(...tasks: [name: string, task: string][]) {
  return { toolCalls: tasks.map(([name, task]) => ({ name, args: { task } })) };
}

export const plainTool = (name: string, answer: () => unknown) =>
  tool(answer, { name, description: `It is ${name}.`, schema: z.object({}) });

type Options = Partial<Parameters<typeof createMemorySupervisor>[0]> & {
  readonly memory: Memory;
  readonly checkpointer?: BaseCheckpointSaver | false;
};

/** A compiled supervisor. A call of a model that is not given fails. */
export async function supervise({ checkpointer = new MemorySaver(), ...options }: Options) {
  const own = { model: scripted(), planner: {}, executor: {}, prompt: "Lead." };
  return (await createMemorySupervisor({ ...own, ...options })).compile({ checkpointer });
}

export const says = (text: string) => ({ messages: [new HumanMessage(text)] });

/** A new user's thread: its run config and its address in memory. */
export function newThread() {
  const config = newRun();
  return { config, address: addressOf(config) };
}

export const shown = (call: ScriptedCall | undefined) => lines(call?.messages ?? []);

/** Without the instructions of the agent. */
export const shownTalk = (call: ScriptedCall | undefined) =>
  shown(call).filter((line) => !line.startsWith("system:"));

/** The whole transcript of a thread that has no summary. */
export async function transcript(memory: Memory, address: ReturnType<typeof newThread>["address"]) {
  return lines((await memory.recall(address)).gap);
}
