import { HumanMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { createAgent } from "langchain";
import pg from "pg";
import {
  type Memory,
  memoryAnnotation,
  memoryMiddleware,
  modelView,
  recallNode,
  rememberNode,
  withMemory,
} from "../src/index.js";
import { HashingEmbeddings, ScriptedChatModel } from "../src/testing/index.js";
import { countStatements, openBenchDatabase } from "./bench-database.js";
import { addMemories, openBenchMemory } from "./bench-memory.js";
import { sentences } from "./data/corpus.js";
import { question, seeded } from "./data/sentences.js";
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";
import { backendsOf, cpuMs } from "./server-cpu.js";
import { timing } from "./timing.js";

// What a whole turn costs: statements, time and processor time of graphs with and without memory,
// in one run.
//   npm run bench:turn [-- --small]    --small: only shows that it works

const isSmall = process.argv.includes("--small");
const memories = 80;
const earlierTurns = 20;
const rounds = isSmall ? 3 : 40;
const roundsOfFifty = isSmall ? 1 : 4;
const users = isSmall ? 5 : 50;
const latencyMs = 100;
const applicationName = "mnemograph_bench_turn";

/** A graph as its users run it. */
interface Runnable {
  invoke(
    input: { messages: HumanMessage[] },
    config: object,
  ): Promise<{ messages: { text: string }[] }>;
  stream(input: { messages: HumanMessage[] }, config: object): Promise<AsyncIterable<unknown>>;
}

const database = await openBenchDatabase();
if (database.server === null) throw new Error("Set DATABASE_URL: this is measured on a server.");
const url = new URL(database.server);
url.searchParams.set("application_name", applicationName);
// Connections stay: the processor time of their processes is read.
const pool = new pg.Pool({ connectionString: url.href, max: 10, idleTimeoutMillis: 0 });
try {
  printEnvironment(database);
  const embeddings = new HashingEmbeddings({ dimensions: 384 });
  const memory = await openBenchMemory({ database: pool, schema: database.schema, embeddings });
  const variants = { ...variantsOf(memory, 0) };
  const slow = variantsOf(memory, latencyMs);
  const results: Record<string, Record<string, number>> = {};
  for (const name of shuffled(Object.keys(variants) as (keyof typeof variants)[])) {
    results[name] = await measure(memory, name, variants[name], slow[name]);
  }
  const ordered = Object.fromEntries(
    Object.keys(variants).map((name) => [name, results[name] ?? {}]),
  );
  printTable(
    "A turn",
    Object.entries(ordered).map(([variant, measured]) => ({ variant, ...measured })),
  );
  await memory.close();
  printLoad();
  printResult(ordered);
} finally {
  await pool.end();
  await database.close();
}

function variantsOf(memory: Memory, latency: number) {
  const model = new ScriptedChatModel({
    replies: () => "That depends on the weather.",
    latencyMs: latency,
  });
  const theirs = new PostgresSaver(pool, undefined, { schema: database.schema });
  const ours = memory.checkpointer();
  const chat = async ({ messages }: typeof MessagesAnnotation.State) => ({
    messages: [await model.invoke(messages)],
  });
  const agent = () =>
    new StateGraph(MessagesAnnotation).addNode("chat", chat).addEdge(START, "chat");
  const State = Annotation.Root({ ...MessagesAnnotation.spec, ...memoryAnnotation.spec });
  const nodes = new StateGraph(State)
    .addNode("recall", recallNode(memory))
    .addNode("chat", async ({ messages, mnemograph }) =>
      chat({ messages: modelView(messages, mnemograph) }),
    )
    .addNode("remember", rememberNode(memory))
    .addEdge(START, "recall")
    .addEdge("recall", "chat")
    .addEdge("chat", "remember");
  const made = {
    plain: agent().compile({ checkpointer: theirs }),
    plainOnOurs: agent().compile({ checkpointer: ours }),
    createAgent: createAgent({ model, tools: [], checkpointer: theirs }),
    nodes: nodes.compile({ checkpointer: ours }),
    middleware: createAgent({
      model,
      tools: [],
      middleware: [memoryMiddleware(memory)],
      checkpointer: ours,
    }),
    withMemory: withMemory(agent().compile(), memory).compile({ checkpointer: ours }),
  };
  return made as unknown as { readonly [Name in keyof typeof made]: Runnable };
}

async function measure(memory: Memory, name: string, graph: Runnable, slow: Runnable) {
  const random = seeded(7);
  const facts = sentences(memories, 3);
  const ask = () => ({
    messages: [new HumanMessage(question(random, facts[Math.floor(random() * memories)] ?? ""))],
  });
  const runs = Array.from({ length: users }, (_, user) => ({
    configurable: { thread_id: `${name} ${user}`, user_id: `${name} ${user}` },
  }));
  const turn = async (of: Runnable, run: object) => {
    const startedAt = performance.now();
    const { messages } = await of.invoke(ask(), run);
    const ms = performance.now() - startedAt;
    if (messages.at(-1)?.text !== "That depends on the weather.")
      throw new Error(`${name} gave no answer.`);
    return ms;
  };
  for (const { configurable } of runs) {
    await addMemories(
      memory,
      { userId: configurable.user_id },
      facts.map((text) => ({ text })),
    );
  }
  for (let earlier = 0; earlier < earlierTurns; earlier++)
    await Promise.all(runs.map((run) => turn(graph, run)));
  const [one = {}] = runs;
  const times = async (of: Runnable) => {
    const ms: number[] = [];
    for (let round = 0; round < rounds; round++) ms.push(await turn(of, one));
    return timing(ms).p50;
  };

  const counted = countStatements(pool);
  await turn(graph, one);
  const statements = counted.stop();
  const p50 = await times(graph);
  const firstTokens: number[] = [];
  for (let round = 0; round < rounds; round++)
    firstTokens.push(await firstTokenOf(graph, ask(), one));

  const pids = await backendsOf(url.href, applicationName);
  const before = { server: cpuMs(pids), client: process.cpuUsage() };
  const countedOfAll = countStatements(pool);
  const all: number[] = [];
  for (let round = 0; round < roundsOfFifty; round++)
    all.push(...(await Promise.all(runs.map((run) => turn(graph, run)))));
  const statementsOf50 = countedOfAll.stop() / all.length;
  const client = process.cpuUsage(before.client);
  const serverMs = (cpuMs(pids) ?? 0) - (before.server ?? 0);
  if (serverMs <= 0)
    throw new Error("This is measured on the server's machine, whose processor time it reads.");
  return {
    statements,
    statementsOf50,
    p50,
    p50of50: timing(all).p50,
    p50of100ms: await times(slow),
    clientCpuMs: (client.user + client.system) / 1_000 / all.length,
    serverCpuMs: serverMs / all.length,
    firstTokenMs: timing(firstTokens).p50,
  };
}

async function firstTokenOf(
  graph: Runnable,
  input: { messages: HumanMessage[] },
  run: object,
): Promise<number> {
  const startedAt = performance.now();
  let first: number | undefined;
  for await (const _ of await graph.stream(input, { ...run, streamMode: "messages" })) {
    first ??= performance.now() - startedAt;
  }
  if (first === undefined) throw new Error("No token came.");
  return first;
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
