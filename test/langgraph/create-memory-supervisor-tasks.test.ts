import { inspect } from "node:util";
import { Command, interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { type Memory, memoryMiddleware, withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { useProviders } from "../support/providers/clients.js";
import {
  delegates,
  newThread,
  plainTool,
  says,
  scripted,
  shown,
  shownTalk,
  supervise,
  transcript,
} from "../support/supervisor-fixture.js";
import { useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";
import { chatAgent, lines, streamed } from "./conversation.js";

const db = useTestDatabase();
const start = useProviders();

const allowlists = {
  supervisor: ["profile", "constraints"],
  planner: ["constraints", "tasks"],
  executor: ["constraints", "preferences", "interests"],
};
const allergy = "The user is allergic to peanuts.";

/** A user's new thread, of whom each agent may know something else. */
async function knownUser(memory: Memory) {
  const { config, address } = newThread();
  const { scope } = address;
  const [first] = await memory.memories.add(
    [
      { category: "constraints", text: allergy },
      { category: "tasks", text: "The user's trip to Quito is due.", pinned: true },
      { category: "preferences", text: "The user prefers zinc tiles." },
      {
        category: "profile",
        key: "employer",
        value: "Timbuktu",
        text: "The user works at Timbuktu.",
      },
      { category: "interests", text: "The user collects fossils." },
    ],
    { scope },
  );
  return { config, address, scope, allergyId: first!.id };
}

const words = ["peanuts", "Quito", "zinc", "Timbuktu", "fossils"];
const knownIn = (lines: readonly string[]) =>
  words.filter((word) => lines.join("\n").includes(word));

/** A team of which the executor asks before it answers. */
function asking() {
  const model = scripted(
    delegates(["planner", "Plan a dinner."], ["executor", "Buy it."]),
    "Done.",
  );
  const planner = scripted("the plan");
  const executor = scripted({ toolCalls: [{ name: "ask", args: {} }] }, "Bought.");
  const tools = [plainTool("ask", () => `answer: ${interrupt("Which?")}`)];
  return {
    models: { model, planner, executor },
    team: { model, planner: { model: planner }, executor: { model: executor, tools } },
  };
}

describe("a supervisor's subagent", () => {
  it.each(["message", "system", "text"] as const)(
    "A subagent is shown what is always shown of its own categories, also after an interrupt, and nothing keeps it (as %s)",
    async (injectAs) => {
      const memory = db.memory({ config: { allowlists } });
      const { config, address } = await knownUser(memory);
      const { models, team } = asking();
      const checkpointer = memory.checkpointer();
      const graph = await supervise({ memory, checkpointer, injectAs, ...team });
      const before = await findEverywhere(db, "Timbuktu");
      const chunks = await streamed(graph, says("Dinner, please."), {
        ...config,
        streamMode: ["values", "updates", "messages", "custom"],
        subgraphs: true,
      });
      const { messages } = await graph.invoke(new Command({ resume: "both" }), config);

      expect(lines(messages).slice(-3)).toEqual(["tool: the plan", "tool: Bought.", "ai: Done."]);
      const [planned, executed, resumed] = [...models.planner.calls, ...models.executor.calls].map(
        injectAs === "system" ? shown : shownTalk,
      );
      expect(knownIn(planned!)).toEqual(["peanuts", "Quito"]);
      expect(knownIn(executed!)).toEqual(["peanuts", "zinc"]);
      expect(resumed).toEqual([...executed!, "ai: (ask)", "tool: answer: both"]);
      expect(knownIn(shown(models.model.calls[0]))).toEqual(["peanuts", "Timbuktu"]);
      const texts = planned!.slice(injectAs === "system" ? 1 : 0);
      expect(texts).toEqual(
        {
          message: [expect.stringMatching(/^human: \[Previous context: /), "human: Plan a dinner."],
          system: [expect.stringMatching(/^system: <memory>/), "human: Plan a dinner."],
          text: [expect.stringMatching(/^human: \[Previous context: [\s\S]*\n\nPlan a dinner\.$/)],
        }[injectAs],
      );
      expect(texts.join()).not.toMatch(/Memory updates|Waiting for|Recent Conversation|Dinner/);

      const seen = inspect([chunks, messages, await graph.getState(config, { subgraphs: true })], {
        depth: 30,
      });
      expect(knownIn([seen, ...(await transcript(memory, address))])).toEqual([]);
      // What was known is where it was: no checkpoint and no record of a turn has it.
      expect(await findEverywhere(db, "Timbuktu")).toEqual(before);
      for (const word of words)
        expect(Object.keys(await findEverywhere(db, word))).not.toContain("checkpoint_blobs");
    },
  );
});
