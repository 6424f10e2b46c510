import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

describe("benign fields", () => {
  const goal = (text = "The user's goal is to launch the web shop in May.") => ({
    category: "goals",
    text,
  });
  const from = (seq: number, threadId = "t") => ({ source: { threadId, seqs: [seq] } });

  it("A benign field waits for a second, independent signal", async () => {
    const memory = db.memory();
    const user = { scope: { userId: randomUUID() }, actor: "agent" };
    expect(
      await memory.memories.add({ ...user, memories: { ...goal(), ...from(0) } }),
    ).toMatchObject([{ outcome: "proposed" }]);
    // The same message, and an agent that echoes it, add nothing.
    expect(
      await memory.memories.add({ ...user, memories: { ...goal(), ...from(0) } }),
    ).toMatchObject([{ outcome: "proposed" }]);
    expect(await memory.memories.add({ ...user, memories: goal() })).toMatchObject([
      { outcome: "proposed" },
    ]);
    const [request] = await memory.consents.list({ scope: user.scope });
    expect(request).toMatchObject({ rule: "signals", signals: 1, seenCount: 3, key: null });
    expect(await memory.consents.list({ scope: user.scope, due: true })).toEqual([]);
    expect((await memory.recall({ scope: user.scope, threadId: "t" })).consents).toEqual([]);

    const said = "the user's goal is to launch the web shop in May";
    const [second] = await memory.memories.add({
      ...user,
      memories: { ...goal(said), ...from(4) },
    });
    expect(second).toMatchObject({ outcome: "created", id: expect.any(String) });
    expect((await memory.memories.list({ scope: user.scope })).map(({ text }) => text)).toEqual([
      said,
    ]);
    const approved = await memory.consents.list({ scope: user.scope, status: ["approved"] });
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
    await memory.memories.add({ ...user, memories: { ...goal(), ...from(0) } });
    await memory.memories.add({
      ...user,
      memories: { ...goal("The user's goal is to launch the web shop in 2032."), ...from(2) },
    });
    await memory.memories.add({
      ...user,
      memories: { ...goal("The user's goal is to learn Danish."), ...from(4) },
    });
    expect(await memory.consents.list({ scope: user.scope })).toHaveLength(3);
    const tone = (value: string) => ({
      category: "preferences",
      key: "tone",
      value,
      text: `Likes a ${value} tone.`,
    });
    await memory.memories.add({ ...user, memories: { ...tone("dry"), ...from(6) } });
    await memory.memories.add({ ...user, memories: { ...tone("warm"), ...from(8) } });
    expect(
      (await memory.consents.list({ scope: user.scope })).flatMap(({ value }) => value ?? []),
    ).toEqual(["warm"]);
    now = new Date("2031-01-08T00:00:00Z");
    expect(
      await memory.memories.add({ ...user, memories: { ...goal(), ...from(10) } }),
    ).toMatchObject([{ outcome: "proposed" }]);
    expect(await memory.memories.list({ scope: user.scope })).toEqual([]);
  });

  it("A benign field is written immediately with consent", async () => {
    const access = { scope: { userId: randomUUID() }, consent: "given" as const };
    expect(await db.memory().memories.add({ ...access, memories: goal() })).toMatchObject([
      { outcome: "created" },
    ]);
  });
});
