import { createMemorySupervisor } from "../src/index.js";
import { studioMemory, studioModel } from "./studio-memory.js";

const supervisor = await createMemorySupervisor({
  memory: studioMemory,
  model: studioModel,
});

/**
 * A supervisor with memory, a planner and an executor. The server that runs it brings the
 * checkpointer.
 */
export const graph = supervisor.compile();
