import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Memory, withMemory } from "../../src/index.js";
import type { AppScope } from "../../src/scope/scope.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { chatAgent, say as sayTo } from "../langgraph/conversation.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";
import { addNotes, newApp } from "./note-facts.js";

const db = useTestDatabase();
const lesson = "The user prefers meetings after 2pm on weekdays.";

/** All that a model is given when a user of the app begins a conversation. */
async function contextOf(memory: Memory, { tenantId, appId }: AppScope): Promise<string> {
  const model = new ScriptedChatModel({ replies: ["Hello."] });
  const graph = withMemory(chatAgent(model), memory).compile({
    checkpointer: memory.checkpointer(),
  });
  const ids = { ...(tenantId !== undefined && { tenant_id: tenantId }), app_id: appId };
  await sayTo(graph, "When can we meet?", {
    configurable: { thread_id: randomUUID(), user_id: randomUUID(), ...ids },
  });
  return model.calls.flatMap(({ messages }) => messages.map((message) => message.text)).join("\n");
}

describe("memory feature", () => {
  it("Memories are included in the context of the same app", async () => {
    const scope = newApp();
    const logger = recordingLogger();
    const memory = db.memory({
      logger,
      config: { notes: { apps: { [scope.appId]: { name: "Calendar" } } } },
    });
    await addNotes(memory, scope, ["The calendar was slow in May.", lesson]);
    const context = await contextOf(memory, scope);
    const block = await memory.notes.context({ scope });
    expect(logger.lines).toContain(`info: 🧠 Retrieved 2 memories for app ${scope.appId}`);
    expect(block).toMatch(/^\(memories for app: Calendar\)\n/);
    expect(context).toContain(`\n\n${block}\n\n`);
    expect(block).toContain(`1. [Created: ${new Date().toISOString().slice(0, 10)}] ${lesson}`);
  });
});
