import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type HandedMessage, type Memory, memoryMiddleware } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { addressOf, newThread, say, userOf } from "../langgraph/conversation.js";
import { agentIn } from "../langgraph/ways.js";
import { countEverything, findEverywhere, word } from "../support/find-everywhere.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { handedIn } from "./replays.js";

const db = useTestDatabase();

const text = (value: unknown) => JSON.stringify(value);
const answering = () => new ScriptedChatModel({ replies: (_, call) => `answer ${call}` });
const config = {
  preset: "ledger",
  consent: { ask: "tool" },
  memories: { extract: true },
} as const;
/** Its extraction waits for more messages. */
const waiting = () => db.memory({ model: taskModel({}), jobs: "background", config });

/**
 * A conversation of two turns: its block has a memory, the first turn an unread message of another
 * conversation, the second a change and a request. What changed was said in that other one.
 */
async function begin(memory: Memory) {
  const [known, news, wish, said] = [word(), word(), word(), word()] as const;
  const thread = newThread();
  const user = userOf(thread);
  const other = { ...user, threadId: `other of ${thread.configurable.thread_id}` };
  const model = answering();
  const graph = await agentIn("withMemory", { memory, model });
  await memory.remember({
    ...other,
    messages: [new HumanMessage({ id: "told", content: `I told you of ${said}.` })],
  });
  await memory.memories.add({ ...user, memories: { text: `The user keeps ${known}.` } });
  await say(graph, "What do I keep?", thread);
  const source = { threadId: other.threadId, seqs: [0] };
  await memory.memories.add({ ...user, memories: { text: `The user sold ${news}.`, source } });
  const draft = {
    category: "profile",
    key: "city",
    value: wish,
    text: `The user lives in ${wish}.`,
  };
  await memory.memories.add({ ...user, memories: draft });
  await say(graph, "And what did I sell?", thread);
  const prompts = model.calls.map(({ messages }) => handedIn(messages));
  const [stored] = await memory.memories.list({ ...user, contains: known });
  const at = (turn: number) => ({ ...addressOf(thread), turn });
  return {
    words: { known, news, wish, said },
    user,
    other,
    thread,
    at,
    prompts,
    id: stored?.id ?? "",
  };
}

describe("threads.replay", () => {
  it("A replay gives the messages of each turn as they were handed on, and leaves no trace", async () => {
    const memory = waiting();
    const { at, prompts, words, id } = await begin(memory);
    for (const each of Object.values(words)) expect(text(prompts)).toContain(each);
    const before = await countEverything(db);
    for (const [index, prompt] of prompts.entries()) {
      const replayed = await memory.threads.replay(at(index + 1));
      expect(replayed).toMatchObject({ complete: true, gaps: [], changed: null, answers: null });
      expect(replayed.messages).toEqual(prompt);
    }
    const model = answering();
    await memory.threads.replay({ ...at(2), memory: "today", model });
    await memory.threads.replay({ ...at(2), without: [id], model });
    expect(model.calls).toHaveLength(4);
    expect(await countEverything(db)).toEqual(before);
  });

  it("A replay marks a memory that was removed or changed, and nothing else", async () => {
    const memory = waiting();
    const { at, user, id, prompts, words } = await begin(memory);
    const marked = (mark: string) =>
      text(prompts[1]).replace(`[knowledge] The user keeps ${words.known}.`, mark);
    await memory.memories.update({ ...user, id, text: `The user keeps ${word()}.` });
    const edited = await memory.threads.replay(at(2));
    expect(edited).toMatchObject({
      complete: false,
      gaps: [{ what: "memory", why: "edited", id }],
    });
    expect(text(edited.messages)).toBe(marked("[changed since]"));
    await memory.memories.remove({ ...user, id });
    const removed = await memory.threads.replay(at(2));
    expect(removed.gaps).toEqual([{ what: "memory", why: "forgotten", id }]);
    expect(text(removed.messages)).toBe(marked("[forgotten since]"));
    expect(text(removed)).not.toContain(words.known);
  });

  it("A replay has no words of what was deleted or changed in another conversation, and stores none", async () => {
    const memory = waiting();
    const { at, other, user, words } = await begin(memory);
    expect(await findEverywhere(db, words.said)).toMatchObject({ shown: 1 });
    expect(await findEverywhere(db, words.news)).toMatchObject({ shown: 1 });
    const said = { ...other, messageId: "told" };
    await memory.transcript.replace({ ...said, text: "I told you of nothing." });
    expect(await findEverywhere(db, words.said)).toEqual({});
    const first = await memory.threads.replay(at(1));
    expect(first.gaps).toContainEqual({ what: "unread", why: "edited", id: null });

    await memory.threads.delete({ ...other, memories: "remove" });
    expect(await findEverywhere(db, words.news)).toEqual({});
    const second = await memory.threads.replay(at(2));
    expect(second.gaps).toContainEqual(
      expect.objectContaining({ what: "change", why: "forgotten" }),
    );
    expect(text(second.messages)).toContain("+created: [forgotten since]");
    expect(text(second)).not.toContain(words.news);
    expect(text(second.messages)).toContain(words.wish);

    await memory.forget(user);
    expect(await findEverywhere(db, words.wish)).toEqual({});
    await expect(memory.threads.replay(at(2))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("A replay marks messages of the conversation that were removed, changed or redacted", async () => {
    const secret = word();
    const memory = db.memory({ redact: (given) => given.replaceAll(secret, "[a secret]") });
    const thread = newThread();
    const graph = await agentIn("withMemory", { memory, model: answering() });
    for (const says of ["One.", `Two: ${secret}.`, "Three.", "Four."])
      await say(graph, says, thread);
    const at = { ...addressOf(thread), turn: 4 };
    const messages = await memory.threads.messages(addressOf(thread));
    const idOf = (start: string) => messages.find((each) => each.text.startsWith(start))!.messageId;
    const redacted = { what: "message", why: "redacted", id: idOf("Two") };
    expect(await memory.threads.replay(at)).toMatchObject({ complete: false, gaps: [redacted] });
    const message = { ...addressOf(thread), messageId: idOf("One") };
    await memory.transcript.replace({ ...message, text: "Another one." });
    await memory.transcript.remove({ ...addressOf(thread), messageId: idOf("Three") });
    const replayed = await memory.threads.replay(at);
    expect(replayed.gaps).toEqual([
      { what: "message", why: "edited", id: idOf("One") },
      redacted,
      { what: "message", why: "forgotten", id: idOf("Three") },
    ]);
    const contents = replayed.messages.map(({ content }) => content);
    expect(contents.filter((each) => /^\[/.test(String(each)))).toEqual([
      ...["[changed since]", "[forgotten since]"],
    ]);
    expect(text(replayed)).not.toMatch(new RegExp(`${secret}|Three|One\\.`));
  });

  it("A replay takes lines away, adds others, and recalls anew, without ranking anew", async () => {
    const memory = waiting();
    const { at, prompts, words, id, user } = await begin(memory);
    const [prompt] = prompts.slice(1) as [HandedMessage[]];
    const bare = await memory.threads.replay({ ...at(2), without: [id] });
    expect(text(bare.changed)).toBe(
      text(prompt).replace(/\\n\\n## [^\\]*\\n- \[knowledge\] The user keeps [^\\]*/, ""),
    );
    const line = bare.lines.find(({ part }) => part === "change")?.line ?? "";
    expect(line).toContain(words.news);
    const other = await memory.threads.replay({
      ...at(2),
      without: [line],
      with: ["Owns a barge."],
    });
    expect(text(other.changed)).not.toContain(words.news);
    expect(text(other.changed)).toContain("- Owns a barge.");
    expect(text(other.messages)).toBe(text(prompt));
    const misspelt = memory.threads.replay({ ...at(2), without: [id, words.known] });
    await expect(misspelt).rejects.toThrow(`names "${words.known}", which memory did not show`);
    await memory.memories.add({ ...user, memories: { text: "The user sold a barge." } });
    const today = await memory.threads.replay({ ...at(2), memory: "today" });
    expect(text(today.changed)).toContain("The user sold a barge.");
    expect(today.changed?.at(-1)).toEqual(prompt.at(-1));
  });

  it("A replay takes each line away by what it says, also one that begins with a number", async () => {
    const memory = waiting();
    const address = addressOf(newThread());
    const texts = ["1. FC is the user's club.", "- is the user's favourite sign."];
    const memories = texts.map((text) => ({ text, category: "profile", pinned: true }));
    await memory.memories.add({ ...address, memories });
    const query = "Which club?";
    const { shown } = await memory.promptFor({ ...address, query });
    await memory.remember({ ...address, shown, messages: [{ role: "user", content: query }] });
    const { lines } = await memory.threads.replay({ ...address, turn: 1 });
    expect(lines.map(({ line }) => line).toSorted()).toEqual(texts.toSorted());
    const without = lines.map(({ line }) => line);
    const { changed } = await memory.threads.replay({ ...address, turn: 1, without });
    expect(text(changed)).not.toMatch(/club\.|sign/);
  });

  it("A replay asks a model for both answers, runs no tool, and waits no longer than it may", async () => {
    const memory = waiting();
    const { at, words, id } = await begin(memory);
    let runs = 0;
    const look = tool(() => `${++runs}`, { name: "look", schema: z.object({}) });
    const model = new ScriptedChatModel({
      replies: (messages) =>
        text(messages).includes(words.known)
          ? { toolCalls: [{ name: "look", args: {} }], text: "I look." }
          : "I do not know.",
    });
    const bound = model.bindTools([look]) as never;
    const asked = await memory.threads.replay({ ...at(2), without: [id], model: bound });
    expect(asked.answers).toEqual({
      asShown: { text: "I look.", toolCalls: ["look"], error: null },
      changed: { text: "I do not know.", toolCalls: [], error: null },
    });
    expect(runs).toBe(0);
    const hanging = new ScriptedChatModel({ replies: () => "hang" });
    const late = await memory.threads.replay({ ...at(2), model: hanging, timeoutMs: 20 });
    expect(late.answers).toMatchObject({ changed: null, asShown: { error: /within 20 ms/ } });
    const none = db.memory().threads.replay({ ...at(2), model: "memory" });
    await expect(none).rejects.toMatchObject({ code: "MODEL_REQUIRED" });
  });

  it("A replay gives a prompt of promptFor as it was given", async () => {
    const memory = waiting();
    const address = addressOf(newThread());
    await memory.memories.add({ ...address, memories: { text: "The user keeps bees." } });
    for (const [turn, query] of ["What do I keep?", "And what else?"].entries()) {
      const { messages, shown } = await memory.promptFor({ ...address, query });
      const answer = { role: "assistant" as const, content: "Bees." };
      await memory.remember({
        ...address,
        shown,
        messages: [{ role: "user", content: query }, answer],
      });
      const replayed = await memory.threads.replay({ ...address, turn: turn + 1 });
      expect(replayed).toMatchObject({ complete: true, messages });
    }
  });

  it("A replay gives what an agent with memory of its own was shown for a task", async () => {
    const memory = db.memory();
    const thread = newThread();
    await memory.memories.add({ ...userOf(thread), memories: { text: "The user keeps bees." } });
    const scoutModel = answering();
    const middleware = [memoryMiddleware(memory, { agent: "scout" })];
    const scout = createAgent({ model: scoutModel, tools: [], middleware });
    const ask = tool(
      async ({ task }: { task: string }) => {
        const { messages } = await scout.invoke({ messages: [new HumanMessage(task)] });
        return messages.at(-1)?.text ?? "";
      },
      { name: "ask", description: "Asks.", schema: z.object({ task: z.string() }) },
    );
    const asks = (task: string) => ({ toolCalls: [{ name: "ask", args: { task } }] });
    const model = new ScriptedChatModel({
      replies: [asks("Find bees."), "Here.", asks("Find hives."), "There."],
    });
    const graph = await agentIn("withMemory", { memory, model, tools: [ask] });
    for (const says of ["Bees?", "Hives?"]) await say(graph, says, thread);
    for (const [turn, { messages }] of scoutModel.calls.entries()) {
      const at = { ...addressOf(thread), turn: turn + 1, agentId: "scout" };
      const replayed = await memory.threads.replay(at);
      expect(replayed).toMatchObject({ complete: true, messages: handedIn(messages) });
    }
    expect(text(handedIn(scoutModel.calls[1]?.messages ?? []))).toMatch(/keeps bees.*Find hives/);
  });

  it("A replay belongs to the thread's owner, and takes the turn's own reader", async () => {
    const memory = db.memory({ config: { ...config, allowlists: { clerk: ["tasks"] } } });
    const { at, user, thread, prompts } = await begin(memory);
    const foreign = { ...at(1), scope: { userId: "somebody else" } };
    await expect(memory.threads.replay(foreign)).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
    const unknown = memory.threads.replay({ ...at(2), seq: 99, agentId: "scout" });
    await expect(unknown).rejects.toThrow(
      /no turn 2 at seq 99 .* what the agent "scout" was shown/,
    );
    await expect(memory.threads.replay(at(9))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await memory.memories.add({ ...user, memories: { category: "tasks", text: "Pay the rent." } });
    const model = answering();
    const clerk = await agentIn("withMemory", { memory, model, agent: "clerk" });
    await say(clerk, "What is to do?", thread);
    const [call] = model.calls;
    const ofClerk = await memory.threads.replay(at(3));
    expect(ofClerk).toMatchObject({ complete: true, messages: handedIn(call?.messages ?? []) });
    expect((await memory.threads.replay(at(2))).messages).toEqual(prompts[1]);
  });
});
