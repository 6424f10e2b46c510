import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { createMemory } from "../src/index.js";
import { OfflineChatModel } from "../src/testing/index.js";
import { type BenchDatabase, countStatements } from "./bench-database.js";
import { printTable } from "./report.js";
import { percentile } from "./timing.js";

const turns = 300;

/** What `turnCost` measured, for the line of JSON. */
export interface TurnCost {
  readonly roundTrips: { readonly recall: number; readonly remember: number };
  /** p50 of recall + remember ÷ p50 of `select 1`. */
  readonly turnToSelect1: number;
  /** p50 of recall + remember ÷ p50 of one `PostgresSaver.put`. */
  readonly turnToPut: number;
}

/** What recall and remember add to a turn, beside a bare `select 1` and one checkpoint. */
export async function turnCost({ pool, schema }: BenchDatabase): Promise<TurnCost> {
  const memory = createMemory({
    database: pool,
    schema,
    model: new OfflineChatModel(),
    // What is measured is the conversation alone.
    config: { memories: { extract: false, episodes: false } },
  });
  await memory.setup();
  const saver = memory.checkpointer();
  const thread = { scope: { userId: "bench" }, threadId: "turn-cost" };
  const times = {
    select1: [] as number[],
    put: [] as number[],
    recall: [] as number[],
    remember: [] as number[],
  };
  const trips = { recall: 0, remember: 0 };

  for (let turn = 0; turn < turns; turn++) {
    times.select1.push((await timed(() => pool.query("select 1"))).ms);
    const messages = [
      new HumanMessage(`question ${turn}`),
      new AIMessage("an answer of some length. ".repeat(8)),
    ];
    for (const [index, message] of messages.entries()) message.id = `m${turn * 2 + index}`;
    const channel = { messages };
    times.put.push((await timed(() => put(saver, turn, channel))).ms);

    const recall = await timed(() => memory.recall(thread), pool);
    const remember = await timed(() => memory.remember({ ...thread, messages }), pool);
    await memory.idle();
    times.recall.push(recall.ms);
    times.remember.push(remember.ms);
    trips.recall = Math.max(trips.recall, recall.roundTrips);
    trips.remember = Math.max(trips.remember, remember.roundTrips);
  }
  await memory.close();

  printTable(
    `Foreground cost of one turn (${turns} turns)`,
    Object.entries(times).map(([what, ms]) => ({
      what,
      "round trips, most": what === "recall" || what === "remember" ? trips[what] : what === "put" ? "-" : 1,
      "p50 ms": percentile(ms, 0.5),
      "p95 ms": percentile(ms, 0.95),
    })),
  );
  const turn = percentile(times.recall, 0.5) + percentile(times.remember, 0.5);
  return {
    roundTrips: trips,
    turnToSelect1: turn / percentile(times.select1, 0.5),
    turnToPut: turn / percentile(times.put, 0.5),
  };
}

/** One checkpoint with one changed channel, as a node that adds a round to `messages` makes it. */
async function put(
  saver: ReturnType<ReturnType<typeof createMemory>["checkpointer"]>,
  turn: number,
  channel: Record<string, unknown>,
): Promise<void> {
  const versions = { messages: turn + 1 };
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(turn),
    channel_values: channel,
    channel_versions: versions,
  };
  await saver.put(
    { configurable: { thread_id: "turn-cost", checkpoint_ns: "" } },
    checkpoint,
    { source: "loop", step: turn, parents: {} },
    versions,
  );
}

async function timed(work: () => Promise<unknown>, pool?: BenchDatabase["pool"]) {
  const counted = pool && countStatements(pool);
  const startedAt = performance.now();
  try {
    await work();
    return { ms: performance.now() - startedAt, roundTrips: counted?.stop() ?? 0 };
  } finally {
    counted?.stop();
  }
}
