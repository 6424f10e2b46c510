import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();

describe("benign fields", () => {
  const goal = (text = "The user's goal is to launch the web shop in May.") => ({
    category: "goals",
    text,
  });
  const from = (seq: number, threadId = "t") => ({ source: { threadId, seqs: [seq] } });

  it("A benign field waits for a second, independent signal", async () => {
    const memory = db.memory();
    const scope = { userId: randomUUID() };
    const user = { scope, actor: "agent" };
    const first = { ...goal(), ...from(0) };
    // The same message, and an agent that echoes it, add nothing.
    for (const memories of [first, first, goal()])
      expect(await memory.memories.add({ ...user, memories })).toMatchObject([
        { outcome: "proposed" },
      ]);
    const [request] = await memory.consents.list({ scope });
    expect(request).toMatchObject({ rule: "signals", signals: 1, seenCount: 3, key: null });
    expect(await memory.consents.list({ scope, due: true })).toEqual([]);
    expect((await memory.recall({ scope, threadId: "t" })).consents).toEqual([]);

    const said = "the user's goal is to launch the web shop in May";
    const [second] = await memory.memories.add({
      ...user,
      memories: { ...goal(said), ...from(4) },
    });
    expect(second).toMatchObject({ outcome: "created", id: expect.any(String) });
    expect(await textsOf(memory, user)).toEqual([said]);
    const approved = await memory.consents.list({ scope, status: ["approved"] });
    expect(approved).toMatchObject([
      { id: request!.id, decidedVia: "signals", memoryId: second!.id },
    ]);
    const history = await memory.memories.history({ ...user, id: second!.id! });
    expect(history.map(({ event }) => event)).toEqual(["CONSENT", "ADD"]);
    expect(history[0]!.new).toMatchObject({ via: "signals", signals: 2, request: request!.id });
  });

  it("A benign field is written by a program's second call, not by one batch or an agent's repetition", async () => {
    const memory = db.memory();
    const user = { scope: { userId: randomUUID() } };
    const outcomesOf = async (drafts: MemoryDraft[], access = user) =>
      (await memory.memories.add({ ...access, memories: drafts })).map(({ outcome }) => outcome);
    expect(await outcomesOf([goal(), goal()])).toEqual(["proposed", "proposed"]);
    expect(await outcomesOf([goal()])).toEqual(["created"]);
    expect(await memory.consents.list({ ...user, status: ["approved"] })).toMatchObject([
      { decidedVia: "signals" },
    ]);
    const other = { scope: { userId: randomUUID() } };
    const echoed = { ...goal(), origin: "assistant" as const };
    for (let times = 0; times < 3; times++)
      expect(await outcomesOf([echoed], other)).toEqual(["proposed"]);
  });

  it("Different values of a benign field wait apart, and a single signal expires after a week", async () => {
    let now = new Date("2031-01-01T00:00:00Z");
    const memory = db.memory({ clock: () => now });
    const user = { scope: { userId: randomUUID() } };
    const propose = (draft: MemoryDraft, seq: number) =>
      memory.memories.add({ ...user, memories: { ...draft, ...from(seq) } });
    await propose(goal(), 0);
    await propose(goal("The user's goal is to launch the web shop in 2032."), 2);
    await propose(goal("The user's goal is to learn Danish."), 4);
    expect(await memory.consents.list(user)).toHaveLength(3);
    const tone = (value: string) => ({
      category: "preferences",
      key: "tone",
      value,
      text: `Likes a ${value} tone.`,
    });
    await propose(tone("dry"), 6);
    await propose(tone("warm"), 8);
    expect((await memory.consents.list(user)).flatMap(({ value }) => value ?? [])).toEqual([
      "warm",
    ]);
    now = new Date("2031-01-08T00:00:00Z");
    expect(await propose(goal(), 10)).toMatchObject([{ outcome: "proposed" }]);
    expect(await memory.memories.list(user)).toEqual([]);
  });

  it("A benign field is written immediately with consent", async () => {
    const access = { scope: { userId: randomUUID() }, consent: "given" as const };
    expect(await db.memory().memories.add({ ...access, memories: goal() })).toMatchObject([
      { outcome: "created" },
    ]);
  });
});
