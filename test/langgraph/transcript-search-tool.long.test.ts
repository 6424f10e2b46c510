import { HumanMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { type Memory, transcriptSearchTool } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { type Address, newAddress, openThread, say } from "../support/thread-facts.js";
import { checkpointed } from "./conversation.js";

const db = useTestDatabase();

const runOf = ({ scope, threadId }: Address) => ({
  configurable: { user_id: scope.userId, thread_id: threadId },
});
const search = async (memory: Memory, thread: Address, args: object) => {
  const answer: string = await transcriptSearchTool(memory).invoke(args as never, runOf(thread));
  return answer.startsWith("[") ? (JSON.parse(answer) as Record<string, string>[]) : answer;
};

describe("the transcript search tool", () => {
  it("The transcript search tool finds a message that no summary or episode of a long conversation has", async () => {
    const memory = db.memory({
      model: taskModel({
        conversation_summary: () => ({
          structured: { reasoning: "", summary: "The user asks of boats." },
        }),
      }),
      config: { memories: { extract: false } },
    });
    const asked: string[] = [];
    const model = new ScriptedChatModel({
      replies: (messages) => {
        const last = messages.at(-1);
        if (last?.getType() === "tool") return `You said: ${last.text}`;
        if (!last?.text.startsWith("Which")) return "Noted.";
        asked.push(messages.map(({ text }) => text).join("\n"));
        return {
          toolCalls: [
            { name: "transcript_search", args: { query: "mooring", this_conversation: true } },
          ],
        };
      },
    });
    const graph = checkpointed(
      createAgent({ model, tools: [transcriptSearchTool(memory)] }),
      memory,
    );
    const thread = newAddress();
    const turn = (text: string) =>
      graph.invoke({ messages: [new HumanMessage(text)] }, runOf(thread));
    await turn("The mooring of the boat is number 4711.");
    for (const question of ["Which mooring was it?", "Which mooring was it, again?"]) {
      for (let count = 0; count < 10; count++) {
        await turn(`The sail of week ${count} is white.`);
        await memory.idle();
      }
      const { messages } = (await turn(question)) as { messages: { text: string }[] };
      expect(asked.at(-1)).not.toContain("4711");
      expect(messages.at(-1)?.text).toMatch(/The mooring of the boat is number 4711/);
      expect(messages.at(-1)?.text).not.toContain("[calls");
      await memory.idle();
    }
  });

  it("The transcript search tool searches all conversations of the user, or this one alone", async () => {
    const memory = db.memory();
    const [here, other] = [newAddress(), newAddress()];
    const there = { ...newAddress(), scope: here.scope };
    await say(memory, here, "The harbour fee is 12 euros.");
    await say(memory, there, "The harbour fee is 15 euros.");
    await say(memory, other, "The harbour fee is 99 euros.");
    const found = await search(memory, here, { query: "harbour fee" });
    expect(found).toEqual(
      expect.arrayContaining([
        { role: "user", said_at: expect.any(String), text: "The harbour fee is 12 euros." },
        {
          role: "user",
          said_at: expect.any(String),
          text: "The harbour fee is 15 euros.",
          conversation: there.threadId,
        },
      ]),
    );
    expect(found).toHaveLength(2);
    const alone = await search(memory, here, { query: "harbour fee", this_conversation: true });
    expect(alone).toMatchObject([{ text: "The harbour fee is 12 euros." }]);
    expect(await search(memory, here, { query: "submarine" })).toMatch(
      /^Nothing that was said fits/,
    );
    expect(await search(memory, here, { query: "fee", thread_id: there.threadId })).toMatch(
      /^Refused: .*unknown key "thread_id"/,
    );
    const elsewhere = { configurable: { thread_id: "x" } };
    const bound = transcriptSearchTool(memory, { scope: here.scope, name: "said" });
    expect(await bound.invoke({ query: "harbour fee" }, elsewhere)).toContain("15 euros");
    await expect(
      transcriptSearchTool(memory).invoke({ query: "fee" }, elsewhere),
    ).rejects.toMatchObject({
      code: "SCOPE_REQUIRED",
    });
  });

  it("The transcript search tool keeps to its budget, and cuts long messages", async () => {
    const { memory, thread } = openThread(db);
    for (const day of ["Monday", "Tuesday"])
      await say(memory, thread, `${day}: ${"the tide is high. ".repeat(200)}`);
    for (const budget_tokens of [16, 100, 400, 1_024]) {
      const answer: string = await transcriptSearchTool(memory).invoke(
        { query: "tide", budget_tokens },
        runOf(thread),
      );
      expect(estimateTokens(answer)).toBeLessThanOrEqual(budget_tokens);
    }
    expect(
      await search(memory, thread, { query: "tide", budget_tokens: 4_000, top_k: 2 }),
    ).toMatchObject(
      ["Monday", "Tuesday"].map(() => ({ role: "user", text: expect.stringMatching(/^.{999}…$/) })),
    );
  });
});
