import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { encodeMessage } from "../../src/messages/message-codec.js";
import { linesOf } from "../support/export-lines.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  address,
  bytes,
  dataUrl,
  picture,
  png,
  shown,
  shows,
  url,
} from "../transcript/pictures.js";

const db = useTestDatabase();

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

it.each(forms)(
  "A file is recorded and imported by reference, without bytes and secrets: %s",
  async (_, part, line) => {
    const memory = db.memory();
    const at = address();
    await memory.record({ ...at, messages: [shows(part)] });
    const [kept] = await memory.threads.messages(at);
    expect(kept!.text.slice(0, line.length)).toBe(line);
    expect((await memory.recall(at)).gap.map(({ content }) => content)).toEqual([
      [{ type: "text", text: kept!.text }],
    ]);
    for (const gone of [png, "secret", "pass@"]) expect(await findEverywhere(db, gone)).toEqual({});

    const lines = (await linesOf(memory, at.scope)).map((each) => {
      if (each.type !== "message") return each;
      return { ...each, serialised: encodeMessage(shows(part)) };
    });
    await memory.forget({ scope: at.scope });
    await memory.import({ lines });
    expect((await memory.threads.messages(at)).map(({ text }) => text)).toEqual([kept!.text]);
    expect(await findEverywhere(db, png)).toEqual({});
  },
);

it("Files become lines of their own at their places, in messages of all roles", async () => {
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

it("Bytes beside the text of a tool's result are not kept, and the other fields are", async () => {
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

it("A generated image is dropped from its provider's fields and referenced in the answer's text", async () => {
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

it("The prompt has an image while it is in the state, and its reference once the session dropped it", async () => {
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
