import { AIMessage, AIMessageChunk, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { createMemorySupervisor } from "mnemograph";
import type { Terminal } from "./terminal.js";

type Graph = ReturnType<Awaited<ReturnType<typeof createMemorySupervisor>>["compile"]>;
type Update = Record<string, { messages?: BaseMessage[] } | null>;
type Chunk =
  | readonly [namespace: string[], mode: "messages", token: readonly [BaseMessage, unknown]]
  | readonly [namespace: string[], mode: "updates", update: Update];

/** One round: the supervisor's words as they come, and a dim line for each task it gives and gets back. */
export async function streamAnswer(
  graph: Graph,
  says: string,
  config: { configurable: Record<string, string>; signal: AbortSignal },
  terminal: Terminal,
): Promise<void> {
  const running = await graph.stream(
    { messages: [new HumanMessage(says)] },
    // Each step is in the database before the next one begins, so that nothing is lost whenever this ends.
    { ...config, streamMode: ["messages", "updates"], subgraphs: true, durability: "sync" },
  );
  try {
    for await (const [namespace, mode, chunk] of running as AsyncIterable<Chunk>) {
      // [supervisor, supervisor]: the supervisor's own loop; [supervisor]: the subagents beside it.
      const speaking = namespace[1]?.startsWith("supervisor:");
      if (mode === "messages" && speaking && AIMessageChunk.isInstance(chunk[0]))
        terminal.stream(chunk[0].text);
      if (mode === "updates" && speaking) showTasks(chunk, terminal);
      if (mode === "updates" && namespace.length === 1) showResults(chunk, terminal);
    }
  } finally {
    terminal.endLine();
  }
}

function showTasks(update: Update, terminal: Terminal): void {
  for (const message of Object.values(update).flatMap((value) => value?.messages ?? [])) {
    for (const { name, args } of (AIMessage.isInstance(message) && message.tool_calls) || []) {
      terminal.print(`→ ${name.replace("transfer_to_", "")}: ${args.task ?? args.query}`, "dim");
    }
  }
}

function showResults(update: Update, terminal: Terminal): void {
  for (const [node, value] of Object.entries(update)) {
    if (node === "supervisor") continue;
    const result = value?.messages?.find((message) => message.getType() === "tool");
    if (result) terminal.print(`← ${node}: ${result.text}`, "dim");
  }
}
