import { AIMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import {
  consentTool,
  endConversationTool,
  memoryManageTool,
  memoryQueryTool,
  procedureTool,
  transcriptSearchTool,
  withMemory,
} from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress, openThread } from "../support/thread-facts.js";

const db = useTestDatabase();
const steps = (...list: string[]) => ({
  structured: { reasoning: "", title: "Deploy", steps: list },
});
const keeper = (args: Record<string, unknown>) =>
  new ScriptedChatModel({
    replies: (messages) =>
      messages.at(-1)?.getType() === "human"
        ? {
            text: "Built, pushed, restarted.",
            toolCalls: [{ name: "memory_save_procedure", args }],
          }
        : "Done.",
  });

describe("an agent that keeps a procedure", () => {
  it("An agent keeps the steps of its own turn as a procedure, which only its category finds", async () => {
    const model = taskModel({ procedure_steps: () => steps("Build.", "Push.", "Restart.") });
    const { memory, scope, threadId } = openThread(db, { model });
    const agent = createAgent({
      model: keeper({ title: "Deploy the shop" }),
      tools: [procedureTool(memory, { agent: "executor" })],
    });
    const graph = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
    const run = { configurable: { thread_id: threadId, user_id: scope.userId } };
    const { messages } = await graph.invoke(
      { messages: [{ role: "user", content: "Deploy the shop." }] },
      run,
    );
    expect(messages.find((message) => message.getType() === "tool")?.text).toBe(
      "Kept:\nDeploy the shop:\n1. Build.\n2. Push.\n3. Restart.",
    );
    // The turn was not recorded yet when the tool was called.
    expect(model.prompts("procedure_steps")[0]).toContain(
      '<message role="user">Deploy the shop.</message>',
    );

    const [kept] = await memory.memories.list({ scope, kinds: ["procedure"] });
    expect(kept).toMatchObject({ agentId: "executor", category: "procedural", state: "active" });
    const find = memoryQueryTool(memory);
    expect(await find.invoke({ query: "deploy the shop" }, run)).toBe(
      "No memory fits. Ask the user if you need to know.",
    );
    expect(await find.invoke({ query: "deploy", categories: ["procedural"] }, run)).toContain(
      "1. Build.",
    );
  });

  it("An agent that keeps a procedure is told when there is nothing to keep, and when it failed", async () => {
    const { scope, threadId } = newAddress();
    const run = { configurable: { thread_id: threadId, user_id: scope.userId } };
    const invoke = async (memory: ReturnType<typeof db.memory>) =>
      procedureTool(memory).invoke({ title: "Deploy" }, run);
    const nothing = db.memory({ model: taskModel({ procedure_steps: () => steps() }) });
    await nothing.record({ scope, threadId, messages: [new AIMessage("Hello.")] });
    expect(await invoke(nothing)).toMatch(/^Nothing was kept/);
    const broken = db.memory({ model: taskModel({ procedure_steps: () => new Error("down") }) });
    expect(await invoke(broken)).toMatch(/^Not kept: /);
    await expect(invoke(db.memory())).rejects.toMatchObject({ code: "MODEL_REQUIRED" });
  });
});

it.each([
  ["memory_query", memoryQueryTool, ["query"]],
  ["memory_manage", memoryManageTool, ["action"]],
  ["memory_consent", consentTool, ["proposal", "decision", "quote"]],
  ["memory_save_procedure", procedureTool, ["title"]],
  ["transcript_search", transcriptSearchTool, ["query"]],
  ["end_conversation", endConversationTool, undefined],
] as const)(
  "%s is bound to models with its required arguments, and only under names that providers accept",
  (name, make, required) => {
    const memory = db.memory();
    const { function: wire } = convertToOpenAITool(make(memory));
    expect(wire.name).toBe(name);
    expect((wire.parameters as { required?: string[] }).required).toEqual(required);
    expect(make(memory, { name: "hang_up" }).name).toBe("hang_up");
    for (const wrong of ["hang up", "memory.hang"])
      expect(() => make(memory, { name: wrong })).toThrow(/cannot be a tool's name/);
  },
);
