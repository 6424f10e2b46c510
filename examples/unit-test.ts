import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createAgent } from "langchain";
import { createMemory, type Memory, memoryMiddleware } from "mnemograph";
import { OfflineChatModel, ScriptedChatModel } from "mnemograph/testing";

// How to test an agent with memory: no key, no network, no server; models that say the same each
// time. The same works in vitest and jest.
//
// npx tsx examples/unit-test.ts

let memory: Memory;

before(async () => {
  // A database of this process alone. "inline": what background work makes is there when a turn
  // returns.
  memory = createMemory({ database: ":memory:", model: new OfflineChatModel(), jobs: "inline" });
  await memory.setup();
});
after(() => memory.close());

/**
 * The agent under test; the model is given, so that tests can say what it answers and see what it
 * was shown.
 */
function createCook(model: ScriptedChatModel | OfflineChatModel) {
  return createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] });
}
const say = (content: string) => ({ messages: [{ role: "user" as const, content }] });
const of = (userId: string, threadId: string) => ({
  configurable: { user_id: userId, thread_id: threadId },
});

test("what a user says in one thread is shown to the model in another", async () => {
  const model = new ScriptedChatModel({ replies: ["Noted.", "Soup."] });
  const cook = createCook(model);
  await cook.invoke(say("I am allergic to peanuts."), of("ana", "monday"));
  await cook.invoke(say("What shall I cook?"), of("ana", "tuesday"));
  const shown = model.calls[1]?.messages.map(({ text }) => text).join("\n");
  assert.match(shown ?? "", /allergic to peanuts/);
});

test("nobody else is shown it", async () => {
  const model = new ScriptedChatModel({ replies: ["Stew."] });
  await createCook(model).invoke(say("What shall I cook?"), of("bob", "wednesday"));
  assert.doesNotMatch(JSON.stringify(model.calls[0]?.messages), /peanuts/);
});

test("what the agent is to know can be given", async () => {
  await memory.memories.add({
    scope: { userId: "cleo" },
    memories: { category: "preferences", text: "The user prefers fish to meat." },
  });
  const { messages } = await createCook(new OfflineChatModel()).invoke(
    say("Do I prefer fish or meat?"),
    of("cleo", "thursday"),
  );
  assert.match(messages.at(-1)?.text ?? "", /From memory: The user prefers fish/);
});
