import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { shownBy } from "../../src/index.js";
import { addressOf, answering, newThread, say } from "../langgraph/conversation.js";
import { agentIn, ways } from "../langgraph/ways.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();

describe("threads.shown", () => {
  it.each(ways)("threads.shown lists what each turn was shown, by ids, with %s", async (way) => {
    const memory = db.memory();
    const config = newThread();
    const address = addressOf(config);
    const [chess, tea] = await memory.memories.add({
      scope: address.scope,
      memories: [
        { text: "The user plays chess." },
        { category: "preferences", key: "tea", value: "green", text: "The user drinks green tea." },
      ],
    });
    const made = {
      createdAt: (await memory.memories.get({ ...address, id: tea?.id ?? "" }))?.createdAt,
      origin: "unknown",
    };
    const graph = await agentIn(way, { memory, model: answering() });
    await say(graph, "Do I play chess?", config);
    await memory.memories.add({
      scope: address.scope,
      memories: { text: "The user owns a canoe." },
    });
    await say(graph, "Good night.", config);
    const [second, first, ...others] = await memory.threads.shown(address);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ turn: 1, seq: 0, revision: 2, summaryId: null, omitted: 0 });
    expect(first?.memories).toEqual([
      {
        id: tea?.id,
        part: "profile",
        text: "The user drinks green tea.",
        score: null,
        scoreParts: null,
        ...made,
      },
      {
        id: chess?.id,
        part: "relevant",
        text: "The user plays chess.",
        score: expect.any(Number),
        scoreParts: expect.objectContaining({ words: expect.any(Number) }),
        ...made,
      },
    ]);
    expect(second).toMatchObject({ turn: 2, seq: 2, revision: 3 });
    expect(second?.memories.map(({ part, text }) => [part, text])).toEqual([
      ["profile", "The user drinks green tea."],
      ["rest", "The user plays chess."],
      ["told", "The user owns a canoe."],
    ]);
    const { rows } = await db.pool.query(
      `select m.message_id from "${db.schema}".message m join "${db.schema}".thread t on t.id = m.thread_ref
       where t.thread_id = $1 and m.role = 'user' order by m.seq`,
      [address.threadId],
    );
    expect([first?.messageId, second?.messageId]).toEqual(rows.map((row) => row.message_id));
    expect(Number(second?.at) - Number(first?.at)).toBeGreaterThanOrEqual(0);
    expect(await memory.threads.shown({ ...address, limit: 1 })).toEqual([second]);
    expect(await memory.threads.shown({ ...address, before: second?.seq })).toEqual([first]);
  });

  it("What a turn was shown is stored once, without a round trip of its own", async () => {
    const { pool, statements } = watchedPool(db.pool);
    const memory = db.memory({ database: pool });
    const address = newAddress();
    await memory.memories.add({ ...address, memories: { text: "The user plays chess." } });
    const shown = shownBy(await memory.recall({ ...address, query: "Chess?" }));
    const round = {
      ...address,
      shown,
      messages: [new HumanMessage({ id: "q", content: "Chess?" })],
    };
    statements.length = 0;
    await memory.remember(round);
    expect(statements).toHaveLength(1);
    await memory.remember(round);
    await memory.remember({ ...address, messages: [new HumanMessage("Not asked of memory.")] });
    expect(await memory.threads.shown(address)).toMatchObject([{ turn: 1, messageId: "q" }]);
  });

  it("threads.shown names the first message of an epoch only in the turn that opens the epoch", async () => {
    const memory = db.memory({ config: { preset: "ledger" } });
    const address = newAddress();
    for (const content of ["Chess?", "And draughts?"]) {
      const shown = shownBy(await memory.recall({ ...address, query: content }));
      await memory.remember({ ...address, shown, messages: [new HumanMessage(content)] });
    }
    expect((await memory.threads.shown(address)).map(({ firstSeq }) => firstSeq)).toEqual([
      null,
      0,
    ]);
  });

  it("threads.shown has the number of omitted memories, and the score of each hit", async () => {
    const memory = db.memory({ config: { retrieval: { budgetTokens: 150 } } });
    const address = newAddress();
    const lakes = Array.from({ length: 20 }, (_, n) => ({
      text: `The user swims in lake number ${n}.`,
    }));
    await memory.memories.add({
      ...address,
      memories: [{ text: "The user plays chess." }, ...lakes],
    });
    const recalled = await memory.recall({ ...address, query: "Chess?" });
    const shown = shownBy(recalled);
    const { omitted } = shown;
    expect(omitted).toBeGreaterThan(0);
    await memory.remember({ ...address, shown, messages: [new HumanMessage("Chess?")] });
    const [turn] = await memory.threads.shown(address);
    expect(turn).toMatchObject({ omitted });
    const score = expect.closeTo(recalled.memories.relevant[0]?.score ?? 0, 4);
    expect(turn?.memories).toContainEqual(expect.objectContaining({ part: "relevant", score }));
  });

  it("Fallback memories that a turn is shown do not count as accessed", async () => {
    let now = new Date("2032-01-01T00:00:00Z");
    const memory = db.memory({ clock: () => now });
    const address = newAddress();
    await memory.memories.add({
      ...address,
      memories: [{ text: "The user plays chess." }, { text: "The user swims." }],
    });
    now = new Date("2032-02-01T00:00:00Z");
    const shown = shownBy(await memory.recall({ ...address, query: "Chess?" }));
    await memory.remember({ ...address, shown, messages: [new HumanMessage("Chess?")] });
    const used = await memory.memories.list({ scope: address.scope });
    expect(
      used.map(({ text, lastAccessedAt }) => [text, lastAccessedAt.getUTCMonth() + 1]).toSorted(),
    ).toEqual([
      ["The user plays chess.", 2],
      ["The user swims.", 1],
    ]);
  });

  it("threads.shown has no text of a memory that was removed since", async () => {
    const [memory, address] = [db.memory(), newAddress()];
    const [gone] = await memory.memories.add({
      ...address,
      memories: { text: "The user plays chess." },
    });
    const shown = shownBy(await memory.recall(address));
    await memory.remember({ ...address, shown, messages: [new HumanMessage("Hi.")] });
    await memory.memories.update({ ...address, id: gone!.id!, text: "The user plays go." });
    const textNow = async () => (await memory.threads.shown(address))[0]?.memories;
    expect(await textNow()).toMatchObject([
      { id: gone?.id, part: "rest", text: "The user plays go." },
    ]);
    await memory.memories.remove({ ...address, id: gone!.id! });
    expect(await textNow()).toMatchObject([{ id: gone?.id, part: "rest", text: null }]);
  });

  it("threads.shown has no text of others' memories, even if the caller passes their ids", async () => {
    const memory = db.memory();
    const [mine, theirs] = [newAddress(), newAddress()];
    const ids = await Promise.all(
      [
        { ...theirs.scope, tenantId: "other" },
        { ...theirs.scope },
        { appId: theirs.scope.userId },
        { ...mine.scope, tenantId: "other" },
      ].map(async (scope) => {
        const [{ id } = { id: null }] = await memory.memories.add({
          scope,
          memories: { text: "The vault opens with 4711." },
        });
        return id as string;
      }),
    );
    const round = { ...mine, messages: [new HumanMessage("Hi.")] };
    await memory.remember({
      ...round,
      shown: { revision: 0, memoryIds: ids, parts: { relevant: ids } },
    });
    const [turn] = await memory.threads.shown(mine);
    expect(turn?.memories).toMatchObject(ids.map((id) => ({ id, text: null })));
    for (const wrong of [
      { scoreParts: { [ids[0] ?? ""]: Object.fromEntries([["secret", 1]]) } },
      { parts: { relevant: ["nope"] } },
      { omitted: 9e12 },
      { block: "text" },
      { recallMs: 1e300 },
      { scores: { x: 1e300 } },
      { similarity: -1e300 },
    ])
      await expect(
        memory.remember({ ...round, shown: { revision: 0, memoryIds: [], ...wrong } }),
        JSON.stringify(wrong),
      ).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  it("threads.shown is readable by the owner only, and deleted with the thread and the user", async () => {
    const memory = db.memory();
    const word = `sentinel${randomUUID()}`;
    const scope = { userId: word };
    const threads = ["one", "two"].map((name) => ({ scope, threadId: `${name} ${word}` }));
    await memory.memories.add({ scope, memories: { text: `The user likes ${word}.` } });
    for (const thread of threads) {
      const shown = shownBy(await memory.recall(thread));
      await memory.remember({ ...thread, shown, messages: [new HumanMessage("Hi.")] });
    }
    const [one, two] = threads;
    const [turn] = await memory.threads.shown(one!);
    expect(turn?.memories).toMatchObject([{ text: `The user likes ${word}.` }]);
    await expect(memory.threads.shown({ ...one!, scope: { userId: "ben" } })).rejects.toMatchObject(
      {
        code: "THREAD_FORBIDDEN",
      },
    );
    expect(await memory.threads.shown({ ...one!, scope: { ...scope, tenantId: "other" } })).toEqual(
      [],
    );
    await memory.threads.delete(one!);
    expect(await memory.threads.shown(one!)).toEqual([]);
    expect(await memory.threads.shown(two!)).toHaveLength(1);
    await memory.forget({ scope });
    expect(await findEverywhere(db, word)).toEqual({});
  });
});
