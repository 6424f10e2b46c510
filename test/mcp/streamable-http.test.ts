import { beforeAll, describe, expect, it } from "vitest";
import type { MemoryAppOptions } from "../../packages/server/src/http/app-options.js";
import { createMemoryApp } from "../../packages/server/src/http/memory-app.js";
import { mcpHandler } from "../../packages/server/src/mcp/mcp-handler.js";
import type { Memory } from "../../src/memory.js";
import { useTestDatabase } from "../support/test-database.js";

// What the protocol's conformance suite asks of a server that has neither logging nor prompts nor
// completions: the rest of that suite calls tools of its own. `scripts/mcp-conformance.ts` runs the
// suite itself.

const db = useTestDatabase();
let memory: Memory;
beforeAll(() => {
  memory = db.memory();
});

const here = { incoming: { socket: { localAddress: "127.0.0.1", remoteAddress: "127.0.0.1" } } };
const host = "127.0.0.1:8787";

interface Sent {
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly httpMethod?: string;
  readonly body?: string;
  readonly origins?: readonly string[];
  readonly authenticated?: boolean;
  readonly rateLimit?: MemoryAppOptions["rateLimit"];
}

/** Sends a request of the protocol from this machine, as clients do. */
async function send(method: string, params: object = {}, sent: Sent = {}): Promise<Response> {
  const { origins, authenticated, rateLimit, httpMethod = "POST" } = sent;
  const app = createMemoryApp(memory, {
    mcp: mcpHandler(memory, { ...(origins && { origins }) }),
    ...(rateLimit && { rateLimit }),
    ...(authenticated && { authenticate: () => ({ role: "operator" as const }) }),
  });
  const id = method.startsWith("notifications/") ? {} : { id: 1 };
  const body = sent.body ?? JSON.stringify({ jsonrpc: "2.0", ...id, method, params });
  const accept = "application/json, text/event-stream";
  const headers = { "content-type": "application/json", accept, ...sent.headers };
  const init = { method: httpMethod, headers, ...(httpMethod === "POST" && { body }) };
  return app.request(`http://${sent.host ?? host}/mcp?userId=ana`, init, here);
}

const clientInfo = { name: "a test", version: "1" };
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };

async function result(method: string, params?: object) {
  const response = await send(method, params);
  expect(response.status).toBe(200);
  return (await response.json()) as { result: Record<string, unknown>; error?: { code: number } };
}

describe("MCP over streamable HTTP", () => {
  it("A request with 300,000 values is refused before the protocol's package explains each", async () => {
    const experimental = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [at, 1]));
    const before = process.cpuUsage();
    const response = await send("initialize", { ...initialize, capabilities: { experimental } });
    const { user, system } = process.cpuUsage(before);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "INVALID_INPUT" });
    // It takes eight seconds, and answers with 85 MB.
    expect((user + system) / 1_000).toBeLessThan(2_000);
  });

  it("The server says the version that was asked for, who it is, and only what it can do", async () => {
    const { result: said } = await result("initialize", initialize);
    expect(said).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "mnemograph", version: expect.any(String) },
    });
    expect(Object.keys(said.capabilities as object).sort()).toEqual(["resources", "tools"]);
    const { result: old } = await result("initialize", {
      ...initialize,
      protocolVersion: "1999-01-01",
    });
    expect(old.protocolVersion).toMatch(/^20\d\d-/);
    expect((await send("notifications/initialized")).status).toBe(202);
    expect((await result("ping")).result).toEqual({});
  });

  it("The server lists tools with names, words and schemas, and resources with readable addresses", async () => {
    const { tools } = (await result("tools/list")).result as { tools: Record<string, unknown>[] };
    for (const tool of tools) {
      expect(tool).toMatchObject({
        name: expect.stringMatching(/^[\w.-]{1,128}$/),
        inputSchema: { type: "object" },
      });
      expect(tool.description).toBeTruthy();
      expect(tool.annotations).toMatchObject({ title: tool.title, openWorldHint: false });
    }
    const having = (hint: string) =>
      tools
        .filter(({ annotations }) => (annotations as Record<string, unknown>)[hint])
        .map(({ name }) => name);
    expect(having("readOnlyHint")).toEqual([
      "memory_query",
      "memory_history",
      "transcript_search",
      "turn_replay",
    ]);
    expect(having("destructiveHint")).toEqual(["memory_forget_item"]);
    expect(having("idempotentHint")).not.toContain("memory_add");
    const { resources } = (await result("resources/list")).result as {
      resources: { uri: string; name: string }[];
    };
    for (const { uri, name } of resources) {
      expect(name).toBeTruthy();
      const { contents } = (await result("resources/read", { uri })).result;
      expect(contents).toMatchObject([{ uri, text: expect.any(String) }]);
    }
    const { resourceTemplates } = (await result("resources/templates/list")).result;
    expect(resourceTemplates).toMatchObject([
      { uriTemplate: "memory://threads/{threadId}/summary" },
    ]);
  });

  it("A batch counts by call for rateLimit, and a body that is nested too deep is refused", async () => {
    let calls = 0;
    const rateLimit = () => (++calls > 5 ? { retryAfterMs: 1_000 } : undefined);
    const batch = (many: number) =>
      JSON.stringify(
        Array.from({ length: many }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })),
      );
    const counted = async (body: string) => {
      calls = 0;
      return (await send("ping", {}, { body, rateLimit })).status;
    };
    expect([await counted(batch(5)), calls]).toEqual([200, 5]);
    expect([await counted(batch(6)), calls]).toEqual([429, 6]);
    expect([await counted("[".repeat(2_000_000)), calls]).toEqual([400, 1]);
  });

  it("A tool's failure is answered as its result, and a missing method or address as an error", async () => {
    const failed = await result("tools/call", {
      name: "memory_history",
      arguments: { id: "nothing" },
    });
    expect(failed.result).toMatchObject({ isError: true, content: [{ type: "text" }] });
    const unknown = await result("tools/call", { name: "no_such_tool", arguments: {} });
    expect(unknown.error?.code === -32_602 || unknown.result.isError).toBe(true);
    expect((await result("prompts/list")).error?.code).toBe(-32_601);
    expect((await result("logging/setLevel", { level: "info" })).error?.code).toBe(-32_601);
    expect((await result("resources/read", { uri: "memory://nowhere" })).error?.code).toBeLessThan(
      -32_000,
    );
  });

  it("The server refuses what is no request of the protocol", async () => {
    expect((await send("ping", {}, { body: "{" })).status).toBe(400);
    expect((await send("ping", {}, { headers: { accept: "text/html" } })).status).toBe(406);
    expect((await send("ping", {}, { headers: { "content-type": "text/plain" } })).status).toBe(
      415,
    );
    expect(
      (await send("ping", {}, { headers: { "mcp-protocol-version": "1999-01-01" } })).status,
    ).toBe(400);
    for (const httpMethod of ["GET", "DELETE"]) {
      const response = await send("ping", {}, { httpMethod });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST");
    }
  });
});

describe("MCP of 2026-07-28", () => {
  const version = "2026-07-28";
  const meta = (key: string) => `io.modelcontextprotocol/${key}`;
  const _meta = {
    [meta("protocolVersion")]: version,
    [meta("clientInfo")]: clientInfo,
    [meta("clientCapabilities")]: {},
  };
  const headers = { "mcp-protocol-version": version };
  const ask = (method: string, params: object = {}, named: Sent["headers"] = {}) =>
    send(method, { ...params, _meta }, { headers: { ...headers, "mcp-method": method, ...named } });

  it("Version 2026-07-28 is served without a handshake, and nothing that may be forgotten is cached", async () => {
    const held: Record<string, unknown> = {};
    for (const method of [
      "server/discover",
      "tools/list",
      "resources/templates/list",
      "resources/list",
    ]) {
      const { result } = (await (await ask(method)).json()) as { result: Record<string, unknown> };
      expect(result).toMatchObject({ resultType: "complete", cacheScope: "private" });
      held[method] = result.ttlMs;
    }
    const uri = "memory://profile";
    const read = await ask("resources/read", { uri }, { "mcp-name": uri });
    expect(await read.json()).toMatchObject({ result: { ttlMs: 0, contents: [{ uri }] } });
    const hour = 3_600_000;
    expect(Object.values(held)).toEqual([hour, hour, hour, 0]);
  });

  it("Version 2026-07-28 announces no changes, and opens no stream for them", async () => {
    const { result } = (await (await ask("server/discover")).json()) as {
      result: Record<string, unknown>;
    };
    expect(result).toMatchObject({
      supportedVersions: [version],
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
    });
    const listening = await ask("subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    expect(listening.headers.get("content-type")).toContain("application/json");
    expect(await listening.json()).toMatchObject({ error: { code: -32_603 } });
  });

  it("A request is refused whose headers contradict its body, or whose revision is not served", async () => {
    expect((await ask("tools/list", {}, { "mcp-method": "ping" })).status).toBe(400);
    expect((await ask("tools/list", {}, { "mcp-protocol-version": "2025-11-25" })).status).toBe(
      400,
    );
    const later = { _meta: { ..._meta, [meta("protocolVersion")]: "2099-01-01" } };
    const sent = {
      headers: { ...headers, "mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list" },
    };
    const refused = await send("tools/list", later, sent);
    expect(await refused.json()).toMatchObject({ error: { data: { supported: [version] } } });
  });
});

describe("pages in a browser", () => {
  const asks = (asked: Sent) => send("initialize", initialize, asked);
  const evil = "evil.example.com";

  it("A browser's page is refused under a host name of another site, and from other sites", async () => {
    expect((await asks({ host: evil, headers: { origin: `http://${evil}` } })).status).toBe(401);
    expect((await asks({ host: evil })).status).toBe(401);
    expect((await asks({ headers: { origin: `http://${evil}` } })).status).toBe(401);
    for (const name of [host, "localhost:8787", "[::1]:8787"])
      expect((await asks({ host: name, headers: { origin: `http://${name}` } })).status).toBe(200);
  });

  it("A browser's page is refused where callers are authenticated, unless its origin is named", async () => {
    const site = "https://chat.example.com";
    const authenticated = true;
    const headers = { origin: site };
    expect((await asks({ authenticated, headers })).status).toBe(403);
    expect((await asks({ authenticated, headers: { origin: "null" } })).status).toBe(403);
    expect((await asks({ authenticated, headers, origins: [site] })).status).toBe(200);
    expect((await asks({ authenticated })).status).toBe(200);
  });
});
