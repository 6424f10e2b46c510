import { type Context, Hono } from "hono";
import type { Memory } from "mnemograph";
import { defaultLogger, MemoryError, messageOf, parseInput, parseJson } from "mnemograph/contract";
import {
  actorOf,
  type Caller,
  nothingHere,
  ownerIdFields,
  parseCaller,
  targetOf,
} from "../operations/caller.js";
import type { Operation } from "../operations/operation.js";
import { operationList } from "../operations/operations.js";
import { httpOptionsSchema, type LimitedRequest, type MemoryAppOptions } from "./app-options.js";
import { isFromPage, isLocal } from "./authenticate.js";
import type { MemoryApp } from "./client.js";
import { addInspectorPage } from "./inspector-files.js";
import { openApiDocument } from "./openapi.js";
import { etagOf, HttpProblem, problemOf, problemResponse } from "./problem.js";
import {
  answerWithin,
  bodyWithin,
  defaultBodyBytes,
  defaultImportBytes,
  readBytes,
  readHttpRequest,
} from "./read-request.js";

/**
 * The HTTP API of `memory`: serve it, or mount it in a Hono app. It describes itself at
 * `/openapi.json`. In LangGraph's `http.app`, mount it under a path of its own, since both have
 * `/threads`: `new Hono().route("/memory", app)`.
 * @example
 * ```ts
 * const app = createMemoryApp(memory, {
 *   authenticate: bearerTokens({ [process.env.ANA_TOKEN!]: { role: "user", scope: { userId: "ana" } } }),
 * });
 * serve({ fetch: app.fetch, port: 8787 }); // of @hono/node-server
 * ```
 * @throws MemoryError `INVALID_INPUT` for unknown options
 */
export function createMemoryApp(memory: Memory, options: MemoryAppOptions = {}): MemoryApp {
  parseInput(httpOptionsSchema, options, "options of createMemoryApp");
  const app = new Hono();
  app.use(async (context, next) => {
    await next();
    context.header("x-content-type-options", "nosniff");
  });
  const { logger = defaultLogger, mcp } = options;
  const failure = (error: unknown, operation: string): Response => {
    if (problemOf(error).problem.status >= 500) {
      const code = MemoryError.is(error) ? { code: error.code } : {};
      logger.error(`${operation} failed: ${messageOf(error)}`, code);
    }
    return problemResponse(error);
  };
  const handler =
    (name: string, answer: (context: Context) => Promise<Response>) => (context: Context) =>
      answer(context).catch((error) => failure(error, name));
  for (const [name, operation] of operationList) {
    const answer = handler(name, (context) =>
      answerOperation(memory, options, [name, operation], context),
    );
    app[operation.method](operation.path, answer);
  }
  if (mcp) {
    const answer = handler("mcp", (context) => answerMcp(mcp, options, context));
    app.all("/mcp", answer);
  }
  addProbes(app, memory);
  if (options.inspector) addInspectorPage(app);
  app.get("/openapi.json", (context) => context.json(openApiDocument()));
  refuseOtherMethods(app);
  app.notFound(() => problemResponse(new HttpProblem("NOT_FOUND", "There is no such path.")));
  app.onError((error) => failure(error, "request"));
  return app as unknown as MemoryApp;
}

function refuseOtherMethods(app: Hono): void {
  const routes = app.routes.filter(({ method }) => method !== "ALL");
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = routes.flatMap((route) => (route.path === path ? [route.method] : [])).join(", ");
    const problem = new HttpProblem("METHOD_NOT_ALLOWED", `This path answers ${allow}.`);
    app.all(path, () => problemResponse(problem, { allow }));
  }
}

async function answerOperation(
  memory: Memory,
  options: MemoryAppOptions,
  [name, operation]: (typeof operationList)[number],
  context: Context,
): Promise<Response> {
  const request = context.req.raw;
  const caller = await admit(options, context, name);
  if (operation.operators && caller.role !== "operator") throw nothingHere();
  const signal = options.signal
    ? AbortSignal.any([request.signal, options.signal])
    : request.signal;
  const {
    maxBodyBytes = defaultBodyBytes,
    maxImportBytes = defaultImportBytes,
    timeoutMs,
  } = options;
  const work = async () => {
    const { input, named, match } = await readHttpRequest(operation, context.req, maxBodyBytes);
    const target = targetOf(operation.reach, caller, named, input.appId as string | undefined);
    const stream = bodyWithin(request, maxImportBytes);
    const answer = operation.call(
      { memory, caller, target, actor: actorOf(caller), match, signal, stream },
      input,
    );
    return operation.lines === "out"
      ? linesResponse(answer as AsyncIterable<unknown>, signal)
      : jsonResponse(operation, request, await answer);
  };
  return operation.lines === "in" ? work() : answerWithin(timeoutMs, work);
}

async function admit(
  options: MemoryAppOptions,
  context: Context,
  operation: string,
): Promise<Caller> {
  const { authenticate, inspector } = options;
  const request = context.req.raw;
  // Browsers send the page's cookie with requests of other sites too.
  if (inspector && request.headers.has("cookie") && !isFromPage(request))
    throw new HttpProblem("FORBIDDEN", "This comes from a page of another site.");
  const local = isLocal(request, context.env) ? { role: "operator" } : null;
  const found = authenticate ? await authenticate(request) : local;
  const whatToDo = authenticate
    ? "Say who you are: Authorization: Bearer …"
    : "This server has no authentication, so it answers programs of its own machine only.";
  if (!found) throw new HttpProblem("UNAUTHENTICATED", whatToDo);
  const caller = parseCaller(found);
  await limitRate(options, { caller, operation, request });
  return caller;
}

async function limitRate({ rateLimit }: MemoryAppOptions, request: LimitedRequest): Promise<void> {
  const limited = await rateLimit?.(request);
  if (!limited) return;
  const seconds = Math.max(1, Math.ceil(limited.retryAfterMs / 1_000));
  throw new HttpProblem("RATE_LIMITED", `Try again in ${seconds} s.`, seconds);
}

async function answerMcp(
  mcp: NonNullable<MemoryAppOptions["mcp"]>,
  options: MemoryAppOptions,
  context: Context,
) {
  const caller = await admit(options, context, "mcp");
  const { scope } = targetOf(
    "scope",
    caller,
    parseInput(ownerIdFields, context.req.query(), "query"),
  );
  const request = context.req.raw;
  const { method, url, headers } = request;
  const { maxBodyBytes = defaultBodyBytes, timeoutMs } = options;
  return answerWithin(timeoutMs, async () => {
    const body = method === "POST" ? await readBytes(request, maxBodyBytes) : null;
    const batch = body && parseJson(new TextDecoder().decode(body), "The body");
    if (!hasAtMost(maxMcpValues, batch))
      throw new MemoryError("INVALID_INPUT", `The body has more than ${maxMcpValues} values.`);
    // `admit` counted the first call; the protocol's server refuses more than 100.
    const calls = Array.isArray(batch) ? Math.min(batch.length, 100) : 1;
    for (let call = 1; call < calls; call++)
      await limitRate(options, { caller, operation: "mcp", request });
    return mcp(new Request(url, { method, headers, body }), scope, actorOf(caller));
  });
}

/**
 * A hundred calls have some 2,000. The protocol's package explains each wrong value: a list of a
 * million takes it minutes.
 */
const maxMcpValues = 5_000;

/** Whether JSON has at most so many values. */
function hasAtMost(most: number, json: unknown): boolean {
  let left = most;
  const counts = (value: unknown): boolean => {
    left--;
    return left >= 0 && Object.values(isObject(value) ? value : {}).every(counts);
  };
  return counts(json);
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function addProbes(app: Hono, memory: Memory): void {
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    try {
      await answerWithin(5_000, () => memory.energy.level());
      return context.json({ status: "ok" });
    } catch (error) {
      return context.json({ status: "unavailable", code: problemOf(error).problem.code }, 503);
    }
  });
}

function jsonResponse(
  { versioned, method, input }: Operation,
  request: Request,
  answer: unknown,
): Response {
  const headers = new Headers({ "cache-control": "no-store" });
  const { revision, nextCursor } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (versioned && typeof revision === "number") {
    const etag = etagOf(revision);
    headers.set("etag", etag);
    if (method === "get" && request.headers.get("if-none-match") === etag)
      return new Response(null, { status: 304, headers });
  }
  if (typeof nextCursor === "string") {
    // Relative: the app may be mounted anywhere.
    const query = new URL(request.url).searchParams;
    const place = ["after", "before", "since"].find((name) => name in input.shape) ?? "after";
    query.set(place, nextCursor);
    headers.set("link", `<?${query}>; rel="next"`);
  }
  return Response.json(answer, { headers });
}

/** Lines have some hundred characters; sending each alone would cost a call. */
const linesPieceCharacters = 65_536;

/** Awaits the first line, so that an error has its own status. Reads no faster than the caller. */
async function linesResponse(
  lines: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<Response> {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let next: IteratorResult<unknown> | null = await iterator.next();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let piece = "";
        while (piece.length < linesPieceCharacters) {
          next ??= await iterator.next();
          if (signal.aborted || next.done) break;
          piece += `${JSON.stringify(next.value)}\n`;
          next = null;
        }
        if (piece !== "") controller.enqueue(encoder.encode(piece));
        if (!signal.aborted && !next?.done) return;
        await iterator.return?.();
        if (signal.aborted) controller.error(signal.reason);
        else controller.close();
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" },
  });
}
