import { createMemorySupervisor } from "../src/index.js";
import { studioMemory, studioModel, studioScope } from "./studio-memory.js";

const supervisor = await createMemorySupervisor({
  memory: studioMemory,
  model: studioModel,
  planner: { prompt: "Turn the task into a short numbered list of steps. No introduction." },
  executor: { prompt: "Carry out the task and report the result in a few sentences." },
});

/** A supervisor with memory, a planner and an executor. The server that runs it brings the checkpointer. */
export const graph = supervisor.compile().withConfig(studioScope);
