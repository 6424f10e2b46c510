/**
 * Runs graphs in each durability, by each call. No checkpoint can be written while their second
 * node runs. Then runs one more.
 *
 * argv: "forgotten" (all users) or "away" (the database), connection string or ":memory:", schema.
 * Prints how they ended.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import pg from "pg";
import { createMemory, memoryMiddleware, withMemory } from "../../../src/index.js";
import { ScriptedChatModel } from "../../../src/testing/index.js";
import { silentLogger } from "../silent-logger.js";
import { silentProxy } from "../silent-proxy.js";

const [how = "", database = "", schema = "mnemograph"] = process.argv.slice(2);
const statementTimeoutMs = 1_000;
const proxy = how === "away" ? await silentProxy(database) : null;
const pool = proxy && new pg.Pool({ connectionString: proxy.url, connectionTimeoutMillis: 1_000 });
const memory = createMemory({
  database: pool ?? database,
  schema,
  jobs: "inline",
  logger: silentLogger,
  config: { memories: { extract: false, episodes: false }, database: { statementTimeoutMs } },
});
await memory.setup();

let atWork = 0;
let isCut = false;
const first = async () => {
  for (atWork++; !isCut; ) await sleep(10);
  return { messages: [new AIMessage("one")] };
};
const second = async () => {
  await sleep(proxy ? 4 * statementTimeoutMs : 500);
  return {};
};
const agent = () =>
  new StateGraph(MessagesAnnotation).addSequence({ first, second }).addEdge(START, "first");
const checkpointer = memory.checkpointer();
const model = new ScriptedChatModel({
  replies: async () => (await first()).messages[0] as AIMessage,
});
const middleware = [
  memoryMiddleware(memory),
  createMiddleware({ name: "second", afterModel: second }),
];
const around = new StateGraph(MessagesAnnotation)
  .addNode("agent", agent().compile())
  .addEdge(START, "agent");
const graphs = [
  agent().compile({ checkpointer }),
  around.compile({ checkpointer }),
  withMemory(agent().compile(), memory).compile({ checkpointer }),
  createAgent({ model, tools: [], middleware, checkpointer }),
] as unknown as ReturnType<ReturnType<typeof agent>["compile"]>[];

const input = { messages: [new HumanMessage("hello")] };
const drain = async (stream: AsyncIterable<unknown>) => {
  for await (const _ of stream);
};
const runs = graphs.flatMap((graph, at) =>
  (["async", "sync", "exit"] as const).flatMap((durability) => {
    const config = (call: number) => {
      return {
        durability,
        configurable: { thread_id: `${at} ${durability} ${call}`, user_id: "ana" },
      };
    };
    return [
      graph.invoke(input, config(0)),
      graph.stream(input, config(1)).then(drain),
      drain(graph.streamEvents(input, { ...config(2), version: "v2" })),
    ];
  }),
);
const ends = runs.map((run) =>
  run.then(() => "succeeded").catch(({ code, message }) => code ?? message),
);
while (atWork < runs.length) await sleep(10);
if (proxy) proxy.silent = true;
else await memory.forget({ scope: { userId: "ana" } });
proxy?.cut();
isCut = true;
console.log((await Promise.all(ends)).join(" "));
if (proxy) proxy.silent = false;
while (memory.databaseStatus().state !== "up") await sleep(100);
await graphs[2]?.invoke(input, { configurable: { thread_id: "other", user_id: "ben" } });
console.log("goes on");
await memory.close();
await pool?.end();
proxy?.close();
