import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import {
  type Memory,
  type MemoryDraft,
  memoryQueryTool,
  transcriptSearchTool,
} from "../../src/index.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { runLifecycle } from "../support/run-lifecycle.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { type Address, newAddress, openThread, say } from "../support/thread-facts.js";

const db = useTestDatabase();
const day = 86_400_000;

const said = [
  "My husband Tom comes from Leipzig.",
  "My sister Clara lives in Utrecht.",
  "She is an architect there.",
  "I was diagnosed with epilepsy in 2019, and I swim.",
  "The kitchen may cost 18,000 euros.",
  "Our roof leaks.",
];
const answers = [
  "Nice.",
  "Utrecht is a lovely town!",
  "Great.",
  "Thank you for telling me.",
  "I see.",
  "Oh.",
];
const facts: [text: string, message: number][] = [
  ["The user's husband comes from Leipzig.", 0],
  ["The user's sister Clara lives in Utrecht.", 1],
  ["The user's sister is an architect.", 2],
  ["The user was diagnosed with epilepsy in 2019.", 3],
  ["The user swims.", 3],
  ["The user's kitchen budget is 18,000 euros.", 4],
];

/** A user who said all of `said`; ids of the facts, by their texts. */
async function told(memory: Memory, thread: Address): Promise<Map<string, string>> {
  const messages = said.flatMap((text, n) => [new HumanMessage(text), new AIMessage(answers[n]!)]);
  await memory.setup();
  await memory.record({ ...thread, messages, saidAt: new Date("2024-03-10T09:00Z") });
  const drafts: MemoryDraft[] = facts.map(([text, message]) => ({
    text,
    source: { threadId: thread.threadId, seqs: [2 * message] },
  }));
  const added = await memory.memories.add({
    scope: thread.scope,
    consent: "given",
    memories: drafts,
  });
  return new Map(added.map(({ id }, n) => [facts[n]![0], id!]));
}

const run = ({ scope, threadId }: Address) => ({
  configurable: { thread_id: threadId, user_id: scope.userId },
});

describe.each([
  ["without embeddings", {}],
  ["with embeddings", { embeddings: new HashingEmbeddings() }],
])("a forgotten word, %s", (_, options) => {
  const heard = async (memory: Memory, { scope }: Address, query: string) =>
    (await memory.transcript.search({ scope, query, topK: 50 })).map(({ text }) => text);
  const found = async (memory: Memory, { scope }: Address, query: string) =>
    (await memory.query({ scope, query, topK: 50 })).map((hit) => hit.memory.text);

  it("A forgotten word finds neither its message nor the answer nor others, for callers and tools", async () => {
    const { memory, thread, scope } = openThread(db, options);
    const ids = await told(memory, thread);
    expect(await heard(memory, thread, "Utrecht")).toContain(said[1]);
    const id = ids.get("The user's sister Clara lives in Utrecht.")!;
    await memory.memories.remove({ scope, id });
    expect(await heard(memory, thread, "Utrecht")).toEqual([]);
    expect(await found(memory, thread, "Utrecht")).toEqual([]);
    expect((await memory.recall({ ...thread, query: "Utrecht" })).memories.relevant).toEqual([]);
    const asked = { query: "Utrecht" };
    expect(await memoryQueryTool(memory).invoke(asked, run(thread))).toMatch(/^No memory fits/);
    expect(await transcriptSearchTool(memory).invoke(asked, run(thread))).toMatch(
      /^Nothing that was said/,
    );
    expect(await heard(memory, thread, "Where does my sister Clara live?")).not.toContain(said[1]);
    const dated = await heard(memory, thread, "What else happened on 10 March 2024?");
    expect(dated).toEqual(expect.arrayContaining([said[0], said[5]]));
    expect(dated).not.toContain(said[1]);
    await memory.memories.restore({ scope, consent: "given", id });
    expect(await found(memory, thread, "Utrecht")).toHaveLength(1);
    expect(await heard(memory, thread, "Utrecht")).toEqual(
      expect.arrayContaining([said[1], answers[1]]),
    );
  });

  it("A message with a forgotten fact is found by its other fact's words until that is forgotten too", async () => {
    const { memory, thread } = openThread(db, options);
    const ids = await told(memory, thread);
    const { scope } = thread;
    await memory.memories.remove({
      scope,
      id: ids.get("The user was diagnosed with epilepsy in 2019.")!,
    });
    expect(await found(memory, thread, "epilepsy")).toEqual([]);
    expect(await found(memory, thread, "Does the user swim?")).toContain("The user swims.");
    expect(await heard(memory, thread, "swim")).toContain(said[3]);
    await memory.memories.remove({ scope, id: ids.get("The user swims.")! });
    expect(await heard(memory, thread, "epilepsy")).toEqual([]);
    expect(await heard(memory, thread, "swim")).toEqual([]);
  });
});

it("Removing a memory hides every message that stated or corrected it, also once it is purged", async () => {
  let now = new Date("2031-01-01T12:00:00Z").getTime();
  const { memory, thread } = openThread(db, { clock: () => new Date(now) });
  const { scope, threadId } = thread;
  const messages = [
    "I have epilepsy.",
    "As I said: I have epilepsy.",
    "My epilepsy began in 2019.",
  ];
  await memory.record({ ...thread, messages: messages.map((text) => new HumanMessage(text)) });
  const from = (text: string, seq: number) => ({
    text,
    key: "illness",
    source: { threadId, seqs: [seq] },
  });
  for (const draft of [
    { ...from("The user has epilepsy.", 0), value: "epilepsy" },
    { ...from("The user has epilepsy.", 1), value: "epilepsy" },
    { ...from("The user has had epilepsy since 2019.", 2), value: "epilepsy" },
  ]) {
    await memory.memories.add({
      scope,
      consent: "given",
      memories: { ...draft, category: "knowledge" },
    });
  }
  const [known, ...others] = await memory.memories.list({ scope });
  expect(others).toEqual([]);
  const heard = () => memory.transcript.search({ scope, query: "epilepsy" });
  expect(await heard()).toHaveLength(3);
  await memory.memories.remove({ scope, id: known!.id });
  expect(await heard()).toEqual([]);
  now += 31 * day;
  expect(await runLifecycle(memory, thread)).toMatchObject({ purged: 1 });
  expect(await heard()).toEqual([]);
  // Said anew, it is known anew.
  await memory.record({ ...thread, messages: [new HumanMessage("My epilepsy is back.")] });
  expect(await heard()).toHaveLength(1);
});

it("Age hides a memory, not the message that it came from", async () => {
  let now = new Date("2031-01-01T12:00:00Z").getTime();
  const { memory, thread, scope } = openThread(db, { clock: () => new Date(now) });
  await memory.record({ ...thread, messages: [new HumanMessage("The fence is green.")] });
  const source = { threadId: thread.threadId, seqs: [0] };
  await memory.memories.add({
    scope,
    memories: { text: "The fence is green.", importance: 1, source },
  });
  now += 100 * day;
  expect(await runLifecycle(memory, thread)).toMatchObject({ softDeleted: 1 });
  expect(await memory.transcript.search({ scope, query: "fence" })).toHaveLength(1);
});

it("A request to forget is hidden with the message that it names, and others' messages stay", async () => {
  const request = "Please forget that my sister lives in Utrecht.";
  const fact_extraction = (prompt: string) => {
    const number = Number(
      /<memory number="(\d+)"[^>]*>The user's sister Clara/.exec(prompt)?.[1] ?? 0,
    );
    const forget = [{ memory: number, message: said.length + 1, quote: request }];
    return { structured: { reasoning: "", facts: [], forget } } as never;
  };
  const memory = db.memory({
    model: taskModel({ fact_extraction }),
    config: { memories: { extract: true } },
  });
  const [thread, other] = [newAddress(), newAddress()];
  for (const address of [thread, other]) await told(db.memory(), address);
  await say(memory, thread, request);
  const heard = async ({ scope }: Address) =>
    (await memory.transcript.search({ scope, query: "Utrecht" })).map(({ text }) => text);
  expect(await heard(thread)).toEqual([]);
  expect(await heard(other)).toContain(said[1]);
});

it("A question finds no memory by words that only adjacent messages have", async () => {
  const { memory, thread } = openThread(db);
  const { scope, threadId } = thread;
  const lines = [
    "Ik zoek een present.",
    "I quit the firm.",
    "And a birthday is soon.",
    "My flat is small.",
  ];
  await memory.record({ ...thread, messages: lines.map((text) => new HumanMessage(text)) });
  const source = (seq: number) => ({ threadId, seqs: [seq] });
  const drafts = [
    { text: "The user quit the firm.", source: source(1) },
    { text: "A mãe da utilizadora faz anos em maio.", source: source(3) },
  ];
  await memory.memories.add({ scope, memories: drafts });
  const query = "birthday present for mum";
  expect(await memory.query({ scope, query })).toEqual([]);
  expect((await memory.recall({ ...thread, query })).memories.relevant).toEqual([]);
});
