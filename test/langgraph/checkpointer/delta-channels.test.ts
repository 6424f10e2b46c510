import { randomUUID } from "node:crypto";
import { AIMessage } from "@langchain/core/messages";
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
  Overwrite,
  Send,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import * as langGraphCheckpoint from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findEverywhere } from "../../support/find-everywhere.js";
import { useTestDatabase } from "../../support/test-database.js";
import { watchedPool } from "../../support/watched-pool.js";
import { checkpointed, lines, newThread, say, summarizing, transcript } from "../conversation.js";

const database = useTestDatabase();

const oneTo = (max: number) => fc.integer({ min: 1, max });
/** The fields of any kind of step; in a run, one node may interrupt and one may overwrite. */
const stepFields = fc.record({
  kind: fc.constantFrom(..."run run fork fork edit amend resume replay prune prune".split(" ")),
  at: fc.nat(30),
  keepLast: oneTo(6),
  durability: fc.constantFrom("async" as const, "sync", "exit"),
  // Without it, an edit where several nodes wrote last is refused.
  namesNode: fc.nat(3).map((chance) => chance > 0),
  plan: fc.record({
    name: fc.stringMatching(/^[a-z]{1,3}$/),
    sends: fc.nat(2),
    asks: fc.boolean(),
    resets: fc.nat(4).map((chance) => chance === 0),
  }),
});
type Step = ReturnType<typeof stepFields.generate>["value"];

const appending = (snapshotFrequency: number) => () =>
  new DeltaChannel<string[], string[]>((all, writes) => [...all, ...writes.flat()], {
    snapshotFrequency,
  });
const plain = () =>
  Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] });
type Frequencies = readonly [ofTrail: number, ofNotes: number, ofRuns: number];

/** Nodes in parallel, and a subgraph that keeps its state. */
function deltaGraph(checkpointer: BaseCheckpointSaver, [ofTrail, ofNotes, ofRuns]: Frequencies) {
  const inner = new StateGraph(
    Annotation.Root({ name: Annotation<string>(), runs: appending(ofRuns) }),
  )
    .addNode("count", ({ name, runs }) => ({ runs: [`${name} ${runs.length}`] }))
    .addEdge(START, "count")
    .compile({ checkpointer: true });
  const plan = Annotation<Step["plan"]>();
  return new StateGraph(
    Annotation.Root({ plan, trail: appending(ofTrail), notes: appending(ofNotes), said: plain() }),
  )
    .addNode("left", ({ plan: { name, resets }, notes }) => ({
      trail: (resets ? new Overwrite([`over ${notes.length}`]) : [`left ${name}`]) as string[],
      notes: [`noted ${name}`],
      said: [`left ${name}`],
    }))
    .addNode("right", ({ plan: { name, asks, resets } }) => ({
      trail: resets ? [] : [`right ${asks ? interrupt("what?") : name}`],
    }))
    .addNode("worker", ({ trail }) => ({ trail }))
    .addNode("last", async ({ plan: { name }, trail }, config) => ({
      trail: [`after ${trail.length}`, ...(await inner.invoke({ name }, config)).runs],
      said: [`last ${name}`],
    }))
    .addConditionalEdges(START, ({ plan: { resets, sends } }) => [
      ...["left", "right"],
      ...Array.from(
        { length: resets ? 0 : sends },
        (_, at) => new Send("worker", { trail: [`worker ${at}`] }),
      ),
    ])
    .addEdge(["left", "right"], "last")
    .compile({ checkpointer });
}

/** A thread on `saver`, whose checkpoints are numbered in the order of creation. */
function threadOn(saver: BaseCheckpointSaver, frequencies: Frequencies) {
  const graph = deltaGraph(saver, frequencies);
  const thread = { configurable: { thread_id: randomUUID(), user_id: "ana", checkpoint_ns: "" } };
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
      ...thread.configurable,
      ...(place !== undefined && { checkpoint_id: made[place] }),
    },
  });
  const stateAt = async (place?: number) => {
    const { values, next, tasks } = await graph.getState(from(place));
    return {
      place,
      values,
      next,
      asked: tasks.map(({ interrupts }) => interrupts.map(({ value }) => value)),
    };
  };
  const take = async ({ kind, plan, durability, namesNode }: Step, place?: number) => {
    const config = { ...from(/fork|replay|amend/.test(kind) ? place : undefined), durability };
    if (/edit|amend/.test(kind))
      return graph.updateState(
        config,
        { trail: [`edit ${plan.name}`], said: [`edit ${plan.name}`] },
        namesNode ? "left" : undefined,
      );
    const inputs: Record<string, unknown> = {
      resume: new Command({ resume: "yes" }),
      replay: null,
    };
    return graph.invoke(
      (kind in inputs ? inputs[kind] : { plan, notes: [`said ${plan.name}`] }) as never,
      config,
    );
  };
  return { places, stateAt, thread, take };
}

describe("channels on memory.checkpointer()", () => {
  // Before it had this key, MemorySaver replayed what nodes wrote at once in the order of their
  // random ids.
  const isOracleRight = "writesSortKey" in langGraphCheckpoint;
  it.runIf(isOracleRight)(
    "Plain and delta channels equal those of MemorySaver after any runs, forks, edits and prunes",
    async () => {
      const memory = database.memory();
      const runs = fc.array(stepFields, { minLength: 3, maxLength: 9 });
      await fc.assert(
        fc.asyncProperty(
          fc.tuple(oneTo(6), oneTo(6), oneTo(6)),
          runs,
          async (frequencies, steps) => {
            const ours = threadOn(memory.checkpointer(), frequencies);
            const theirs = threadOn(new MemorySaver(), frequencies);
            const threadId = ours.thread.configurable.thread_id;
            for (const step of steps) {
              const kept = await ours.places();
              const outcome = ({ take }: typeof ours) =>
                take(step, kept[step.at % kept.length]).then(
                  () => "",
                  ({ name }: Error) => name,
                );
              if (step.kind === "prune")
                await memory.checkpoints.prune({ keepLast: step.keepLast, threadId });
              else expect(await outcome(ours)).toEqual(await outcome(theirs));
              await theirs.places();
              for (const at of [undefined, ...(await ours.places())])
                expect(await ours.stateAt(at)).toEqual(await theirs.stateAt(at));
            }
          },
        ),
        { numRuns: 12 },
      );
    },
  );

  it("Delta channels are read in two statements, by their user only, and are deleted with that user", async () => {
    const { pool, statements } = watchedPool(database.pool);
    const memory = database.memory({ database: pool });
    const saver = memory.checkpointer();
    const { take, stateAt, thread } = threadOn(saver, [100, 100, 100]);
    const plan = { name: "zanzibar", sends: 0, asks: false, resets: false };
    for (let turn = 0; turn < 9; turn++)
      await take({ kind: "run", plan, durability: "async", at: 0, keepLast: 1, namesNode: true });
    statements.length = 0;
    expect([(await stateAt()).values.notes.length, statements.length]).toEqual([18, 2]);

    const configFor = (ids: object) => ({ configurable: { ...thread.configurable, ...ids } });
    const historyFor = (ids: object) =>
      saver.getDeltaChannelHistory({ config: configFor(ids), channels: ["notes"] });
    for (const ids of [{ user_id: "eve" }, { app_id: "other" }, { user_id: undefined }])
      await expect(historyFor(ids)).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
    const nothing = { notes: { writes: [] } };
    expect(await historyFor({ tenant_id: randomUUID() })).toEqual(nothing);
    await memory.forget({ scope: { userId: "ana" } });
    expect(await findEverywhere(database, "zanzibar")).toEqual({});
    expect(await historyFor({})).toEqual(nothing);
  });

  it("A prune keeps the sources of a delta channel whose branch counts no versions of it", async () => {
    // As older versions of LangGraph write a channel's first update by hand.
    const memory = database.memory();
    const saver = memory.checkpointer();
    const config = { configurable: { thread_id: randomUUID(), checkpoint_ns: "" } };
    const counters: Record<string, [number, number]> = { trail: [0, 1] };
    const metadata = {
      source: "loop",
      step: 0,
      parents: {},
      counters_since_delta_snapshot: counters,
    } as const;
    const { emptyCheckpoint, uuid6 } = langGraphCheckpoint;
    let at: RunnableConfig = config;
    for (const word of ["one", "two", "three"]) {
      at = await saver.put(at, { ...emptyCheckpoint(), id: uuid6(1) }, metadata, {});
      if (word !== "three") await saver.putWrites(at, [["trail", [word]]], word);
    }
    await memory.checkpoints.prune({ keepLast: 1, threadId: config.configurable.thread_id });
    const { trail } = await saver.getDeltaChannelHistory({ config: at, channels: ["trail"] });
    expect(trail?.writes.map(([, , value]) => value)).toEqual([["one"], ["two"]]);
  });

  it.each(["full", "bounded"] as const)(
    "Delta channels hold the messages of a %s session",
    async (session) => {
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
        const graph = checkpointed(agent, memory, { session });
        const thread = newThread();
        for (let round = 1; round <= 20; round++) await say(graph, `question ${round}`, thread);
        expect(await transcript(database, thread)).toHaveLength(40);
        return lines((await graph.getState(thread)).values.messages);
      };
      const delta = new StateSchema({
        messages: MessagesDeltaValue,
      }) as unknown as typeof MessagesAnnotation;
      const held = await converse(delta);
      expect(held).toEqual(await converse(MessagesAnnotation));
      expect(held).toHaveLength(session === "full" ? 40 : 4);
    },
  );
});
