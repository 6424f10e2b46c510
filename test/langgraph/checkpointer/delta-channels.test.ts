import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  DeltaChannel,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  MessagesDeltaValue,
  messagesDeltaReducer,
  Overwrite,
  Send,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Memory, withMemory } from "../../../src/index.js";
import { findEverywhere } from "../../support/find-everywhere.js";
import { useTestDatabase } from "../../support/test-database.js";
import { watchedPool } from "../../support/watched-pool.js";
import { lines, newThread, say, summarizing, transcript } from "../conversation.js";

const database = useTestDatabase();

/** What one run does: nodes write in parallel, one may ask first, and one may write over everything. */
const planned = fc.record({
  name: fc.string({ minLength: 1, maxLength: 3, unit: "grapheme-ascii" }),
  sends: fc.nat(2),
  asks: fc.boolean(),
  resets: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
type Plan = typeof planned extends fc.Arbitrary<infer Value> ? Value : never;

/** Two delta channels, which store a snapshot after so many updates each. */
function deltaGraph(checkpointer: BaseCheckpointSaver, [ofTrail, ofMessages]: readonly [number, number]) {
  const State = Annotation.Root({
    plan: Annotation<Plan>(),
    trail: () =>
      new DeltaChannel<string[], string[]>((all, writes) => [...(all ?? []), ...writes.flat()], {
        snapshotFrequency: ofTrail,
      }),
    messages: () => new DeltaChannel(messagesDeltaReducer, { snapshotFrequency: ofMessages }),
  });
  return new StateGraph(State)
    .addNode("left", ({ plan, messages }) => ({
      trail: (plan.resets ? new Overwrite([`over ${messages.length}`]) : [`left ${plan.name}`]) as string[],
      messages: [new AIMessage({ id: `left ${plan.name}`, content: "left" })],
    }))
    .addNode("right", ({ plan, messages }) => ({
      trail: plan.resets ? [] : [`right ${plan.asks ? interrupt("what?") : plan.name}`],
      messages: messages.slice(0, plan.sends).map(({ id }) => new RemoveMessage({ id: id ?? "" })),
    }))
    .addNode("worker", ({ trail }) => ({ trail: trail }))
    .addNode("last", ({ trail, messages }) => ({ trail: [`after ${trail.length} and ${messages.length}`] }))
    .addConditionalEdges(START, ({ plan }) => [
      ...["left", "right"],
      ...Array.from(
        { length: plan.resets ? 0 : plan.sends },
        (_, index) => new Send("worker", { trail: [`worker ${index}`] }),
      ),
    ])
    .addEdge(["left", "right"], "last")
    .compile({ checkpointer });
}

const oneTo = (max: number) => fc.integer({ min: 1, max });
/** Each kind of step takes of the rest what it needs. */
const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      "run",
      "run",
      "fork",
      "fork",
      "edit",
      "edit old",
      "resume",
      "replay",
      "prune",
      "prune",
    ),
    plan: planned,
    durability: fc.constantFrom("async", "sync", "exit"),
    at: fc.nat(30),
    keepLast: oneTo(6),
  }),
  { minLength: 3, maxLength: 9 },
);
type Step = typeof steps extends fc.Arbitrary<(infer Value)[]> ? Value : never;

/** A thread on `saver`, whose checkpoints are known by the order in which they were made. */
function threadOn(saver: BaseCheckpointSaver, frequencies: readonly [number, number]) {
  const graph = deltaGraph(saver, frequencies);
  const thread = { configurable: { thread_id: randomUUID(), user_id: "ana" } };
  const made: string[] = [];
  /** Places in `made` of the checkpoints that are still there. */
  const places = async () => {
    const ids: string[] = [];
    for await (const { checkpoint } of saver.list(thread)) ids.push(checkpoint.id);
    made.push(...ids.filter((id) => !made.includes(id)).sort());
    return ids.map((id) => made.indexOf(id)).sort((a, b) => a - b);
  };
  /** Without a place, the latest. */
  const from = (place?: number) => ({
    configurable: {
      ...{ ...thread.configurable, checkpoint_ns: "" },
      ...(place !== undefined && { checkpoint_id: made[place] }),
    },
  });
  const stateAt = async (place?: number) => {
    const { values, next, tasks } = await graph.getState(from(place));
    const { trail, messages = [] } = values as { trail?: string[]; messages?: AIMessage[] };
    const asked = tasks.map(({ interrupts }) => interrupts.map(({ value }) => value));
    return { place, trail, messages: messages.map(({ id }) => id), next, asked };
  };
  const take = async ({ kind, plan, durability }: Step, place?: number) => {
    const messages = [new HumanMessage({ id: `said ${plan.name}`, content: "hi" })];
    const config = from(/^(fork|replay|edit old)$/.test(kind) ? place : undefined);
    if (kind.startsWith("edit"))
      return void (await graph.updateState(config, { trail: [`edit ${plan.name}`], messages }, "left"));
    const inputs: Record<string, unknown> = { resume: new Command({ resume: "yes" }), replay: null };
    await graph.invoke((kind in inputs ? inputs[kind] : { plan, messages }) as never, {
      ...config,
      durability: durability as "async",
    });
  };
  return { places, stateAt, threadId: thread.configurable.thread_id, take };
}

describe("delta channels on memory.checkpointer()", () => {
  it("turn 4: hold what they hold on MemorySaver, whatever is run, forked, edited, resumed and pruned", async () => {
    const memory = database.memory();
    await fc.assert(
      fc.asyncProperty(fc.tuple(oneTo(6), oneTo(6)), steps, async (frequencies, taken) => {
        const ours = threadOn(memory.checkpointer(), frequencies);
        const theirs = threadOn(new MemorySaver(), frequencies);
        for (const step of taken) {
          const { threadId } = ours;
          if (step.kind === "prune") await memory.checkpoints.prune({ keepLast: step.keepLast, threadId });
          const kept = await ours.places();
          const place = kept[step.at % kept.length];
          const outcome = ({ take }: typeof ours) => take(step, place).catch(({ name }: Error) => name);
          if (step.kind !== "prune") expect(await outcome(ours)).toEqual(await outcome(theirs));
          await theirs.places();
          for (const at of [undefined, ...(await ours.places())])
            expect(await ours.stateAt(at)).toEqual(await theirs.stateAt(at));
        }
      }),
      { numRuns: Number(process.env.RUNS ?? 20) },
    );
  });

  /** A turn of the default user, in a thread of `n` turns. */
  async function talked(memory: Memory, turns: number, user_id = "ana") {
    const graph = deltaGraph(memory.checkpointer(), [100, 100]);
    const thread = { configurable: { thread_id: randomUUID(), user_id } };
    for (let turn = 0; turn < turns; turn++) {
      const plan = { name: `zanzibar ${turn}`, sends: 0, asks: false, resets: false };
      await graph.invoke(
        { plan, messages: [new HumanMessage({ id: plan.name, content: plan.name })] },
        thread,
      );
    }
    return { graph, thread };
  }

  it("turn 4: are read with two statements, however long the thread", async () => {
    const { pool, statements } = watchedPool(database.pool);
    const { graph, thread } = await talked(database.memory({ database: pool }), 12);
    statements.length = 0;
    const { values } = await graph.getState(thread);
    expect(values.trail.filter((line: string) => line.startsWith("left"))).toHaveLength(12);
    expect(statements).toHaveLength(2);
  });

  it("turn 4: are another's to nobody, and gone when their user is forgotten", async () => {
    const memory = database.memory();
    const { graph, thread } = await talked(memory, 2);
    const { config } = await graph.getState(thread);
    const saver = memory.checkpointer();
    for (const ids of [{ user_id: "eve" }, { app_id: "other" }, { user_id: undefined }]) {
      const asked = { configurable: { ...config.configurable, ...ids } };
      const history = saver.getDeltaChannelHistory({ config: asked, channels: ["trail"] });
      await expect(history).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
    }
    const elsewhere = { configurable: { ...config.configurable, tenant_id: randomUUID() } };
    const nothing = { trail: { writes: [] } };
    expect(await saver.getDeltaChannelHistory({ config: elsewhere, channels: ["trail"] })).toEqual(nothing);
    await memory.forget({ userId: "ana" });
    expect(await findEverywhere(database, "zanzibar 1")).toEqual({});
    expect(await saver.getDeltaChannelHistory({ config, channels: ["trail"] })).toEqual(nothing);
  });

  it("turn 4: of a branch that counts no versions of them keep what they are replayed from", async () => {
    // As LangGraph up to 1.6 writes the first update of a channel by hand.
    const memory = database.memory();
    const saver = memory.checkpointer();
    const config = { configurable: { thread_id: randomUUID(), checkpoint_ns: "" } };
    const metadata = {
      source: "loop" as const,
      step: 0,
      parents: {},
      counters_since_delta_snapshot: { trail: [0, 1] as [number, number] },
    };
    let at: RunnableConfig = config;
    for (const word of ["one", "two", "three"]) {
      at = await saver.put(at, { ...emptyCheckpoint(), id: uuid6(1) }, metadata, {});
      if (word !== "three") await saver.putWrites(at, [["trail", [word]]], word);
    }
    await memory.checkpoints.prune({ keepLast: 1, threadId: config.configurable.thread_id });
    const { trail } = await saver.getDeltaChannelHistory({ config: at, channels: ["trail"] });
    expect(trail?.writes.map(([, , value]) => value)).toEqual([["one"], ["two"]]);
  });

  it.each(["full", "bounded"] as const)("turn 4: hold the messages of a %s session", async (session) => {
    const memory = database.memory({
      model: summarizing(),
      config: { summaries: { keepRecentMessages: 2 } },
    });
    const converse = async (state: typeof MessagesAnnotation) => {
      const agent = new StateGraph(state)
        .addNode("chat", ({ messages }) => ({
          messages: [new AIMessage(`answer to ${messages.at(-1)?.text}`)],
        }))
        .addEdge(START, "chat")
        .compile();
      const graph = withMemory(agent, memory, { session }).compile({ checkpointer: memory.checkpointer() });
      const thread = newThread();
      for (let round = 1; round <= 20; round++) await say(graph, `question ${round}`, thread);
      expect(await transcript(database, thread)).toHaveLength(40);
      return lines((await graph.getState(thread)).values.messages);
    };
    const delta = new StateSchema({ messages: MessagesDeltaValue }) as unknown as typeof MessagesAnnotation;
    const held = await converse(delta);
    expect(held).toEqual(await converse(MessagesAnnotation));
    expect(held).toHaveLength(session === "full" ? 40 : 4);
  });
});
