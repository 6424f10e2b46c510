import { initChatModel } from "langchain";
import { createMemory } from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";

// Memory around a model call, without a graph: prompt, answer, remember.
//
// npx tsx examples/plain-code.ts
// MODEL=openai:gpt-4.1-mini OPENAI_API_KEY=… npx tsx examples/plain-code.ts

const model = process.env.MODEL ? await initChatModel(process.env.MODEL) : new OfflineChatModel();
const memory = createMemory({ model, database: process.env.DATABASE_URL });
await memory.setup();

// Somebody new each time, so that this can be run again.
const scope = { userId: `ana-${Date.now()}` };

/**
 * One turn of a conversation, which need be kept nowhere else: the prompt has what was said before.
 */
async function chat(threadId: string, query: string): Promise<string> {
  const { messages, shown } = await memory.promptFor({ scope, threadId, query });
  const { text } = await model.invoke(messages);
  const said = [
    { role: "user", content: query },
    { role: "assistant", content: text },
  ];
  await memory.remember({ scope, threadId, messages: said, shown });
  return text;
}

async function say(thread: string, text: string): Promise<void> {
  console.log(`${thread}> ${text}\n${await chat(`${thread}-${scope.userId}`, text)}\n`);
  // Facts are extracted after the answer. A server does not wait for them: this program ends soon.
  await memory.idle();
}

await say("monday", "My favourite tea is sencha.");
await say("monday", "The boat is called Gaivota.");
// The same conversation: the turn before is in its transcript.
await say("monday", "What is the boat called?");
// Another one: what was learned of the user.
await say("tuesday", "What is my favourite tea?");
await memory.close();
