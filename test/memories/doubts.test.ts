import { describe, expect, it } from "vitest";
import type { Memory, Scope } from "../../src/index.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { restOn } from "../support/rests-on.js";
import { runLifecycle } from "../support/run-lifecycle.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const dayMs = 86_400_000;
const march = new Date("2026-03-03T10:00:00Z");
const mark = "(may no longer hold since 3 March 2026)";
let users = 0;

type Preset = "ledger" | "every-round";

/** A user's memories, and turns of threads that are shown them. */
function person(preset: Preset = "ledger") {
  const clock = { now: march };
  const memory = db.memory({ clock: () => clock.now, config: { preset } });
  const scope: Scope = { userId: `doubter ${users++}` };
  const turns = new Map<string, number>();
  /** The prompt of a turn, whose lines count as shown. */
  const turn = async (name: string) => {
    const threadId = `${name} of ${scope.userId}`;
    const query = "Hello again.";
    const { messages, shown } = await memory.promptFor({ scope, threadId, query });
    const place = turns.get(threadId) ?? 0;
    turns.set(threadId, place + 1);
    const said = [
      { role: "user" as const, content: query, id: `${threadId} ${place}` },
      { role: "assistant" as const, content: "Hello.", id: `${threadId} ${place} answered` },
    ];
    await memory.remember({ scope, threadId, messages: said, shown });
    return messages.map(({ content }) => content);
  };
  return { memory, scope, clock, turn };
}

/** Insights that rest on the memory `evidence`. */
async function rests(
  memory: Memory,
  scope: Scope,
  evidence: string,
  insights: readonly { readonly text: string; readonly importance?: number }[],
): Promise<string[]> {
  const drafts = insights.map((insight) => ({
    ...insight,
    kind: "insight" as const,
    pinned: true,
  }));
  const written = await memory.memories.add({ scope, memories: drafts });
  const ids = written.flatMap(({ id }) => id ?? []);
  await restOn(db, evidence, ...ids);
  return ids;
}

const slot = (value: string) => ({
  text: `Lives in ${value}.`,
  category: "profile",
  key: "town",
  value,
});

/** How a memory ends. */
const endings = {
  superseded: async (
    { memory, scope }: ReturnType<typeof person>,
    { value }: { value: string },
  ) => {
    await memory.memories.add({ scope, memories: slot(`${value}burg`), consent: "given" });
  },
  removed: async ({ memory, scope }: ReturnType<typeof person>, { id }: { id: string }) => {
    await memory.memories.remove({ scope, id });
  },
  expired: async ({ memory, scope, clock }: ReturnType<typeof person>, { id }: { id: string }) => {
    const expiresAt = new Date(clock.now.getTime() + 1_000);
    await memory.memories.update({ scope, id, expiresAt });
    clock.now = new Date(clock.now.getTime() + 2_000);
    await runLifecycle(memory);
  },
};

/** One cascade: what rests on a memory of a new user, by one of the ways in which it ends. */
async function expectMarked(preset: Preset, cascade: number): Promise<void> {
  const someone = person(preset);
  const { memory, scope, turn } = someone;
  const value = `Town${cascade}`;
  const [fact] = await memory.memories.add({
    scope,
    memories: slot(value),
    consent: "given",
  });
  const [other] = await memory.memories.add({ scope, memories: { text: "Keeps bees." } });
  const id = fact?.id ?? "";
  // The five most important of up to seven; another rests on what stays.
  const count = 1 + (cascade % 7);
  const texts = Array.from({ length: count }, (_, place) => ({
    text: `Conclusion ${"abcdefg"[place]} of ${value} stands.`,
    importance: 5 - place * 0.5,
  }));
  await rests(memory, scope, id, texts);
  await rests(memory, scope, other?.id ?? "", [{ text: `Honey of ${value} is sold.` }]);
  const before = await turn("old");
  expect(before.join("\n")).not.toContain("may no longer");

  const how = Object.values(endings)[cascade % 3];
  await how?.(someone, { id, value });
  const marked = texts.slice(0, 5).map(({ text }) => text);
  const after = await turn("old");
  const fresh = await turn("new");
  for (const prompt of [after, fresh].map((messages) => messages.join("\n"))) {
    for (const text of marked) expect(prompt).toContain(`${text} ${mark}`);
    for (const { text } of texts.slice(5)) expect(prompt).not.toContain(`${text} (`);
    expect(prompt).not.toContain("is sold. (may");
  }
  const found = await memory.memories.list({ scope, kinds: ["insight"] });
  const doubted = found.filter(({ doubtedAt }) => doubtedAt !== null);
  expect(doubted.map(({ text }) => text).toSorted()).toEqual(marked.toSorted());
}

describe("doubts", () => {
  for (const preset of ["ledger", "every-round"] as const)
    it(`Marks what rests on a memory that ended before it is shown again: 50 cascades, ${preset}`, async () => {
      for (let place = 0; place < 50; place++) await expectMarked(preset, place);
    });

  it("Adds a doubt to a thread that was shown the line, and leaves what stands there as it was", async () => {
    const { memory, scope, turn } = person();
    const [fact] = await memory.memories.add({ scope, memories: slot("Faro"), consent: "given" });
    const [insight = ""] = await rests(memory, scope, fact?.id ?? "", [
      { text: "Goes to the beach after work." },
    ]);
    const first = await turn("t");
    await memory.memories.add({ scope, memories: slot("Graz"), consent: "given" });
    const second = await turn("t");
    const third = await turn("t");
    expect(second.slice(0, first.length)).toEqual(first);
    expect(third.slice(0, second.length)).toEqual(second);
    const added =
      "- ?doubted: [Relationship dynamic] Goes to the beach after work. (may no longer hold since";
    expect(second.slice(first.length).join("\n")).toContain(added);
    expect(third.slice(second.length).join("\n")).not.toContain("doubted");

    await memory.memories.confirm({ scope, id: insight, actor: "admin", reason: "She said so." });
    const fourth = await turn("t");
    expect(fourth.slice(0, third.length)).toEqual(third);
    expect(fourth.slice(third.length).join("\n")).toContain(
      "- ✓confirmed: [Relationship dynamic] Goes to the beach after work.",
    );
    expect((await turn("another")).join("\n")).not.toContain("may no longer");
    const [settled, marked] = await memory.memories.history({ scope, id: insight });
    expect(settled).toMatchObject({ event: "SETTLE", actor: "admin", new: { confirmed: true } });
    expect(marked).toMatchObject({ event: "DOUBT", new: { doubtedAt: march.toISOString() } });
  });

  it("Says in a prompt's block, and in an answer, that a memory may no longer hold, until it is edited", async () => {
    const { memory, scope, turn } = person();
    const [fact] = await memory.memories.add({ scope, memories: slot("Faro"), consent: "given" });
    const [id = ""] = await rests(memory, scope, fact?.id ?? "", [{ text: "Surfs each weekend." }]);
    await memory.memories.remove({ scope, id: fact?.id ?? "" });
    const prompt = (await turn("a")).join("\n");
    expect(prompt).toContain(`Surfs each weekend. ${mark}`);
    const bullets = await memory.query({ scope, query: "Surfs each weekend", return: "bullets" });
    expect(bullets[0]?.caution).toBe("may no longer hold since 3 March 2026");
    // The line that was shown with its doubt stays as it was.
    await memory.memories.update({ scope, id, importance: 5 });
    const next = await turn("a");
    expect(next.join("\n")).toContain(`Surfs each weekend. ${mark}`);
    expect(next.join("\n")).toContain("✓confirmed");
    expect((await turn("b")).join("\n")).not.toContain("may no longer");
  });

  it("Ends a doubt after 30 days that nobody settled, and the memory stays", async () => {
    const { memory, scope, clock } = person();
    const [fact] = await memory.memories.add({ scope, memories: slot("Faro"), consent: "given" });
    const [id = ""] = await rests(memory, scope, fact?.id ?? "", [{ text: "Surfs at dawn." }]);
    await memory.memories.remove({ scope, id: fact?.id ?? "" });
    const lapse = async (days: number) => {
      clock.now = new Date(march.getTime() + days * dayMs);
      await runLifecycle(memory);
      return memory.memories.get({ scope, id });
    };
    expect(await lapse(29)).toMatchObject({ state: "active", doubtedAt: march });
    expect(await lapse(31)).toMatchObject({ state: "active", doubtedAt: null });
    const [entry] = await memory.memories.history({ scope, id });
    expect(entry).toMatchObject({ event: "SETTLE", new: { lapsed: true } });
  });

  it("Marks the episode of the turn that an ended fact was learned in, and nothing for a merge or for disuse", async () => {
    const { memory, scope, clock, turn } = person();
    for (let place = 0; place < 3; place++) await turn("talk");
    const episode = (start: number) => ({
      kind: "episode" as const,
      text: `They spoke of turn ${start}.`,
      turns: { start, end: start },
      source: { threadId: `talk of ${scope.userId}`, seqs: [] },
    });
    await memory.memories.add({ scope, memories: [episode(1), episode(2), episode(3)] });
    const source = { threadId: `talk of ${scope.userId}`, seqs: [2] };
    const [fact] = await memory.memories.add({
      scope,
      memories: { text: "Has a boat.", source, importance: 1 },
    });
    const [unused] = await memory.memories.add({
      scope,
      memories: {
        text: "Has a canoe.",
        source: { threadId: `talk of ${scope.userId}`, seqs: [4] },
        importance: 1,
      },
    });
    await memory.memories.remove({ scope, id: fact?.id ?? "" });
    clock.now = new Date(march.getTime() + 61 * dayMs);
    await runLifecycle(memory);
    expect(await memory.memories.get({ scope, id: unused?.id ?? "" })).toMatchObject({
      state: "soft_deleted",
    });
    const { rows } = await db.pool.query(
      `select m.content from "${db.schema}".history h join "${db.schema}".memory m on m.id = h.memory_id
       where h.event = 'DOUBT' and m.user_id = $1`,
      [scope.userId],
    );
    expect(rows).toEqual([{ content: "They spoke of turn 2." }]);
  });

  it("Keeps no word and no id of a forgotten memory, survives an export, and counts what it left out", async () => {
    const { memory, scope } = person();
    const [fact] = await memory.memories.add({ scope, memories: slot("Xanadu"), consent: "given" });
    const id = fact?.id ?? "";
    const texts = Array.from({ length: 7 }, (_, place) => ({
      text: `Result ${"abcdefg"[place]}.`,
    }));
    await rests(memory, scope, id, texts);
    await memory.memories.remove({ scope, id });
    const { rows } = await db.pool.query(
      `select detail from "${db.schema}".event where user_id = $1 and op = 'doubt' and status = 'skipped'`,
      [scope.userId],
    );
    expect(rows).toEqual([{ detail: "2 more" }]);
    const doubts = await db.pool.query(
      `select h.old::text || h.new::text as words from "${db.schema}".history h where h.event = 'DOUBT'`,
    );
    for (const { words } of doubts.rows) expect(words ?? "").not.toContain(id);

    const lines = [];
    for await (const line of memory.export({ scope })) lines.push(line);
    await memory.forget({ scope });
    expect(await findEverywhere(db, "Xanadu")).toEqual({});
    await memory.import({ lines: lines as never });
    const restored = await memory.memories.list({ scope, kinds: ["insight"] });
    expect(restored.filter(({ doubtedAt }) => doubtedAt !== null)).toHaveLength(5);
  });
});
