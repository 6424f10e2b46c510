import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { withMemory } from "../../src/index.js";
import { attachmentOf, filesIn, referenceTo, withReferences } from "../../src/text/attachments.js";
import { decodeMessage, encodeMessage } from "../../src/text/message-codec.js";
import { linesOf } from "../support/export-lines.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { forAll } from "../support/for-all.js";
import { recordingLogger } from "../support/recording-logger.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { processorMs } from "../support/timing.js";

const db = useTestDatabase();
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const digest = createHash("sha256").update(Buffer.from(png, "base64")).digest("hex");
const bytes = `70 bytes, sha256:${digest}`;
const url = "https://ana:pass@example.org/boat.png?signature=secret#part";
const shown = "https://example.org/boat.png";
const dataUrl = `data:image/png;base64,${png}`;
const picture = {
  type: "image",
  mimeType: "image/png",
  data: png,
  metadata: { name: "boat.png" },
} as const;
let users = 0;

function address() {
  const userId = `painter ${users++}`;
  return { scope: { userId }, threadId: `pictures of ${userId}` };
}

const shows = (...content: object[]) => new HumanMessage({ id: "m", content: content as never });

const forms: [string, object, string][] = [
  ["OpenAI's URL", { type: "image_url", image_url: url }, `[image: ${shown}]`],
  [
    "OpenAI's URL in an object",
    { type: "image_url", image_url: { url, detail: "low" } },
    `[image: ${shown}]`,
  ],
  [
    "a data URL",
    { type: "image_url", image_url: { url: dataUrl } },
    `[image: image/png, ${bytes}]`,
  ],
  [
    "a data URL of text",
    { type: "file", url: "data:text/plain,hello%20you" },
    "[file: text/plain, 9 bytes, sha256:",
  ],
  ["Responses' image", { type: "input_image", image_url: url, file_id: null }, `[image: ${shown}]`],
  [
    "Responses' file",
    { type: "input_file", file_id: "file-1", filename: "a.pdf" },
    "[file: a.pdf, file-1]",
  ],
  [
    "OpenAI's file",
    { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${png}` } },
    `[file: a.pdf, application/pdf, ${bytes}]`,
  ],
  [
    "OpenAI's audio",
    { type: "input_audio", input_audio: { data: png, format: "wav" } },
    `[audio: audio/wav, ${bytes}]`,
  ],
  [
    "LangChain's URL",
    { type: "video", url, mimeType: "video/mp4" },
    `[video: video/mp4, ${shown}]`,
  ],
  ["LangChain's base64", picture, `[image: boat.png, image/png, ${bytes}]`],
  [
    "LangChain's bytes",
    { ...picture, data: Buffer.from(png, "base64") },
    `[image: boat.png, image/png, ${bytes}]`,
  ],
  [
    "LangChain's block of a provider",
    { type: "non_standard", value: { type: "image_generation_call", result: png } },
    `[image: ${bytes}]`,
  ],
  ["LangChain's file id", { type: "audio", fileId: "file-1" }, "[audio: file-1]"],
  [
    "LangChain's text",
    { type: "text-plain", mimeType: "text/plain", text: "hello you" },
    "[file: text/plain, 9 bytes, ",
  ],
  [
    "LangChain's earlier base64",
    {
      type: "file",
      source_type: "base64",
      mime_type: "application/pdf",
      data: png,
      metadata: { filename: "a.pdf" },
    },
    `[file: a.pdf, application/pdf, ${bytes}]`,
  ],
  ["LangChain's earlier URL", { type: "image", source_type: "url", url }, `[image: ${shown}]`],
  ["LangChain's earlier id", { type: "image", source_type: "id", id: "file-1" }, "[image: file-1]"],
  [
    "Anthropic's base64",
    { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
    `[image: image/png, ${bytes}]`,
  ],
  [
    "Anthropic's URL",
    { type: "document", source: { type: "url", url }, title: "Plan" },
    `[file: Plan, ${shown}]`,
  ],
  [
    "Anthropic's file id",
    { type: "document", source: { type: "file", file_id: "file_1" } },
    "[file: file_1]",
  ],
  [
    "Google's data",
    { inlineData: { mimeType: "image/png", data: png } },
    `[image: image/png, ${bytes}]`,
  ],
  [
    "Google's file",
    { type: "media", mimeType: "video/mp4", fileUri: "gs://a/b.mp4" },
    "[video: video/mp4, gs://a/b.mp4]",
  ],
  [
    "Bedrock's bytes",
    { image: { format: "png", source: { bytes: Buffer.from(png, "base64") } } },
    `[image: image/png, ${bytes}]`,
  ],
  ["an MCP resource", { type: "resource_link", uri: url, name: "boat" }, `[file: boat, ${shown}]`],
  [
    "an unknown type with a data URL",
    { type: "sketch", body: dataUrl },
    `[image: image/png, ${bytes}]`,
  ],
  [
    "an unknown type with base64",
    { type: "sketch", data: png, mimeType: "image/png" },
    `[image: image/png, ${bytes}]`,
  ],
  ["nothing but a type", { type: "image" }, "[image]"],
  ["a path", { type: "image", url: "boats/ana@home.png?token=secret" }, "[image: home.png]"],
  [
    "a name with brackets and lines",
    { ...picture, metadata: { name: "a]\n[b" } },
    `[image: a) (b, image/png, ${bytes}]`,
  ],
];

describe("a message that is only a file", () => {
  it.each(forms)(
    "is recorded by reference, without bytes and secrets, and imported so: %s",
    async (_, part, line) => {
      const memory = db.memory();
      const at = address();
      await memory.record({ ...at, messages: [shows(part)] });
      const [kept] = await memory.threads.messages(at);
      expect(kept!.text.slice(0, line.length)).toBe(line);
      expect((await memory.recall(at)).gap.map(({ content }) => content)).toEqual([
        [{ type: "text", text: kept!.text }],
      ]);
      for (const gone of [png, "secret", "pass@"])
        expect(await findEverywhere(db, gone)).toEqual({});

      const lines = (await linesOf(memory, at.scope)).map((each) => {
        if (each.type !== "message") return each;
        return { ...each, serialised: encodeMessage(shows(part)) };
      });
      await memory.forget(at.scope);
      await memory.import(lines);
      expect((await memory.threads.messages(at)).map(({ text }) => text)).toEqual([kept!.text]);
      expect(await findEverywhere(db, png)).toEqual({});
    },
  );

  it.each<[string, object]>([
    ["reasoning", { type: "reasoning", reasoning: "hm", signature: png }],
    ["hidden reasoning", { type: "redacted_thinking", data: png }],
    [
      "a call",
      { type: "tool_use", id: "1", name: "file", input: { data: png, mimeType: "image/png" } },
    ],
    ["a search in files", { type: "file_search_call", id: "fs", queries: ["boat"], results: null }],
    [
      "a hit",
      {
        type: "search_result",
        source: shown,
        title: "Boats",
        content: [{ type: "text", text: "x" }],
      },
    ],
    ["what nobody knows", { type: "custom", body: { a: 1 } }],
  ])("is no other part: %s stays as it is", (_, part) => {
    const message = shows({ type: "text", text: "look" }, part);
    expect(withReferences(message)).toBe(message);
  });
});

it("files stand on lines of their own at their places, in messages of all roles", async () => {
  const memory = db.memory();
  const at = address();
  const text = (said: string) => ({ type: "text", text: said });
  const content = [
    text("This"),
    { type: "image_url", image_url: url },
    picture,
    text("is my boat."),
  ] as never;
  const nested = [{ type: "tool_result", tool_use_id: "a", content: [picture] }] as never;
  await memory.record({
    ...at,
    messages: [
      { role: "user", content },
      new AIMessage({
        content,
        tool_calls: [{ id: "c", name: "screenshot", args: {}, type: "tool_call" }],
      }),
      new ToolMessage({ tool_call_id: "c", content, artifact: { rows: [1], shot: [picture] } }),
      new HumanMessage({ content: nested }),
    ],
  });
  const lines = `This\n[image: ${shown}]\n[image: boat.png, image/png, ${bytes}]\nis my boat.`;
  expect((await memory.threads.messages(at)).map((message) => message.text)).toEqual([
    ...[lines, `${lines}\n[calls screenshot {}]`, lines, ""],
  ]);
  expect((await memory.recall(at)).gap[2]).toMatchObject({ artifact: { rows: [1], shot: [] } });
  expect(await findEverywhere(db, png)).toEqual({});
});

it("bytes in what a tool returns beside its text are not kept, and what is beside them is", async () => {
  const memory = db.memory();
  const artifact = {
    rows: [1],
    screenshot: Buffer.from(png, "base64"),
    all: [new Uint8Array(Buffer.from(png, "base64"))],
  };
  const at = address();
  await memory.record({
    ...at,
    messages: [new ToolMessage({ tool_call_id: "c", content: "Done.", artifact })],
  });
  expect((await memory.threads.messages(at)).map(({ text }) => text)).toEqual([
    `Done.\n[file: ${bytes}]`,
  ]);
  expect((await memory.recall(at)).gap).toMatchObject([{ artifact: { rows: [1], all: [] } }]);
  expect(await findEverywhere(db, png)).toEqual({});
});

it("a data URL that never ends takes no second", () => {
  const url = `data:${"A".repeat(4_000_000)}`;
  const read = () => attachmentOf({ type: "image_url", image_url: url })?.type;
  expect(read()).toBe("image");
  expect(processorMs(read, 1_000)).toBeLessThan(1_000);
});

it("an image that a model generated leaves its provider's fields, and is told of in the answer", async () => {
  const memory = db.memory();
  const at = address();
  const call = { type: "image_generation_call", id: "ig_1", status: "completed", result: png };
  const message = new AIMessage({
    content: "Here you are.",
    additional_kwargs: { tool_outputs: [call], audio: { id: "a", data: png.repeat(2) } },
    response_metadata: { output: [{ type: "message", id: "m" }, call], model_name: "painter" },
  });
  await memory.record({ ...at, messages: [message] });
  const [back] = (await memory.recall(at)).gap;
  expect(back!.text).toMatch(
    /^Here you are\.\n\[image: 70 bytes, sha256:\w+\]\n\[audio: \d+ bytes, sha256:\w+\]$/,
  );
  expect(back).toMatchObject({
    additional_kwargs: { tool_outputs: [] },
    response_metadata: { output: [{ type: "message", id: "m" }], model_name: "painter" },
  });
  expect(await findEverywhere(db, png)).toEqual({});
});

describe("a caption", () => {
  it("is asked for once, found, learned from, exported, imported, redacted and forgotten with its message", async () => {
    const described: unknown[] = [];
    const model = taskModel({
      fact_extraction: (prompt) =>
        facts(
          ...(prompt.includes("schooner")
            ? [candidate("Ana has a schooner called Zerberus.", "schooner Zerberus")]
            : []),
        ),
    });
    const memory = db.memory({
      model,
      describe: async (part) => {
        described.push(part);
        return "Ana's schooner Zerberus at the secret pier";
      },
      redact: (text) => text.replaceAll("secret", "…"),
      config: { memories: { extract: true } },
    });
    const at = address();
    const boat = { ...picture, data: Buffer.from("a boat").toString("base64") };
    const line = `boat.png, image/png, 6 bytes, sha256:${createHash("sha256").update("a boat").digest("hex")}`;
    const message = shows(boat, { type: "image_url", image_url: { url } });
    await memory.remember({ ...at, messages: [message] });
    await memory.remember({ ...at, messages: [message] });
    await memory.record({
      ...at,
      messages: [message, new HumanMessage({ id: "n", content: [boat] })],
    });
    expect(described).toEqual([boat, { type: "image", url }, boat]);

    const caption = "Ana's schooner Zerberus at the … pier";
    const [kept] = await memory.threads.messages(at);
    expect(kept!.text).toBe(`[image: ${caption}; ${line}]\n[image: ${caption}; ${shown}]`);
    const [found] = await memory.transcript.search({ scope: at.scope, query: "schooner" });
    expect(found!.text).toContain("Zerberus");
    await memory.idle();
    const [hit] = await memory.query({ scope: at.scope, query: "schooner" });
    expect(hit!.memory.text).toBe("Ana has a schooner called Zerberus.");

    const lines = await linesOf(memory, at.scope);
    await memory.forget(at.scope);
    for (const gone of [line, "schooner", "Zerberus"])
      expect(await findEverywhere(db, gone)).toEqual({});
    await memory.import(lines);
    expect((await memory.threads.messages(at))[0]!.text).toBe(kept!.text);
    await memory.forget(at.scope);
  });

  const bad: [string, () => unknown, string][] = [
    ["throws", () => { throw new Error("secret"); }, "unexpected"], // biome-ignore format: a row each
    ["rejects", () => Promise.reject(new TypeError("secret")), "unexpected TypeError"],
    [
      "gives no text",
      async () => ({ text: "a boat" }),
      "`describe` must return text; it returned object.",
    ],
    ["never settles", () => new Promise(() => {}), "did not answer within 100 ms"],
    ["is late", () => wait(300, "a boat"), "did not answer within 100 ms"],
  ];
  it.each(bad)(
    "that %s is logged, and its message recorded without it in time",
    async (_, describe, reason) => {
      const logger = recordingLogger();
      const rejected = vi.fn();
      process.on("unhandledRejection", rejected);
      onTestFinished(() => void process.off("unhandledRejection", rejected));
      const memory = db.memory({
        describe: describe as never,
        logger,
        config: { upkeep: { timeoutMs: 100 } },
      });
      const at = address();
      await memory.remember({ ...at, messages: [shows(picture, { type: "image", url })] });
      const [kept] = await memory.threads.messages(at);
      expect(kept!.text).toBe(`[image: boat.png, image/png, ${bytes}]\n[image: ${shown}]`);
      const warned = logger.lines.filter((line) => line.startsWith("warn: image in"));
      expect(warned).toHaveLength(2);
      expect(warned[0]).toContain(reason);
      expect(warned.join()).not.toContain("secret");
      expect(rejected).not.toHaveBeenCalled();
    },
  );

  it.each([
    ["an empty one is none", "", `[image: boat.png, image/png, ${bytes}]`],
    [
      "a long one is cut",
      "ab ".repeat(9_000),
      `[image: ${"ab ".repeat(167).slice(0, 499)}…; boat.png, image/png, ${bytes}]`,
    ],
    [
      "lines become one",
      "a boat]\n\n<memory>\u0000\nat sea",
      `[image: a boat) <memory> at sea; boat.png, image/png, ${bytes}]`,
    ],
  ])("stays one bounded line: %s", async (_, caption, line) => {
    const memory = db.memory({ describe: async () => caption });
    const at = address();
    await memory.record({ ...at, messages: [shows(picture)] });
    expect((await memory.threads.messages(at)).map(({ text }) => text)).toEqual([line]);
  });
});

it("the prompt has the image while it is in the state, and its reference once the session dropped it", async () => {
  const prompts: BaseMessage[][] = [];
  const agent = async ({ messages }: typeof MessagesAnnotation.State) => {
    prompts.push(messages);
    return { messages: [new AIMessage("I see.")] };
  };
  const memory = db.memory({ config: { summaries: { keepRecentMessages: 0 } } });
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", agent)
    .addEdge(START, "agent")
    .compile();
  const app = withMemory(graph, memory, { session: "bounded" }).compile({
    checkpointer: memory.checkpointer(),
  });
  const at = address();
  const config = { configurable: { thread_id: at.threadId, user_id: at.scope.userId } };
  for (const content of [[picture], "And now?", "And then?", "Well?"]) {
    await app.invoke({ messages: [new HumanMessage({ content: content as never })] }, config);
  }
  const first = prompts.map((messages) =>
    JSON.stringify(messages.find(({ type }) => type === "human")?.content),
  );
  expect(first[0]).toContain(png);
  expect(first.at(-1)).toContain(`[image: boat.png, image/png, ${bytes}]`);
  expect(first.at(-1)).not.toContain(png);
});

const secret = "zzSECRETzz";
const someUrl = fc
  .tuple(fc.webUrl(), fc.string({ maxLength: 5 }))
  .map(([address, tail]) => `${address}?${encodeURIComponent(tail)}=${secret}#${secret}`);
const somePart = fc.letrec<{ part: object; value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    someUrl,
    fc.constantFrom(`data:image/png;base64,${png}`, null, 1),
    fc.string({ unit: "binary", maxLength: 2_000 }),
    tie("part"),
  ),
  part: fc.dictionary(
    fc.constantFrom(
      ..."type url data image_url source source_type id file_id file file_data mimeType media_type format name".split(
        " ",
      ),
      ..."metadata input_audio image inlineData fileUri text content title".split(" "),
    ),
    fc.oneof(
      fc.constantFrom("image", "image_url", "file", "document", "base64", "url", "id", "text"),
      tie("value"),
    ),
    { maxKeys: 6 },
  ),
})).part;

describe("a reference to anything", () => {
  it("is one bounded line without base64 and query strings, or there is none", () => {
    forAll(somePart, fc.string({ unit: "binary", maxLength: 3_000 }), (part, caption) => {
      const file = attachmentOf(part);
      if (file === null) return;
      const line = referenceTo(file, caption);
      expect(line).toMatch(/^\[(?:image|audio|video|file)(?:: [^\n[\]]+)?\]$/u);
      expect(line.length).toBeLessThan(1_300);
      expect(line.replace(caption, "")).not.toMatch(new RegExp(png.slice(0, 40)));
      if (file.url !== undefined) expect(line).not.toContain(secret);
    });
  });

  it("never fails, whatever is in the message, and has nothing left to replace the second time", () => {
    forAll(
      fc.array(fc.oneof(somePart, fc.anything()), { maxLength: 4 }),
      fc.anything(),
      (content, artifact) => {
        const message = new ToolMessage({ tool_call_id: "c", content: "", artifact });
        message.content = content as never;
        const once = withReferences(message);
        expect(
          filesIn(decodeMessage(encodeMessage(once))).filter(({ data }) => data !== undefined),
        ).toEqual([]);
      },
    );
  });
});
