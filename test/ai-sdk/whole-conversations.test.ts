import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, it } from "vitest";
import { memoryModelMiddleware } from "../../packages/ai-sdk/src/index.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

/** Asks by all texts of a conversation; returns what the model was shown. The answer is "Yes". */
function conversation(userId: string, sends?: "all" | "last") {
  const memory = db.memory({ model: new OfflineChatModel() });
  const thread = { scope: { userId }, threadId: userId };
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const finishReason = { unified: "stop", raw: "stop" };
  const answer = { content: [{ type: "text", text: "Yes" }], finishReason, usage, warnings: [] };
  const mock = new MockLanguageModelV4({ doGenerate: answer as never });
  const ask = async (...texts: string[]): Promise<string> => {
    const middleware = memoryModelMiddleware(memory, { ...thread, sends });
    const messages = texts.map((content, at) => {
      return at % 2 === 0
        ? { role: "user" as const, content }
        : { role: "assistant" as const, content };
    });
    await generateText({ model: wrapLanguageModel({ model: mock, middleware }), messages });
    await memory.idle();
    const { prompt = [] } = mock.doGenerateCalls.at(-1) ?? {};
    return prompt.map(({ content }) => (content as { text: string }[])[0]?.text).join(" ");
  };
  const recorded = async () =>
    (await memory.threads.messages(thread)).map(({ text }) => text).join(" ");
  return { ask, recorded };
}

it.each([
  ["all", "Oslo?", "Oslo? Yes Thanks"],
  ["last", "Rome? Yes Oslo?", "Rome? Yes Oslo? Yes Thanks"],
  [undefined, "Rome? Yes Oslo?", "Rome? Yes Oslo? Yes Thanks"],
] as const)(
  "One message alone is the first again, or the next, as `sends` says: %s",
  async (sends, alone, next) => {
    const { ask, recorded } = conversation(`${sends}`, sends);
    expect(await ask("Rome?")).toBe("Rome?");
    expect(await ask("Oslo?")).toBe(alone);
    expect(await ask("Oslo?")).toBe(alone);
    expect(await ask("Oslo?", "Yes", "Thanks")).toBe(next);
    expect(await recorded()).toBe("Rome? Yes Oslo? Yes Thanks Yes");
  },
);

it("Where all is sent, an edited first message ends the summary of what followed it", async () => {
  const { ask } = conversation("summary", "all");
  const texts = Array.from({ length: 20 }, (_, at) => [`Rome ${at}?`, "Yes"]).flat();
  let shown = "";
  for (let at = 1; at < texts.length; at += 2) shown = await ask(...texts.slice(0, at));
  expect(shown).toMatch(/Previous context: .*Rome 1\d.*Rome 19\?$/s);
  expect(await ask("Oslo?")).not.toContain("Rome");
  expect(await ask("Oslo?", "Yes", "Thanks")).not.toContain("Rome");
});
