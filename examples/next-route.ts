import { AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { createAgent, initChatModel } from "langchain";
import { createMemory, type Memory, memoryMiddleware } from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";

// A route of Next.js that streams the answer as text: copy it to app/api/chat/[thread]/route.ts. It
// uses nothing of Next itself, so any server that speaks Request and Response runs it.
//
// next.config.ts: serverExternalPackages: ["mnemograph"]

/** Memory needs Node: not for `runtime = "edge"`. */
export const runtime = "nodejs";

/** One for the process: in development Next loads this file anew whenever it changes. */
const kept = globalThis as {
  chat?: Promise<{ memory: Memory; agent: ReturnType<typeof createChatAgent> }>;
};

async function openChat() {
  // Without MODEL ("openai:gpt-4.1-mini") a stand-in that follows rules.
  const model = process.env.MODEL ? await initChatModel(process.env.MODEL) : new OfflineChatModel();
  const memory = createMemory({ model, database: process.env.DATABASE_URL });
  await memory.setup();
  return { memory, agent: createChatAgent(model, memory) };
}

function createChatAgent(
  model: OfflineChatModel | Awaited<ReturnType<typeof initChatModel>>,
  memory: Memory,
) {
  const middleware = [memoryMiddleware(memory)];
  return createAgent({ model, tools: [], middleware, checkpointer: memory.checkpointer() });
}

/** POST { "text": "…" } */
export async function POST(
  request: Request,
  { params }: { params: Promise<{ thread: string }> },
): Promise<Response> {
  const userId = userOf(request);
  if (userId === null) return new Response("Who are you?", { status: 401 });
  const { text } = (await request.json().catch(() => ({}))) as { text?: unknown };
  if (typeof text !== "string" || text.trim() === "")
    return new Response("Say something.", { status: 400 });

  kept.chat ??= openChat();
  const { memory, agent } = await kept.chat;
  const stream = await agent.stream(
    { messages: [new HumanMessage(text)] },
    {
      configurable: { thread_id: (await params).thread, user_id: userId },
      streamMode: "messages",
      signal: request.signal,
    },
  );
  return new Response(textOf(stream, memory), {
    headers: { "content-type": "text/plain; charset=utf-8" },
  });
}

/** Who asks: replace it by your session. A client must not be able to choose whose memory it is. */
function userOf(request: Request): string | null {
  const sessions = new Map([["session-of-ana", "ana"]]);
  return sessions.get(request.headers.get("cookie")?.match(/session=([\w-]+)/)?.[1] ?? "") ?? null;
}

function textOf(
  stream: AsyncIterable<readonly [unknown, unknown]>,
  memory: Memory,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async start(controller) {
      try {
        for await (const [message] of stream) {
          if (AIMessageChunk.isInstance(message)) controller.enqueue(encoder.encode(message.text));
        }
        // On a platform that freezes functions after the answer: `after(() => memory.idle())` of
        // next/server, instead.
        await memory.idle();
        controller.close();
      } catch (error) {
        controller.error(error);
      }
    },
  });
}
