import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
let memory: Memory;

const ana = (id: string, content: string) => new HumanMessage({ id, content, name: "Ana" });
const ben = (id: string, content: string) => new HumanMessage({ id, content, name: "Ben" });

const spring: BaseMessage[] = [
  ana("s0", "Good morning! How are you doing?"),
  ben("s1", "Tired, the baby was awake all night."),
  ana("s2", "I went to the pottery class at the community centre yesterday."),
  ben("s3", "Nice! What did you make there?"),
  ana("s4", "Two bowls and a rather crooked mug."),
  ben("s5", "I would love to see them."),
];
const summer: BaseMessage[] = [
  ben("u0", "We drove to the lake last weekend."),
  ana("u1", "Was the water warm enough for swimming?"),
  ben("u2", "Freezing, but the children did not mind."),
  new SystemMessage({ id: "u3", content: "The lake is closed for swimming." }),
  new ToolMessage({ id: "u4", content: "lake: 12 degrees, swimming forbidden", tool_call_id: "c" }),
  ana("u5", "My sister sells her pottery at the market there."),
];

beforeAll(async () => {
  memory = db.memory();
  await memory.record({
    scope,
    threadId: "spring",
    messages: spring,
    saidAt: new Date("2024-03-10T09:00Z"),
  });
  await memory.record({
    scope,
    threadId: "summer",
    messages: summer,
    saidAt: new Date("2024-07-05T09:00Z"),
  });
});

const search = (query: string, more: Partial<Parameters<Memory["transcript"]["search"]>[0]> = {}) =>
  memory.transcript.search({ scope, query, ...more });
const ids = async (...asked: Parameters<typeof search>) =>
  (await search(...asked)).map(({ messageId }) => messageId);

describe("transcript search", () => {
  it("Transcript search returns text, position, time, speaker and reason", async () =>
    expect((await search("Who went to a pottery class?"))[0]).toEqual({
      threadId: "spring",
      seq: 2,
      messageId: "s2",
      scope,
      role: "user",
      actor: "Ana",
      text: "I went to the pottery class at the community centre yesterday.",
      saidAt: new Date("2024-03-10T09:00Z"),
      timeZone: "UTC",
      similarity: expect.closeTo(0.9, 0),
      score: expect.any(Number),
      reason: "its words",
    }));

  it("Transcript search finds an answer by the words of the question before it", async () => {
    const hits = await search("What did Ana make in the pottery class?");
    const answer = hits.find(({ messageId }) => messageId === "s4");
    expect(answer).toMatchObject({ reason: "what was said around it; said by who is asked about" });
    expect(hits.slice(0, 3)).toContainEqual(answer);
  });

  it("Transcript search prefers messages of the named speaker", async () => {
    expect((await ids("What about Ana and the lake swimming?"))[0]).toBe("u1");
    expect((await ids("What about Ben and the lake swimming?"))[0]).toMatch(/u0|u2/);
  });

  it("Transcript search finds messages of a date in the question without a shared word", async () => {
    const said = await search("What else happened on 10 March 2024?", { topK: 20 });
    expect(said.map(({ messageId }) => messageId).toSorted()).toEqual(spring.map(({ id }) => id));
    expect(said[0]).toMatchObject({ similarity: 0.3, reason: "the time it was said at" });
    expect((await ids("What else happened in July 2024?")).toSorted()).toEqual([
      "u0",
      "u1",
      "u2",
      "u5",
    ]);
    expect(await ids("What else happened in July 2024?", { threadId: "spring" })).toEqual([]);
    expect(await ids("What else happened in July 2019?")).toEqual([]);
  });

  it("Transcript search never finds system and tool messages", async () => {
    const found = await ids("swimming forbidden closed degrees lake", { topK: 200, threshold: 0 });
    expect(found).toContain("u1");
    expect(found).not.toContain("u3");
    expect(found).not.toContain("u4");
  });

  it("Transcript search respects threadId and topK", async () => {
    const all = await ids("pottery", { topK: 200, threshold: 0 });
    expect(all.length).toBeGreaterThan(3);
    expect(await ids("pottery", { topK: 2, threshold: 0 })).toEqual(all.slice(0, 2));
    const inSummer = await search("pottery", { threadId: "summer", threshold: 0 });
    expect(inSummer.map(({ messageId }) => messageId)[0]).toBe("u5");
    expect(new Set(inSummer.map(({ threadId }) => threadId))).toEqual(new Set(["summer"]));
    expect(await ids("pottery", { threadId: "unheard of" })).toEqual([]);
  });

  it("Transcript search weights a reply by half, and finds by it the message that it answers", async () => {
    const chat = { userId: "chat" };
    const words = "The ferry to Naxos leaves at nine.";
    await memory.record({
      scope: chat,
      threadId: "chat",
      messages: [
        new HumanMessage({ id: "asks", content: words }),
        new AIMessage({ id: "answers", content: words }),
      ],
    });
    const hits = await memory.transcript.search({ scope: chat, query: "ferry to Naxos" });
    expect(hits.map(({ messageId }) => messageId)).toEqual(["asks", "answers"]);
    const [asks = 0, answers = 0] = hits.map(({ score }) => score);
    expect(answers / asks).toBeCloseTo(0.5 / 1.25, 5);
    const other = { scope: { userId: "other" }, threadId: "other" };
    await memory.record({
      ...other,
      messages: [
        new HumanMessage({ id: "asks", content: "How do I get there?" }),
        new AIMessage({ id: "calls", content: "I will look." }),
        new AIMessage({ id: "answers", content: words }),
      ],
    });
    const found = await memory.transcript.search({ ...other, query: "ferry to Naxos" });
    expect(found.map(({ messageId }) => messageId)).toEqual(["asks", "answers"]);
  });

  it("Transcript search lends no words between messages of one person alone", async () => {
    const own = { scope: { userId: "diary" }, threadId: "diary" };
    const days = ["The ferry was late.", "We swam at noon.", "We ate figs.", "It rained."];
    const messages = days.map((content, day) => new HumanMessage({ id: `d${day}`, content }));
    await memory.record({ ...own, messages });
    const hits = await memory.transcript.search({ ...own, query: "ferry" });
    expect(hits.map(({ messageId }) => messageId)).toEqual(["d0"]);
  });

  it("Transcript search returns nothing without a match, and no hit below the threshold", async () => {
    expect(await ids("How do I configure a reverse proxy?")).toEqual([]);
    const vague = "Which community regulations govern satellite broadcasting licences nowadays?";
    expect(await ids(vague, { threshold: 0.3 })).toEqual([]);
    expect(await ids(vague, { threshold: 0 })).toContain("s2");
    for (const hit of await search("pottery class", { threshold: 0.5 })) {
      expect(hit.similarity).toBeGreaterThanOrEqual(0.5);
    }
  });

  it.each([
    ["empty", ""],
    ["blank", " \n\t"],
    ["only stop words", "what did you do to the other and why was it so?"],
    ["only marks", `'"%_\\ & | ! ( ) <-> :* \u0000 ?`],
    ["an emoji", "🏺"],
    ["halves of surrogate pairs", "\uD83C \uDFFA"],
  ])("Transcript search finds nothing for a query that is %s", async (_, query) =>
    expect(await ids(query)).toEqual([]),
  );

  it.each([
    "pottery & class | (market) !lake <-> 'x' :*",
    `pot%ry "pottery" \\pottery\\ '; drop table message; --`,
    "pottery\u0000class",
    "POTTERY, pottery; Pöttery?",
  ])("Transcript search reads %j as words", async (query) =>
    expect(await ids(query)).toContain("s2"),
  );
});

it("A page that was pasted among short messages is found by what it says", async () => {
  const owner = { userId: "pasted" };
  const small = (index: number) => `Did the parcel from shelf ${index} arrive this morning?`;
  const filler = Array.from({ length: 330 }, (_, index) => `clause${index}`).join(" ");
  const page = `${filler} The landlord pays for repairs of the boiler within fourteen days. ${filler}`;
  const messages = Array.from({ length: 20 }, (_, index) => new HumanMessage(small(index)));
  await memory.record({
    scope: owner,
    threadId: "pasted",
    messages: [...messages, new HumanMessage({ id: "page", content: page })],
  });
  const query = "How soon does the landlord repair the boiler?";
  expect(await memory.transcript.search({ scope: owner, query })).toEqual([
    expect.objectContaining({ messageId: "page" }),
  ]);
});
