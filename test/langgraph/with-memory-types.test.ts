import { join } from "node:path";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  MessagesAnnotation,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import ts from "typescript";
import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { options } from "../support/compiler.js";
import { useTestDatabase } from "../support/test-database.js";
import { answering, newThread } from "./conversation.js";

const database = useTestDatabase();
const hi = () => [new HumanMessage("hi")];

it("The types of a graph's input and output are the agent's own", async () => {
  const state = Annotation.Root({ ...MessagesAnnotation.spec, mood: Annotation<"good" | "bad">() });
  const agent = new StateGraph(state, {
    input: MessagesAnnotation,
    output: Annotation.Root({ mood: state.spec.mood }),
    context: z.object({ tone: z.string() }),
  })
    .addNode("chat", () => ({ mood: "good" as const }))
    .addEdge(START, "chat")
    .compile();
  const graph = withMemory(agent, database.memory()).compile();
  const result = await graph.invoke(
    { messages: hi() },
    { ...newThread(), context: { tone: "kind" } },
  );

  expectTypeOf(result).toEqualTypeOf<{ mood: "good" | "bad" }>();
  expectTypeOf<typeof MessagesAnnotation.Update>().toExtend<Parameters<typeof graph.invoke>[0]>();
  // @ts-expect-error: messages are no number
  void (() => graph.invoke({ messages: 7 }, newThread()));
  // @ts-expect-error: the context is the agent's own
  void (() => graph.invoke({ messages: hi() }, { context: { tone: 7 } }));
  // @ts-expect-error: the agent has no such state key
  void result.messages;
});

it("The types of a StateSchema stay in the graph of withMemory", async () => {
  const schema = new StateSchema({ messages: MessagesValue, count: z.number().default(0) });
  const agent = new StateGraph(schema)
    .addNode("chat", () => ({ count: 1 }))
    .addEdge(START, "chat")
    .compile();
  const graph = withMemory(agent, database.memory()).compile();
  const result = await graph.invoke({ messages: hi() }, newThread());
  expectTypeOf(result).toEqualTypeOf<Awaited<ReturnType<typeof agent.invoke>>>();
  expectTypeOf(result.count).toBeNumber();
});

it("An agent of createAgent keeps its structured response", async () => {
  const model = new ScriptedChatModel({ replies: [{ structured: { mood: "good" } }] });
  const agent = createAgent({ model, tools: [], responseFormat: z.object({ mood: z.string() }) });
  const graph = withMemory(agent, database.memory()).compile();
  const result = await graph.invoke({ messages: hi() }, newThread());
  expect(result.structuredResponse).toEqual({ mood: "good" });
  expectTypeOf(result.structuredResponse).toEqualTypeOf<{ mood: string }>();
  expectTypeOf(result.messages).toExtend<BaseMessage[]>();
});

it("An agent of createAgent keeps its context", async () => {
  const contextSchema = z.object({ plan: z.enum(["free", "gold"]) });
  const seen: unknown[] = [];
  const model = new ScriptedChatModel({ replies: () => "hello" });
  const middleware = createMiddleware({
    name: "plan",
    contextSchema,
    beforeAgent: (_state, { context }) => void seen.push(context),
  });
  const agent = createAgent({ model, tools: [], contextSchema, middleware: [middleware] });
  const graph = withMemory(agent, database.memory()).compile();
  await graph.invoke({ messages: hi() }, { ...newThread(), context: { plan: "gold" } });
  expect(seen).toEqual([{ plan: "gold" }]);
  // @ts-expect-error: there is no such plan
  void (() => graph.invoke({ messages: hi() }, { context: { plan: "silver" } }));
  // @ts-expect-error: the same in a stream
  void (() => graph.stream({ messages: hi() }, { context: { plan: "silver" } }));
});

it("TypeScript reports a misspelt option in one line", () => {
  const folder = join(import.meta.dirname, "misspelt.generated.ts");
  const source = `import { withMemory, type Memory } from "../../src/index.js";
    import type { CreatedAgent } from "../../src/langgraph/wrap/with-memory.js";
    declare const memory: Memory;
    declare const agent: CreatedAgent<{ messages: string[] }>;
    withMemory(agent, memory, { onEror: "throw" });`;
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) =>
    name === folder
      ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022, true)
      : read(name, ...rest);
  host.fileExists = (name) => name === folder || ts.sys.fileExists(name);
  const program = ts.createProgram([folder], options, host);
  const problems = program.getSemanticDiagnostics(program.getSourceFile(folder));
  const reported = expect.stringMatching(/^Object literal .* Did you mean to write 'onError'\?$/);
  expect(problems).toMatchObject([{ messageText: reported }]);
});

it("withMemory accepts only an agent, by its types", () => {
  const builder = new StateGraph(MessagesAnnotation)
    .addNode("chat", () => ({}))
    .addEdge(START, "chat");
  // @ts-expect-error: it is not compiled
  void (() => withMemory(builder, database.memory()));
  // @ts-expect-error: a model is no agent
  void (() => withMemory(answering(), database.memory()));
});
