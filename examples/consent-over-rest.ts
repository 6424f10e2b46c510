import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Command, INTERRUPT, isInterrupted } from "@langchain/langgraph";
import { createAgent, initChatModel } from "langchain";
import { type ConsentAnswer, type ConsentQuestion, createMemory, withMemory } from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";

// A chat over HTTP that asks the user before it remembers a city. A message is answered with 200;
// where memory has something to ask first, with 202 and the question. The answer to it goes on with
// the message.
//
// POST /threads/:id/messages   { "text": "…" }
// POST /threads/:id/answers    { "decisions": [{ "id": "…", "decision": "approve" }] }
//
// npx tsx examples/consent-over-rest.ts             plays a conversation and ends
// PORT=3000 npx tsx examples/consent-over-rest.ts   serves until it is stopped

const model = process.env.MODEL ? await initChatModel(process.env.MODEL) : new OfflineChatModel();
const memory = createMemory({
  model,
  database: process.env.DATABASE_URL,
  config: { consent: { ask: "interrupt" } },
});
await memory.setup();
const agent = createAgent({ model, tools: [] });
const graph = withMemory(agent, memory).compile({
  checkpointer: memory.checkpointer(),
});

// Somebody new each time, so that this can be run again.
const run = Date.now();
/**
 * Who has which key: your authentication. Whose memory it is never comes from the body of a
 * request.
 */
const users = new Map([["key-of-ana", `ana-${run}`]]);

interface Reply {
  readonly status: number;
  readonly body: { answer: string | undefined } | { question: ConsentQuestion } | { error: string };
}

async function handle(request: IncomingMessage): Promise<Reply> {
  const userId = users.get(request.headers.authorization?.replace("Bearer ", "") ?? "");
  if (userId === undefined) return { status: 401, body: { error: "Who are you?" } };
  const [, threadId, what] =
    /^\/threads\/([\w-]{1,100})\/(messages|answers)$/.exec(request.url ?? "") ?? [];
  if (request.method !== "POST" || threadId === undefined)
    return { status: 404, body: { error: "Not here." } };

  const config = { configurable: { thread_id: threadId, user_id: userId } };
  const body = await readJson(request);
  if (body === undefined) return { status: 400, body: { error: "That is no JSON." } };
  const input =
    what === "messages"
      ? { messages: [new HumanMessage(String((body as { text?: unknown }).text ?? ""))] }
      : // Checked by memory: an answer that it cannot use is asked for again, with what is wrong.
        new Command({ resume: body as ConsentAnswer });
  const state: { messages: BaseMessage[] } = await graph.invoke(input, config);
  if (isInterrupted<ConsentQuestion>(state)) {
    const question = state[INTERRUPT][0]?.value;
    if (question) return { status: 202, body: { question } };
  }
  return { status: 200, body: { answer: state.messages.at(-1)?.text } };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) {
    text += piece;
    if (text.length > 100_000) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function serve(port: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { status, body } = await handle(request).catch((error: unknown): Reply => {
      console.error(error);
      return { status: 500, body: { error: "That did not work." } };
    });
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}

const server = await serve(Number(process.env.PORT ?? 0));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
console.log(`Listening on ${url}`);
if (!process.env.PORT) {
  await playConversation();
  server.close();
  await memory.close();
}

/** What a client does. */
async function playConversation(): Promise<void> {
  await post(`/threads/monday-${run}/messages`, { text: "I live in Porto." });
  // Facts are extracted after the answer.
  await memory.idle();
  const { question } = await post(`/threads/monday-${run}/messages`, {
    text: "Shall I take an umbrella?",
  });
  const [proposal] = question?.proposals ?? [];
  if (proposal) {
    const decisions = [{ id: proposal.id, decision: "approve" }];
    await post(`/threads/monday-${run}/answers`, { decisions });
  }
  await post(`/threads/tuesday-${run}/messages`, { text: "Which city do I live in?" });
}

async function post(path: string, body: object): Promise<{ question?: ConsentQuestion }> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: "Bearer key-of-ana" },
    body: JSON.stringify(body),
  });
  const reply = (await response.json()) as { answer?: string; question?: ConsentQuestion };
  const { question } = reply;
  const said = question
    ? `${question.question} ${question.proposals[0]?.proposal}`
    : JSON.stringify(reply);
  console.log(
    `\nPOST ${path.replaceAll(`-${run}`, "")} ${JSON.stringify(body)}\n${response.status} ${said}`,
  );
  return reply;
}
