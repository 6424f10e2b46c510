import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { Command, type StateSnapshot } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import sql from "sql-template-tag";
import { describe, expect, it } from "vitest";
import { deleteSuperseded, findCheckpoints } from "../../src/checkpoints/prune-checkpoints.js";
import { supersededCheckpoints } from "../../src/checkpoints/superseded-checkpoints.rule.js";
import { historyOf } from "../langgraph/conversation.js";
import { cloneThread } from "../support/clone-thread.js";
import { useTestDatabase } from "../support/test-database.js";
import { travelGraph } from "../support/travel-graph.js";

const db = useTestDatabase();
async function threadOf(...inputs: string[]) {
  const graph = travelGraph(db.memory().checkpointer());
  const threadId = randomUUID();
  for (const input of inputs)
    await graph.invoke({ input }, { configurable: { thread_id: threadId } });
  return { graph, threadId };
}
type Graph = ReturnType<typeof travelGraph>;

const history = (graph: Graph, threadId: string) =>
  historyOf(graph, { configurable: { thread_id: threadId } });
const idOf = ({ config }: StateSnapshot) => config.configurable?.checkpoint_id as string;

async function rowsOf(
  threadId: string,
): Promise<Record<"checkpoints" | "writes" | "blobs", number>> {
  const count = (table: string) =>
    `(select count(*)::int from "${db.schema}".${table} where thread_id = $1)`;
  const { rows } = await db.pool.query(
    `select ${count("checkpoints")} as checkpoints, ${count("checkpoint_writes")} as writes,
       ${count("checkpoint_blobs")} as blobs`,
    [threadId],
  );
  return rows[0];
}

/** The outcomes of resuming a copy of the thread from a checkpoint, without and with new input. */
async function goOnFrom(graph: Graph, threadId: string, checkpointId: string) {
  const outcomes = [];
  for (const input of [null, { input: "again" }]) {
    const copy = await cloneThread(db, threadId);
    const from = { configurable: { thread_id: copy, checkpoint_id: checkpointId } };
    outcomes.push(await graph.invoke(input as never, from));
    // The run after it reads what was kept.
    outcomes.push(await graph.invoke({ input: "after" }, { configurable: { thread_id: copy } }));
  }
  return outcomes;
}

describe("checkpoints.prune", () => {
  it("A prune leaves kept checkpoints and the runs from them unchanged", async () => {
    const memory = db.memory();
    const { graph, threadId } = await threadOf("one", "two", "three", "four");
    const whole = await cloneThread(db, threadId);
    const before = await history(graph, threadId);
    const rows = await rowsOf(threadId);

    const pruned = await memory.checkpoints.prune({ keepLast: 5, threadId });
    expect(pruned.threads).toBe(1);
    const left = await rowsOf(threadId);
    expect(left).toEqual({
      checkpoints: rows.checkpoints - pruned.checkpoints,
      writes: rows.writes - pruned.writes,
      blobs: rows.blobs - pruned.blobs,
    });
    expect(left.checkpoints).toBeLessThan(rows.checkpoints / 2);
    expect(left.blobs).toBeLessThan(rows.blobs / 2);

    const after = await history(graph, threadId);
    expect(after.length).toBeGreaterThanOrEqual(5);
    expect(after).toEqual(before.slice(0, after.length));
    for (const snapshot of after) {
      const { config } = snapshot;
      expect(await graph.getState(config)).toEqual(snapshot);
      const [here, there] = [threadId, whole].map((id) => goOnFrom(graph, id, idOf(snapshot)));
      expect(await here).toEqual(await there);
    }
    const nothing = { threads: 1, checkpoints: 0, writes: 0, blobs: 0 };
    expect(await memory.checkpoints.prune({ keepLast: 5, threadId })).toEqual(nothing);
    const { log } = await graph.invoke(
      { input: "five" },
      { configurable: { thread_id: threadId } },
    );
    expect(log).toContain("run 5");
  });

  it.each<[string, Parameters<Graph["invoke"]>[0], object]>([
    ["waits for an answer", { input: "ask" }, {}],
    ["was stopped before a node", { input: "three" }, { interruptBefore: ["joined"] }],
    ["was stopped by a limit", { input: "three" }, { recursionLimit: 3 }],
    ["failed", { input: "fail" }, {}],
  ])(
    "A thread that %s goes on after a prune as if nothing was pruned",
    async (_, input, options) => {
      const memory = db.memory();
      const { graph, threadId } = await threadOf("one", "two");
      await graph
        .invoke(input, { configurable: { thread_id: threadId }, ...options })
        .catch(() => {});
      const whole = await cloneThread(db, threadId);
      const before = await graph.getState(
        { configurable: { thread_id: threadId } },
        { subgraphs: true },
      );
      expect(
        (await memory.checkpoints.prune({ keepLast: 1, threadId })).checkpoints,
      ).toBeGreaterThan(10);
      const after = await graph.getState(
        { configurable: { thread_id: threadId } },
        { subgraphs: true },
      );
      expect(after).toEqual(before);
      const outcomes = [];
      for (const id of [threadId, whole]) {
        const thread = { configurable: { thread_id: id } };
        const resumed = await graph.invoke(new Command({ resume: "yes" }), thread).catch(String);
        outcomes.push([resumed, await graph.invoke({ input: "after" }, thread).catch(String)]);
      }
      expect(outcomes[0]).toEqual(outcomes[1]);
    },
  );

  it.each([1, 4, 12, 40])(
    "A prune keeps what the last %i checkpoints need across branches",
    async (keepLast) => {
      const memory = db.memory();
      // Whole numbers for versions, as other checkpointers count them, then memory's.
      const langGraphs = travelGraph(new PostgresSaver(db.pool, undefined, { schema: db.schema }));
      const graph = travelGraph(memory.checkpointer());
      const threadId = randomUUID();
      const thread = { configurable: { thread_id: threadId } };
      for (const input of ["one", "two", "three"]) await langGraphs.invoke({ input }, thread);
      const ended = (await history(graph, threadId)).filter(({ next }) => next.length === 0);
      for (const input of ["fork", "beside"]) {
        await graph.invoke({ input }, ended[input === "fork" ? 2 : 1]!.config);
        await graph.invoke({ input: `after ${input}` }, thread);
      }
      const before = await history(graph, threadId);
      const whole = await cloneThread(db, threadId);
      await memory.checkpoints.prune({ keepLast, threadId });
      const after = await history(graph, threadId);
      expect(after.length).toBeGreaterThanOrEqual(keepLast);
      expect(after.length).toBeLessThan(before.length);
      expect(after).toEqual(
        before.filter((one) => after.some((other) => idOf(other) === idOf(one))),
      );
      for (const snapshot of [after[0]!, after[keepLast - 1]!]) {
        const [here, there] = [threadId, whole].map((id) => goOnFrom(graph, id, idOf(snapshot)));
        expect(await here).toEqual(await there);
      }
      const newest = after[0]!.values.log as string[];
      expect(newest).toEqual(expect.arrayContaining(["left beside", "left after beside"]));
      expect(newest).not.toContain("left fork");
      await memory.checkpoints.prune({ keepLast: 1, threadId });
      const { rows } = await db.pool.query(
        `select count(*)::int as count from "${db.schema}".checkpoint_blobs b where b.thread_id = $1 and not exists (
         select from "${db.schema}".checkpoints c where c.thread_id = b.thread_id and c.checkpoint_ns = b.checkpoint_ns
           and c.checkpoint -> 'channel_versions' ->> b.channel = b.version)`,
        [threadId],
      );
      expect(rows).toEqual([{ count: 0 }]);
    },
  );

  it("A prune removes only checkpoints older than `olderThan`", async () => {
    let shiftMs = 0;
    const memory = db.memory({ clock: () => new Date(Date.now() + shiftMs) });
    const { threadId } = await threadOf("one", "two");
    const day = 86_400_000;
    for (const olderThan of [day, new Date(Date.now() - day)])
      expect(await memory.checkpoints.prune({ keepLast: 1, olderThan, threadId })).toMatchObject({
        checkpoints: 0,
      });
    shiftMs = 2 * day;
    const { checkpoints } = await memory.checkpoints.prune({
      keepLast: 1,
      olderThan: day,
      threadId,
    });
    expect(checkpoints).toBeGreaterThan(10);
  });

  it("A prune covers the threads of a scope, but none whose id another tenant uses", async () => {
    const memory = db.memory();
    const scope = { tenantId: randomUUID(), userId: "ana" };
    const [own, shared, foreign] = [
      await threadOf("one"),
      await threadOf("one"),
      await threadOf("one"),
    ];
    const record = (of: typeof scope, threadId: string) =>
      memory.record({ scope: of, threadId, messages: [new HumanMessage("hello")] });
    await record(scope, own.threadId);
    await record(scope, shared.threadId);
    await record({ ...scope, tenantId: randomUUID() }, shared.threadId);
    const rows = await Promise.all([shared, foreign].map(({ threadId }) => rowsOf(threadId)));
    expect(await memory.checkpoints.prune({ keepLast: 1, scope })).toMatchObject({ threads: 1 });
    expect((await rowsOf(own.threadId)).checkpoints).toBeLessThan(5);
    expect(await Promise.all([shared, foreign].map(({ threadId }) => rowsOf(threadId)))).toEqual(
      rows,
    );
    expect(
      await memory.checkpoints.prune({ keepLast: 1, scope, threadId: foreign.threadId }),
    ).toMatchObject({
      threads: 0,
    });
    const all = await memory.checkpoints.prune({ keepLast: 1 });
    expect(all.threads).toBeGreaterThanOrEqual(3);
    expect((await rowsOf(foreign.threadId)).checkpoints).toBeLessThan(5);
  });

  it("A prune runs concurrently with graphs", async () => {
    const memory = db.memory();
    const { graph, threadId } = await threadOf("one");
    const thread = { configurable: { thread_id: threadId } };
    let running = true;
    const pruning = (async () => {
      while (running) await memory.checkpoints.prune({ keepLast: 1, threadId });
    })();
    for (const input of ["two", "three", "four", "five"]) await graph.invoke({ input }, thread);
    running = false;
    await pruning;
    const { values } = await graph.getState(thread);
    expect(values.log.filter((line: string) => line.startsWith("run "))).toEqual(
      [1, 2, 3, 4, 5].map((run) => `run ${run}`),
    );
    expect(values.trail.filter((line: string) => line === "ended")).toHaveLength(5);
  });

  it("A prune keeps the parent of a checkpoint of the old format, which has its pending sends", () => {
    const old = { ns: "", forked: false, recent: false, format: 3, replays: false };
    const rows = [0, 1, 2, 3, 4].map((at) => ({ ...old, id: `${at}`, parentId: `${at - 1}` }));
    expect(supersededCheckpoints(rows, 2).map(({ id }) => id)).toEqual(["1", "0"]);
  });

  it("A prune finishes one that was interrupted", async () => {
    const memory = db.memory();
    const { graph, threadId } = await threadOf("one", "two", "three");
    const whole = await cloneThread(db, threadId);
    const before = await history(graph, whole);
    const nodes = await findCheckpoints(db.database, threadId, sql`'infinity'::timestamptz`);
    const doomed = supersededCheckpoints(nodes, 3);
    await deleteSuperseded(db.database, threadId, doomed.slice(0, doomed.length / 2));
    const left = await history(graph, threadId);
    expect(left).toEqual(
      before
        .filter((one) => left.some((other) => idOf(other) === idOf(one)))
        .map((one) => JSON.parse(JSON.stringify(one).replaceAll(whole, threadId))),
    );
    const stopping = memory.checkpoints.prune({
      keepLast: 3,
      threadId,
      signal: AbortSignal.abort(new Error("enough")),
    });
    await expect(stopping).rejects.toThrow("enough");
    await memory.checkpoints.prune({ keepLast: 3, threadId });
    await memory.checkpoints.prune({ keepLast: 3, threadId: whole });
    expect(await rowsOf(threadId)).toEqual(await rowsOf(whole));
  });
});
