import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import sql from "sql-template-tag";
import { describe, expect, it } from "vitest";
import {
  type HeldMessageRow,
  type HeldMessageWords,
  type HeldThread,
  heldThreadJson,
  heldThreadsJson,
} from "../../../src/search/held/held-message-row.js";
import { type HeldMessages, heldMessages } from "../../../src/search/held/held-messages.js";
import { loadMessages } from "../../../src/search/held/load-messages.js";
import { frequencyIn, slotIn } from "../../../src/search/held/posting-lists.rule.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** What is held, whatever order it came in. */
function contents(held: HeldMessages, lexemes: readonly string[], names: readonly string[]) {
  return {
    threads: held.threads.map(({ ref, app, size }) => ({ ref, app, size })).toSorted((a, b) => a.ref - b.ref),
    found: lexemes.map((lexeme) => held.found(lexeme)),
    words: lexemes.map((lexeme) =>
      [...held.postings(lexeme)]
        .map((posting) => {
          const slot = slotIn(posting);
          const thread = held.threads[held.threadAt(slot)]?.ref;
          return { thread, seq: held.seqAt(slot), length: held.lengths[slot], times: frequencyIn(posting) };
        })
        .toSorted((a, b) => Number(a.thread) - Number(b.thread) || a.seq - b.seq),
    ),
    speakers: names.filter(held.hasSpeaker),
  };
}

describe("taken in", () => {
  const lexemes = Array.from({ length: 12 }, (_, index) => `word${index}`);
  const names = ["ana", "bob"];
  const words = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...lexemes), fc.integer({ min: 1, max: 255 })), {
      selector: ([lexeme]) => lexeme,
    })
    .map((all) => ({
      lexemes: all.map(([lexeme]) => lexeme),
      frequencies: all.map(([, times]) => times),
      length: all.reduce((sum, [, times]) => sum + times, 0),
    }));
  const thread = fc.record({
    app: fc.constantFrom("", "mail"),
    messages: fc.array(fc.record({ words, speakers: fc.subarray(names) }), { maxLength: 60 }),
  });

  it("page by page, in any order and twice, messages are the same as at once", () => {
    const shuffled = fc.infiniteStream(fc.nat({ max: 1_000_000 }));
    fc.assert(
      fc.property(fc.array(thread, { maxLength: 5 }), shuffled, (talks, random) => {
        const rows = talks.map(
          ({ app, messages }, at): HeldMessageRow => ({
            ...{ thread: 7 * at + 1, app, size: messages.length },
            messages: messages.map(({ words: { length, ...said }, speakers }, seq): HeldMessageWords => {
              return [seq, length, said.lexemes, said.frequencies, speakers];
            }),
          }),
        );
        const next = () => Number(random.next().value);
        const singles = rows.flatMap((row) => [
          row,
          ...row.messages.map((message) => ({ ...row, size: message[0] + 1, messages: [message] })),
        ]);
        const pages = singles
          .flatMap((row) => (next() % 2 === 0 ? [row, row] : [row]))
          .map((row) => ({ row, place: next() }))
          .toSorted((first, second) => first.place - second.place)
          .map(({ row }) => [row]);
        const [atOnce, byPages] = [heldMessages(), heldMessages()];
        atOnce.apply(rows);
        for (const page of pages) byPages.apply(page);

        expect(contents(byPages, lexemes, names)).toEqual(contents(atOnce, lexemes, names));
        const told = rows.flatMap(({ thread: ref, messages }) =>
          messages.flatMap(([seq, length, all, times]) =>
            all.map((lexeme, at) => [lexeme, { thread: ref, seq, length, times: times[at] }] as const),
          ),
        );
        const expected = lexemes.map((lexeme) => told.flatMap(([word, at]) => (word === lexeme ? [at] : [])));
        expect(contents(atOnce, lexemes, names).words).toEqual(expected);
      }),
    );
  });
});

describe("loaded", () => {
  async function threadsOf(userId: string): Promise<HeldThread[]> {
    const { schema } = db.database;
    const [row] = await db.database.query<{ threads: HeldThread[] }>(
      sql`select ${heldThreadsJson(db.database, sql`o.id`)} as threads from ${schema}.owner o where user_id = ${userId}`,
    );
    return row?.threads ?? [];
  }

  async function pagesOf(threads: readonly HeldThread[]): Promise<HeldMessageRow[][]> {
    const pages: HeldMessageRow[][] = [];
    for await (const rows of loadMessages(db.database, threads)) pages.push([...rows]);
    return pages;
  }

  const record = (userId: string, threadId: string, texts: readonly string[]) =>
    db.memory().record({
      ...{ scope: { userId }, threadId },
      messages: texts.map((text, at) =>
        at % 2 === 0 ? new HumanMessage(text) : new AIMessage({ content: text, name: "Old Bob" }),
      ),
    });

  it("are all words of all threads that there were, in pages of which none is long", async () => {
    const pasted = Array.from({ length: 1_500 }, (_, index) => `pasted${index}`).join(" ");
    const chat = Array.from({ length: 300 }, (_, index) => `said thing${index} of the ${index % 7} garden`);
    await record("ana", "pasted", [
      "look",
      ...Array.from({ length: 5 }, () => pasted),
      "the of",
      "bye garden",
    ]);
    await record("ana", "chat", chat);
    for (let at = 0; at < 5; at++) await record("ana", `short ${at}`, ["hello garden", "hello Ana"]);
    const threads = await threadsOf("ana");
    await record("ana", "chat", ["garden said later"]);

    const pages = await pagesOf(threads);
    const held = heldMessages();
    for (const page of pages) held.apply(page);

    const { schema } = db.database;
    const stored = await db.database.query<{ lexeme: string; found: number }>(sql`
      select lexeme, count(*)::int as found from ${schema}.message_term t
      where owner_ref = (select id from ${schema}.owner where user_id = 'ana')
        and not (thread_ref = (select id from ${schema}.thread where thread_id = 'chat') and seq >= 300)
      group by lexeme`);
    const words = stored.filter(({ lexeme }) => !lexeme.startsWith("@"));
    expect(words.map(({ lexeme }) => [lexeme, held.found(lexeme)])).toEqual(
      words.map(({ lexeme, found }) => [lexeme, found]),
    );
    expect(held.found("later")).toBe(0);
    expect(["old", "bob", "ana"].filter(held.hasSpeaker)).toEqual(["old", "bob"]);
    const wordsOf = pages.map((page) =>
      page.flatMap((row) =>
        row.messages.map(([, , lexemes, , speakers]) => lexemes.length + speakers.length),
      ),
    );
    expect(pages.length).toBeGreaterThan(4);
    for (const page of wordsOf)
      expect(page.slice(0, -1).reduce((sum, all) => sum + all, 0)).toBeLessThan(2_000);
    const taken = pages.flat().flatMap((row) => row.messages.map(([seq]) => `${row.thread} ${seq}`));
    expect(taken.length).toBe(new Set(taken).size);
    expect(taken.length).toBe(7 + 300 + 10);
  });

  it("of a thread without any message, or any word, are none", async () => {
    await record("nobody", "wordless", ["the of", "and"]);
    const threads = await threadsOf("nobody");
    expect(threads).toEqual([[expect.any(Number), "", 2]]);
    expect(
      (await pagesOf(threads)).flat().flatMap((row) => row.messages.flatMap(([, , words]) => words)),
    ).toEqual([]);
    expect(await pagesOf([])).toEqual([]);
  });

  it("are what came after, from a seq on", async () => {
    await record("zoe", "of zoe", ["first garden", "second zeppelin", "third coffee coffee"]);
    const { schema } = db.database;
    const [found] = await db.database.query<{ row: HeldMessageRow }>(sql`
      select ${heldThreadJson(db.database, sql`1`)} as row from ${schema}.thread t where thread_id = 'of zoe'`);
    expect(found?.row).toMatchObject({ app: "", size: 3 });
    expect(
      found?.row.messages.map(([seq, length, ...said]) => [
        seq,
        length,
        ...said.map((all) => [...all].sort()),
      ]),
    ).toEqual([
      [1, 2, ["second", "zeppelin"], [1, 1], ["bob", "old"]],
      [2, 3, ["coffe", "third"], [1, 2], []],
    ]);
  });
});

describe("what they take of memory", () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");

  function taken(): number {
    for (let round = 0; round < 3; round++) collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  }

  /** A page of messages of 15 words of a vocabulary whose words are the rarer the higher their number. */
  function page(threads: number, each: number, vocabulary: number, at: number): HeldMessageRow {
    const [thread, from] = [at % threads, Math.floor(at / threads) * each];
    const messages = Array.from({ length: each }, (_, index): HeldMessageWords => {
      const lexemes = new Set<string>();
      while (lexemes.size < 15) lexemes.add(`lexeme${Math.floor(vocabulary * Math.random() ** 3)}`);
      return [from + index, 15, [...lexemes], Array.from({ length: 15 }, () => 1), []];
    });
    return JSON.parse(JSON.stringify({ thread, app: "", size: from + each, messages }));
  }

  it.each([
    ["10,000 messages of one thread", 1, 100, 5_000, 180],
    ["10,000 messages of 2,000 threads", 2_000, 5, 5_000, 250],
    ["10,000 messages of 30,000 words", 10, 100, 30_000, 400],
    // Meanwhile the process may let go of what tests before this one left: then it is measured again.
  ])("%s take what is said", { retry: 3 }, (_, threads, each, vocabulary, most) => {
    // What a first use takes is not the messages'.
    heldMessages().apply([page(1, 1, 100, 0)]);
    const before = taken();
    const held = heldMessages();
    for (let at = 0; at < 10_000 / each; at++) held.apply([page(threads, each, vocabulary, at)]);
    const grown = taken() - before;

    expect(held.bytes / grown).toBeGreaterThan(0.8);
    expect(held.bytes / grown).toBeLessThan(1.25);
    expect(held.bytes / 10_000).toBeLessThan(most);
  });
});
