import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import { type Memory, shownBy } from "../../../src/index.js";
import { createGate, HashingEmbeddings } from "../../../src/testing/index.js";
import { brokenInvariants } from "../../support/broken-invariants.js";
import { fillScope } from "../../support/fill-scope.js";
import { countEverything, findEverywhere, word } from "../../support/find-everywhere.js";
import { judgingModel } from "../../support/pair-judge.js";
import { candidate, facts, taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";
import { newAddress, say, textsOf } from "../../support/thread-facts.js";

const db = useTestDatabase();

beforeAll(async () => {
  await db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup();
});

/** Two threads of one user, each with a fact, an episode and a summary. */
async function twoThreads(said: readonly [string, string]) {
  const summaryOf = (text: string) => {
    return {
      structured: {
        reasoning: "",
        summary: `A talk about ${said.find((each) => text.includes(each))}.`,
      },
    };
  };
  const model = taskModel({
    conversation_summary: summaryOf,
    episode_summary: summaryOf,
    fact_extraction: (text: string) => {
      const each = said.find((word) => text.split("<messages>")[1]?.includes(word)) ?? "nothing";
      return facts(candidate(`The user likes ${each}.`, each, { category: "knowledge" }));
    },
  });
  const memories = { extract: true, episodes: true, episodeEveryTurns: 2, episodeKeepShare: 0 };
  const memory = db.memory({ model, config: { memories } });
  const first = newAddress();
  const second = { ...newAddress(), scope: first.scope };
  for (const [n, thread] of [first, second].entries()) {
    for (let turn = 0; turn < 4; turn++)
      await say(memory, thread, `Turn ${turn} about ${said[n]}.`);
    await memory.idle();
  }
  return { memory, first, second };
}

/**
 * A user's two memories from one thread, and from the messages "m0" and "m1" of another: a statement that says
 * the same as the first, and a value that the slot of the second has, each with a word of its own.
 */
async function sayAgain(memory: Memory) {
  const { scope, threadId } = newAddress();
  // Figures would forbid a merge.
  const letters = () => word().replace(/\d/g, "x");
  const words = [letters(), letters()] as const;
  const messages = words.map((said, place) => {
    return new HumanMessage({ id: `m${place}`, content: `It is ${said}.` });
  });
  await memory.record({ scope, threadId: `other ${threadId}`, messages: ["I like hikes."] });
  await memory.record({ scope, threadId, messages });
  const slot = { category: "profile", key: "pet", value: "dog" };
  const other = { threadId: `other ${threadId}`, seqs: [0] };
  for (const draft of [
    { text: "The user enjoys hiking in the Alps every summer.", source: other, pinned: true },
    { text: "The user has a dog.", ...slot, source: other },
    {
      text: `The user enjoys hikes in the Alps with ${words[0]}.`,
      source: { threadId, seqs: [0] },
    },
    { text: `The user's dog is ${words[1]}.`, ...slot, source: { threadId, seqs: [1] } },
  ])
    await memory.memories.add({
      scope,
      memories: { ...draft, origin: "user" },
      consent: "given",
    });
  return { scope, threadId, words };
}

const threadIds = async (memory: Memory, scope: object) =>
  (await memory.threads.list({ scope })).map(({ threadId }) => threadId);

describe("threads.delete", () => {
  it("Deleting a thread is finished by another call, wherever the first was interrupted", async () => {
    const [sailing, chess] = [word(), word()];
    const { memory, first, second } = await twoThreads([sailing, chess]);
    const { total } = await memory.threads.delete({ ...first, dryRun: true });
    let stops = 0;
    // Each call is stopped after a few rows.
    for (let before = total; before > 0; ) {
      const stop = new AbortController();
      const steps: number[] = [];
      const deleting = memory.threads.delete({
        ...first,
        batchSize: 10,
        signal: stop.signal,
        onProgress: ({ done }) => steps.push(done) > 1 && done > 0 && stop.abort(),
      });
      stops += await deleting.then(
        () => 0,
        () => 1,
      );
      const left = await memory.threads
        .delete({ ...first, dryRun: true })
        .catch(() => ({ total: 0 }));
      expect(left.total).toBeLessThan(before);
      before = left.total;
    }
    expect(stops).toBeGreaterThan(3);
    await memory.threads.delete(first).catch(() => {});
    expect(await threadIds(memory, first.scope)).toEqual([second.threadId]);
    expect(Object.keys(await findEverywhere(db, first.threadId))).toEqual([]);
    await expect(memory.threads.delete(first)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("Deleting a thread empties every table of it and keeps what was learned, without its words", async () => {
    const [sailing, chess] = [word(), word()];
    const { memory, first, second } = await twoThreads([sailing, chess]);
    const untouched = await findEverywhere(db, chess);
    const preview = await memory.threads.delete({ ...first, dryRun: true });
    expect(await threadIds(memory, first.scope)).toHaveLength(2);

    const removed = await memory.threads.delete({ ...first, batchSize: 2 });
    expect(removed).toEqual({ ...preview, complete: true });
    const tables = ["message", "message_term", "summary", "thread", "memory", "event"];
    expect(Object.keys(removed.removed)).toEqual(expect.arrayContaining(tables));
    expect(await threadIds(memory, first.scope)).toEqual([second.threadId]);
    // Only the fact, its terms and its history are left.
    const [fact] = await memory.memories.list({
      scope: first.scope,
      kinds: ["fact"],
      contains: sailing,
    });
    expect(fact).toMatchObject({ text: `The user likes ${sailing}.`, source: null });
    const left = Object.keys(await findEverywhere(db, sailing));
    expect(left.sort()).toEqual(["change_log", "history", "memory", "memory_term"]);
    expect(await findEverywhere(db, chess)).toEqual(untouched);
    expect(await findEverywhere(db, first.threadId)).toEqual({});
    expect(await brokenInvariants(db)).toEqual([]);
    expect(await memory.transcript.search({ scope: first.scope, query: sailing })).toEqual([]);
  });

  it("A memory that stays loses its quote everywhere, with the thread or with the message", async () => {
    const memory = db.memory();
    for (const isWhole of [true, false]) {
      const said = word();
      const { scope, threadId } = newAddress();
      const messages = [`I keep a dog called ${said}.`, "She is old."].map(
        (content, place) => new HumanMessage({ id: `m${place}`, content }),
      );
      await memory.record({ scope, threadId, messages });
      const source = { threadId, seqs: [0, 1], quote: `a dog called ${said}` };
      const draft = { text: "The user has an old dog.", origin: "user" as const, source };
      await memory.memories.add({ scope, memories: draft });
      if (isWhole) await memory.threads.delete({ scope, threadId });
      else await memory.transcript.remove({ scope, threadId, messageId: "m0" });
      expect(await textsOf(memory, { scope })).toEqual([draft.text]);
      expect(await findEverywhere(db, said)).toEqual({});
    }
  });

  it.each(["thread", "messages"])(
    "A memory that stays keeps no words of what was merged into it, or said again, in a removed %s",
    async (removed) => {
      const memory = db.memory({ model: judgingModel(() => "same") });
      const { scope, threadId, words } = await sayAgain(memory);
      await memory.graphs().consolidation.invoke({ scope });
      expect(await textsOf(memory, { scope })).toHaveLength(2);
      for (const each of words) expect(await findEverywhere(db, each)).toHaveProperty("history");
      if (removed === "thread")
        await memory.threads.delete({ scope, threadId, memories: "remove" });
      else
        for (const messageId of ["m0", "m1"])
          await memory.transcript.remove({ scope, threadId, messageId });
      expect(await textsOf(memory, { scope })).toHaveLength(2);
      for (const each of words) expect(await findEverywhere(db, each)).toEqual({});
    },
  );

  it("Deleting a thread with its memories reports what is gone to other threads", async () => {
    const [sailing, chess] = [word(), word()];
    const { memory, first, second } = await twoThreads([sailing, chess]);
    const recalled = await memory.recall({ ...second, query: sailing });
    await memory.remember({ ...second, messages: ["Hi."], shown: shownBy(recalled) });
    await memory.threads.delete({ ...first, memories: "remove" });
    expect(await findEverywhere(db, sailing)).toEqual({});
    expect(await textsOf(memory, first)).toEqual(
      expect.arrayContaining([`The user likes ${chess}.`]),
    );
    const { changes } = await memory.recall({ ...second, query: "hello" });
    const gone = { event: "deleted", line: "[Knowledge] (no longer kept)" };
    expect(changes.top).toContainEqual(expect.objectContaining(gone));
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("Deleting a thread reaches the checkpoints, vectors and links of a graph's thread", async () => {
    const ana = word();
    const scope = { tenantId: ana, userId: ana };
    const threadId = `thread ${ana}`;
    const memory = await fillScope(db, scope, ana, threadId);
    const { removed } = await memory.threads.delete({ scope, threadId, memories: "remove" });
    const tables = ["checkpoints", "checkpoint_blobs", "memory_embedding", "thread"];
    expect(Object.keys(removed)).toEqual(expect.arrayContaining(tables));
    const left = await findEverywhere(db, threadId);
    expect(Object.keys(left)).not.toEqual(expect.arrayContaining(["checkpoints"]));
    expect(await memory.threads.list({ scope })).not.toContainEqual(
      expect.objectContaining({ threadId }),
    );
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("Deleting a thread is refused to everybody else, with the error for an unknown thread", async () => {
    const { memory, first } = await twoThreads([word(), word()]);
    const before = await countEverything(db);
    for (const scope of [
      { userId: "mallory" },
      { ...first.scope, tenantId: "other" },
      { appId: "app" },
    ]) {
      await expect(memory.threads.delete({ ...first, scope })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    }
    await expect(memory.threads.delete({ ...first, threadId: "none" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    const misspelt = { ...first, memory: "remove" };
    await expect(memory.threads.delete(misspelt)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect(await countEverything(db)).toEqual(before);
  });

  it("Deleting a thread ends its running work, and the thread can begin again", async () => {
    const gate = createGate();
    const model = taskModel({
      fact_extraction: async () => {
        await gate.wait();
        return facts(candidate("The user likes tea.", "I like tea")) as never;
      },
    });
    const memory = db.memory({
      model,
      config: { memories: { extract: true } },
      jobs: "background",
    });
    const thread = newAddress();
    await memory.memories.add({ scope: thread.scope, memories: { text: "Lives in Porto." } });
    await say(memory, thread, "I like tea.");
    while (gate.waiting === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await memory.threads.delete(thread)).toMatchObject({ complete: true });
    gate.open();
    await memory.idle();
    expect(await textsOf(memory, thread)).toEqual(["Lives in Porto."]);
    await memory.record({
      ...thread,
      messages: [new HumanMessage("anew"), new AIMessage("hello")],
    });
    expect(await memory.threads.list({ scope: thread.scope })).toMatchObject([{ messages: 2 }]);
  });
});
