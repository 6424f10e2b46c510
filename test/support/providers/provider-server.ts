import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../free-port.js";
import {
  type ModelRequest,
  type Provider,
  type Refusal,
  type Reply,
  randomId,
  type Script,
  type Usage,
} from "./provider.js";
import { inputCounter, outputOf } from "./token-usage.js";

/** One request and what became of it. */
export interface Exchange {
  readonly body: unknown;
  readonly request: ModelRequest;
  /** By a rule of the provider; null where the request was accepted. */
  readonly refused: Refusal | null;
  /** As reported to the client; null where no whole answer was sent. */
  usage: Usage | null;
}

export interface RunningProvider {
  /** Without a path. */
  readonly origin: string;
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

/**
 * A provider on a free port of 127.0.0.1, that answers by `script`.
 *
 * @param contextTokens a longer request is refused.
 */
export async function startProvider<Body>(
  provider: Provider<Body>,
  script: Script,
  contextTokens = 100_000,
): Promise<RunningProvider> {
  const exchanges: Exchange[] = [];
  const count = inputCounter();
  let accepted = 0;

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url ?? "";
    if (!provider.path.test(path)) return send(response, provider.failure(404, 0));
    const body: Body = JSON.parse(await textOf(incoming));
    const request = provider.read(body, path);
    const input = count(request);
    const refused =
      provider.refusalOf(request, body) ??
      (input.input <= contextTokens ? null : provider.tooLong(input.input, contextTokens));
    const exchange: Exchange = { body, request, refused, usage: null };
    exchanges.push(exchange);
    if (refused) return send(response, refused);
    const reply = toObject(await script(request, accepted++));
    if ("status" in reply)
      return send(response, provider.failure(reply.status, reply.retryAfterSeconds ?? 0));
    if ("fault" in reply && reply.fault === "silent") return;
    const closes = "fault" in reply;
    const said = answerTo(request, closes ? { text: "Half of it." } : reply, provider.callId);
    const answer = { ...said, usage: { ...input, ...outputOf(said) } };
    if (!closes) exchange.usage = answer.usage;
    const pieces = request.isStreamed
      ? [...provider.events(answer)]
      : [JSON.stringify(provider.whole(answer))];
    response.setHeader(
      "content-type",
      request.isStreamed ? "text/event-stream" : "application/json",
    );
    if (closes) closeInside(response, pieces.join(""));
    else response.end(pieces.join(""));
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error) =>
      send(response, { status: 501, body: { error: { message: `The stub failed: ${error}` } } }),
    );
  });
  const port = await listen(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    exchanges,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of incoming.setEncoding("utf8")) text += part;
  return text;
}

function send(response: ServerResponse, { status, headers, body }: Refusal): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function closeInside(response: ServerResponse, whole: string): void {
  // Clients notice the missing half of an announced length.
  response.setHeader("content-length", Buffer.byteLength(whole));
  response.write(whole.slice(0, whole.length / 2), () => response.destroy());
}

type Answered = Exclude<ReplyObject, { status: number } | { fault: string }>;
type ReplyObject = Exclude<Reply, string>;

const toObject = (reply: Reply): ReplyObject =>
  typeof reply === "string" ? { text: reply } : reply;

function answerTo(request: ModelRequest, reply: Answered, callId: () => string) {
  const { model } = request;
  const blank = {
    id: randomId(),
    model,
    reasoning: "",
    text: "",
    calls: [],
    refusal: null,
    isCut: false,
  };
  if ("refusal" in reply) return { ...blank, refusal: reply.refusal };
  const { reasoning = "", cutAt } = reply;
  const { text = "", calls = [] } = "structured" in reply ? structured(request, reply) : reply;
  const written = calls.map(({ name, args }, at) => {
    const json = JSON.stringify(args);
    return { id: callId(), name, args: at < calls.length - 1 ? json : json.slice(0, cutAt) };
  });
  return {
    ...blank,
    reasoning,
    text: calls.length > 0 ? text : text.slice(0, cutAt),
    calls: written,
    isCut: cutAt !== undefined,
  };
}

function structured(
  { wanted, toolNames }: ModelRequest,
  reply: { structured: object; wrapped?: (json: string) => string },
) {
  const json = JSON.stringify(reply.structured);
  const name = wanted ? wanted.of === "tool" && wanted.name : toolNames[0];
  if (reply.wrapped) return { text: reply.wrapped(json) };
  return name ? { calls: [{ name, args: reply.structured }] } : { text: json };
}
