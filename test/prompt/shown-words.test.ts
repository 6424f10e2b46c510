import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { shownBy } from "../../src/prompt/shown-by.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

describe("threads.shownWords", () => {
  it("threads.shownWords names the words that PostgreSQL matches, not those with the same beginning", async () => {
    const memory = db.memory();
    const address = newAddress();
    const texts = [
      "Drives two cars in the city.",
      "Has a careful carpenter lay the carpets.",
      "静かな宿が好き。",
    ];
    await memory.memories.add({ ...address, memories: texts.map((text) => ({ text })) });
    const query = "Which car is it? 宿がいい";
    const shown = shownBy(await memory.recall({ ...address, query }));
    await memory.remember({
      ...address,
      shown,
      messages: [new HumanMessage(query), new AIMessage("The one that the carpenter drove.")],
    });
    const [turn] = await memory.threads.shown(address);
    const words = await memory.threads.shownWords({ ...address, seq: turn?.seq ?? -1 });
    const of = (text: string) => {
      const { id } = turn?.memories.find((each) => each.text === text) ?? {};
      return words.find((each) => each.id === id);
    };
    expect(of(texts[0] ?? "")).toMatchObject({ question: ["cars"], answer: [] });
    expect(of(texts[1] ?? "")).toMatchObject({ question: [], answer: ["carpenter"] });
    expect(of(texts[2] ?? "")).toMatchObject({ question: expect.arrayContaining(["宿が"]) });
    const others = { ...address, scope: { userId: "somebody else" } };
    await expect(memory.threads.shownWords({ ...others, seq: 0 })).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
    expect(await memory.threads.shownWords({ ...address, threadId: "no thread", seq: 0 })).toEqual(
      [],
    );
  });

  it("threads.shown has the parts of each hit's score as the turn reported them", async () => {
    const memory = db.memory();
    const address = newAddress();
    await memory.memories.add({ ...address, memories: [{ text: "Sails." }, { text: "Knits." }] });
    const query = "Who sails?";
    const recalled = await memory.recall({ ...address, query });
    const shown = shownBy(recalled);
    await memory.remember({ ...address, shown, messages: [new HumanMessage(query)] });
    const partsOfLast = async () => {
      const [turn] = await memory.threads.shown(address);
      return turn?.memories.find(({ text }) => text === "Sails.")?.scoreParts;
    };
    const words = recalled.memories.relevant[0]?.parts.words ?? 0;
    expect(words).toBeGreaterThan(0);
    expect(await partsOfLast()).toMatchObject({ words: expect.closeTo(words, 2) });
    const scoreParts = { [shown.parts?.relevant?.[0] ?? ""]: { vector: 0.4 } };
    const next = { ...shown, scoreParts };
    await memory.remember({ ...address, shown: next, messages: [new HumanMessage("And where?")] });
    expect(await partsOfLast()).toEqual({ vector: 0.4 });
  });
});

it("threads.shownTo lists the turns of all conversations of the scope whose prompts a memory came into", async () => {
  const memory = db.memory();
  const { scope } = newAddress();
  await memory.memories.add({ scope, memories: { text: "Eats only fish." } });
  const [fish] = await memory.memories.list({ scope });
  for (const threadId of ["lunch", "dinner"]) {
    const address = { scope, threadId: `${threadId} of ${scope.userId}` };
    for (const query of ["What fish is there?", "And what else?"]) {
      const shown = shownBy(await memory.recall({ ...address, query }));
      await memory.remember({ ...address, shown, messages: [new HumanMessage(query)] });
    }
  }
  const memoryId = fish?.id ?? "";
  const turns = await memory.threads.shownTo({ scope, memoryId });
  expect(
    turns.map(({ threadId, turn, question }) => [threadId.split(" ")[0], turn, question]),
  ).toEqual(
    ["dinner", "lunch"].flatMap((threadId) => [
      [threadId, 2, "And what else?"],
      [threadId, 1, "What fish is there?"],
    ]),
  );
  expect(turns.at(-1)).toMatchObject({
    scope,
    seq: 0,
    part: "relevant",
    score: expect.any(Number),
  });
  expect(await memory.threads.shownTo({ scope, memoryId, limit: 1 })).toEqual(turns.slice(0, 1));
  expect(await memory.threads.shownTo({ scope: { userId: "nobody" }, memoryId })).toEqual([]);
  expect(await memory.threads.shownTo({ scope, memoryId: "no id" })).toEqual([]);
});
