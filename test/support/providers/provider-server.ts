import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../free-port.js";
import {
  type Answer,
  type Fault,
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
    const reply = await script(request, accepted++);
    const full = typeof reply === "string" ? { text: reply } : reply;
    respond(provider, exchange, input, full, response);
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

function respond(
  provider: Provider<never>,
  exchange: Exchange,
  input: Omit<Usage, "output" | "reasoning">,
  reply: Exclude<Reply, string>,
  response: ServerResponse,
): void {
  const fault = "fault" in reply ? reply.fault : null;
  if ("status" in reply)
    send(response, provider.failure(reply.status, reply.retryAfterSeconds ?? 0));
  else if (fault !== "silent") {
    const { request } = exchange;
    const whole = "fault" in reply ? { text: "Half of it." } : reply;
    const said = answerTo(request, whole, provider.callId);
    const usage = { ...input, ...outputOf(said) };
    const answer = { ...said, usage };
    if (!fault) exchange.usage = usage;
    const [type, pieces] = request.isStreamed
      ? ["text/event-stream", [...provider.events(answer)]]
      : ["application/json", [JSON.stringify(provider.whole(answer))]];
    response.writeHead(200, { "content-type": type });
    deliver(response, pieces, fault);
  }
}

function deliver(
  response: ServerResponse,
  pieces: readonly string[],
  fault: Exclude<Fault, "silent"> | null,
): void {
  const whole = pieces.join("");
  if (fault === "closes")
    response.write(whole.slice(0, whole.length / 2), () => response.destroy());
  else if (fault === "stalls") response.flushHeaders();
  else {
    for (const piece of pieces) response.write(piece);
    response.end();
  }
}

type Answered = Exclude<Reply, string | { status: number } | { fault: string }>;

function answerTo(
  request: ModelRequest,
  reply: Answered,
  callId: () => string,
): Omit<Answer, "usage"> {
  const blank = { id: randomId(), model: request.model, reasoning: "", text: "", calls: [] };
  if ("refusal" in reply)
    return { ...blank, refusal: reply.refusal, isCut: false, isFiltered: false };
  const { reasoning = "", cutAt, isCut = cutAt !== undefined, isFiltered = false } = reply;
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
    refusal: null,
    isCut,
    isFiltered,
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
