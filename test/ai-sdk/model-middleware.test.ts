import type { ModelMessage } from "ai";
import * as sdk7 from "ai";
import * as mocks7 from "ai/test";
import * as sdk6 from "ai-6";
import * as mocks6 from "ai-6/test";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { memoryModelMiddleware, memoryQueryToolFor } from "../../packages/ai-sdk/src/index.js";
import type { Memory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

type Sdk = typeof sdk7;
type MockModel = typeof mocks7.MockLanguageModelV4;

const thinking: object[] = ["start", "delta", "end"].map((part) => {
  return { type: `reasoning-${part}`, id: "0", ...(part === "delta" && { delta: "Hm." }) };
});
/** A file that a model made while it thought: new in version 7. */
const sketch = { type: "reasoning-file", mediaType: "image/png" };

/** Each version of the AI SDK, with the mock models it takes and the form of files in their answers. */
const sdks = [
  {
    name: "AI SDK 6",
    sdk: sdk6 as unknown as Sdk,
    MockModel: mocks6.MockLanguageModelV3 as unknown as MockModel,
    fileOf: (data: string): object => ({ data }),
    toolFileOf: (data: string): object => ({ type: "file-data", data }),
    thought: thinking,
  },
  {
    name: "AI SDK 7",
    sdk: sdk7,
    MockModel: mocks7.MockLanguageModelV4,
    fileOf: (data: string): object => ({ data: { type: "data", data } }),
    toolFileOf: (data: string): object => ({ type: "file", data: { type: "data", data } }),
    thought: [...thinking, { ...sketch, data: { type: "data", data: "c2tldGNo" } }],
  },
];

const db = useTestDatabase();
const { convertArrayToReadableStream } = mocks7;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;
const finished = (unified: "stop" | "tool-calls") => ({ unified, raw: unified }) as never;
const said = (text: string) => ({
  content: [{ type: "text" as const, text }],
  finishReason: finished("stop"),
  usage,
  warnings: [],
});
/** A function, since the mock of AI SDK 6.0.0 skips the first answer of a list. */
const inOrder = (...answers: object[]) => {
  let next = 0;
  return async () => answers[next++] as never;
};
let users = 0;

function address() {
  const userId = `user ${users++}`;
  return { scope: { userId }, threadId: `thread of ${userId}` };
}

const promptsOf = (model: InstanceType<MockModel>) =>
  model.doGenerateCalls.map(({ prompt }) => prompt);
const transcript = async (memory: Memory, of: ReturnType<typeof address>) =>
  (await memory.threads.messages(of)).map(({ role, text }) => `${role}: ${text}`);
const textOf = ({ content }: { content: unknown }) =>
  (content as { text?: string; type: string }[]).map(({ text, type }) => text ?? type).join("|");
const streamOf = (...parts: object[]) => ({
  stream: convertArrayToReadableStream(parts as never[]),
});
const written = (id: string, delta: string) =>
  ["text-start", "text-delta", "text-end"].map((type) => ({
    type,
    id,
    ...(type === "text-delta" && { delta }),
  }));

describe.each(sdks)("$name: the middleware", (version) => {
  const { sdk, MockModel, fileOf, toolFileOf, thought } = version;
  const { generateText, stepCountIs, streamText, tool, wrapLanguageModel } = sdk;

  it("The prompt has memory before the last message, and the turn is recorded once without a warning", async () => {
    const warned = vi.spyOn(console, "warn");
    const memory = db.memory();
    const of = address();
    await memory.memories.add({
      scope: of.scope,
      memories: { text: "Ana has a cat called Zerberus." },
    });
    const mock = new MockModel({ doGenerate: inOrder(said("Hello!"), said("Zerberus.")) });
    const middleware = memoryModelMiddleware(memory, { ...of, timeZone: "Asia/Tokyo" });
    const model = wrapLanguageModel({ model: mock, middleware });
    const messages: ModelMessage[] = [{ role: "user", content: "Hi" }];
    const first = await generateText({ model, system: "Be kind.", messages });
    expect((await memory.threads.messages(of))[0]?.timeZone).toBe("Asia/Tokyo");
    messages.push(...first.response.messages, { role: "user", content: "What is my cat called?" });
    await generateText({ model, system: "Be kind.", messages });

    const [, second] = promptsOf(mock);
    expect(second!.filter(({ role }) => role === "system")).toHaveLength(1);
    expect(second!.slice(1, 3).map(({ content }) => content)).toMatchObject([
      [{ text: "Hi" }],
      [{ text: "Hello!" }],
    ]);
    expect(second!.slice(-2).map(({ content }) => content)).toMatchObject([
      [{ text: expect.stringContaining("Zerberus") }],
      [{ text: "What is my cat called?" }],
    ]);
    expect(await transcript(memory, of)).toEqual([
      ...["user: Hi", "assistant: Hello!"],
      ...["user: What is my cat called?", "assistant: Zerberus."],
    ]);
    expect(warned).not.toHaveBeenCalled();
  });

  it("The calls of tools and a streamed answer are recorded", async () => {
    const memory = db.memory();
    const of = address();
    await memory.memories.add({
      scope: of.scope,
      memories: { text: "Ana has a cat called Zerberus." },
    });
    const call = {
      type: "tool-call" as const,
      toolCallId: "c1",
      toolName: "memory_query",
      input: '{"query":"cat"}',
    };
    const mock = new MockModel({
      doGenerate: inOrder(
        { ...said(""), content: [call], finishReason: finished("tool-calls") },
        said("Zerberus."),
      ),
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
    const asked = await generateText({
      model,
      tools,
      prompt: "What is my cat called?",
      stopWhen: stepCountIs(3),
    });
    expect(JSON.stringify(asked.steps[0]!.toolResults)).toContain("Zerberus");
    const streamed = streamText({ model, prompt: "Bye" });
    expect(await streamed.text).toBe("Good night.");
    await streamed.consumeStream();
    expect((await transcript(memory, of)).map((line) => line.slice(0, 30))).toEqual([
      ...["user: What is my cat called?", "assistant: [calls memory_query"],
      ...[
        expect.stringMatching(/^tool: /),
        "assistant: Zerberus.",
        "user: Bye",
        "assistant: Good night.",
      ],
    ]);
  });

  it("Files of users, models and tools are recorded by reference, once", async () => {
    const memory = db.memory();
    const of = address();
    const data = Buffer.from("a boat").toString("base64");
    const bytes = /\[image: image\/png, 6 bytes, sha256:\w{64}\]/;
    const picture = { type: "file", mediaType: "image/png", ...fileOf(data) } as never;
    const call = {
      type: "tool-call" as const,
      toolCallId: "c1",
      toolName: "screenshot",
      input: "{}",
    };
    const content = {
      type: "content" as const,
      value: [{ mediaType: "image/png", ...toolFileOf(data) }],
    };
    const screenshot = tool({
      inputSchema: z.object({}),
      execute: () => "",
      toModelOutput: () => content as never,
    });
    const mock = new MockModel({
      doGenerate: inOrder(
        { ...said(""), content: [call], finishReason: finished("tool-calls") },
        { ...said(""), content: [{ type: "text", text: "Here:" }, picture] },
      ),
      doStream: {
        stream: convertArrayToReadableStream([
          picture,
          { type: "finish", finishReason: finished("stop"), usage } as const,
        ]),
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

  it("A model answers without memory when the database fails, and another user's thread is refused", async () => {
    const memory = db.memory();
    const [mine, others] = [address(), address()];
    const failing = { ...memory, recall: () => Promise.reject(new Error("down")) } as Memory;
    const answered = (of: Memory, options: Parameters<typeof memoryModelMiddleware>[1]) =>
      generateText({
        model: wrapLanguageModel({
          model: new MockModel({ doGenerate: said("Hello!") }),
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
    "Prompts only grow, so that a provider's cache has them, where the %s conversation is sent",
    async (sent) => {
      const memory = db.memory({ config: { preset: "ledger" } });
      const of = address();
      await memory.memories.add({
        scope: of.scope,
        memories: { text: "Ana has a cat called Zerberus." },
      });
      const mock = new MockModel({
        doGenerate: inOrder(...["Hello!", "Zerberus.", "Four.", "Bye."].map(said)),
      });
      const model = wrapLanguageModel({
        model: mock,
        middleware: memoryModelMiddleware(memory, of),
      });
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
      const plain = promptsOf(mock).map((prompt) =>
        prompt.map(({ role, content }) => ({ role, content })),
      );
      for (const [turn, prompt] of plain.entries()) {
        if (turn > 0) expect(prompt.slice(0, plain[turn - 1]!.length)).toEqual(plain[turn - 1]);
      }
      expect(JSON.stringify(plain[0])).toContain("Zerberus");
      expect(plain.at(-1)!.map(({ role }) => role)).toEqual([
        ...["system", "user"],
        ...Array(3).fill(["user", "assistant"]).flat(),
        "user",
      ]);
    },
  );

  it.each<[string, (messages: ModelMessage[]) => ModelMessage[], shown: string]>([
    ["the last message alone is sent", (messages) => messages.slice(-1), "yes 1 no 2 yes 3 bye"],
    ["the last three messages are sent", (messages) => messages.slice(-3), "yes 1 no 2 yes 3 bye"],
    [
      "an earlier message was edited",
      ([, ...rest]) => [{ role: "user", content: "hi" }, ...rest],
      "hi 1 no 2 yes 3 bye",
    ],
    [
      "a client adds a greeting",
      (all) => [{ role: "assistant", content: "hi" }, ...all],
      "hi yes 1 no 2 yes 3 bye",
    ],
  ])("No message is lost or doubled where %s", async (_, change, shown) => {
    const memory = db.memory();
    const of = address();
    const mock = new MockModel({ doGenerate: inOrder(...["1", "2", "3", "4"].map(said)) });
    const messages: ModelMessage[] = [];
    for (const content of ["yes", "no", "yes", "bye"]) {
      messages.push({ role: "user", content });
      const model = wrapLanguageModel({
        model: mock,
        middleware: memoryModelMiddleware(memory, of),
      });
      const sent = content === "bye" || shown.startsWith("yes") ? change(messages) : messages;
      messages.push(...(await generateText({ model, messages: sent })).response.messages);
    }
    expect(promptsOf(mock).at(-1)!.map(textOf).join(" ")).toBe(shown);
    const recorded = (await memory.threads.messages(of)).map(({ text }) => text);
    expect(recorded.join(" ")).toBe("yes 1 no 2 yes 3 bye 4");
  });

  it("A step with thoughts and several texts, marked for a provider's cache, is recorded once", async () => {
    const memory = db.memory();
    const of = address();
    const call = { type: "tool-call", toolCallId: "c1", toolName: "now", input: "{}" };
    const end = (reason: "stop" | "tool-calls") => ({
      type: "finish",
      finishReason: finished(reason),
      usage,
    });
    const mock = new MockModel({
      doStream: inOrder(
        streamOf(
          ...thought,
          ...written("1", "One."),
          ...written("2", "Two."),
          call,
          end("tool-calls"),
        ),
        streamOf(...written("1", "Noon."), end("stop")),
      ),
    });
    const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
    await streamText({
      model: wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) }),
      tools: { now: tool({ inputSchema: z.object({}), execute: () => "noon" }) },
      messages: ["Hi", "Hello", "When?"].map((content, at) => ({
        role: at === 1 ? "assistant" : "user",
        content,
      })),
      stopWhen: stepCountIs(3),
      prepareStep: ({ messages }) => ({
        messages: messages.map((message, at) =>
          at < messages.length - 2 ? message : { ...message, providerOptions },
        ),
      }),
    }).consumeStream();
    const steps = [
      "user: When?",
      "assistant: One.\nTwo.\n[calls now {}]",
      "tool: noon",
      "assistant: Noon.",
    ];
    expect(await transcript(memory, of)).toEqual(steps);
  });

  it("A stream that fails records no half of an answer", async () => {
    const memory = db.memory();
    const of = address();
    const stream = streamOf(...written("1", "Your cat is"), {
      type: "error",
      error: new Error("overloaded"),
    });
    const mock = new MockModel({ doStream: stream });
    const model = wrapLanguageModel({ model: mock, middleware: memoryModelMiddleware(memory, of) });
    await streamText({
      model,
      prompt: "What is my cat called?",
      onError: () => {},
    }).consumeStream();
    expect(await transcript(memory, of)).toEqual([]);
  });
});

it("A model of the AI SDK 5 is refused with the command that installs a newer one", async () => {
  const { transformParams } = memoryModelMiddleware(db.memory(), address());
  const model = { specificationVersion: "v2" } as never;
  await expect(
    transformParams?.({ type: "generate", params: { prompt: [] }, model }),
  ).rejects.toMatchObject({
    code: "PEER_MISSING",
    message: expect.stringContaining('run `npm install "ai@^6.0.0 || ^7.0.0"`'),
  });
});
