import {
  Client,
  InMemoryTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { mcpHandler } from "../../packages/server/src/mcp/mcp-handler.js";
import {
  createMcpServer,
  type McpServerOptions,
} from "../../packages/server/src/mcp/memory-server.js";
import type { Memory } from "../../src/memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { httpClients } from "../http/http-client.js";
import { useCommandLine } from "../support/command-line.js";
import { briefly, compiled } from "../support/compiled.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const cli = useCommandLine(db);
let memory: Memory;
beforeAll(() => {
  memory = db.memory();
});

const connected: Client[] = [];
afterEach(async () => {
  for (const client of connected.splice(0)) await client.close();
});
const name = { name: "a test", version: "1" };
async function connect(transport: Transport): Promise<Client> {
  const client = new Client(name, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(transport);
  connected.push(client);
  return client;
}
/** A client of the SDK's version 1. */
async function connectOld(transport: OldHttp | OldStdio): Promise<Client> {
  const client = new OldClient(name);
  await client.connect(transport as never);
  connected.push(client as unknown as Client);
  return client as unknown as Client;
}

type Caller = "ana" | "bob" | "cleo" | "operator";
const overHttp = (caller: Caller, query?: string) =>
  connect(transportOverHttp(caller, query) as Transport);

function transportOverHttp(
  caller: Caller,
  query = "",
  Kind: typeof OldHttp = StreamableHTTPClientTransport as never,
) {
  const callers = {
    ana: { role: "user", scope: { userId: "ana" } },
    bob: { role: "user", scope: { userId: "bob" } },
    cleo: { role: "user", scope: { userId: "cleo" } },
    operator: { role: "operator" },
  } as const;
  const { app, token } = httpClients(memory, callers, { mcp: mcpHandler(memory) });
  return new Kind(new URL(`http://memory.test/mcp${query}`), {
    fetch: async (url, init) => app.request(String(url), init),
    requestInit: { headers: { authorization: `Bearer ${token(caller)}` } },
  });
}

/** A client of a new server with `options`. */
async function within(memory: Memory, options: McpServerOptions): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = createMcpServer(memory, options);
  serveStdio(() => server, { transport: theirs });
  return connect(ours);
}

async function call(client: Client, name: string, args: Record<string, unknown>) {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [{ text }] = content as unknown as [{ text: string }];
  return { isError, text, json: isError ? null : JSON.parse(text) };
}

/** Uses each tool and resource once. */
async function useOf(client: Client) {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual([
    ...["memory_add", "memory_forget_item", "memory_history", "memory_query", "transcript_search"],
    "turn_replay",
  ]);
  for (const { inputSchema } of tools)
    expect(
      Object.keys(inputSchema.properties ?? {}).filter((name) =>
        /user|scope|tenant|app/i.test(name),
      ),
    ).toEqual([]);
  const { json: added } = await call(client, "memory_add", {
    text: "Ana keeps bees.",
    importance: 4,
  });
  expect(added.outcome).toBe("created");
  const { json: found } = await call(client, "memory_query", { query: "What does Ana keep?" });
  expect(found.hits).toMatchObject([
    { id: added.id, text: expect.stringContaining("Ana keeps bees.") },
  ]);
  const { contents } = await client.readResource({ uri: "memory://profile" });
  expect(contents).toMatchObject([{ text: "- Ana keeps bees." }]);
  const { json: history } = await call(client, "memory_history", { id: added.id });
  expect(history.events).toMatchObject([{ event: "ADD" }]);
  const long = { query: "bees", asOf: "2001-01-01" };
  const { json: past } = await call(client, "memory_query", long);
  expect(past).toMatchObject({ hits: [], complete: true, missing: [] });
  expect((await call(client, "memory_query", { query: "bees", user_id: "bob" })).isError).toBe(
    true,
  );
  return added.id as string;
}

it("MCP keeps an agent to the categories of its allowlist, whatever it calls", async () => {
  const strict = db.memory({ config: { allowlists: { planner: ["projects"] } } });
  const scope = { userId: "gil" };
  const [boat, ill] = await strict.memories.add({
    scope,
    memories: [
      { category: "projects", text: "Gil builds a boat." },
      { category: "knowledge", text: "Gil has an illness." },
    ],
  });
  const messages = [{ role: "user", content: "My illness is back." }];
  await strict.remember({ scope, threadId: "gil 1", messages });
  const client = await within(strict, { scope, agent: "planner" });
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(["memory_query", "memory_history", "memory_forget_item", "memory_add"]);
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(["memory://profile"]);
  const { contents } = await client.readResource({ uri: "memory://profile" });
  expect(contents).toMatchObject([{ text: "- Gil builds a boat." }]);
  for (const tool of ["memory_history", "memory_forget_item"])
    expect(await call(client, tool, { id: ill?.id })).toMatchObject({ isError: true });
  expect(await call(client, "memory_add", { text: "Gil has a cold." })).toMatchObject({
    isError: true,
  });
  const added = await call(client, "memory_add", { text: "Gil paints.", category: "projects" });
  expect(added.json).toMatchObject({ outcome: "created" });
  expect((await call(client, "memory_history", { id: boat?.id })).json.events).toMatchObject([
    { event: "ADD" },
  ]);
  expect((await call(client, "memory_forget_item", { id: boat?.id })).json).toMatchObject({
    state: "soft_deleted",
  });
  expect((await textsOf(strict, { scope })).toSorted()).toEqual([
    "Gil has an illness.",
    "Gil paints.",
  ]);
});

describe("MCP over HTTP", () => {
  it("MCP over HTTP serves clients of 2025-11-25", async () => {
    await useOf(await connectOld(transportOverHttp("cleo", "", OldHttp)));
  });

  it("MCP over HTTP has the tools and resources of the authenticated user, and of nobody else", async () => {
    const client = await overHttp("ana");
    const id = await useOf(client);
    expect((await memory.memories.get({ scope: { userId: "ana" }, id }))?.trust).toBe("agent");
    const bob = await overHttp("bob");
    expect((await call(bob, "memory_query", { query: "bees" })).json).toEqual({ hits: [] });
    for (const tool of ["memory_history", "memory_forget_item"]) {
      const text = expect.stringContaining("NOT_FOUND");
      expect(await call(bob, tool, { id })).toMatchObject({ isError: true, text });
    }
    const named = await overHttp("operator", "?userId=ana");
    expect((await call(named, "memory_query", { query: "bees" })).json.hits).toHaveLength(1);
    expect((await call(client, "memory_forget_item", { id })).json).toMatchObject({
      state: "soft_deleted",
    });
    expect((await call(client, "memory_forget_item", { id })).text).toContain("WRONG_STATE");
    await expect(connectOld(transportOverHttp("operator", "", OldHttp))).rejects.toThrow(
      /SCOPE_REQUIRED|400/,
    );
    await expect(connectOld(transportOverHttp("bob", "?userId=ana", OldHttp))).rejects.toThrow(
      /NOT_FOUND|404/,
    );
  });

  it("MCP finds what was said, and has no summary of a thread that was never summarised", async () => {
    const scope = { userId: "ana" };
    const messages = [{ role: "user", content: "The hives stand in Porto." }];
    await memory.record({ scope, threadId: "a/1", messages });
    const client = await overHttp("ana");
    const { json } = await call(client, "transcript_search", { query: "Where are the hives?" });
    expect(json.hits).toMatchObject([{ threadId: "a/1", text: "The hives stand in Porto." }]);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["memory://profile"]);
    const bob = await overHttp("bob");
    expect((await bob.listResources()).resources.map(({ uri }) => uri)).toEqual([
      "memory://profile",
    ]);
    for (const reader of [client, bob])
      for (const threadId of ["a%2F1", "none", "%zz"])
        await expect(
          reader.readResource({ uri: `memory://threads/${threadId}/summary` }),
        ).rejects.toThrow(/not found/);
  });
});

it("MCP lists the existing summaries page by page", async () => {
  const summarized = db.memory({ model: new OfflineChatModel() });
  const scope = { userId: "pia" };
  const messages = Array.from({ length: 20 }, (_, n) => ({
    role: "user",
    content: `Ship ${n} is in.`,
  }));
  for (let n = 0; n < 101; n++) await summarized.remember({ scope, threadId: `t${n}`, messages });
  await summarized.record({ scope, threadId: "never summarised", messages });
  const client = await within(summarized, { scope });
  const uris: string[] = [];
  for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page++) {
    const listed = await client.listResources(cursor === undefined ? {} : { cursor });
    uris.push(...listed.resources.map(({ uri }) => uri));
    cursor = listed.nextCursor;
  }
  expect(uris).toHaveLength(1 + 101);
  expect(new Set(uris).size).toBe(uris.length);
  expect(uris.at(-1)).toBe("memory://threads/t0/summary");
  const { resources } = await client.listResources();
  const { uri, size, annotations } = resources[1] as (typeof resources)[number];
  const [content] = (await client.readResource({ uri })).contents as { text: string }[] as [
    { text: string },
  ];
  expect(content.text).not.toBe("");
  expect(size).toBe(Buffer.byteLength(content.text));
  expect(Date.parse(annotations?.lastModified ?? "")).toBeLessThanOrEqual(Date.now());
  await expect(client.listResources({ cursor: "page 2" })).rejects.toMatchObject({ code: -32_602 });
});

it.skipIf(onServer())(
  "MCP ends at its start, and names the process that has the folder open (embedded only)",
  async () => {
    await cli.withMemory(async (memory) => {
      await memory.energy.level();
      for (const command of ["mcp", "inspect", "serve"])
        expect(
          await cli.run([command, ...(command === "mcp" ? ["--user", "ana"] : [])], {}),
        ).toMatchObject({
          code: 1,
          out: "",
          err: expect.stringMatching(
            `is open in process ${process.pid} on .*Close it there, choose another`,
          ),
        });
    });
  },
);

describe("MCP over standard input and output", () => {
  const started = (user: string) => ({
    command: process.execPath,
    cwd: cli.folder,
    stderr: "pipe" as const,
    args: [
      ...briefly,
      compiled("packages/server/src/cli/main"),
      "mcp",
      "--user",
      user,
      ...cli.target(),
    ],
    env: { PATH: process.env.PATH ?? "" },
  });

  it("MCP over standard input and output serves the user that it was started for", async () => {
    await cli.withMemory(async () => {});
    await useOf(await connect(new StdioClientTransport(started("ana"))));
  });

  it("MCP over standard input and output serves clients of 2025-11-25", async () => {
    await cli.withMemory(async () => {});
    await useOf(await connectOld(new OldStdio(started("cleo"))));
  });
});
