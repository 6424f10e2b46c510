import { randomUUID } from "node:crypto";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../../support/test-database.js";
import { type AnyGraph, historyOf, newThread } from "../conversation.js";

const database = useTestDatabase();

type Thread = { configurable: Record<string, unknown> };

const textsOf = (messages: readonly BaseMessage[]) => messages.map(({ text }) => text);
const echoing = () =>
  new StateGraph(MessagesAnnotation)
    .addNode("chat", ({ messages }) => ({
      messages: [new AIMessage(`re: ${messages.at(-1)?.text}`)],
    }))
    .addEdge(START, "chat");
function conversation(compiled: unknown, thread: Thread) {
  const graph = compiled as AnyGraph;
  /** `config` with the thread's owner, which other checkpointers than memory's omit. */
  const own = (config: object) => {
    const { configurable } = config as Partial<Thread>;
    return { ...config, configurable: { ...thread.configurable, ...configurable } };
  };
  const say = async (text: string, from: object = thread) => {
    const { messages } = await graph.invoke({ messages: [new HumanMessage(text)] }, own(from));
    return textsOf(messages);
  };
  /** The checkpoint at the end of the turn that began with `text`. */
  const endOf = async (text: string) => {
    const ended = (await historyOf(graph, thread)).find(
      ({ next, values }) => next.length === 0 && values.messages.at(-1)?.text === `re: ${text}`,
    );
    if (!ended) throw new Error(`No round "${text}".`);
    return own(ended.config);
  };
  const now = async (at: object = thread) =>
    textsOf((await graph.getState(own(at))).values.messages);
  return { graph, say, endOf, now };
}

const rounds = (...texts: string[]) => texts.flatMap((text) => [text, `re: ${text}`]);

describe("a fork from an older checkpoint", () => {
  it("A fork is separate from concurrent forks of the same checkpoint", async () => {
    const saver = database.memory().checkpointer();
    const { graph, say, endOf, now } = conversation(
      echoing().compile({ checkpointer: saver }),
      newThread(),
    );
    for (const text of ["q0", "q1"]) await say(text);
    const from = await endOf("q0");
    const texts = Array.from({ length: 8 }, (_, index) => `fork ${index}`);
    const said = await Promise.all(texts.map((text) => say(text, from)));
    expect(said).toEqual(texts.map((text) => rounds("q0", text)));
    const kept = await Promise.all(texts.map(async (text) => now(await endOf(text))));
    expect(kept).toEqual(said);
    const edits = await Promise.all(
      texts.map((text) => graph.updateState(from, { messages: [new HumanMessage(text)] })),
    );
    for (const [index, edit] of edits.entries())
      expect(await say("on", edit)).toEqual([...rounds("q0"), texts[index], ...rounds("on")]);
  });

  it("A thread of LangGraph's checkpointer can be forked, and LangGraph's can go on with it again", async () => {
    const thread = { configurable: { thread_id: randomUUID() } };
    const langGraphs = new PostgresSaver(database.pool, undefined, { schema: database.schema });
    const before = conversation(echoing().compile({ checkpointer: langGraphs }), thread);
    for (const text of ["q0", "q1", "q2", "q3"]) await before.say(text);
    const saver = database.memory().checkpointer();
    const { say, endOf, now } = conversation(echoing().compile({ checkpointer: saver }), thread);
    await say("fork", await endOf("q1"));
    expect(await say("next")).toEqual(rounds("q0", "q1", "fork", "next"));
    expect(await before.say("as before")).toEqual(rounds("q0", "q1", "fork", "next", "as before"));
    expect(await before.say("beside", await endOf("q0"))).toEqual(rounds("q0", "beside"));
    await say("fork again", await endOf("next"));
    expect(await say("on")).toEqual(rounds("q0", "q1", "fork", "next", "fork again", "on"));
    expect(await now(await endOf("as before"))).toEqual(
      rounds("q0", "q1", "fork", "next", "as before"),
    );
    expect(await now(await endOf("q3"))).toEqual(rounds("q0", "q1", "q2", "q3"));
  });

  it("An edit by hand needs the name of its node where several nodes wrote last", async () => {
    const log = Annotation<string[]>({
      reducer: (all, more) => [...all, ...more],
      default: () => [],
    });
    const graph = new StateGraph(Annotation.Root({ log }))
      .addNode("left", () => ({ log: ["left"] }))
      .addNode("right", () => ({ log: ["right"] }))
      .addEdge(START, "left")
      .addEdge(START, "right")
      .compile({ checkpointer: database.memory().checkpointer() });
    const thread = { configurable: { thread_id: randomUUID() } };
    await graph.invoke({ log: ["begun"] }, thread);
    await expect(graph.updateState(thread, { log: ["by hand"] })).rejects.toThrow(/Ambiguous/);
    await graph.updateState(thread, { log: ["by hand"] }, "left");
    expect((await graph.getState(thread)).values.log).toEqual([
      "begun",
      "left",
      "right",
      "by hand",
    ]);
  });
});
