import { memoryModelMiddleware } from "@mnemograph/ai-sdk";
import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { createMemory } from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";

// Memory for a model of the AI SDK. The middleware puts what it recalls before the last user message,
// and remembers the answer.
//
// npm install ai @mnemograph/ai-sdk
// npx tsx examples/ai-sdk.ts

// In place of openai("gpt-4.1-mini") from @ai-sdk/openai: it answers with the line of its prompt
// that names peanuts.
const standIn = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const line = JSON.stringify(prompt).match(/The user is [^\\"]*peanuts\./)?.[0];
    const content = [{ type: "text" as const, text: line ?? "Noted." }];
    const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
    const finishReason = { unified: "stop" as const, raw: "stop" };
    return {
      content,
      finishReason,
      usage: { inputTokens: tokens, outputTokens: tokens },
      warnings: [],
    };
  },
});

// Memory learns facts with a model of LangChain's.
const memory = createMemory({ model: new OfflineChatModel(), database: process.env.DATABASE_URL });
await memory.setup();

const userId = `ana-${Date.now()}`;
async function say(thread: string, prompt: string): Promise<void> {
  const middleware = memoryModelMiddleware(memory, {
    scope: { userId },
    threadId: `${thread}-${userId}`,
  });
  const { text } = await generateText({
    model: wrapLanguageModel({ model: standIn, middleware }),
    prompt,
  });
  await memory.idle();
  console.log(`${thread}> ${prompt}\n${text}\n`);
}
await say("monday", "I am allergic to peanuts.");
await say("tuesday", "What may I not eat?");
await memory.close();
