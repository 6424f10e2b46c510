import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutOff, trimToLength } from "../../src/memories/write/writing-constraints.rule.js";
import { forAll } from "../support/for-all.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress, openThread, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();

describe("texts of more than one memory", () => {
  it("A program's long text is stored in whole sentences, and a long sentence as it is", async () => {
    const memory = db.memory({ redact: (text: string) => text.replace("Eve. Mallory", "Nobody") });
    const { scope } = newAddress();
    const sentence = `The user rows ${"and rows ".repeat(60)}home.`;
    const text = `The user knows Eve. Mallory is a friend. The user bakes. ${sentence} The user sleeps.`;
    const [split, short, slot] = await memory.memories.add({
      scope,
      memories: [
        { text },
        { text: "The user sings." },
        { key: "sport", text: `${sentence} Gladly.` },
      ],
    });
    expect(split).toMatchObject({
      outcome: "created",
      further: [{ outcome: "created" }, { outcome: "created" }],
    });
    expect([short, slot].map((each) => each?.further)).toEqual([undefined, undefined]);
    expect(await textsOf(memory, { scope })).toEqual([
      "The user knows Nobody is a friend. The user bakes.",
      sentence,
      "The user sleeps.",
      "The user sings.",
      `${sentence} Gladly.`,
    ]);
    expect(
      await memory.memories.add({
        scope,
        threadId: "t",
        messageId: "m",
        memories: { text: sentence },
      }),
    ).toMatchObject([{ outcome: "rejected", problems: ["too_long"] }]);
  });

  it.each<[string, object, object, string, string]>([
    [
      "The user is allergic to nuts. The user is allergic to eggs. The user is allergic to fish.",
      {},
      { threadId: "t", messageId: "a model answers it" },
      "The user is allergic to nuts. The user is allergic to eggs.",
      "The user is allergic to fish.",
    ],
    [
      "Opens at one. Shuts at two. It rests. It eats. It sleeps.",
      { kind: "note", origin: "operator" },
      {},
      "Opens at one. Shuts at two. It rests. It eats.",
      "It sleeps.",
    ],
  ])(
    "A text of more than one memory is trimmed, and the outcome returns the rest: %s",
    async (text, more, message, stored, trimmed) => {
      const memory = db.memory();
      const scope = { ...newAddress().scope, appId: randomUUID() };
      const access = { scope, ...message };
      const [first, again] = [
        await memory.memories.add({
          ...access,
          memories: [{ text: "The user rows." }, { text, ...more }],
        }),
        await memory.memories.add({ ...access, memories: { text, ...more } }),
      ];
      expect(first).toMatchObject([
        { outcome: "created" },
        { outcome: "created", problems: [], trimmed },
      ]);
      expect(first[0]).not.toHaveProperty("trimmed");
      expect(again).toMatchObject([{ outcome: "merged", trimmed }]);
      expect((await memory.memories.get({ scope, id: first[1]?.id ?? "" }))?.text).toBe(stored);
    },
  );

  it("A text of more than one memory is refused as an update", async () => {
    const { memory, scope } = openThread(db);
    const [added] = await memory.memories.add({
      scope,
      memories: { text: "The user eats apples." },
    });
    const id = added?.id ?? "";
    const text = "The user eats apples. The user eats pears. The user eats kiwis.";
    await expect(memory.memories.update({ scope, id, text })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("Add this by itself: The user eats kiwis."),
    });
    expect((await memory.memories.get({ scope, id }))?.text).toBe("The user eats apples.");
    await memory.memories.update({ scope, id, text: "The user eats apples. The user eats pears." });
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
