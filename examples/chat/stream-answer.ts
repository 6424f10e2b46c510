import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
} from "@langchain/core/messages";
import type { createMemorySupervisor } from "mnemograph";
import type { Terminal } from "./terminal.js";

type Graph = ReturnType<Awaited<ReturnType<typeof createMemorySupervisor>>["compile"]>;
type Update = Record<string, { messages?: BaseMessage[] } | null>;
type Chunk =
  | readonly [namespace: string[], mode: "messages", token: readonly [BaseMessage, unknown]]
  | readonly [namespace: string[], mode: "updates", update: Update];

/**
 * One round: the supervisor's words as they come, and a dim line for each task it gives and each
 * result.
 */
export async function streamAnswer(
  graph: Graph,
  says: string,
  config: { configurable: Record<string, string>; signal: AbortSignal },
  terminal: Terminal,
): Promise<void> {
  const running = await graph.stream(
    { messages: [new HumanMessage(says)] },
    // Each step is in the database before the next one begins, so that nothing is lost whenever
    // this ends.
    { ...config, streamMode: ["messages", "updates"], subgraphs: true, durability: "sync" },
  );
  try {
    for await (const [namespace, mode, chunk] of running as AsyncIterable<Chunk>) {
      // [supervisor]: the supervisor's own loop. Its subagents work inside its tools, one namespace
      // further in.
      if (namespace.length !== 1) continue;
      if (mode === "updates") showTasks(chunk, terminal);
      else if (AIMessageChunk.isInstance(chunk[0])) terminal.stream(chunk[0].text);
    }
  } finally {
    terminal.endLine();
  }
}

function showTasks(update: Update, terminal: Terminal): void {
  for (const message of Object.values(update).flatMap((value) => value?.messages ?? [])) {
    if (message.getType() === "tool") terminal.print(`← ${message.name}: ${message.text}`, "dim");
    for (const { name, args } of (AIMessage.isInstance(message) && message.tool_calls) || []) {
      terminal.print(`→ ${name}: ${args.task ?? args.query}`, "dim");
    }
  }
}
