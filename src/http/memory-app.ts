import { type Context, Hono } from "hono";
import { MemoryError, messageOf } from "../errors.js";
import { defaultLogger } from "../logger.js";
import type { Memory } from "../memory.js";
import { checkAppOptions, type MemoryAppOptions } from "./app-options.js";
import { isLocal } from "./authenticate.js";
import { addInspectorPage } from "./inspector/inspector-files.js";
import { isFromPage } from "./inspector/inspector-session.js";
import { openApiDocument } from "./openapi.js";
import { actorOf, type Caller, notThere, parseCaller, type Reach, whoseOf } from "./route/caller.js";
import { etagOf, HttpProblem, problemOf, problemResponse } from "./route/problem.js";
import {
  bodyWithin,
  defaultBodyBytes,
  defaultImportBytes,
  readBytes,
  readRequest,
} from "./route/read-request.js";
import type { Asked, Route } from "./route/route.js";
import { within } from "./route/within.js";
import { type MemoryApp, routes } from "./routes.js";

/**
 * The HTTP API of `memory`, to be served as it is, or mounted in another Hono app or as LangGraph's `http.app`. Describes
 * itself at `/openapi.json`.
 *
 * @example
 * ```ts
 * const app = createMemoryApp(memory, {
 *   authenticate: bearerTokens({ [process.env.ANA_TOKEN!]: { role: "user", scope: { userId: "ana" } } }),
 * });
 * serve({ fetch: app.fetch, port: 8787 }); // of @hono/node-server
 * ```
 * @throws MemoryError `INVALID_INPUT` for options that there are not
 */
export function createMemoryApp(memory: Memory, options: MemoryAppOptions = {}): MemoryApp {
  checkAppOptions(options);
  const app = new Hono();
  const { logger = defaultLogger } = options;
  const report = (error: unknown, operation: string) => {
    const { status } = problemOf(error).problem;
    if (status < 500) return;
    logger.error(
      `${operation} failed: ${messageOf(error)}`,
      MemoryError.is(error) ? { code: error.code } : {},
    );
  };
  const answering =
    (operation: string, work: (context: Context) => Promise<Response>) => async (context: Context) => {
      try {
        return await work(context);
      } catch (error) {
        report(error, operation);
        return problemResponse(error);
      }
    };
  for (const [operation, route] of Object.entries(routes) as unknown as [string, Route][]) {
    const answer = (context: Context) => answerRoute({ memory, options, route, operation, context });
    app.on(route.method.toUpperCase(), route.path, answering(operation, answer));
  }
  const { mcp } = options;
  if (mcp)
    app.all(
      "/mcp",
      answering("mcp", (context) => answerMcp(mcp, options, context)),
    );
  addProbes(app, memory);
  if (options.inspector) addInspectorPage(app);
  app.get("/openapi.json", (context) => context.json(openApiDocument(routes)));
  app.notFound(() => problemResponse(new MemoryError("NOT_FOUND", "There is no such path.")));
  app.onError((error) => {
    report(error, "request");
    return problemResponse(error);
  });
  return app as unknown as MemoryApp;
}

interface Answering {
  readonly memory: Memory;
  readonly options: MemoryAppOptions;
  readonly route: Route;
  readonly operation: string;
  readonly context: Context;
}

async function answerRoute({ memory, options, route, operation, context }: Answering): Promise<Response> {
  const request = context.req.raw;
  const caller = await admit(options, context, operation);
  if (route.operators && caller.role !== "operator") throw notThere();
  const signal = options.signal ? AbortSignal.any([request.signal, options.signal]) : request.signal;
  const { maxBodyBytes = defaultBodyBytes, maxImportBytes = defaultImportBytes } = options;
  const work = async () => {
    const { params, query, body, named, match } = await readRequest(
      route,
      request,
      context.req.param(),
      maxBodyBytes,
    );
    const whose = whoseOf(route.reach, caller, named, (params as { appId?: string }).appId);
    const asked: Asked<Reach, unknown, unknown, unknown> = {
      ...{ memory, caller, whose, params, query, body, match, signal, actor: actorOf(caller) },
      stream: bodyWithin(request, maxImportBytes),
    };
    return route.call(asked as Parameters<Route["call"]>[0]);
  };
  const answer = await (route.streams === "in" ? work() : within(options.timeoutMs ?? 60_000, work));
  return isResponse(answer) ? answer : written(route, request, answer);
}

/** By its tag: servers put classes of their own in place of `Response`, whose `Response.json` makes none of theirs. */
function isResponse(answer: unknown): answer is Response {
  return Object.prototype.toString.call(answer) === "[object Response]";
}

function written(route: Route, request: Request, answer: unknown): Response {
  const headers = new Headers({ "cache-control": "no-store" });
  const { revision } = (answer ?? {}) as { readonly revision?: unknown };
  if (route.versioned && typeof revision === "number") {
    const etag = etagOf(revision);
    headers.set("etag", etag);
    if (route.method === "get" && request.headers.get("if-none-match") === etag)
      return new Response(null, { status: 304, headers });
  }
  return Response.json(answer, { headers });
}

/** Who asks, once that is known and may go on. @throws HttpProblem `UNAUTHENTICATED`, `RATE_LIMITED` */
async function admit(
  { authenticate, rateLimit, inspector }: MemoryAppOptions,
  context: Context,
  operation: string,
): Promise<Caller> {
  const request = context.req.raw;
  // Whoever shows a page here may have logged in by a cookie, which browsers send along with what other sites ask.
  if (inspector && request.headers.has("cookie") && !isFromPage(request)) {
    throw new HttpProblem("FORBIDDEN", "This comes from a page of another site.");
  }
  const caller = authenticate ? await authenticate(request) : isLocal(request, context.env) ? local : null;
  if (caller === null || caller === undefined) {
    throw new HttpProblem(
      "UNAUTHENTICATED",
      authenticate
        ? "Say who you are: Authorization: Bearer …"
        : "This server knows no callers, so it answers programs of its own machine only.",
    );
  }
  const known = parseCaller(caller);
  const limited = await rateLimit?.({ caller: known, operation, request });
  if (!limited) return known;
  const seconds = Math.max(1, Math.ceil(limited.retryAfterMs / 1_000));
  throw new HttpProblem("RATE_LIMITED", `Try again in ${seconds} s.`, seconds);
}

const local: Caller = { role: "operator" };

async function answerMcp(
  mcp: NonNullable<MemoryAppOptions["mcp"]>,
  options: MemoryAppOptions,
  context: Context,
): Promise<Response> {
  const caller = await admit(options, context, "mcp");
  const { userId, appId, tenantId } = context.req.query();
  const named = {
    ...(tenantId !== undefined && { tenantId }),
    ...(userId !== undefined && { userId }),
    ...(appId !== undefined && { appId }),
  };
  const { scope } = whoseOf("scope", caller, named);
  const { method, url, headers } = context.req.raw;
  const { maxBodyBytes = defaultBodyBytes, timeoutMs = 60_000 } = options;
  return within(timeoutMs, async () => {
    const body = method === "POST" ? await readBytes(context.req.raw, maxBodyBytes) : null;
    return mcp(new Request(url, { method, headers, body }), scope, actorOf(caller));
  });
}

/** `/healthz`: the process answers. `/readyz`: its database does, too. Neither tells anything of what is kept. */
function addProbes(app: Hono, memory: Memory): void {
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    try {
      await within(5_000, () => memory.energy.level());
      return context.json({ status: "ok" });
    } catch (error) {
      const { code } = problemOf(error).problem;
      return context.json({ status: "unavailable", code }, 503);
    }
  });
}
