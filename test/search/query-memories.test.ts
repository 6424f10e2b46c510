import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory, MemoryFilter, MemoryQuery } from "../../src/index.js";
import { memoryQueryTool } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { asDrafts } from "../support/thread-facts.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
let memory: Memory;
let now = new Date("2024-01-01T00:00Z");

const ask = (query: string, more: Partial<MemoryQuery> = {}) =>
  memory.query({ scope, query, ...more });
const texts = async (...asked: Parameters<typeof ask>) =>
  (await ask(...asked)).map((hit) => hit.memory.text);

const plain = "Ana grows tomatoes on the balcony.";
const marked = "Ana dislikes raw tomatoes in salads.";
const late = "Ana cooked tomatoes with basil for Ben.";

beforeAll(async () => {
  memory = db.memory({ clock: () => now });
  await memory.memories.add({ scope, memories: { text: plain, importance: 2 } });
  now = new Date("2024-02-01T00:00Z");
  await memory.memories.add({
    scope,
    memories: {
      text: marked,
      importance: 5,
      category: "preferences",
      pinned: true,
      agentId: "cook",
      runId: "run-1",
      actorId: "Ana",
      role: "user",
    },
  });
  now = new Date("2024-03-01T00:00Z");
  await memory.memories.add({
    scope,
    memories: { text: late, importance: 3, category: "activity" },
  });
});

describe("memory.query", () => {
  it("memory.query returns hits with memory, similarity and reason, best first", async () => {
    const hits = await ask("Which raw tomatoes does Ana dislike?");
    expect(hits[0]).toMatchObject({
      memory: { text: marked, category: "preferences", importance: 5, scope },
      reason: "same words, said by who is asked about",
    });
    expect(hits[0]?.similarity).toBeGreaterThan(0.8);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((first, second) => second - first));
  });

  it.each<[MemoryFilter, string[]]>([
    [{ agent_id: "cook" }, [marked]],
    [{ run_id: "run-1" }, [marked]],
    [{ actor_id: "Ana" }, [marked]],
    [{ role: "user" }, [marked]],
    [{ category: "preferences" }, [marked]],
    [{ category: "preference" }, [marked]],
    [{ pinned: true }, [marked]],
    [{ pinned: false }, [plain, late]],
    [{ importance_min: 3 }, [marked, late]],
    [{ importance_max: 3 }, [plain, late]],
    [{ importance_min: 3, importance_max: 4 }, [late]],
    [{ updated_after: "2024-02-01" }, [marked, late]],
    [{ updated_after: new Date("2024-02-01T00:00:00.001Z") }, [late]],
    [{ updated_before: "2024-02-01T00:00:00Z" }, [plain]],
    [{ updated_after: "2024-01-15", updated_before: "2024-02-15" }, [marked]],
    [{ agent_id: "cook", pinned: false }, []],
    [{ agent_id: "coo" }, []],
    [{ agent_id: "%" }, []],
    [{ agent_id: null, category: null, pinned: null, importance_min: null }, [plain, marked, late]],
    [{}, [plain, marked, late]],
  ])("memory.query filters by %j", async (filters, expected) => {
    expect((await texts("tomatoes", { filters })).toSorted()).toEqual(expected.toSorted());
  });

  it("memory.query answers a tool's request in the tool's form", async () => {
    const request = {
      scope,
      agent: null,
      query: "raw tomatoes",
      categories: ["preferences"],
      top_k: 1,
      filters: {
        user_id: "ana",
        actor_id: "Ana",
        role: "user",
        pinned: true,
        updated_before: null,
      },
      budget_tokens: 512,
    };
    expect(await memory.query({ ...request, return: "bullets" })).toMatchObject([
      { id: expect.any(String), category: "preferences", text: `[preferences] ${marked}` },
    ]);
    expect(await memory.query({ ...request, return: "full" })).toMatchObject([
      { text: marked, metadata: { pinned: true } },
    ]);
    expect(await memory.query(request)).toMatchObject([{ memory: { text: marked } }]);
    expect(await ask("tomatoes", { top_k: 1 })).toHaveLength(1);
    const some = await ask("tomatoes", { budgetTokens: 20 });
    expect(some.length).toBeGreaterThan(0);
    expect(some.length).toBeLessThan(3);
    await expect(ask("tomatoes", { filters: { user_id: "ben" } })).rejects.toThrow(
      /`user_id` names another user/,
    );
  });

  it("memory.query still finds a word that is also a name of an agent or speaker", async () => {
    for (const name of ["travel", "constructor", "toString", "the loves"]) {
      const own = { userId: `talks with ${name}` };
      const word = name.split(" ").at(-1) as string;
      const text = `The user often mentions ${word} in a letter.`;
      await memory.memories.add({
        scope: own,
        memories: [{ text }, { text: "The user owns a bicycle." }],
      });
      const before = await texts(`${word} letters`, { scope: own });
      const messages = [new HumanMessage("Hello."), new AIMessage({ content: "Welcome!", name })];
      await memory.record({ scope: own, threadId: own.userId, messages });
      await memory.memories.add({
        scope: own,
        memories: { text: "The user has a garden.", actorId: name },
      });
      expect(await texts(word, { scope: own })).toContain(text);
      expect(await texts(`${word} letters`, { scope: own })).toEqual(
        expect.arrayContaining(before),
      );
      const said = new HumanMessage(`What about ${word} then?`);
      await memory.record({ scope: own, threadId: own.userId, messages: [said] });
      expect((await memory.transcript.search({ scope: own, query: word }))[0]?.text).toBe(
        said.content,
      );
    }
  });

  it("memory.query returns one or two linked memories with the best hits", async () => {
    const linked = { userId: "linked" };
    const linker = db.memory({ config: { memories: { linkSimilarity: 0.3 } } });
    await linker.memories.add({
      scope: linked,
      memories: { text: "The kestrel nests in the old mill tower." },
    });
    await linker.memories.add({
      scope: linked,
      memories: { text: "The old mill tower has a blue door." },
    });
    await linker.memories.add({
      scope: linked,
      memories: Array.from({ length: 8 }, (_, n) => ({
        text: `A kestrel was seen near village ${"abcdefgh"[n]}${n}.`,
      })),
    });
    const query = { scope: linked, query: "kestrel nests", topK: 1 };
    const hits = await linker.query(query);
    expect(hits).toHaveLength(1);
    const related = hits[0]?.related?.map(({ text }) => text) ?? [];
    expect(related).toContain("The old mill tower has a blue door.");
    expect(related.length).toBeLessThanOrEqual(2);
    const tool = memoryQueryTool(linker, { scope: linked });
    const answer = JSON.parse(await tool.invoke({ query: query.query, top_k: 1 }));
    expect(answer).toHaveLength(1);
    expect(answer[0].related).toEqual(related.map((text) => `[knowledge] ${text}`));
    expect(await linker.query({ ...query, filters: { role: "user" } })).toEqual([]);
  });

  it("memory.query uses the messages around a fact's source", async () => {
    const talk = { userId: "talk" };
    const messages = [
      new HumanMessage({ content: "Do you remember my holiday in Portugal?", name: "Ana" }),
      new AIMessage({ content: "Yes, which part of it?", name: "Ben" }),
      new HumanMessage({ content: "We rented a boat there.", name: "Ana" }),
      new AIMessage({ content: "That must have been fun.", name: "Ben" }),
    ];
    await memory.record({ scope: talk, threadId: "talk", messages });
    const drafts = [
      { text: "Ana rented a boat.", source: { threadId: "talk", seqs: [2] } },
      { text: "Ana rented a car.", source: { threadId: "talk", seqs: [] } },
    ];
    await memory.memories.add({ scope: talk, memories: drafts });
    const hits = await memory.query({
      scope: talk,
      query: "What was rented in Portugal on holiday?",
    });
    const reason = expect.stringMatching(/^same words, said in a fitting context/);
    expect(hits[0]).toMatchObject({ memory: { text: "Ana rented a boat." }, reason });
    expect(hits[0]?.score).toBeGreaterThan(1.5 * (hits[1]?.score ?? 0));
  });

  it("memory.query finds words in other spellings", async () => {
    const written = { userId: "written" };
    const drafts = [
      "The Wi-Fi at home is called Nest.",
      "The flight home is LH1234.",
      "The user runs Node v22.1.0.",
    ];
    await memory.memories.add({ scope: written, memories: asDrafts(drafts) });
    const first = async (query: string) => (await texts(query, { scope: written }))[0];
    expect(await first("What is my wifi called?")).toEqual(drafts[0]);
    expect(await first("When does LH 1234 leave?")).toEqual(drafts[1]);
    expect(await first("Who has 22.1.0?")).toEqual(drafts[2]);
  });

  it('A search reads "yesterday" in the time zone of its caller', async () => {
    const [scope, threadId, query] = [{ userId: "in Tokyo" }, "t", "What happened yesterday?"];
    const before = now;
    for (const [at, content] of [
      ["2026-07-14T12:00Z", "The bakery burnt."],
      ["2026-07-15T14:00Z", "The school closed."],
    ] as const) {
      now = new Date(at);
      await memory.memories.add({ scope, memories: { text: content } });
      await memory.record({ scope, threadId, messages: [{ role: "user", content }] });
    }
    // In Tokyo the sixteenth has begun.
    now = new Date("2026-07-15T16:00Z");
    const tool = memoryQueryTool(memory, { scope });
    const first = async (timeZone?: string) => [
      (await memory.query({ scope, query, timeZone }))[0]?.memory.text,
      (await memory.recall({ scope, threadId, query, timeZone })).memories.relevant[0]?.memory.text,
      (await memory.transcript.search({ scope, query, timeZone }))[0]?.text,
      JSON.parse(
        await tool.invoke({ query }, { configurable: { time_zone: timeZone } }),
      )[0].text.slice(12),
    ];
    expect(await first()).toEqual(Array(4).fill("The bakery burnt."));
    expect(await first("Asia/Tokyo")).toEqual(Array(4).fill("The school closed."));
    const inTokyo = db.memory({
      clock: () => now,
      config: { retrieval: { timeZone: "Asia/Tokyo" } },
    });
    expect((await inTokyo.query({ scope, query }))[0]?.memory.text).toBe("The school closed.");
    now = before;
    const nowhere = memory.query({ scope, query, timeZone: "Asia/Atlantis" });
    await expect(nowhere).rejects.toThrow(/no time zone: "Asia\/Atlantis"/);
  });

  it("memory.query ranks matching words before other memories of the same date", async () => {
    const busy = { userId: "busy" };
    const validFrom = new Date("2023-08-03T10:00Z");
    const chores = Array.from({ length: 80 }, (_, index) => ({
      text: `Chore ${index} is done.`,
      validFrom,
    }));
    const wanted = { text: "The lighthouse was painted.", validFrom, importance: 1 };
    await memory.memories.add({ scope: busy, memories: [...chores, wanted] });
    const found = await texts("What about the lighthouse in August 2023?", { scope: busy });
    expect(found).toHaveLength(5);
    expect(found[0]).toBe(wanted.text);
  });

  it("memory.query does not match short or unlike words as misspellings", async () => {
    const memory = db.memory();
    const user = { scope: { userId: "spelt" } };
    const known = [
      "wife is called Tina",
      "house has a red door",
      "boat lies in Kiel",
      "likes plain rice",
      "has a cold",
    ];
    await memory.memories.add({
      ...user,
      memories: known.map((text) => ({ text: `The user's ${text}.` })),
    });
    for (const query of [
      "Any nice wine?",
      "Translate mouse",
      "Who won the race?",
      "Suggest a price",
      "What does gold cost?",
    ])
      expect(
        (await memory.query({ ...user, query })).map((hit) => hit.memory.text),
        query,
      ).toEqual([]);
  });
});
