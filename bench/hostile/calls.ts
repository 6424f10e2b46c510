import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createMemory, MemoryError, memoryQueryTool } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import type { BenchDatabase } from "../bench-database.js";

/** A way for a text to come in, through the public interface. */
interface HostileCall {
  readonly name: string;
  /** Whether what came of it shows that the text was taken, or refused in plain words. */
  readonly run: (text: string, id: string) => Promise<boolean>;
}

/** Every way in, on a memory of `database`, and how to leave. */
export async function hostileCalls(database: BenchDatabase) {
  let output = "";
  const model = new ScriptedChatModel({
    replies: (_, __, { tools = [] }) =>
      JSON.stringify(tools[0]).includes("fact_extraction")
        ? { structured: { reasoning: output, facts: [factOf(output)] } }
        : { structured: { reasoning: output, summary: `They talked. ${output}` } },
  });
  const memory = createMemory({
    database: database.pool,
    schema: database.schema,
    model,
    jobs: "inline",
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    config: { memories: { episodes: false }, summaries: { afterSeq: 1 } },
  });
  await memory.setup();
  const known = { scope: { userId: "known" }, threadId: "known" };
  await memory.record({
    ...known,
    messages: [new HumanMessage("My dog is called Rex."), new AIMessage("Nice.")],
  });
  await memory.memories.add({ text: "The user's dog is called Rex." }, { scope: known.scope });
  const { query, transcript } = memory;

  const record = async (id: string, message: HumanMessage | AIMessage | ToolMessage) => {
    const thread = { scope: { userId: id }, threadId: id };
    await memory.record({ ...thread, messages: [new HumanMessage("zebra"), message] });
    return (await memory.recall(thread)).lastSeq === 1;
  };
  const calls: HostileCall[] = [
    { name: "record: text", run: (text, id) => record(id, new HumanMessage(text)) },
    { name: "record: name", run: (text, id) => record(id, new HumanMessage({ content: "x", name: text })) },
    {
      name: "record: tool arguments",
      run: (text, id) =>
        record(
          id,
          new AIMessage({ content: "", tool_calls: [{ id: "c", name: "look", args: { [text]: [text] } }] }),
        ),
    },
    {
      name: "record: artifact",
      run: (text, id) => record(id, new ToolMessage({ content: "x", tool_call_id: "c", artifact: { text } })),
    },
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
      run: (text) => orRefused(async () => Array.isArray(await transcript.search({ ...known, query: text }))),
    },
    {
      name: "memories.add: text",
      run: (text, id) =>
        orRefused(
          async () => (await memory.memories.add([{ text }], { scope: { userId: id } })).length === 1,
        ),
    },
    {
      name: "memories.add: value, key, tags, actor",
      run: (text, id) =>
        orRefused(async () => {
          const draft = {
            text: `The user owns a dog. ${id}`,
            value: text.slice(0, 2_000),
            key: `k${text.slice(0, 150)}`,
          };
          const added = await memory.memories.add([{ ...draft, tags: [text.slice(0, 100)], actorId: text }], {
            scope: { userId: id },
          });
          const block = await memory.recall({ scope: { userId: id }, threadId: id, query: "dog" });
          return added.length === 1 && block.lastSeq === -1;
        }),
    },
    {
      name: "memory_query",
      run: async (text, id) => {
        const scope = { userId: id };
        await orRefused(async () =>
          Boolean(
            await memory.memories.add([{ text: "A dog.", key: "dog", value: text.slice(0, 2_000) }], {
              scope,
            }),
          ),
        );
        const found = await memoryQueryTool(memory, { scope }).invoke({ query: "dog", return: "full" });
        return String(found).length > 0;
      },
    },
    {
      name: "remember: text, and the model's output",
      run: async (text, id) => {
        output = text;
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
      name: "import",
      run: (text, id) =>
        orRefused(async () => {
          const lines = [];
          const scope = { userId: `${id}-from` };
          await memory.memories.add([{ text: `The user owns a dog, ${id}.` }], { scope });
          for await (const line of memory.export(scope)) {
            lines.push(
              JSON.parse(
                JSON.stringify(line).replaceAll(
                  `The user owns a dog, ${id}.`,
                  JSON.stringify(text).slice(1, -1),
                ),
              ),
            );
          }
          await memory.forget(scope);
          return (await memory.import(lines, { scope: { userId: id } })).lines > 0;
        }),
    },
  ];
  return { calls, close: () => memory.close() };
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

function factOf(text: string) {
  return {
    ...{
      category: "knowledge",
      key: text,
      value: text,
      text: `The user owns it. ${text}`,
      importance: 3,
      confidence: 0.9,
    },
    ...{
      evidence: { message: 1, quote: text.length > 0 ? text : "I own it" },
      correction: false,
      updates: null,
    },
  };
}
