import { expect, it } from "vitest";
import type { MemoryPrompt } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
let users = 0;

function conversation() {
  const userId = `user ${users++}`;
  const address = { scope: { userId }, threadId: `thread of ${userId}` };
  const memory = db.memory({ config: { preset: "ledger" } });
  const turn = async (query: string, answer: string): Promise<MemoryPrompt> => {
    const prompt = await memory.promptFor({ ...address, query });
    const said = [
      { role: "user" as const, content: query },
      { role: "assistant" as const, content: answer },
    ];
    await memory.remember({ ...address, messages: said, shown: prompt.shown });
    return prompt;
  };
  return { memory, address, turn };
}

it("A program without a graph gets memory, the conversation and the question as plain messages", async () => {
  const { memory, address, turn } = conversation();
  await memory.memories.add({
    scope: address.scope,
    memories: { text: "Ana has a cat called Zerberus." },
  });
  await turn("Hello", "Hello Ana!");
  const { messages, text } = await turn("What is my cat called?", "Zerberus.");
  expect(messages.map(({ role }) => role)).toEqual(["user", "user", "assistant", "user"]);
  expect(messages[0]!.content).toContain("Zerberus");
  expect(messages[1]!.content).toBe("Hello");
  expect(messages.at(-1)!.content).toBe("What is my cat called?");
  expect(text).toMatch(/^<memory>\n[\s\S]*Zerberus/);
});

it("A prompt is the question alone, without a text, if nothing is known", async () => {
  const { memory, address } = conversation();
  const { messages, text } = await memory.promptFor({ ...address, query: "Hello" });
  expect({ messages, text }).toEqual({
    messages: [{ role: "user", content: "Hello" }],
    text: null,
  });
});
