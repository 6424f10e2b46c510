import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { type Case, readCases } from "../../packages/server/src/cases/case-file.js";
import { playCase } from "../../packages/server/src/cases/play-case.js";
import type { Memory } from "../../src/memory.js";
import { floors } from "../../src/search/retrieval-options.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

/** Each has its own tenant, as if its database were empty. */
function caseOf(yaml: string): Case {
  const read = readCases(`cases:\n${yaml}`);
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  return { ...(read.cases[0] as Case), tenant: randomUUID() };
}

const play = (given: Case, faulty: (memory: Memory) => Memory = (memory) => memory) =>
  playCase(given, (clock) =>
    faulty(
      db.memory({
        clock,
        model: new OfflineChatModel(),
        config: { preset: "ledger", memories: { extract: true } },
      }),
    ),
  );

function failed({ error, expectations }: Awaited<ReturnType<typeof play>>): string[] {
  if (error !== null) throw new Error(error);
  return expectations.filter(({ ok }) => !ok).map(({ kind, words }) => `${kind} ${words}`);
}

const unrelated = `
  - name: a question about something else finds nothing
    memories:
      - text: The user keeps bees behind the old mill near the river.
        category: interests
    question: Which old novel about a lighthouse keeper should I read next winter?
    expect: { notFound: bees }`;

const byWords = `
  - name: a statement is found by its words
    memories:
      - { text: The user's sister plays the cello., category: relationships }
      - { text: The caterer is called Dona Rosa., category: event }
    question: What does my sister play?
    expect: { found: cello, notFound: Rosa }`;

const longTalk = `
  - name: what the first turn was shown holds in the next one
    threads:
      - id: monday
        at: 2026-03-02
        messages: [{ user: I am allergic to peanuts. }, { assistant: Noted. }]
      - id: tuesday
        at: 2026-03-03
        messages: [{ user: What shall I cook? }, { assistant: Soup. }]
    question: And for dessert?
    thread: tuesday
    expect: { believed: allergic to peanuts, shown: [peanuts, Soup] }`;

describe("a case", () => {
  it("A case passes where memory does what it promises", async () => {
    for (const yaml of [unrelated, byWords, longTalk]) {
      expect(failed(await play(caseOf(yaml)))).toEqual([]);
    }
  });

  it("A case is played at its own times, with tools' results and the notes of an app", async () => {
    const played = await play(
      caseOf(`
  - name: days
    app: shop
    threads:
      - messages:
          - { user: My favourite tea is oolong., at: 2026-03-02T09:00:00Z }
          - { tool: "{\\"stock\\": 3}" }
          - { assistant: Three are left. }
        end: true
    question: What did we say about tea?
    at: 2026-04-01
    expect: { shown: [oolong, 1 April 2026] }`),
    );
    expect(failed(played)).toEqual([]);
  });

  it("A case begins early enough for each of its times", async () => {
    const played = await play(
      caseOf(`
  - name: only the second message has a time
    threads:
      - messages:
          - user: I live in Porto.
          - assistant: Noted.
          - { user: My favourite tea is oolong., at: 2026-03-05 }
    question: Which tea?
    thread: "1"
    at: 2026-04-01
    expect: { shown: [5 March 2026, 1 April 2026] }`),
    );
    expect(failed(played)).toEqual([]);
    const asked = await play(
      caseOf(`
  - name: only the question has a time
    threads: [{ messages: [{ user: I am allergic to peanuts. }] }]
    question: What shall I cook?
    at: 2026-04-01
    expect: { believed: peanuts, shown: 1 April 2026 }`),
    );
    expect(failed(asked)).toEqual([]);
  });

  it("A case reports work that failed, in place of its expectations", async () => {
    const model = new OfflineChatModel({
      structured: {
        fact_extraction: () => {
          throw new Error("out of order");
        },
      },
    });
    const config = { preset: "ledger" as const, memories: { extract: true } };
    const played = await playCase(caseOf(longTalk), (clock) => db.memory({ clock, model, config }));
    expect(played.error).toBe(
      'the work "facts" failed: The model call failed: Error. out of order',
    );
    expect(played.expectations).toEqual([]);
  });
});

describe("seeded faults", () => {
  const kept = structuredClone(floors);
  afterEach(() => {
    Object.assign(floors.byWords, kept.byWords);
  });

  it("A case fails when the floor of what is found is lowered", async () => {
    Object.assign(floors.byWords, { best: 0, each: 0, noise: 0 });
    expect(failed(await play(caseOf(unrelated)))).toEqual(["notFound bees"]);
  });

  it("A case fails when the index of words is lost", async () => {
    const losing = (memory: Memory): Memory => {
      const query = async (input: never) => {
        await db.pool.query(`delete from "${db.schema}".memory_term`);
        return memory.query(input);
      };
      return { ...memory, query: query as Memory["query"] };
    };
    expect(failed(await play(caseOf(byWords), losing))).toEqual(["found cello"]);
  });

  it("A case fails when an epoch forgets what its first turn was shown", async () => {
    const forgetful = (memory: Memory): Memory => ({
      ...memory,
      async promptFor(input) {
        const prompt = await memory.promptFor(input);
        const isBlock = (text: string) => text.startsWith("[Previous context: ");
        return {
          ...prompt,
          messages: prompt.messages.filter(({ content }) => !isBlock(content)),
        };
      },
    });
    expect(failed(await play(caseOf(longTalk), forgetful))).toEqual([
      "shown peanuts",
      "believed allergic to peanuts",
    ]);
  });
});
