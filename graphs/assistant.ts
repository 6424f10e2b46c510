import { createAgent, tool } from "langchain";
import { z } from "zod";
import { withMemory } from "../src/index.js";
import { studioMemory, studioModel } from "./studio-memory.js";

const currentTime = tool(() => new Date().toString(), {
  name: "current_time",
  description: "The current date and time.",
  schema: z.object({}),
});

const agent = createAgent({
  name: "assistant",
  model: studioModel,
  tools: [currentTime],
  systemPrompt: "You are a friendly assistant. Use what you remember of the conversation.",
});

/**
 * An assistant with memory, which asks before it remembers a name, a city, pronouns or a language.
 * The server that runs it brings the checkpointer.
 */
export const graph = withMemory(agent, studioMemory).compile();
