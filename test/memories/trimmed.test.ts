import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutOff, trimToLength } from "../../src/memories/write/writing-constraints.rule.js";
import { forAll } from "../support/for-all.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress, openThread } from "../support/thread-facts.js";

const db = useTestDatabase();

describe("texts of more than one memory", () => {
  it.each<[string, object, string, string]>([
    [
      "The user is allergic to nuts. The user is allergic to eggs. The user is allergic to fish.",
      {},
      "The user is allergic to nuts. The user is allergic to eggs.",
      "The user is allergic to fish.",
    ],
    [
      "Opens at one. Shuts at two. It rests. It eats. It sleeps.",
      { kind: "note", origin: "operator" },
      "Opens at one. Shuts at two. It rests. It eats.",
      "It sleeps.",
    ],
  ])(
    "A text of more than one memory is trimmed, and the outcome returns the rest: %s",
    async (text, more, stored, trimmed) => {
      const memory = db.memory();
      const scope = { ...newAddress().scope, appId: randomUUID() };
      const [first, again] = [
        await memory.memories.add([{ text: "The user rows." }, { text, ...more }], { scope }),
        await memory.memories.add({ text, ...more }, { scope }),
      ];
      expect(first).toMatchObject([
        { outcome: "created" },
        { outcome: "created", problems: [], trimmed },
      ]);
      expect(first[0]).not.toHaveProperty("trimmed");
      expect(again).toMatchObject([{ outcome: "merged", trimmed }]);
      expect((await memory.memories.get(first[1]?.id ?? "", { scope }))?.text).toBe(stored);
    },
  );

  it("A text of more than one memory is refused as an update", async () => {
    const { memory, scope } = openThread(db);
    const [added] = await memory.memories.add({ text: "The user eats apples." }, { scope });
    const id = added?.id ?? "";
    const text = "The user eats apples. The user eats pears. The user eats kiwis.";
    await expect(memory.memories.update(id, { text }, { scope })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("Add this by itself: The user eats kiwis."),
    });
    expect((await memory.memories.get(id, { scope }))?.text).toBe("The user eats apples.");
    await memory.memories.update(
      id,
      { text: "The user eats apples. The user eats pears." },
      { scope },
    );
  });

  it("The stored part and the trimmed part make up the whole text", () => {
    const sentence = fc.constantFrom(
      "The user rows.",
      "It rains.",
      "Ana bakes bread!",
      "Is he well?",
      "x".repeat(300),
    );
    forAll(fc.array(sentence, { minLength: 1, maxLength: 6 }), (sentences) => {
      const text = sentences.join(" ");
      const kept = trimToLength("fact", text) ?? text;
      expect(`${kept} ${cutOff(text, kept)}`.trim()).toBe(text);
    });
  });
});
