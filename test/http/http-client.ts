import { expect } from "vitest";
import type { MemoryAppOptions } from "../../packages/server/src/http/app-options.js";
import { bearerTokens } from "../../packages/server/src/http/authenticate.js";
import { createMemoryApp } from "../../packages/server/src/http/memory-app.js";
import type { Caller } from "../../packages/server/src/operations/caller.js";
import { operationList } from "../../packages/server/src/operations/operations.js";
import type { Memory } from "../../src/memory.js";
import { silentLogger } from "../support/silent-logger.js";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the schema of the operation checks it.
  readonly body: any;
}

/** Sends a request, and checks a successful answer against the schema of its operation. */
export type Call = (
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

/** An app on `memory`, with a client for each of `callers`. */
export function httpClients<Name extends string>(
  memory: Memory,
  callers: Readonly<Record<Name, Caller>>,
  options: MemoryAppOptions = {},
) {
  const token = (name: string) => `token-of-${name}-000000000000`;
  const tokens = Object.fromEntries(
    Object.entries(callers).map(([name, caller]) => [token(name), caller]),
  );
  const app = createMemoryApp(memory, {
    logger: silentLogger,
    authenticate: bearerTokens(tokens as Record<string, Caller>),
    ...options,
  });
  const callAs =
    (name: string): Call =>
    async (method, path, body, headers = {}) => {
      const response = await app.request(path, {
        method,
        headers: {
          authorization: `Bearer ${token(name)}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      return checked(method, path, response);
    };
  const by = Object.fromEntries(Object.keys(callers).map((name) => [name, callAs(name)])) as Record<
    Name,
    Call
  >;
  return { app, token, ...by };
}

async function checked(method: string, path: string, response: Response): Promise<Answer> {
  const text = await response.text();
  const { status, headers } = response;
  const type = headers.get("content-type") ?? "";
  if (!type.includes("json") || type.includes("ndjson")) return { status, headers, body: text };
  const body: unknown = JSON.parse(text);
  if (status >= 400) {
    expect(type).toBe("application/problem+json");
    expect(body).toMatchObject({
      status,
      code: expect.stringMatching(/^[A-Z_]+$/),
      detail: expect.any(String),
    });
  } else {
    expect(
      operationAt(method, path)?.answer.safeParse(body)?.error,
      `${method} ${path}`,
    ).toBeUndefined();
  }
  return { status, headers, body };
}

function operationAt(method: string, path: string) {
  const [place = ""] = path.split("?");
  return operationList
    .map(([, operation]) => operation)
    .filter((each) => each.method === method.toLowerCase())
    .sort((one, two) => one.path.split(":").length - two.path.split(":").length)
    .find((each) => new RegExp(`^${each.path.replace(/:\w+/g, "[^/]+")}$`).test(place));
}
