import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { bearerTokens, createMemoryApp } from "../../packages/server/src/http/index.js";
import { createMemory, type Memory, MemoryError, memoryQueryTool } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { addMemories, recordTurns } from "../bench-memory.js";

/** A way for a text to come in, through the public interface. */
export interface HostileCall {
  readonly name: string;
  /**
   * Sends the text in, for a user and thread called `id`.
   *
   * @returns whether it was taken, or refused in plain words.
   */
  readonly run: (text: string, id: string) => Promise<boolean>;
}

/** Every way in, on a memory of `database`, and how to close it. */
export async function hostileCalls(database: BenchDatabase) {
  const { model, say } = echoingModel();
  const memory = createMemory({
    database: database.pool,
    schema: database.schema,
    model,
    jobs: "inline",
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    config: { preset: "every-round", memories: { episodes: false } },
  });
  await memory.setup();
  const token = "of-the-operator-".repeat(2);
  const app = createMemoryApp(memory, {
    authenticate: bearerTokens({ [token]: { role: "operator" } }),
  });
  const calls: HostileCall[] = [
    ...recordCalls(memory),
    ...(await questionCalls(memory)),
    ...memoryCalls(memory),
    {
      name: "remember: text, and the model's output",
      run: async (text, id) => {
        // It answers with the text four times.
        say(text.slice(0, text.length / 4));
        const before = model.calls.length;
        await memory.remember({
          scope: { userId: id },
          threadId: id,
          messages: [new HumanMessage(`I own it. ${text}`), new AIMessage("So?")],
        });
        return model.calls.length > before;
      },
    },
    {
      name: "POST /remember",
      async run(text, id) {
        const messages = [{ role: "user", content: text }];
        const body = JSON.stringify({ threadId: id, messages });
        const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
        const { status } = await app.fetch(
          new Request(`http://localhost/remember?userId=${encodeURIComponent(id)}`, {
            method: "POST",
            headers,
            body,
          }),
        );
        return status === 200 || status === 413;
      },
    },
    { name: "import", run: (text, id) => orRefused(() => importText(memory, text, id)) },
  ];
  return { calls, close: () => memory.close() };
}

function recordCalls(memory: Memory): HostileCall[] {
  const record = async (id: string, message: HumanMessage | AIMessage | ToolMessage) => {
    const thread = { scope: { userId: id }, threadId: id };
    await memory.record({ ...thread, messages: [new HumanMessage("zebra"), message] });
    return (await memory.recall(thread)).lastSeq === 1;
  };
  const half = (text: string) => text.slice(0, text.length / 2);
  const calling = (text: string) => ({
    id: "c",
    name: "look",
    args: { [half(text)]: [half(text)] },
  });
  return [
    { name: "record: text", run: (text, id) => record(id, new HumanMessage(text)) },
    {
      name: "record: name",
      run: (text, id) => record(id, new HumanMessage({ content: "x", name: text })),
    },
    {
      name: "record: tool arguments",
      run: (text, id) => record(id, new AIMessage({ content: "", tool_calls: [calling(text)] })),
    },
    {
      name: "record: artifact",
      run: (text, id) =>
        record(id, new ToolMessage({ content: "x", tool_call_id: "c", artifact: { text } })),
    },
  ];
}

/** Questions to a user of whom one thing is known. */
async function questionCalls(memory: Memory): Promise<HostileCall[]> {
  const known = { scope: { userId: "known" }, threadId: "known" };
  await recordTurns(memory, known, [["My dog is called Rex.", "Nice."]]);
  await addMemories(memory, known.scope, { text: "The user's dog is called Rex." });
  const { query, transcript } = memory;
  return [
    {
      name: "recall: question",
      run: async (text) => (await memory.recall({ ...known, query: text })).lastSeq === 1,
    },
    {
      name: "query",
      run: (text) => orRefused(async () => Array.isArray(await query({ ...known, query: text }))),
    },
    {
      name: "transcript.search",
      run: (text) =>
        orRefused(async () => Array.isArray(await transcript.search({ ...known, query: text }))),
    },
  ];
}

function memoryCalls(memory: Memory): HostileCall[] {
  return [
    {
      name: "memories.add: text",
      run: (text, id) =>
        orRefused(
          async () =>
            (await memory.memories.add({ scope: { userId: id }, memories: [{ text }] })).length ===
            1,
        ),
    },
    {
      name: "memories.add: value, key, tags, actor",
      run: (text, id) =>
        orRefused(async () => {
          const scope = { userId: id };
          const draft = {
            text: `The user owns a dog. ${id}`,
            value: text.slice(0, 2_000),
            key: `k${text.slice(0, 150)}`,
            tags: [text.slice(0, 100)],
            actorId: text,
          };
          const added = await memory.memories.add({ scope, memories: [draft] });
          const block = await memory.recall({ scope, threadId: id, query: "dog" });
          return added.length === 1 && block.lastSeq === -1;
        }),
    },
    {
      name: "memory_query",
      run: async (text, id) => {
        const scope = { userId: id };
        await orRefused(async () => {
          const draft = { text: "A dog.", key: "dog", value: text.slice(0, 2_000) };
          return (await memory.memories.add({ scope, memories: [draft] })).length === 1;
        });
        const found = await memoryQueryTool(memory, { scope }).invoke({
          query: "dog",
          return: "full",
        });
        return String(found).length > 0;
      },
    },
  ];
}

/** Imports an export of one memory, with `text` in the place of what the memory says. */
async function importText(memory: Memory, text: string, id: string): Promise<boolean> {
  const scope = { userId: `${id}-from` };
  const said = `The user owns a dog, ${id}.`;
  await addMemories(memory, scope, { text: said });
  const lines: string[] = [];
  for await (const line of memory.export({ scope })) {
    lines.push(JSON.stringify(line).replaceAll(said, () => JSON.stringify(text).slice(1, -1)));
  }
  await memory.forget({ scope });
  return (await memory.import({ scope: { userId: id }, lines })).lines > 0;
}

/** A model that answers every question with what it was last told to say. */
function echoingModel() {
  let output = "";
  const model = new ScriptedChatModel({
    replies: (_, __, { tools: [tool] = [] }) => {
      const { name } = (tool as { function: { name: string } }).function;
      const isFacts = name === "fact_extraction";
      const args = isFacts
        ? { reasoning: output, facts: [factOf(output)] }
        : { reasoning: output, summary: `They talked. ${output}` };
      // With its usage, which the stand-in else estimates by writing the calls as JSON again.
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const reply = new AIMessage({ tool_calls: [{ name, args, id: randomUUID() }] });
      return Object.assign(reply, { usage_metadata: usage });
    },
  });
  const say = (text: string) => {
    output = text;
  };
  return { model, say };
}

function factOf(text: string) {
  return {
    category: "knowledge",
    key: text,
    value: text,
    text: `The user owns it. ${text}`,
    importance: 3,
    confidence: 0.9,
    relation: "new",
    target: null,
    message: 1,
    quote: text.length > 0 ? text : "I own it",
  };
}

/** Refusing is an answer as well, but nothing that the database says is. */
async function orRefused(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (MemoryError.is(error) && error.code === "INVALID_INPUT") return true;
    throw error;
  }
}
