import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  contextEditingMiddleware,
  createAgent,
  createMiddleware,
  piiMiddleware,
  summarizationMiddleware,
} from "langchain";
import { describe, expect, it } from "vitest";
import { watchBlocks } from "../../bench/hostile/measure.js";
import { memoryMiddleware } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { type AnyGraph, addressOf, answering, newThread, say } from "../langgraph/conversation.js";
import { agentIn, ways } from "../langgraph/ways.js";
import { newTalk, noted, noteModel } from "../notes/note-model.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { onServer, type TestDatabase, useTestDatabase } from "../support/test-database.js";
import type { TestConfig } from "../support/test-memory.js";
import { textsOf } from "../support/thread-facts.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const human = (id: string, content: string) => new HumanMessage({ id, content });
const cities = ["Lisbon", "Faro", "Evora"];

/** Learns the cities that it reads, and repeats them in summaries and episodes. */
function learning(config: TestConfig = {}) {
  const cityIn = (prompt: string) => cities.filter((city) => prompt.includes(city)).join(" and ");
  const model = taskModel({
    fact_extraction: (prompt) => {
      const said = [...prompt.matchAll(/<message number="(\d+)"[^>]*>([^<]*)/g)];
      return facts(
        ...cities.flatMap((city) => {
          const quote = `I leave from ${city}.`;
          const [, number] = said.find(([, , text]) => text?.includes(quote)) ?? [];
          if (number === undefined) return [];
          return [candidate(`The user leaves from ${city}.`, quote, { message: Number(number) })];
        }),
      );
    },
    conversation_summary: (prompt) => ({
      structured: { reasoning: "", summary: `They spoke of ${cityIn(prompt)}.` },
    }),
    episode_summary: (prompt) => ({
      structured: { reasoning: "", summary: `They talked about ${cityIn(prompt)} once.` },
    }),
  });
  const memory = db.memory({ model, config: { memories: { extract: true }, ...config } });
  return { memory, model };
}

const textOf = (prompt: readonly BaseMessage[] = []) => prompt.map(({ text }) => text).join("\n");
const lastPrompt = ({ calls }: ScriptedChatModel) => textOf(calls.at(-1)?.messages);
const factsOf = async (memory: Memory, scope: { userId: string }, state?: "soft_deleted") =>
  (await memory.memories.list({ scope, kinds: ["fact"], ...(state && { states: [state] }) })).map(
    ({ text }) => text,
  );
const found = async (memory: Memory, scope: { userId: string }, query: string) =>
  (await memory.transcript.search({ scope, query })).map(({ text }) => text);

async function versionsOf({ pool, schema }: TestDatabase, threadId: string) {
  const { rows } = await pool.query<{ row: string }>(
    `select concat_ws(' ', m.seq, m.message_id, m.version, m.content) as row
     from "${schema}".message m join "${schema}".thread t on t.id = m.thread_ref where t.thread_id = $1 order by m.seq`,
    [threadId],
  );
  return rows.map(({ row }) => row);
}

describe("a message that was edited", () => {
  it.each(ways)("Replaces its words everywhere, in its place: %s", async (way) => {
    const { memory } = learning();
    const model = answering();
    const agent = await agentIn(way, { memory, model });
    const thread = newThread();
    const { scope, threadId } = addressOf(thread);
    await agent.invoke({ messages: [human("h1", "I leave from Lisbon.")] }, thread);
    const [lisbon] = await memory.memories.list({ scope, kinds: ["fact"] });
    await agent.invoke(
      { messages: [human("h1", "I leave from Faro."), human("h2", "When?")] },
      thread,
    );
    expect(lastPrompt(model)).not.toContain("Lisbon");
    await say(agent, "Where from?", thread);

    expect(lastPrompt(model)).toContain("Faro");
    expect(lastPrompt(model)).not.toContain("Lisbon.");
    expect(await found(memory, scope, "Lisbon")).toEqual([]);
    expect(await found(memory, scope, "Faro")).toEqual(["I leave from Faro."]);
    expect((await versionsOf(db, threadId))[0]).toBe("0 h1 2 I leave from Faro.");
    expect(await factsOf(memory, scope)).toEqual(["The user leaves from Faro."]);
    const [closed] = await memory.memories.history({ scope, id: lisbon!.id });
    expect(closed).toMatchObject({ actor: "edit", new: { state: "soft_deleted" } });
    await memory.memories.restore({ scope, id: lisbon!.id });
    expect(await factsOf(memory, scope)).toHaveLength(2);
  });
});

/** Answers of some length, and a middleware that rewrites an old message in the state. */
const blanking = (id: string, content: string) =>
  createMiddleware({ name: "blanking", beforeModel: () => ({ messages: [human(id, content)] }) });

describe("what covers an edited message", () => {
  it("Makes summary and episode anew, and shows none that covers the old words", async () => {
    const { memory, model: worker } = learning({
      memories: { extract: true, episodes: true, episodeEveryTurns: 2 },
      summaries: { afterSeq: 1, everyMessages: 2, keepRecentMessages: 0 },
    });
    const model = answering();
    const checkpointer = memory.checkpointer();
    const middleware = [memoryMiddleware(memory)];
    const agent = createAgent({ model, tools: [], middleware, checkpointer });
    const thread = newThread();
    const { scope, threadId } = addressOf(thread);
    await agent.invoke({ messages: [human("h1", "I leave from Lisbon.")] }, thread);
    for (let turn = 2; turn < 6; turn++) await say(agent, `Question ${turn}?`, thread);
    const summaries = async () =>
      (await memory.summaries.list({ scope, threadId, completed: true })).map(({ text }) => text);
    expect(await summaries()).toContain("They spoke of Lisbon.");
    const episodes = () => textsOf(memory, { scope }, "episode");
    expect((await episodes()).join()).toContain("Lisbon");
    const before = worker.calls.length;

    await agent.updateState(thread, { messages: [human("h1", "I leave from Faro.")] });
    await say(agent, "And now?", thread);
    expect(lastPrompt(model)).not.toContain("Lisbon");
    expect(lastPrompt(model)).toContain("I leave from Faro.");
    await say(agent, "And then?", thread);
    const asked = worker.calls.slice(before).map(({ messages }) => textOf(messages));
    expect(asked.join("\n")).not.toContain("Lisbon");
    expect(asked.join("\n")).toContain("Faro");
    expect((await summaries()).join()).not.toContain("Lisbon");
    expect((await summaries()).at(-1)).toBe("They spoke of Faro.");
    expect((await episodes()).join()).toContain("Faro");
    expect((await episodes()).join()).not.toContain("Lisbon");
  });

  it.each(["edit", "remove"] as const)(
    "Note and request for consent end with the old words: %s",
    async (way) => {
      const about = (prompt: string) => cities.filter((city) => prompt.includes(city)).join();
      const model = noteModel({
        app_note: (prompt) => noted(`Talks were about ${about(prompt)}.`),
      });
      const memory = db.memory({ model });
      const talk = newTalk();
      const app = { appId: talk.scope.appId };
      const messages = [human("h1", "I live in Lisbon."), human("h2", "And in Evora.")];
      await memory.remember({ ...talk, messages });
      const source = { threadId: talk.threadId, seqs: [0], quote: "I live in Lisbon." };
      const city = { category: "profile", key: "city", value: "Lisbon", text: "Lives in Lisbon." };
      await memory.memories.add({
        scope: talk.scope,
        memories: { ...city, origin: "assistant", source },
      });
      const waiting = () => memory.consents.list({ scope: talk.scope, status: ["pending"] });
      const notes = async () => (await memory.notes.list({ scope: app })).map(({ text }) => text);
      await memory.threads.end(talk);
      expect([await notes(), (await waiting()).length]).toEqual([
        ["Talks were about Lisbon,Evora."],
        1,
      ]);

      if (way === "remove") await memory.transcript.remove({ ...talk, messageId: "h1" });
      else
        await memory.remember({
          ...talk,
          messages: [human("h1", "I live in Faro."), human("h3", "Hi.")],
        });
      expect([await notes(), await waiting()]).toEqual([[], []]);
      await memory.remember({ ...talk, messages: [human("h4", "Bye.")] });
      await memory.threads.end(talk);
      expect(await notes()).toEqual([`Talks were about ${way === "edit" ? "Faro," : ""}Evora.`]);
    },
  );
});

describe("what hides text in a state", () => {
  const hiding = {
    contextEditing: () => contextEditingMiddleware(),
    pii: () => piiMiddleware("city" as never, { detector: "Lisbon", strategy: "redact" }),
    summarization: () =>
      summarizationMiddleware({
        model: new ScriptedChatModel({ replies: () => "They met." }),
        trigger: { messages: 3 },
        keep: { messages: 1 },
      } as never),
    "a middleware of one's own": () => blanking("h1", "[blanked]"),
  };
  it.each(
    Object.keys(hiding).flatMap((name) => [
      [name, "before memory"] as const,
      [name, "after memory"] as const,
    ]),
  )("Changes nothing in transcript and facts: %s, %s", async (name, place) => {
    const { memory } = learning();
    const checkpointer = memory.checkpointer();
    const thread = newThread();
    const { scope, threadId } = addressOf(thread);
    const own = memoryMiddleware(memory);
    const plain = createAgent({ model: answering(), tools: [], middleware: [own], checkpointer });
    await plain.invoke({ messages: [human("h1", "I leave from Lisbon.")] }, thread);
    const [first] = await versionsOf(db, threadId);
    const other = hiding[name as keyof typeof hiding]();
    const middleware = (place === "before memory" ? [other, own] : [own, other]) as never;
    const agent = createAgent({
      model: answering(),
      tools: [],
      middleware,
      checkpointer,
    }) as unknown as AnyGraph;
    // Without a new message, the last user's message is an old one.
    await agent.invoke({ messages: [] }, thread);
    for (let turn = 2; turn < 5; turn++) await say(agent, `Question ${turn}?`, thread);
    await say(plain, "And without it?", thread);

    expect((await versionsOf(db, threadId))[0]).toBe(first);
    expect(await factsOf(memory, scope)).toEqual(["The user leaves from Lisbon."]);
  });
});

describe("branches and repetitions", () => {
  it("A branch keeps its words when another one edits them, and an edit in it is recorded", async () => {
    const { memory } = learning();
    const checkpointer = memory.checkpointer();
    const middleware = [memoryMiddleware(memory)];
    const model = answering();
    const agent = createAgent({
      model,
      tools: [],
      middleware,
      checkpointer,
    }) as unknown as AnyGraph;
    const thread = newThread();
    const { threadId } = addressOf(thread);
    await agent.invoke({ messages: [human("h1", "I leave from Lisbon.")] }, thread);
    const { config: main } = (await agent.getState(thread)) as { config: object };
    const fork = await agent.updateState(main, { messages: [human("h1", "I leave from Faro.")] });
    await say(agent, "In the fork?", fork);
    await say(agent, "In the old branch?", main);
    expect((await versionsOf(db, threadId))[0]).toBe("0 h1 2 I leave from Faro.");
    expect(lastPrompt(model)).toContain("Lisbon");
    await say(agent, "Again in the old branch?", thread);
    expect((await versionsOf(db, threadId))[0]).toBe("0 h1 2 I leave from Faro.");
    await agent.updateState(thread, { messages: [human("h1", "I leave from Evora.")] });
    await say(agent, "Edited there?", thread);
    expect((await versionsOf(db, threadId))[0]).toBe("0 h1 3 I leave from Evora.");
    // Back to words of before, on the branch of the edit.
    await agent.updateState(thread, { messages: [human("h1", "I leave from Lisbon.")] });
    await say(agent, "And back?", thread);
    expect((await versionsOf(db, threadId))[0]).toBe("0 h1 4 I leave from Lisbon.");
  });

  it("Records each edit once, however often and by how many at once it is told", async () => {
    const { memory } = learning();
    const { scope, threadId } = addressOf(newThread());
    const told = (content: string) =>
      memory.remember({
        scope,
        threadId,
        messages: [human("h1", content), new AIMessage({ id: "a1", content: "Noted." })],
      });
    await told("I leave from Lisbon.");
    await told("I leave from Lisbon.");
    await Promise.all(Array.from({ length: 5 }, () => told("I leave from Faro.")));
    await told("I leave from Faro.");
    expect(await versionsOf(db, threadId)).toEqual(["0 h1 2 I leave from Faro.", "1 a1 1 Noted."]);
    expect(await factsOf(memory, scope)).toEqual(["The user leaves from Faro."]);
  });

  it("Keeps facts that the new words still say, or that another message says", async () => {
    const { memory } = learning();
    const { scope, threadId } = addressOf(newThread());
    const told = (...messages: BaseMessage[]) => memory.remember({ scope, threadId, messages });
    await told(human("h1", "I leave from Lisbon."));
    await told(human("h2", "I leave from Faro."));
    await told(human("h3", "Again: I leave from Faro."));
    await told(human("h1", "Hello! I leave from Lisbon."), human("h2", "Never mind."));
    expect((await factsOf(memory, scope)).toSorted()).toEqual([
      "The user leaves from Faro.",
      "The user leaves from Lisbon.",
    ]);
    await told(human("h1", "Never mind."), human("h3", "Never mind."));
    expect(await factsOf(memory, scope)).toEqual([]);
    expect(new Set(await factsOf(memory, scope, "soft_deleted")).size).toBe(2);
  });

  it("Takes redacted words for the same, and redacts the new ones", async () => {
    const memory = db.memory({ redact: (text) => text.replaceAll(/\d/g, "#") });
    const checkpointer = memory.checkpointer();
    const middleware = [memoryMiddleware(memory)];
    const agent = createAgent({ model: answering(), tools: [], middleware, checkpointer });
    const thread = newThread();
    const { threadId } = addressOf(thread);
    await agent.invoke({ messages: [human("h1", "My PIN is 1234.")] }, thread);
    await say(agent, "Again?", thread);
    expect((await versionsOf(db, threadId))[0]).toBe("0 h1 1 My PIN is ####.");
    await agent.updateState(thread, { messages: [human("h1", "My gate is 44.")] });
    await say(agent, "And now?", thread);
    expect((await versionsOf(db, threadId))[0]).toBe("0 h1 2 My gate is ##.");
  });

  it("More than one transaction takes: a fact of messages far apart ends with both, others stay", async () => {
    const { pool, inTransactions } = watchedPool(db.pool);
    const memory = db.memory({ database: pool });
    const address = { scope: { userId: "many edits" }, threadId: "many edits" };
    const said = (words: string) =>
      Array.from({ length: 1_201 }, (_, at) => human(`e${at}`, `${words} ${at}.`));
    await memory.record({ ...address, messages: said("Tea") });
    const learned = (text: string, seqs: number[], quote = "Tea") => {
      return { text, origin: "user", source: { threadId: address.threadId, seqs, quote } } as const;
    };
    const memories = [
      learned("The user drinks tea twice a day.", [0, 1_199]),
      learned("The user once had a garden.", [3, 1_200]),
    ];
    for (let at = 10; at < 310; at++)
      memories.push(learned(`Tea number ${at} was hot.`, [at], `Tea ${at}.`));
    await memory.memories.add({ scope: address.scope, memories });
    const edited = said("Coffee");
    edited[1_200] = human("e1200", "Tea 1200.");
    const watch = watchBlocks();
    await memory.remember({ ...address, messages: edited });
    // Looking for each quote in each message takes ten times as long.
    if (onServer()) expect(await watch.maxMs()).toBeLessThan(1_000);
    expect(await factsOf(memory, address.scope)).toEqual(["The user once had a garden."]);
    const versions = await versionsOf(db, address.threadId);
    expect(versions[1_199]).toBe("1199 e1199 2 Coffee 1199.");
    expect(versions.filter((row) => row.includes(" 2 Coffee "))).toHaveLength(1_200);
    const sizes = inTransactions
      .filter(({ text }) => text.includes("earlier_checks = "))
      .map(({ values }) => (values[1] as unknown[]).length);
    expect(sizes).toEqual([500, 500, 200]);
  });
});
