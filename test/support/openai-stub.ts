import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { ChatOpenAI } from "@langchain/openai";
import { afterEach } from "vitest";
import { listen } from "./free-port.js";

/**
 * How the stub treats one request.
 *
 * - `{ text }`: an answer.
 * - `{ structured }`: an answer that fits the request: a call of the demanded tool, of `tool` or
 *   the first one, else JSON as content.
 * - `{ written, finish }`: the same with the text of the JSON, and why the model stopped; or `{
 *   refusal }`.
 * - `{ status }`: an error; `retryAfterSeconds` becomes the `retry-after` header.
 * - `"malformed"`: status 200 and a body that is not JSON.
 * - `"stall"`: status 200 and headers, then nothing, for ever.
 * - `"silent"`: not even headers, for ever.
 */
export type StubBehaviour =
  | { text: string }
  | { structured: Record<string, unknown>; tool?: string }
  | { written: string; finish?: string }
  | { refusal: string }
  | { status: number; retryAfterSeconds?: number }
  | "malformed"
  | "stall"
  | "silent";

export interface StubRequestBody {
  model: string;
  messages: { role: string; content: unknown }[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: { function: { name: string; parameters?: unknown } }[];
  tool_choice?: string | { function: { name: string } };
  response_format?: {
    type: string;
    json_schema?: { name: string; schema: unknown; strict?: boolean };
  };
}

export interface StubRequest {
  body: StubRequestBody;
  headers: IncomingMessage["headers"];
  /** `performance.now()` at arrival. */
  at: number;
}

export interface OpenAIStub {
  /** For `new ChatOpenAI({ configuration: { baseURL } })`. */
  readonly baseURL: string;
  readonly requests: readonly StubRequest[];
  /** Appends to the script. */
  enqueue(...behaviours: StubBehaviour[]): void;
  /** Ends the server and cuts all connections. */
  close(): Promise<void>;
}

/**
 * A server on 127.0.0.1 that speaks OpenAI's `POST /v1/chat/completions`, streaming or not, one
 * behaviour for each request. A request after the end of the script gets status 400, which no
 * client retries, with a message that says so.
 */
export async function startOpenAIStub(...script: StubBehaviour[]): Promise<OpenAIStub> {
  const behaviours = [...script];
  const requests: StubRequest[] = [];

  const server = createServer((request, response) => {
    const at = performance.now();
    void readBody(request).then(
      (body) => {
        if (request.method !== "POST" || request.url !== "/v1/chat/completions")
          return fail(response, 404, `no such route: ${request.method} ${request.url}`);
        requests.push({ body, headers: request.headers, at });
        const behaviour = behaviours.shift();
        if (behaviour === undefined)
          return fail(response, 400, `the stub's script has no request ${requests.length}`);
        respond(response, behaviour, body);
      },
      (error: unknown) => fail(response, 400, String(error)),
    );
  });
  const port = await listen(server);
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    enqueue: (...more) => void behaviours.push(...more),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Models of an OpenAI endpoint that answers by a script. `requests` belong to the latest endpoint,
 * closed after the test.
 */
export function useOpenAI() {
  let stub: OpenAIStub | undefined;
  afterEach(() => stub?.close());
  return {
    get requests() {
      return stub?.requests ?? [];
    },
    async model(
      script: readonly StubBehaviour[],
      options: Partial<ConstructorParameters<typeof ChatOpenAI>[0]> = {},
    ) {
      await stub?.close();
      stub = await startOpenAIStub(...script);
      const configuration = { baseURL: stub.baseURL };
      return new ChatOpenAI({
        model: "gpt-4.1-mini",
        apiKey: "x",
        maxRetries: 0,
        ...options,
        configuration,
      });
    },
  };
}

async function readBody(request: IncomingMessage): Promise<StubRequestBody> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  return JSON.parse(text || "{}") as StubRequestBody;
}

function respond(response: ServerResponse, behaviour: StubBehaviour, body: StubRequestBody): void {
  if (behaviour === "silent") return;
  const type = body.stream ? "text/event-stream" : "application/json";
  if (behaviour === "stall") {
    response.writeHead(200, { "content-type": type }).flushHeaders();
    return;
  }
  if (behaviour === "malformed") {
    const broken = '{"id": "chatcmpl-stub", "choices": [{"mess';
    response
      .writeHead(200, { "content-type": type })
      .end(body.stream ? `data: ${broken}\n\n` : broken);
    return;
  }
  if ("status" in behaviour) {
    fail(response, behaviour.status, "scripted failure", behaviour.retryAfterSeconds);
    return;
  }
  const message = messageFor(behaviour, body);
  // LangGraph replaces a message by one with the same id.
  const id = `chatcmpl-${crypto.randomUUID()}`;
  response.writeHead(200, { "content-type": type });
  if (body.stream) {
    for (const chunk of chunksOf(message, body, id))
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end("data: [DONE]\n\n");
  } else {
    const { finish: _, ...said } = message;
    const finish_reason = finishReason(message);
    const choice = {
      index: 0,
      message: { role: "assistant", refusal: null, ...said },
      logprobs: null,
      finish_reason,
    };
    response.end(
      JSON.stringify({ ...envelope(body, id, "chat.completion"), choices: [choice], usage: USAGE }),
    );
  }
}

function fail(
  response: ServerResponse,
  status: number,
  message: string,
  retryAfterSeconds?: number,
): void {
  const retryAfter =
    retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  response.writeHead(status, { "content-type": "application/json", ...retryAfter });
  response.end(JSON.stringify({ error: { message, type: "stub_error", param: null, code: null } }));
}

const USAGE = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };

interface StubMessage {
  content: string | null;
  refusal?: string;
  finish?: string | undefined;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
}

function messageFor(
  behaviour: Exclude<StubBehaviour, string | { status: number }>,
  body: StubRequestBody,
): StubMessage {
  if ("text" in behaviour) return { content: behaviour.text };
  if ("refusal" in behaviour) return { content: null, refusal: behaviour.refusal };
  const json = "written" in behaviour ? behaviour.written : JSON.stringify(behaviour.structured);
  const finish = "written" in behaviour ? behaviour.finish : undefined;
  const chosen = "tool" in behaviour ? behaviour.tool : body.tools?.[0]?.function.name;
  const demanded = typeof body.tool_choice === "object" ? body.tool_choice.function.name : chosen;
  if (body.response_format !== undefined || demanded === undefined)
    return { content: json, finish };
  return {
    finish,
    content: null,
    tool_calls: [
      {
        id: `call_${crypto.randomUUID()}`,
        type: "function",
        function: { name: demanded, arguments: json },
      },
    ],
  };
}

function* chunksOf(message: StubMessage, body: StubRequestBody, id: string): Generator<object> {
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    ...envelope(body, id, "chat.completion.chunk"),
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  yield chunk({ role: "assistant", content: "" });
  for (const word of message.content?.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? [])
    yield chunk({ content: word });
  if (message.refusal !== undefined) yield chunk({ refusal: message.refusal });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    const { name, arguments: json } = call.function;
    yield chunk({
      tool_calls: [{ index, id: call.id, type: "function", function: { name, arguments: "" } }],
    });
    yield chunk({ tool_calls: [{ index, function: { arguments: json } }] });
  }
  yield chunk({}, finishReason(message));
  if (body.stream_options?.include_usage)
    yield { ...envelope(body, id, "chat.completion.chunk"), choices: [], usage: USAGE };
}

function envelope(body: StubRequestBody, id: string, object: string): object {
  return { id, object, created: 0, model: body.model, system_fingerprint: "fp_stub" };
}

function finishReason(message: StubMessage): string {
  return message.finish ?? (message.tool_calls ? "tool_calls" : "stop");
}
