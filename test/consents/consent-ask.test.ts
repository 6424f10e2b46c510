import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { type Memory, memoryMiddleware, modelView } from "../../src/index.js";
import { OfflineChatModel, ScriptedChatModel } from "../../src/testing/index.js";
import { addressOf, agentWithMemory, newThread, say } from "../langgraph/conversation.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const extract = { memories: { extract: true } };
type Thread = ReturnType<typeof newThread>;

const known = async (memory: Memory, thread: Thread) =>
  (await memory.memories.list({ scope: addressOf(thread).scope }))
    .map(({ key, value }) => `${key}: ${value}`)
    .toSorted();
const waiting = async (memory: Memory, thread: Thread) =>
  (await memory.consents.list({ scope: addressOf(thread).scope }))
    .map(({ key, value }) => `${key}: ${value}`)
    .toSorted();
const remembering = (config = {}) =>
  db.memory({ model: new OfflineChatModel(), config: { ...extract, ...config } });
/** All that a model was given last. */
const promptOf = ({ calls }: ScriptedChatModel) =>
  (calls.at(-1)?.messages ?? []).map(({ text }) => text).join("\n");
const introduction = "My name is Cleo. I live in Porto.";

describe("where nobody can ask the user", () => {
  it("what users plainly say of themselves is remembered, with their words as consent", async () => {
    const { memory, model, graph, thread } = agentWithMemory(remembering());
    await say(graph, introduction, thread);
    expect(await known(memory, thread)).toEqual(["city: Porto", "name: Cleo"]);
    expect(await waiting(memory, thread)).toEqual([]);
    const { scope, threadId } = addressOf(thread);
    const [city] = (await memory.memories.list({ scope })).filter(({ key }) => key === "city");
    const trail = await memory.memories.history(city!.id, { scope });
    expect(trail.find(({ event }) => event === "CONSENT")?.new).toMatchObject({
      ...{ decision: "approve", via: "said", key: "city", value: "Porto" },
      evidence: { quote: "I live in Porto", threadId },
    });
    expect(city).toMatchObject({ origin: "user", source: { quote: "I live in Porto" } });
    await say(graph, "I just moved to Lisbon.", thread);
    expect(await known(memory, thread)).toEqual(["city: Lisbon", "name: Cleo"]);
    await say(graph, "And now?", thread);
    expect(promptOf(model)).toContain("city: Lisbon");
    expect(promptOf(model)).not.toContain("Consent");
  });

  it("what was concluded waits for an operator, and no prompt tells of it", async () => {
    // A quote is read with the sentence that it stands in.
    const said = [
      ["Cleo texted me about the weather in Porto.", "Porto"],
      ["If I live in Porto, do I pay less?", "Porto"],
      ["Pretend that I live in Porto.", "I live in Porto"],
    ] as const;
    for (const [message, quote] of said) {
      const city = candidate("The user lives in Porto.", quote, {
        ...{ category: "profile", key: "city", value: "Porto", stated_by_user: false },
      });
      const model = taskModel({ fact_extraction: () => facts(city) });
      const { memory, model: agent, graph, thread } = agentWithMemory(db.memory({ model, config: extract }));
      await say(graph, message, thread);
      expect([await known(memory, thread), await waiting(memory, thread)]).toEqual([[], ["city: Porto"]]);
      await say(graph, "Hello?", thread);
      expect(promptOf(agent)).not.toMatch(/Consent|city: Porto/);
    }
  });

  it("the same rule holds for code that brings the user's words, and for middleware", async () => {
    const memory = db.memory();
    const scope = { userId: randomUUID() };
    const city = { category: "profile", key: "city", value: "Porto", text: "The user lives in Porto." };
    const source = (quote: string) => ({ source: { threadId: "t", seqs: [0], quote } });
    // Code says of itself who agreed: it has `consent: "given"` for that.
    expect(await memory.memories.add(city, { scope })).toMatchObject([{ outcome: "proposed" }]);
    const tool = { ...city, origin: "tool" as const, ...source("I live in Porto") };
    expect(await memory.memories.add(tool, { scope })).toMatchObject([{ outcome: "proposed" }]);
    const concluded = { ...city, origin: "user" as const, ...source("in Porto") };
    expect(await memory.memories.add(concluded, { scope })).toMatchObject([{ outcome: "proposed" }]);
    const plain = { ...city, origin: "user" as const, ...source("I live in Porto.") };
    expect(await memory.memories.add(plain, { scope })).toMatchObject([{ outcome: "created" }]);
    const requests = await memory.consents.list({ scope, status: ["pending", "approved"] });
    expect(requests).toMatchObject([{ status: "approved", decidedVia: "said" }]);

    const remembers = remembering();
    const model = new ScriptedChatModel({ replies: () => "ok" });
    const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(remembers)] });
    const thread = newThread();
    await agent.invoke({ messages: [new HumanMessage(introduction)] }, thread);
    expect(await known(remembers, thread)).toEqual(["city: Porto", "name: Cleo"]);
  });

  it("what the user refused is not taken from what they say later", async () => {
    const { memory, graph, thread } = agentWithMemory(remembering());
    const { scope } = addressOf(thread);
    const draft = { category: "profile", key: "city", value: "Porto", text: "The user lives in Porto." };
    const [request] = await memory.memories.add(draft, { scope });
    await memory.consents.decide({ scope, id: request!.consentId!, decision: "refuse", actor: "user" });
    await say(graph, introduction, thread);
    expect([await known(memory, thread), await waiting(memory, thread)]).toEqual([["name: Cleo"], []]);
  });
});

describe("where somebody asks the user", () => {
  it.each(["interrupt", "tool", "queue"] as const)(
    "by consent.ask %s, all of it waits for the answer, also what another process extracts",
    async (ask) => {
      const config = { consent: { ask } };
      const { memory, graph, thread } = agentWithMemory(remembering(config));
      await say(graph, introduction, thread);
      const all = ["city: Porto", "name: Cleo"];
      expect([await known(memory, thread), await waiting(memory, thread)]).toEqual([[], all]);
      const silent = db.memory({ config });
      await silent.remember({ ...addressOf(thread), messages: [new HumanMessage("I live in Porto.")] });
      const later = remembering(config);
      await later.upkeep();
      await later.idle();
      expect([await known(later, thread), await waiting(later, thread)]).toEqual([[], all]);
    },
  );

  it("only an agent that can decide is told of what waits", async () => {
    const draft = { category: "profile", key: "city", value: "Porto", text: "The user lives in Porto." };
    for (const ask of ["said", "interrupt", "tool", "queue"] as const) {
      const memory = db.memory({ config: { consent: { ask } } });
      const thread = newThread();
      const address = addressOf(thread);
      await memory.memories.add(draft, address);
      const [block] = modelView([new HumanMessage("Hi")], await memory.recall(address));
      const model = new ScriptedChatModel({ replies: () => "ok" });
      const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] });
      await agent.invoke({ messages: [new HumanMessage("Hi")] }, thread);
      for (const text of [block?.text, promptOf(model)]) {
        if (ask === "tool") expect(text).toMatch(/Waiting for the User's Consent[\s\S]+: city: Porto/);
        else expect(text).not.toContain("Porto");
      }
    }
  });
});
