import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { AsOf, MemoryHit, MemoryQuery } from "../../src/index.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { handClock } from "../support/remembered-states.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const embeddings = new HashingEmbeddings({ dimensions: 64 });
beforeAll(() => db.memory({ embeddings }).setup());

const textsOf = (hits: readonly MemoryHit[]) => hits.map(({ memory }) => memory.text);

/** A memory whose text was changed and one that stayed, and the time before the change. */
async function changedMemory(options: Parameters<typeof db.memory>[0] = {}) {
  const { clock, pass } = handClock("2026-03-01T12:00:00Z");
  const memory = db.memory({ ...options, clock });
  const scope = { userId: randomUUID() };
  const [written] = await memory.memories.add({
    scope,
    memories: [{ text: "Rides a bicycle to the office." }, { text: "Plays chess on Sundays." }],
  });
  const before = clock();
  pass(60_000);
  const id = written?.id ?? "";
  await memory.memories.update({ scope, id, text: "Takes the tram downtown." });
  const ask = (query: string, more: Partial<MemoryQuery> = {}) =>
    memory.query({ scope, query, asOf: before, ...more });
  return { memory, scope, id, before, clock, pass, ask };
}

describe("memory.query of a past time", () => {
  it("memory.query finds the text of then by its own words, and not by those of today", async () => {
    const { memory, scope, id, ask, clock } = await changedMemory();
    const { hits, complete } = await ask("Does somebody ride a bicycle?");
    expect(textsOf(hits)).toEqual(["Rides a bicycle to the office."]);
    expect(complete).toBe(true);
    expect((await ask("Is the tram taken downtown?")).hits).toEqual([]);
    await memory.memories.remove({ scope, id });
    expect(textsOf((await ask("bicycle")).hits)).toEqual(["Rides a bicycle to the office."]);
    const now = await memory.query({ scope, query: "tram bicycle", asOf: clock() });
    expect(now.hits).toEqual([]);
  });

  it("memory.query finds the text of then when nothing is known today", async () => {
    const { memory, scope, ask } = await changedMemory();
    for (const { id } of await memory.memories.list({ scope }))
      await memory.memories.remove({ scope, id });
    expect(textsOf((await ask("bicycle office")).hits)).toEqual(["Rides a bicycle to the office."]);
    expect((await ask("a tram downtown")).hits).toEqual([]);
  });

  it("memory.query counts the days of a question from then", async () => {
    const { clock, pass } = handClock("2026-03-01T12:00:00Z");
    const memory = db.memory({ clock });
    const scope = { userId: randomUUID() };
    const dayMs = 86_400_000;
    const ago = (days: number) => new Date(clock().getTime() - days * dayMs);
    const wentYesterday = (place: string) =>
      memory.memories.add({
        scope,
        memories: { text: `Went to the ${place}.`, validFrom: ago(1) },
      });
    await wentYesterday("dentist");
    const then = clock();
    pass(40 * dayMs);
    await wentYesterday("zoo");
    const ask = async (asOf: AsOf) =>
      textsOf((await memory.query({ scope, query: "What happened yesterday?", asOf })).hits);
    expect(await ask(then)).toEqual(["Went to the dentist."]);
    expect(await ask({ validAt: ago(0.5) })).toEqual(["Went to the zoo."]);
  });

  it("memory.query of then compares vectors of unchanged texts alone, and says how many have none", async () => {
    const { memory, scope, before, ask } = await changedMemory({ embeddings });
    const chess = await ask("Plays chess on Sundays.");
    expect(chess.hits[0]?.similarity).toBeCloseTo(1, 2);
    expect(chess.byWords).toBe(1);
    const query = "Rides a bicycle to the office.";
    const { hits, past } = await memory.query({ scope, query, asOf: before, explain: true });
    expect(hits[0]?.parts.vector).toBe(0);
    expect(hits[0]?.parts.words).toBeGreaterThan(0);
    expect(past).toMatchObject({ byWords: 1, complete: true });
  });

  it("memory.query of then lists the most important memories for a broad question, in the form asked for", async () => {
    const { memory, scope, before } = await changedMemory();
    const { hits } = await memory.query({ scope, query: "", asOf: before, return: "bullets" });
    expect(hits.map(({ text }) => text).toSorted()).toEqual([
      "[knowledge] Plays chess on Sundays.",
      "[knowledge] Rides a bicycle to the office.",
    ]);
    const none = await memory.query({ scope, query: "chess", asOf: "2001-01-01" });
    expect(none).toMatchObject({ hits: [], complete: true });
    const asked = memory.query({ scope, query: "chess", asOf: "2031-01-01" });
    await expect(asked).rejects.toThrow("which is in the future");
  });

  it("memory.query and memories.list of today read no audit trail, in one statement each", async () => {
    const { memory, scope, before } = await changedMemory();
    const sent: string[] = [];
    const note = (text: unknown) => sent.push(String(text));
    subscribe("mnemograph:statement", note);
    try {
      await memory.query({ scope, query: "chess" });
      await memory.memories.list({ scope });
      expect(sent.filter((text) => /\bfrom\b/.test(text))).toHaveLength(2);
      expect(sent.filter((text) => /\.history\b|remembered/.test(text))).toEqual([]);
      await memory.memories.list({ scope, asOf: before });
      expect(sent.filter((text) => /\.history\b/.test(text))).toHaveLength(1);
    } finally {
      unsubscribe("mnemograph:statement", note);
    }
  });

  it("memory.query of this moment gives words the same weight as the index", async () => {
    const word = fc.constantFrom(
      ..."tea piano garden A-17 x.y.co/1/2 night 東京 train train".split(" "),
    );
    const sentence = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(" "));
    const property = fc.asyncProperty(
      fc.array(sentence, { minLength: 1, maxLength: 12 }),
      sentence,
      async (texts, query) => {
        const memory = db.memory({ clock: () => new Date("2026-03-01T12:00:00Z") });
        const scope = { userId: randomUUID() };
        const memories = texts.map((text) => ({ text }));
        await memory.memories.add({ scope, memories });
        const asked = { scope, query, topK: 50, threshold: 0, explain: true } as const;
        const wordsOf = async (more: { asOf?: string }) => {
          const { hits } = await memory.query({ ...asked, ...more });
          return new Map(
            hits.map(({ memory, parts }) => [memory.id, [parts.words, parts.identifier]]),
          );
        };
        const then = await wordsOf({ asOf: "2026-03-01T12:00:00Z" });
        for (const [id, [words = 0, identifier]] of await wordsOf({})) {
          expect(then.get(id)?.[0]).toBeCloseTo(words, 5);
          expect(then.get(id)?.[1]).toBe(identifier);
        }
      },
    );
    await fc.assert(property, { numRuns: 25 });
  });
});
