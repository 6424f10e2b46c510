import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const thread = { scope, threadId: "t" };
let memory: Memory;
/** Processor time of a question here. A server takes its own, and has a deadline for statements. */
let ordinaryMs: number;

async function processorMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Words that differ, of `letters` letters each. */
const different = (count: number, letters: number) =>
  Array.from({ length: count }, (_, index) =>
    index
      .toString(36)
      .replaceAll(/[0-9]/g, (digit) => "ghijklmnop"[Number(digit)] ?? "")
      .padStart(letters, "q"),
  ).join(" ");
const ideographs = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    String.fromCharCode(0x4e00 + ((index * 7_919) % 20_000)),
  ).join("");

const hostile: [what: string, text: string][] = [
  ["a word of 160 letters", "ha".repeat(80)],
  ["a word of 500 letters", "abcdefghij".repeat(50)],
  ["a word of 2,046 letters", "k".repeat(2_046)],
  ["a word of 10,000 letters", "q".repeat(10_000)],
  ["sixteen unknown words of 24 letters", different(16, 24)],
  [
    "words of 2,100 bytes in other letters",
    `${"語".repeat(700)} ${"й".repeat(1_100)} ${"ﷺ".repeat(500)}`,
  ],
  ["thousands of words", different(2_000, 4)],
  ["one word over and over", "again ".repeat(1_600)],
  ["ideographs", ideographs(10_000)],
  ["marks on a letter", `a${"\u0301\u0316".repeat(4_900)}`],
  ["hyphens", "abc-".repeat(2_500)],
  ["a path", "/ab.cd".repeat(1_600)],
  ["an address", `https://example.com/${"a".repeat(3_000)}?${"b=c&".repeat(1_000)}`],
  ["white space", "\n \t".repeat(3_000)],
  ["signs", "=<>!&|():*'\"\\".repeat(700)],
  ["emoji", "👩‍👩‍👧‍👦".repeat(900)],
  ["NUL and halves of characters", "\u0000a\ud800".repeat(3_000)],
];

beforeAll(async () => {
  memory = db.memory();
  await memory.remember({
    ...thread,
    messages: [new HumanMessage("My dog is called Rex."), new AIMessage("Nice.")],
  });
  await memory.memories.add({
    scope,
    memories: { text: "The user's dog is called Rex.", category: "knowledge" },
  });
  ordinaryMs = await processorMsOf(() =>
    memory.recall({ ...thread, query: "What is my dog called?" }),
  );
});

describe("a hostile question", () => {
  it.each(hostile)(
    "A question of %s is answered by recall, query and transcript.search",
    async (_, text) => {
      const query = `${text.slice(0, 9_980)} dog`;
      const ms = await processorMsOf(async () => {
        expect((await memory.recall({ ...thread, query })).lastSeq).toBe(1);
        expect(await memory.query({ scope, query })).toBeInstanceOf(Array);
        expect(await memory.transcript.search({ scope, query })).toBeInstanceOf(Array);
      });
      // Some milliseconds; without a longest word it takes minutes, or ends the process.
      expect(ms).toBeLessThan(Math.max(6_000, 300 * ordinaryMs));
    },
  );

  it("A question of a long word finds the message that has it", async () => {
    const word = randomUUID().replaceAll("-", "").repeat(20);
    await memory.record({ ...thread, messages: [new HumanMessage(`My token is ${word}.`)] });
    const [hit] = await memory.transcript.search({ scope, query: word });
    expect(hit?.text).toContain(word);
  });
});

it.each(hostile)(
  "A message or memory of %s is stored and found by its other words",
  async (_, text) => {
    const said = randomUUID()
      .slice(0, 8)
      .replaceAll(/[0-9-]/g, "x");
    const long = { scope: { userId: randomUUID() }, threadId: randomUUID() };
    const name = text.replaceAll("\u0000", "").slice(0, 4_000);
    const content = `zebra${said} ${text.repeat(Math.ceil(30_000 / text.length))}`;
    const messages = [
      new HumanMessage({ content, name: /\p{Surrogate}/u.test(name) ? "x" : name }),
    ];
    await memory.record({ ...long, messages });
    const [hit] = await memory.transcript.search({ ...long, query: `zebra${said}` });
    expect(hit?.threadId).toBe(long.threadId);
    const plain = name.replaceAll(/\p{Surrogate}/gu, "");
    const draft = {
      key: "pet",
      value: plain.slice(0, 2_000),
      text: `Rex${said} is a dog. ${plain}`.slice(0, 280),
      category: "knowledge",
    };
    const id = [...plain].slice(0, 500).join("");
    const [outcome] = await memory.memories.add({
      scope: long.scope,
      memories: { ...draft, actorId: id, agentId: id, runId: id },
    });
    expect(outcome?.id).toBeTruthy();
    expect(await memory.query({ scope: long.scope, query: `Rex${said}` })).toHaveLength(1);
  },
);
