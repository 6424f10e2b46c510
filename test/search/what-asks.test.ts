import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/index.js";
import { askingSentences } from "../../src/text/asks-only.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
let memory: Memory;

/** Many messages share its words. */
const chatter =
  "I slept badly, since the neighbours had a party until three. The coffee is cold, the bus was late twice, and my phone is nearly empty.";
const said = [
  "The neighbours had a party.",
  "The bus was late.",
  "I slept badly.",
  "My phone was empty.",
  "We parked the car at the library.",
  "The violin of my grandmother needs new strings.",
  "Ein Konzert in Lissabon.",
];

const first = async (query: string) => (await memory.transcript.search({ scope, query }))[0]?.text;

beforeAll(async () => {
  memory = db.memory();
  const messages = said.map((content) => new HumanMessage({ content }));
  for (const [day, message] of messages.entries())
    await memory.record({ scope, threadId: `day ${day}`, messages: [message] });
});

describe("a long message around a question", () => {
  it.each([
    ["the sentence that asks", `${chatter} Where did we park the car? ${chatter}`, 4],
    ["a full-width question mark", `${chatter} Where did we park the car？ ${chatter}`, 4],
    ["an Arabic question mark", `${chatter} Where did we park the car؟ ${chatter}`, 4],
    ["questions that are chatter", `How are you? ${chatter} Where did we park the car?`, 4],
    [
      "a subject that another sentence names",
      "I have a violin. It sounds odd. What does it need?",
      5,
    ],
    ["a request without a mark", "Tell me where we parked the car", 4],
  ])("Transcript search goes by %s", async (_, query, place) =>
    expect(await first(query)).toBe(said[place]),
  );

  it("Sentences that ask are told from the others, and nothing changes where none does", () => {
    const { asking, aside } = askingSentences("Good morning! Where is it? Thanks.");
    expect([asking.trim(), aside]).toEqual(["Where is it?", "Good morning! Thanks."]);
    expect(askingSentences("Γεια! Πού είναι; Ευχαριστώ.").asking.trim()).toBe("Πού είναι?");
    expect(askingSentences("Բարև։ Որտե՞ղ է։ Լավ։").asking.trim()).toBe("Որտե՞ղ է։");
    expect(askingSentences("Tell me.")).toEqual({ asking: "", aside: "Tell me." });
  });
});

describe("a word that no text has", () => {
  it.each([
    ["two letters in the wrong order", "Where is the libarry?", 4],
    ["a letter too few", "My granmother", 5],
    ["a letter too many", "Lissabbon", 6],
    ["another letter", "violan", 5],
  ])("Transcript search reads %s as the nearest word", async (_, query, place) =>
    expect(await first(query)).toBe(said[place]),
  );

  it("Transcript search reads signs of an address or path as they are", async () => {
    for (const query of ["https://example.org/pricing?", "site(*.wav", "[a+b]/{c}?"])
      expect(await memory.transcript.search({ scope, query: `the ${query}` }), query).toEqual([]);
  });

  it("Transcript search takes no word of fewer than five letters for another", async () => {
    for (const query of ["lete", "busy", "pone"])
      expect(await memory.transcript.search({ scope, query: `${query} xyzzy` }), query).toEqual([]);
  });
});

it("All pairs of characters of a long Chinese message are searched", async () => {
  const own = { scope: { userId: "lin" } };
  const asked = "用户的妹妹在里斯本开了一家书店。";
  const story = Array.from({ length: 90 }, (_, place) =>
    String.fromCodePoint(0x5000 + 7 * place, 0x6000 + 11 * place),
  ).join("，");
  await memory.memories.add({
    ...own,
    memories: [{ text: asked }, { text: "书店在里斯本。" }, { text: story }],
  });
  const hits = await memory.query({ ...own, query: `${story}，里斯本的书店`, threshold: 0 });
  expect(hits.map((hit) => hit.memory.text)).toContain(asked);
});
