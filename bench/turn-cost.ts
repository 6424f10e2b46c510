import type { AIMessage, HumanMessage } from "@langchain/core/messages";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { OfflineChatModel } from "../src/testing/index.js";
import { type BenchDatabase, countStatements } from "./bench-database.js";
import { messagesOf, openBenchMemory } from "./bench-memory.js";
import { line } from "./data/sentences.js";
import { printTable } from "./report.js";
import { timed, timeInTurns } from "./timing.js";

const turns = { rounds: 280, warmUps: 20 };

/** What `turnCost` measured, for the line of JSON. */
export interface TurnCost {
  /** Most statements that one call sent. */
  readonly roundTrips: { readonly recall: number; readonly remember: number };
  /** p50 of recall + remember ÷ p50 of `select 1`. */
  readonly turnToSelect1: number;
  /** p50 of recall + remember ÷ p50 of one `PostgresSaver.put`. */
  readonly turnToPut: number;
}

/** What recall and remember add to a turn, beside a bare `select 1` and one checkpoint. */
export async function turnCost({ pool, schema }: BenchDatabase): Promise<TurnCost> {
  const memory = await openBenchMemory({ database: pool, schema, model: new OfflineChatModel() });
  const saver = memory.checkpointer();
  const thread = { scope: { userId: "bench" }, threadId: "turn-cost" };
  const trips = { recall: 0, remember: 0 };
  const counting = async <Result>(what: keyof typeof trips, work: () => Promise<Result>) => {
    const counted = countStatements(pool);
    try {
      return await work();
    } finally {
      trips[what] = Math.max(trips[what], counted.stop());
    }
  };
  const timings = await timeInTurns(
    {
      select1: timed(() => pool.query("select 1")),
      put: timed((turn) => put(saver, turn)),
      recall: timed(
        () => counting("recall", () => memory.recall(thread)),
        ({ lastSeq, gap, summary }) => {
          if (lastSeq >= 0 && gap.length === 0 && summary === null)
            throw new Error("Nothing was recalled.");
        },
      ),
      remember: timed(
        (turn) =>
          counting("remember", () => memory.remember({ ...thread, messages: messagesAt(turn) })),
        async ({ recorded }) => {
          if (recorded !== 2) throw new Error(`${recorded} messages were recorded, not 2.`);
          // The summary that it started is not the next call's cost.
          await memory.idle();
        },
      ),
    },
    turns,
  );
  await memory.close();

  printTable(
    "Foreground cost of one turn",
    Object.entries(timings).map(([what, { n, p50, p95 }]) => ({
      what,
      n,
      "round trips, most": what === "recall" || what === "remember" ? trips[what] : "-",
      "p50 ms": p50,
      "p95 ms": p95,
    })),
  );
  const turn = timings.recall.p50 + timings.remember.p50;
  return {
    roundTrips: trips,
    turnToSelect1: turn / timings.select1.p50,
    turnToPut: turn / timings.put.p50,
  };
}

/** The messages of a turn, with ids as a graph's state has them. */
function messagesAt(turn: number): [HumanMessage, AIMessage] {
  const messages = messagesOf([`Question ${turn}`, line("The answer", turn, 208)]);
  for (const [index, message] of messages.entries()) message.id = `m${turn * 2 + index}`;
  return messages;
}

/** One checkpoint with one changed channel, as a node that adds a turn to `messages` makes it. */
async function put(saver: PostgresSaver, turn: number): Promise<void> {
  const versions = { messages: turn + 1 };
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(turn),
    channel_values: { messages: messagesAt(turn) },
    channel_versions: versions,
  };
  await saver.put(
    { configurable: { thread_id: "turn-cost", checkpoint_ns: "" } },
    checkpoint,
    { source: "loop", step: turn, parents: {} },
    versions,
  );
}
