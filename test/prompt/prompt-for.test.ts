import { expect, it } from "vitest";
import type { MemoryPrompt } from "../../src/index.js";
import { readPrompt } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
let users = 0;

function conversation() {
  const userId = `user ${users++}`;
  const address = { scope: { userId }, threadId: `thread of ${userId}` };
  const memory = db.memory({ config: { preset: "ledger", consent: { ask: "tool" } } });
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

it("Each turn's text has all that is known now, whatever earlier turns were told", async () => {
  const { memory, address, turn } = conversation();
  const { scope } = address;
  const add = async (text: string, fields: object) => {
    const [{ id } = { id: null }] = await memory.memories.add({
      scope,
      memories: { text, ...fields },
    });
    return { scope, id: id ?? "" };
  };
  const believed: (readonly string[])[] = [];
  const say = async (query: string) => {
    const { text } = await turn(query, "Fine.");
    believed.push(readPrompt([text ?? ""]).believed);
    return text;
  };
  const car = { category: "profile", key: "car" };
  await add("The user drives a Volvo.", { ...car, value: "Volvo" });
  await say("Hello.");
  await add("The user drives a Fiat.", { ...car, value: "Fiat" });
  const nuts = await add("The user eats no nuts.", { category: "constraints" });
  await add("The user lives in Porto.", { category: "profile", key: "city", value: "Porto" });
  for (const query of ["What is new?", "And now?", "And now again?"])
    expect(await say(query)).toMatch(/\n- [0-9a-f]{8}: city: Porto\n/);
  await memory.memories.remove(nuts);
  for (const { id } of await memory.consents.list({ scope }))
    await memory.consents.decide({ scope, id, decision: "refuse", actor: "test" });
  expect(await say("What do I drive?")).not.toContain("Porto");
  const later = ["car: Fiat", "The user eats no nuts."];
  expect(believed).toEqual([
    ["car: Volvo"],
    [
      "↑updated: [Profile] The user drives a Fiat.",
      "+created: [Constraints] The user eats no nuts. (imp=3)",
    ],
    later,
    later,
    ["⌛soft_deleted: [Constraints] (no longer kept)", "car: Fiat"],
  ]);
});

it("A prompt is the question alone, without a text, if nothing is known", async () => {
  const { memory, address } = conversation();
  const { messages, text } = await memory.promptFor({ ...address, query: "Hello" });
  expect({ messages, text }).toEqual({
    messages: [{ role: "user", content: "Hello" }],
    text: null,
  });
});
