import { type MemoryOptions, type WithMemoryOptions, withMemory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { answering, chatAgent, newThread } from "./conversation.js";

export * from "../../src/index.js";
export * from "../../src/testing/index.js";
export * from "./conversation.js";

/** The database of the test file that imports this. */
export const database = useTestDatabase();

/** A model's answers with memory around it and checkpoints in `memory.checkpointer()`; and a thread to talk in. */
export function agentWithMemory(options: WithMemoryOptions = {}, made: MemoryOptions = {}) {
  const memory = database.memory(made);
  const model = answering();
  const graph = withMemory(chatAgent(model), memory, options).compile({
    checkpointer: memory.checkpointer(),
  });
  return { memory, model, graph, thread: newThread() };
}
