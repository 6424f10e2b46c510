import { HumanMessage } from "@langchain/core/messages";
import { Command, GraphInterrupt, MemorySaver } from "@langchain/langgraph";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { createMemory, type Memory, MemoryError, withMemory } from "../../src/index.js";
import { freePort } from "../support/free-port.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  answering,
  chatAgent,
  lines,
  newThread,
  recorded,
  say,
  streamed,
  transcript,
} from "./conversation.js";
import { agentIn, shownIn, ways } from "./ways.js";

const database = useTestDatabase();
const pools: pg.Pool[] = [];
afterAll(async () => {
  for (const pool of pools) await pool.end();
});

/** A memory whose database does not answer: nothing listens on its port. */
async function unreachable(logger = recordingLogger()) {
  const pool = new pg.Pool({
    connectionString: `postgresql://nobody@127.0.0.1:${await freePort()}/none`,
  });
  pools.push(pool);
  return { memory: createMemory({ database: pool, logger }), logger };
}

/**
 * A memory that can be switched from `first` to `second`: a database that goes down and comes back.
 */
function switching(first: Memory, second: Memory) {
  let current = first;
  const memory: Memory = new Proxy(first, { get: (_, key) => Reflect.get(current, key) });
  return { memory, use: (which: Memory) => (current = which), down: second };
}

// Each waits for the connection to be tried again and again; they wait together.
describe.concurrent.each(ways)("%s without a database", (way) => {
  it("A turn goes on when the database is down, logs it and loses nothing", async () => {
    const up = database.memory();
    const { memory: down, logger } = await unreachable();
    const { memory, use } = switching(up, down);
    const model = answering();
    const graph = await agentIn(way, { memory, model, checkpointer: new MemorySaver() });
    const thread = newThread();
    await say(graph, "question 1", thread);

    use(down);
    const input = { messages: [new HumanMessage("question 2")] };
    const events = await streamed(graph, input, { ...thread, streamMode: "custom" });
    expect(events).toMatchObject([
      { type: "memory.recall", status: "error", detail: "DATABASE_UNAVAILABLE" },
      { type: "memory.database", status: "skipped", detail: "paused" },
      { type: "memory.remember", status: "skipped", detail: "DATABASE_UNAVAILABLE" },
    ]);
    expect(logger.lines).toEqual([
      expect.stringMatching(
        /^warn: the database has not answered for \d+ s: turns go on without memory/,
      ),
      expect.stringMatching(
        /^error: recall failed for .* the turn goes on without it: The database does not answer/,
      ),
    ]);
    expect(shownIn(model.calls[1])).toEqual([
      "human: question 1",
      "ai: answer 1",
      "human: question 2",
    ]);
    expect(await transcript(database, thread)).toHaveLength(2);

    use(up);
    await say(graph, "question 3", thread);
    expect(await transcript(database, thread)).toEqual(recorded(1, 2, 3));
  });
});

describe.concurrent("a failure of memory", () => {
  it("A failure of memory by another database error is recorded as an event", async () => {
    const memory = database.memory();
    const failing: Memory = {
      ...memory,
      recall: () => Promise.reject(new MemoryError("DATABASE_ERROR", "deadlock detected")),
      remember: () => Promise.reject(new Error("no idea")),
    };
    const graph = withMemory(chatAgent(answering()), failing).compile();
    const thread = newThread();
    expect(lines((await say(graph, "hello", thread)).messages)).toEqual([
      "human: hello",
      "ai: answer 1",
    ]);
    const { rows } = await database.pool.query(
      `select step as node, op, status, detail from "${database.schema}".event where user_id = $1 order by id`,
      [thread.configurable.user_id],
    );
    expect(rows).toEqual([
      { node: "recall", op: "search", status: "error", detail: "DATABASE_ERROR" },
      { node: "remember", op: "create", status: "error", detail: "UNEXPECTED" },
    ]);
  });

  it.each(["SETUP_REQUIRED", "PERMISSION_DENIED", "CLOSED"] as const)(
    "A mistake of the program (%s) always fails the turn",
    async (code) => {
      const failing: Memory = {
        ...database.memory(),
        recall: () => Promise.reject(new MemoryError(code, "mistake")),
      };
      const model = answering();
      const graph = withMemory(chatAgent(model), failing).compile();
      await expect(say(graph, "hello", newThread())).rejects.toMatchObject({ code });
      expect(model.calls).toHaveLength(0);
    },
  );

  it("A failure of memory never hides an interrupt, which stops the run until it resumes", async () => {
    const memory = database.memory();
    let interrupted = false;
    const asking: Memory = {
      ...memory,
      async remember(input) {
        if (!interrupted) {
          interrupted = true;
          throw new GraphInterrupt([{ value: "wait", id: "0" }]);
        }
        return memory.remember(input);
      },
    };
    const graph = withMemory(chatAgent(answering()), asking).compile({
      checkpointer: new MemorySaver(),
    });
    const thread = newThread();
    expect(await say(graph, "hello", thread)).toMatchObject({ __interrupt__: [{ value: "wait" }] });
    expect((await graph.getState(thread)).next).toEqual(["memory.remember"]);
    await graph.invoke(new Command({ resume: "go" }), thread);
    expect((await memory.recall(addressOf(thread))).lastSeq).toBe(1);
  });
});
