import { join } from "node:path";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  MessagesAnnotation,
  MessagesValue,
  MessagesZodMeta,
  ReducedValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { registry, withLangGraph } from "@langchain/langgraph/zod";
import { createAgent, createMiddleware } from "langchain";
import ts from "typescript";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { options } from "../support/compiler.js";
import { useTestDatabase } from "../support/test-database.js";
import { type AnyGraph, answering, lines, newThread } from "./conversation.js";

const database = useTestDatabase();

const append = (left: string[], right: string | string[]) => left.concat(right);
const add = (left: number, right: number) => left + right;
const states = {
  annotation: Annotation.Root({
    ...MessagesAnnotation.spec,
    log: Annotation<string[], string | string[]>({ reducer: append, default: () => ["begin"] }),
    total: Annotation<number>({ reducer: add, default: () => 10 }),
    count: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
    untouched: Annotation<string>(),
  }),
  stateSchema: new StateSchema({
    messages: MessagesValue,
    log: new ReducedValue(
      z.array(z.string()).default(() => ["begin"]),
      { inputSchema: z.string(), reducer: append },
    ),
    total: new ReducedValue(
      z.number().default(() => 10),
      { reducer: add },
    ),
    count: z.number().default(0),
    untouched: z.string().optional(),
  }),
  zod: z.object({
    messages: withLangGraph(z.custom<BaseMessage[]>(), MessagesZodMeta),
    log: withLangGraph(z.array(z.string()), {
      default: () => ["begin"],
      reducer: { schema: z.string(), fn: append },
    }),
    total: withLangGraph(z.number(), { default: () => 10, reducer: { fn: add } }),
    count: z.number().default(0),
    untouched: z.string().optional(),
  }),
};
function agentOf(state: object, chat: object, schemas: object = {}) {
  return new StateGraph(state as typeof MessagesAnnotation, schemas)
    .addNode("chat", chat as never)
    .addEdge(START, "chat")
    .compile();
}
const counting = (kind: keyof typeof states) =>
  agentOf(states[kind], ({ count }: { count: number }) => ({
    messages: [new HumanMessage({ content: `seen ${count}`, name: "counter" })],
    log: `round ${count}`,
    total: 2,
    count: count + 1,
  }));

describe.each(Object.keys(states) as (keyof typeof states)[])(
  "the keys of an agent made with %s",
  (kind) => {
    it("The keys of an agent's state are the same as without memory in every turn", async () => {
      const memory = database.memory();
      const checkpointer = memory.checkpointer();
      const plain = counting(kind) as unknown as AnyGraph;
      const [bare, wrapped] = [newThread(), newThread()];
      Object.assign(plain, { checkpointer });
      const graph = withMemory(counting(kind), memory).compile({ checkpointer });

      for (const round of [1, 2, 3]) {
        const input = () => ({
          messages: [new HumanMessage({ id: `${round}`, content: `question ${round}` })],
          ...(round === 2 && { untouched: "kept", log: "from outside" }),
        });
        const { messages: said, ...expected } = await plain.invoke(input(), bare);
        const { messages, ...state } = await (graph as unknown as AnyGraph).invoke(
          input(),
          wrapped,
        );
        expect(state).toEqual(expected);
        expect(lines(messages)).toEqual(lines(said));
      }
      const { values } = await graph.getState(wrapped);
      expect(values).toMatchObject({ total: 16, untouched: "kept" });
      // LangGraph itself sets a zod default anew with every input: then each turn is turn 0.
      const rounds = kind === "zod" ? [0, 0, 0] : [0, 1, 2];
      const [first, ...later] = rounds.map((round) => `round ${round}`);
      expect(values.log).toEqual(["begin", first, "from outside", ...later]);
    });
  },
);

describe("an agent with schemas of its own", () => {
  const own = {
    annotation: {
      state: Annotation.Root({
        ...MessagesAnnotation.spec,
        question: Annotation<string>(),
        answer: Annotation<string>(),
        visits: Annotation<number>(),
      }),
      input: Annotation.Root({ question: Annotation<string>() }),
      output: Annotation.Root({ answer: Annotation<string>() }),
    },
    zod: {
      state: z.object({
        messages: z.custom<BaseMessage[]>().register(registry, MessagesZodMeta as never),
        question: z.string(),
        answer: z.string(),
        visits: z.number().optional(),
      }),
      input: z.object({ question: z.string() }),
      output: z.object({ answer: z.string() }),
    },
  };

  it.each(["annotation", "zod"] as const)(
    "An agent with schemas of its own takes its input, gives its output and keeps the rest (%s)",
    async (kind) => {
      const memory = database.memory();
      const chat = ({
        question,
        visits = 1,
      }: {
        question: string;
        visits?: number | undefined;
      }) => ({
        messages: [new HumanMessage(question)],
        answer: `${question} ${visits}`,
        visits: visits + 1,
      });
      const { state, ...schemas } = own[kind];
      const agent = agentOf(state, chat, schemas);
      const graph = withMemory(agent, memory).compile({
        checkpointer: memory.checkpointer(),
      }) as unknown as AnyGraph;
      const thread = newThread();
      expect(await graph.invoke({ question: "who", secret: "ignored" }, thread)).toEqual({
        answer: "who 1",
      });
      expect(await graph.invoke({ question: "what" }, thread)).toEqual({ answer: "what 2" });
      expect(lines((await graph.getState(thread)).values.messages)).toEqual([
        "human: who",
        "human: what",
      ]);
      if (kind === "zod")
        await expect(graph.invoke({ question: 7 }, thread)).rejects.toThrow(/expected string/);
    },
  );

  it("An agent's input is validated by its StateSchema", async () => {
    const memory = database.memory();
    const state = new StateSchema({ messages: MessagesValue, age: z.number().optional() });
    const agent = agentOf(state, () => ({}));
    const graph = withMemory(agent, memory).compile() as unknown as AnyGraph;
    await expect(graph.invoke({ messages: [], age: "old" }, newThread())).rejects.toThrow(/age/);
  });

  it("An agent gets its context, validated by its own schema", async () => {
    const memory = database.memory();
    const contextSchema = z.object({ tone: z.enum(["kind", "curt"]), userId: z.string() });
    const agent = new StateGraph(MessagesAnnotation, contextSchema)
      .addNode("chat", (_, { context }) => ({
        messages: [new HumanMessage(`${context?.tone} ${context?.userId}`)],
      }))
      .addEdge(START, "chat")
      .compile();
    const graph = withMemory(agent, memory).compile();
    const { configurable } = newThread({ user_id: undefined });
    const input = { messages: [new HumanMessage("hi")] };
    const result = await graph.invoke(input, {
      configurable,
      context: { tone: "kind", userId: "ana" },
    });
    expect(lines(result.messages)).toEqual(["human: hi", "human: kind ana"]);
    const threads = await memory.threads.list({ scope: { userId: "ana" } });
    expect(threads).toMatchObject([{ threadId: configurable.thread_id }]);
    const refused = graph.invoke(input, { configurable, context: { tone: "rude" } as never });
    await expect(refused).rejects.toThrow(/tone/);
  });
});

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
