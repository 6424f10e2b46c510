import { generateText, type ModelMessage, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { memoryModelMiddleware, memoryQueryToolFor } from "../../src/ai-sdk/index.js";
import type { Memory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;
const finished = (unified: "stop" | "tool-calls") => ({ unified, raw: unified }) as never;
const said = (text: string) => ({
  ...{ content: [{ type: "text" as const, text }], finishReason: finished("stop"), usage, warnings: [] },
});
let users = 0;

function address() {
  const userId = `user ${users++}`;
  return { scope: { userId }, threadId: `thread of ${userId}` };
}

const promptsOf = (model: MockLanguageModelV3) => model.doGenerateCalls.map(({ prompt }) => prompt);
const transcript = async (memory: Memory, of: ReturnType<typeof address>) =>
  (await memory.threads.messages(of)).map(({ role, text }) => `${role}: ${text}`);

it("shows what is known in front of the last message, records the turn once, and warns of nothing", async () => {
  const warned = vi.spyOn(console, "warn");
  const memory = db.memory();
  const of = address();
  await memory.memories.add({ text: "Ana has a cat called Zerberus." }, { scope: of.scope });
  const mock = new MockLanguageModelV3({ doGenerate: [said("Hello!"), said("Zerberus.")] });
  const model = wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) });
  const messages: ModelMessage[] = [{ role: "user", content: "Hi" }];
  const first = await generateText({ model, system: "Be kind.", messages });
  messages.push(...first.response.messages, { role: "user", content: "What is my cat called?" });
  await generateText({ model, system: "Be kind.", messages });

  const [, second] = promptsOf(mock);
  expect(second!.filter(({ role }) => role === "system")).toHaveLength(1);
  expect(second!.slice(1, 3).map(({ content }) => content)).toMatchObject([[{ text: "Hi" }], [{ text: "Hello!" }]]);
  expect(second!.at(-1)!.content).toMatchObject([
    { text: expect.stringMatching(/Zerberus[\s\S]*What is my cat called\?$/) },
  ]);
  expect(await transcript(memory, of)).toEqual([
    ...["user: Hi", "assistant: Hello!"],
    ...["user: What is my cat called?", "assistant: Zerberus."],
  ]);
  expect(warned).not.toHaveBeenCalled();
});

it("goes on with the conversation where the caller sends the last message alone", async () => {
  const memory = db.memory();
  const of = address();
  const mock = new MockLanguageModelV3({ doGenerate: [said("Hello Ana!"), said("Ana.")] });
  const model = wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) });
  for (const prompt of ["My name is Ana.", "Who am I?"]) await generateText({ model, prompt });
  expect(promptsOf(mock)[1]!.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
});

it("records the calls of tools and a streamed answer", async () => {
  const memory = db.memory();
  const of = address();
  await memory.memories.add({ text: "Ana has a cat called Zerberus." }, { scope: of.scope });
  const call = { type: "tool-call" as const, toolCallId: "c1", toolName: "memory_query", input: '{"query":"cat"}' };
  const mock = new MockLanguageModelV3({
    doGenerate: [{ ...said(""), content: [call], finishReason: finished("tool-calls") }, said("Zerberus.")],
    doStream: {
      stream: convertArrayToReadableStream([
        { type: "text-start" as const, id: "1" },
        { type: "text-delta" as const, id: "1", delta: "Good" },
        { type: "text-delta" as const, id: "1", delta: " night." },
        { type: "text-end" as const, id: "1" },
        { type: "finish" as const, finishReason: finished("stop"), usage },
      ]),
    },
  });
  const model = wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) });
  const tools = { memory_query: memoryQueryToolFor(memory, { scope: of.scope }) };
  const asked = await generateText({ model, tools, prompt: "What is my cat called?", stopWhen: stepCountIs(3) });
  expect(JSON.stringify(asked.steps[0]!.toolResults)).toContain("Zerberus");
  const streamed = streamText({ model, prompt: "Bye" });
  expect(await streamed.text).toBe("Good night.");
  await streamed.consumeStream();
  expect((await transcript(memory, of)).map((line) => line.slice(0, 30))).toEqual([
    ...["user: What is my cat called?", "assistant: [calls memory_query"],
    ...[expect.stringMatching(/^tool: /), "assistant: Zerberus.", "user: Bye", "assistant: Good night."],
  ]);
});

it("records files of users, models and tools by reference, once", async () => {
  const memory = db.memory();
  const of = address();
  const data = Buffer.from("a boat").toString("base64");
  const bytes = /\[image: image\/png, 6 bytes, sha256:\w{64}\]/;
  const picture = { type: "file" as const, mediaType: "image/png", data };
  const call = { type: "tool-call" as const, toolCallId: "c1", toolName: "screenshot", input: "{}" };
  const content = { type: "content" as const, value: [{ type: "media" as const, mediaType: "image/png", data }] };
  const screenshot = tool({ inputSchema: z.object({}), execute: () => "", toModelOutput: () => content as never });
  const mock = new MockLanguageModelV3({
    doGenerate: [
      { ...said(""), content: [call], finishReason: finished("tool-calls") },
      { ...said(""), content: [{ type: "text", text: "Here:" }, picture] },
    ],
    doStream: {
      stream: convertArrayToReadableStream([picture, { type: "finish", finishReason: finished("stop"), usage }]),
    },
  });
  const model = wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) });
  const asked = [
    { type: "text" as const, text: "Like this?" },
    { type: "image" as const, image: Buffer.from("a boat"), mediaType: "image/png" },
  ];
  const messages: ModelMessage[] = [{ role: "user", content: asked }];
  await generateText({ model, tools: { screenshot }, messages, stopWhen: stepCountIs(3) });
  await streamText({ model, prompt: "Again" }).consumeStream();
  expect(await transcript(memory, of)).toEqual([
    expect.stringMatching(new RegExp(`^user: Like this\\?\n${bytes.source}$`)),
    "assistant: [calls screenshot {}]",
    expect.stringMatching(new RegExp(`^tool: ${bytes.source}$`)),
    expect.stringMatching(new RegExp(`^assistant: Here:\n${bytes.source}$`)),
    "user: Again",
    expect.stringMatching(new RegExp(`^assistant: ${bytes.source}$`)),
  ]);
});

it("answers without memory when the database fails, and refuses another user's thread", async () => {
  const memory = db.memory();
  const [mine, others] = [address(), address()];
  const failing = { ...memory, recall: () => Promise.reject(new Error("down")) } as Memory;
  const answered = (of: Memory, options: Parameters<typeof memoryModelMiddleware>[1]) =>
    generateText({
      model: wrapLanguageModel({
        model: new MockLanguageModelV3({ doGenerate: said("Hello!") }),
        middleware: memoryModelMiddleware(of, options),
      }),
      prompt: "Hi",
      maxRetries: 0,
    });
  expect((await answered(failing, mine)).text).toBe("Hello!");
  await expect(answered(memory, { ...others, threadId: mine.threadId })).rejects.toMatchObject({
    code: "THREAD_FORBIDDEN",
  });
  expect(() => memoryModelMiddleware(memory, { ...mine, agnet: "x" } as never)).toThrow(/agnet/);
});

it.each(["whole", "last"])(
  "prompts only grow, so that a provider's cache has them, where the %s conversation is sent",
  async (sent) => {
    const memory = db.memory({ config: { preset: "ledger" } });
    const of = address();
    await memory.memories.add({ text: "Ana has a cat called Zerberus." }, { scope: of.scope });
    const mock = new MockLanguageModelV3({ doGenerate: ["Hello!", "Zerberus.", "Four.", "Bye."].map(said) });
    const model = wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) });
    const messages: ModelMessage[] = [];
    for (const content of ["Hi", "What is my cat called?", "How old is it?", "Bye"]) {
      const asked: ModelMessage = { role: "user", content };
      messages.push(asked);
      const { response } = await generateText({
        model,
        system: "Be kind.",
        messages: sent === "whole" ? messages : [asked],
      });
      messages.push(...response.messages);
    }
    const plain = promptsOf(mock).map((prompt) => prompt.map(({ role, content }) => ({ role, content })));
    for (const [turn, prompt] of plain.entries()) {
      if (turn > 0) expect(prompt.slice(0, plain[turn - 1]!.length)).toEqual(plain[turn - 1]);
    }
    expect(JSON.stringify(plain[0])).toContain("Zerberus");
    expect(plain.at(-1)!.map(({ role }) => role)).toEqual([
      "system",
      ...Array(3).fill(["user", "assistant"]).flat(),
      "user",
    ]);
  },
);

const textOf = ({ role, content }: { role: string; content: unknown }) =>
  `${role}: ${(content as { text?: string; type: string }[]).map(({ text, type }) => text ?? type).join("|")}`;

it.each<[string, (messages: ModelMessage[]) => ModelMessage[], first: string]>([
  ["the last three messages alone are sent", (messages) => messages.slice(-3), "Hi"],
  ["an earlier message was edited", ([, ...rest]) => [{ role: "user", content: "Good day" }, ...rest], "Good day"],
  ["a client adds its greeting", (messages) => [{ role: "assistant", content: "Welcome" }, ...messages], "Welcome"],
])("no message is doubled where %s", async (_, change, first) => {
  const memory = db.memory();
  const of = address();
  const mock = new MockLanguageModelV3({ doGenerate: ["One.", "Two.", "Three.", "Four."].map(said) });
  const middleware = memoryModelMiddleware(memory, of);
  const messages: ModelMessage[] = [];
  for (const [turn, content] of ["Hi", "yes", "yes", "Bye"].entries()) {
    messages.push({ role: "user", content });
    const sent = turn < 2 ? messages : change(messages);
    const { response } = await generateText({ model: wrapLanguageModel({ model: mock, middleware }), messages: sent });
    messages.push(...response.messages);
  }
  const talk = [
    "user: Hi",
    "assistant: One.",
    "user: yes",
    "assistant: Two.",
    "user: yes",
    "assistant: Three.",
    "user: Bye",
  ];
  const shown = promptsOf(mock).at(-1)!.map(textOf);
  expect(shown.slice(first === "Welcome" ? 1 : 0)).toEqual([
    ...(first === "Good day" ? ["user: Good day"] : talk.slice(0, 1)),
    ...talk.slice(1),
  ]);
  expect(await transcript(memory, of)).toEqual([...talk, "assistant: Four."]);
});

it("a message said again later is recorded again where the last message alone is sent", async () => {
  const memory = db.memory();
  const of = address();
  const mock = new MockLanguageModelV3({ doGenerate: ["One.", "Two.", "Three."].map(said) });
  for (const prompt of ["yes", "no", "yes"]) {
    await generateText({
      model: wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) }),
      prompt,
    });
  }
  const talk = ["user: yes", "assistant: One.", "user: no", "assistant: Two.", "user: yes"];
  expect(promptsOf(mock).at(-1)!.map(textOf)).toEqual(talk);
  expect(await transcript(memory, of)).toEqual([...talk, "assistant: Three."]);
});

it.each(["streamed in parts", "marked for a provider's cache"])("a step %s is recorded once", async (how) => {
  const memory = db.memory();
  const of = address();
  const call = { type: "tool-call" as const, toolCallId: "c1", toolName: "now", input: "{}" };
  const part = (id: string, delta: string) => [
    ...[
      { type: "text-start" as const, id },
      { type: "text-delta" as const, id, delta },
      { type: "text-end" as const, id },
    ],
  ];
  const steps = [[...part("1", "One."), ...part("2", "Two."), call], part("1", "Noon.")];
  const mock = new MockLanguageModelV3({
    doStream: steps.map((parts, step) => ({
      stream: convertArrayToReadableStream([
        ...parts,
        { type: "finish" as const, finishReason: finished(step === 0 ? "tool-calls" : "stop"), usage },
      ]),
    })),
  });
  const model = wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) });
  const cacheControl = { anthropic: { cacheControl: { type: "ephemeral" } } };
  const marked = (messages: ModelMessage[]) =>
    messages.map((message, place) =>
      place < messages.length - 2 ? message : { ...message, providerOptions: cacheControl },
    );
  await streamText({
    model,
    tools: { now: tool({ inputSchema: z.object({}), execute: () => "noon" }) },
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "When?" },
    ],
    stopWhen: stepCountIs(3),
    prepareStep: ({ messages }) => ({ messages: how.startsWith("marked") ? marked(messages) : messages }),
  }).consumeStream();
  expect(await transcript(memory, of)).toEqual([
    "user: When?",
    "assistant: One.\nTwo.\n[calls now {}]",
    "tool: noon",
    "assistant: Noon.",
  ]);
});

it("a stream that fails records no half of an answer", async () => {
  const memory = db.memory();
  const of = address();
  const parts = [
    { type: "text-start" as const, id: "1" },
    { type: "text-delta" as const, id: "1", delta: "Your cat is" },
    { type: "error" as const, error: new Error("overloaded") },
    { type: "finish" as const, finishReason: finished("stop"), usage },
  ];
  const mock = new MockLanguageModelV3({ doStream: { stream: convertArrayToReadableStream(parts) } });
  const model = wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) });
  await streamText({ model, prompt: "What is my cat called?", onError: () => {} }).consumeStream();
  expect(await transcript(memory, of)).toEqual([]);
});
