import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  DeltaChannel,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { memoryMiddleware } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { type AnyGraph, addressOf, answering, newThread, say } from "../langgraph/conversation.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { countEverything, findEverywhere, word } from "../support/find-everywhere.js";
import { rejection } from "../support/rejection.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const human = (id: string, content: string) => new HumanMessage({ id, content });

/** Learns each word that it reads, and repeats it in summaries, episodes and notes. */
function learning(words: readonly string[]) {
  const first = (prompt: string) => words.find((each) => prompt.includes(each)) ?? "nothing";
  const summary = (prompt: string) => ({
    structured: { reasoning: "", summary: `They talked about ${first(prompt)}.` },
  });
  const model = taskModel({
    conversation_summary: summary,
    episode_summary: summary,
    fact_extraction: (prompt) => {
      const said = [...prompt.matchAll(/<message number="(\d+)"[^>]*>([^<]*)/g)];
      return facts(
        ...words.flatMap((each) => {
          const [, number] = said.find(([, , text]) => text?.includes(each)) ?? [];
          const message = Number(number);
          return number ? [candidate(`The user likes ${each}.`, each, { message })] : [];
        }),
      );
    },
  });
  const memories = { extract: true, episodes: true, episodeEveryTurns: 2, episodeKeepShare: 0 };
  const summaries = { afterSeq: 1, everyMessages: 2 };
  return db.memory({ model, config: { memories, summaries } });
}

/** A state with lists of messages in a subgraph's own checkpoints, a plain channel, and a pending write. */
function nestedGraph(memory: Memory) {
  const checkpointer = memory.checkpointer();
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    copies: Annotation<BaseMessage[]>(),
    nested: Annotation<{ readonly deep: readonly BaseMessage[] }>(),
    // Stored as writes, and seldom as a whole.
    trail: () =>
      new DeltaChannel<BaseMessage[], BaseMessage[]>((all, writes) => [
        ...(all ?? []),
        ...writes.flat(),
      ]),
  });
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("think", () => ({ messages: [new AIMessage("Hm.")] }))
    .addEdge(START, "think")
    .compile({ checkpointer: true });
  return new StateGraph(State)
    .addNode("copy", ({ messages }) => ({
      copies: messages,
      nested: { deep: messages },
      trail: messages,
    }))
    .addNode("inner", inner)
    .addNode("echo", ({ messages }) => ({ messages: messages.slice(0, 1) }))
    .addNode("ask", () => ({ messages: [new AIMessage(String(interrupt("Sure?")))] }))
    .addEdge(START, "copy")
    .addEdge("copy", "inner")
    .addEdge("inner", "echo")
    .addEdge("inner", "ask")
    .compile({ checkpointer }) as unknown as AnyGraph;
}

const listed = async (memory: Memory, thread: ReturnType<typeof addressOf>) =>
  (await memory.threads.messages(thread)).map(({ role, text }) => `${role}: ${text}`);

describe("transcript.remove", () => {
  it("Leaves the words in no table, entry or checkpoint, and the conversation goes on", async () => {
    const [gone, kept] = [word(), word()];
    const memory = learning([gone, kept]);
    const model = answering();
    const agent = createAgent({
      model,
      tools: [],
      middleware: [memoryMiddleware(memory)],
      checkpointer: memory.checkpointer(),
    });
    const thread = newThread();
    const address = addressOf(thread);
    await agent.invoke({ messages: [human("h1", `I like ${gone}.`)] }, thread);
    await agent.invoke({ messages: [human("h2", `I like ${kept}.`)] }, thread);
    await say(agent, "What do I like?", thread);
    await say(agent, "And what else?", thread);
    expect(Object.keys(await findEverywhere(db, gone))).toEqual(
      expect.arrayContaining(["checkpoint_blobs", "history", "memory", "message", "summary"]),
    );

    const removed = await memory.transcript.remove({ ...address, messageId: "h1" });
    expect(removed).toMatchObject({
      messageId: "h1",
      seq: 0,
      memoryIds: expect.arrayContaining([]),
    });
    expect(removed.checkpointValues).toBeGreaterThan(0);
    expect(await findEverywhere(db, gone)).toEqual({});
    expect(Object.keys(await findEverywhere(db, kept))).toContain("memory");
    expect(await brokenInvariants(db)).toEqual([]);

    await say(agent, "And now?", thread);
    await memory.idle();
    expect(JSON.stringify(model.calls.at(-1)?.messages)).not.toContain(gone);
    expect(await findEverywhere(db, gone)).toEqual({});
    // A client that still has the message cannot record it again.
    await memory.remember({ ...address, messages: [human("h1", `I like ${gone}.`)] });
    expect(await findEverywhere(db, gone)).toEqual({});
    expect((await memory.recall(address)).gap.map(({ id }) => id)).not.toContain("h1");
  });
});

describe("stored states", () => {
  it.each(["remove", "replace"] as const)(
    "Lists of subgraphs, plain channels and pending writes have no old message after `%s`",
    async (way) => {
      const [old, next] = [word(), word()];
      const memory = db.memory();
      const graph = nestedGraph(memory);
      const thread = newThread();
      const address = addressOf(thread);
      const messages = [human("h1", `I like ${old}.`), human("h2", "Really.")];
      await graph.invoke({ messages }, thread);
      await memory.record({ ...address, messages });
      const before = await findEverywhere(db, old);
      expect(Object.keys(before)).toEqual([
        "checkpoint_blobs",
        "checkpoint_writes",
        "message",
        "message_term",
      ]);

      if (way === "remove") await memory.transcript.remove({ ...address, messageId: "h1" });
      else
        await memory.transcript.replace({ ...address, messageId: "h1", text: `I like ${next}.` });
      expect(await findEverywhere(db, old)).toEqual({});
      const { values } = await graph.getState(thread);
      const state = values as {
        messages: BaseMessage[];
        copies: BaseMessage[];
        trail: BaseMessage[];
        nested: { deep: BaseMessage[] };
      };
      const first = way === "remove" ? [] : [`I like ${next}.`];
      for (const list of [
        state.messages.slice(0, first.length + 1),
        state.copies,
        state.nested.deep,
        state.trail,
      ])
        expect(list.map(({ text }) => text)).toEqual([...first, "Really."]);
      if (way === "replace") expect(await findEverywhere(db, next)).toEqual(before);
    },
  );
});

describe("transcript.replace", () => {
  it("Closes what rests on the old words alone, which can be restored, and reads the new ones", async () => {
    const [old, next] = [word(), word()];
    const memory = learning([old, next]);
    const address = addressOf(newThread());
    const { scope } = address;
    await memory.remember({ ...address, messages: [human("h1", `I like ${old}.`)] });
    const [fact] = await memory.memories.list({ scope, kinds: ["fact"] });
    const { memoryIds } = await memory.transcript.replace({
      ...address,
      messageId: "h1",
      text: `I like ${next}.`,
    });
    await memory.idle();
    expect(memoryIds).toEqual([fact!.id]);
    expect(await listed(memory, address)).toEqual([`user: I like ${next}.`]);
    expect(await textsOf(memory, address, "fact")).toEqual([`The user likes ${next}.`]);
    await memory.memories.restore({ scope, id: fact!.id });
    expect((await textsOf(memory, address, "fact")).toSorted()).toEqual(
      [old, next].map((each) => `The user likes ${each}.`).toSorted(),
    );
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it.each([
    ["an unknown message", { messageId: "h9" }, "NOT_FOUND"],
    ["an unknown thread", { threadId: "none" }, "NOT_FOUND"],
    ["another user's thread", { scope: { userId: "eve" } }, "THREAD_FORBIDDEN"],
    ["an empty text", { text: " " }, "INVALID_INPUT"],
    ["a text that is too long", { text: "x".repeat(1_000_001) }, "INVALID_INPUT"],
  ])("Refuses %s, and changes nothing", async (_, wrong, code) => {
    const memory = db.memory();
    const thread = newThread();
    const address = addressOf(thread);
    const said = word();
    await memory.record({ ...address, messages: [human("h1", said)] });
    const [before, counts] = [await findEverywhere(db, said), await countEverything(db)];
    const input = { ...address, messageId: "h1", text: "tea", ...wrong };
    expect(await rejection(memory.transcript.replace(input))).toMatchObject({ code });
    if (!("text" in wrong)) {
      const { text: _text, ...removal } = input;
      expect(await rejection(memory.transcript.remove(removal))).toMatchObject({ code });
    }
    expect(await findEverywhere(db, said)).toEqual(before);
    expect(await countEverything(db)).toEqual(counts);
  });
});
