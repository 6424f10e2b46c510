import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { hc } from "hono/client";
import { beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import type { MemoryApp } from "../../packages/server/src/http/index.js";
import { operationList, operations } from "../../packages/server/src/operations/operations.js";
import type { Memory } from "../../src/memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { fillSample, namedFor, requestOf, sampleOf } from "../support/sample-requests.js";
import { useTestDatabase } from "../support/test-database.js";
import { httpClients } from "./http-client.js";

const db = useTestDatabase();
let memory: Memory;
let api: ReturnType<typeof clients>;
let ids: Awaited<ReturnType<typeof fillSample>>;
const scope = { userId: "ana", appId: "shop" };
const clients = () =>
  httpClients(memory, {
    ana: { role: "user", scope },
    bob: { role: "user", scope: { userId: "bob" } },
    zoe: { role: "user", scope: { userId: "zoe" } },
    acme: { role: "operator", tenantId: "acme" },
    operator: { role: "operator" },
  });
beforeAll(async () => {
  const receipts = { idKey: "a secret that is in no table, of 40 letters" };
  memory = db.memory({ model: new OfflineChatModel(), config: { receipts } });
  api = clients();
  ids = await fillSample(memory, scope);
});

describe.each(operationList)("%s", (name, operation) => {
  const isForOperators =
    operation.operators || operation.reach === "tenant" || operation.reach === "everything";

  it("The operation answers an operator as it is described", async () => {
    const own = { userId: randomUUID(), appId: randomUUID() };
    const sample = sampleOf(name, await fillSample(memory, own));
    // The file of an import names the scope.
    const { method, path, body } = requestOf(
      operation,
      sample,
      name === "import" ? {} : namedFor(operation, own),
    );
    const answer = await api.operator(method, path, body);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: sample.status ?? 200 });
  });

  it("The operation answers 401 without a known token", async () => {
    for (const authorization of [
      null,
      "Bearer token-of-nobody-000000000",
      "Basic dG9rZW4=",
      "Bearer ",
    ]) {
      const headers: Record<string, string> = authorization === null ? {} : { authorization };
      const response = await api.app.request(operation.path, {
        method: operation.method.toUpperCase(),
        headers,
      });
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(await response.json()).toMatchObject({ code: "UNAUTHENTICATED" });
    }
  });

  if (isForOperators)
    it("The operation answers 404 to users, and to a tenant's operator if it reaches everything", async () => {
      const { method, path, body } = requestOf(operation, sampleOf(name, ids));
      expect((await api.ana(method, path, body)).status).toBe(404);
      if (operation.reach === "everything") expect((await api.acme(method, path)).status).toBe(404);
    });

  const [, idOf = ""] = /:(id|threadId)\b/.exec(operation.path) ?? [];
  if (idOf && !isForOperators)
    it("The operation answers 404 or an empty list for an id of another user", async () => {
      const { input } = sampleOf(name, ids);
      const ask = async (id: string) => {
        const { method, path, body } = requestOf(operation, { input: { ...input, [idOf]: id } });
        const answer = await api.bob(method, path, body);
        return JSON.stringify([answer.status, answer.body]).replaceAll(id, "…");
      };
      const hers = await ask(String(input[idOf]));
      expect(hers).toBe(await ask(randomUUID()));
      // What can be listed is empty.
      expect(hers).toMatch(operation.method === "get" ? /^\[404|\[\]/ : /^\[404/);
    });
});

describe("the API", () => {
  it("The API takes a conversation from recall to its end, with messages as in chat APIs", async () => {
    const recalled = await api.ana("POST", "/recall", { threadId: "t1", query: "Hello." });
    const messages = [
      { role: "user", content: "My boat is called Wind.", id: "u1" },
      { role: "assistant", content: "I see.", id: "a1" },
    ];
    const remembered = await api.ana("POST", "/remember", {
      threadId: "t1",
      messages,
      shown: recalled.body.shown,
    });
    expect(remembered).toMatchObject({ status: 200, body: { recorded: 2 } });
    expect((await api.ana("POST", "/record", { threadId: "t1", messages })).body).toEqual({
      recorded: 0,
      lastSeq: 1,
    });
    const { body } = await api.ana("POST", "/recall", {
      threadId: "t1",
      query: "What is it called?",
    });
    expect([...body.recent, ...body.gap].at(-1)).toMatchObject({
      role: "assistant",
      content: "I see.",
      id: "a1",
    });
    const next = `/threads?after=${encodeURIComponent((await api.ana("GET", "/threads?limit=2")).body.nextCursor)}`;
    expect((await api.ana("GET", next)).body).toEqual({ threads: [], nextCursor: null });
    expect((await api.bob("POST", "/recall", { threadId: "t1" })).status).toBe(404);
    expect((await api.bob("POST", "/remember", { threadId: "t1", messages: [] })).status).toBe(404);
    expect((await api.ana("DELETE", "/threads/t1")).body.complete).toBe(true);
    const content = [
      { type: "image_url", image_url: { url: "https://example.org/boat.png?signature=secret" } },
    ];
    await api.ana("POST", "/record", {
      threadId: "pictures",
      messages: [{ role: "user", content }],
    });
    const [kept] = await memory.threads.messages({ scope, threadId: "pictures" });
    expect(kept?.text).toBe("[image: https://example.org/boat.png]");
  });

  it("A client that follows `nextCursor`, then the revision, misses no change", async () => {
    const reader = httpClients(memory, {
      ann: { role: "user", scope: { userId: randomUUID() } },
    }).ann;
    const memories = Array.from({ length: 5 }, (_, index) => ({ text: `Ann has ${index} boats.` }));
    await reader("POST", "/memories", { memories });
    const read: number[] = [];
    const follow = async (query: string): Promise<number> => {
      const { body } = await reader("GET", `/changes?limit=2&${query}`);
      read.push(...body.changes.map(({ rev }: { rev: number }) => rev));
      return body.nextCursor === null ? body.revision : follow(`since=${body.nextCursor}`);
    };
    const revision = await follow("since=0");
    await reader("POST", "/memories", { memories: [{ text: "Ann has six boats." }] });
    await follow(`since=${revision}`);
    expect(read).toEqual([1, 2, 3, 4, 5, 6]);
    const { body } = await reader("GET", "/openapi.json");
    const { parameters, summary } = body.paths["/changes"].get;
    expect(summary).toContain("nextCursor");
    const described = (parameters as { name: string; description?: string }[]).filter(
      (each) => each.description,
    );
    expect(described.map(({ name }) => name)).toEqual(expect.arrayContaining(["since", "limit"]));
  });

  it.each([{}, { return: "bullets" }, { return: "full" }])(
    "The API counts what a query shows as used: %j",
    async (form) => {
      let now = new Date("2026-01-05T10:00:00Z");
      const memory = db.memory({ clock: () => now });
      const scope = { userId: randomUUID() };
      const { finn } = httpClients(memory, { finn: { role: "user", scope } });
      const [added] = await memory.memories.add({
        scope,
        memories: { text: "Finn parks at the harbour." },
      });
      now = new Date("2026-02-05T10:00:00Z");
      await finn("POST", "/query", { query: "Where does Finn park?", agent: "planner", ...form });
      expect((await memory.memories.get({ scope, id: added?.id ?? "" }))?.lastAccessedAt).toEqual(
        now,
      );
      const events = await memory.events.list({ scope, op: "search" });
      expect(events.map(({ step, agentId }) => `${step} ${agentId}`)).toContain("tool planner");
    },
  );

  it("The API answers health and readiness probes", async () => {
    expect(await (await api.app.request("/healthz")).json()).toEqual({ status: "ok" });
    expect(await (await api.app.request("/readyz")).json()).toEqual({ status: "ok" });
    const closed = db.memory();
    await closed.close();
    const { app } = httpClients(closed, {});
    expect((await app.request("/healthz")).status).toBe(200);
    const ready = await app.request("/readyz");
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: "unavailable", code: "CLOSED" });
  });
});

describe("the OpenAPI document", () => {
  it("The OpenAPI document is valid OpenAPI 3.1 with every operation", async () => {
    const text = await (await api.app.request("/openapi.json")).text();
    const { paths, components } = JSON.parse(text);
    const { valid, errors } = await new Validator().validate(JSON.parse(text));
    expect([errors ?? [], valid]).toEqual([[], true]);
    const documented = Object.values<Record<string, { operationId?: string }>>(paths).flatMap(
      Object.values,
    );
    expect(documented.flatMap(({ operationId }) => operationId ?? []).sort()).toEqual(
      Object.keys(operations).sort(),
    );
    expect(text).not.toContain("#/$defs");
    const referred = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(referred));
    for (const [name, { path }] of operationList) {
      const parameters = JSON.stringify(paths[path.replace(/:(\w+)/g, "{$1}")]);
      for (const [, param] of path.matchAll(/:(\w+)/g))
        expect(parameters, name).toContain(`"name":"${param}","in":"path"`);
    }
  });

  it("The OpenAPI document describes by name what operators watch", async () => {
    const { body } = await api.operator("GET", "/stats");
    expect(body).toMatchObject({ breaker: { state: "up", silentMs: null, retryInMs: null } });
    const counted = ["backlog", "oldestDueAt", "stuck", "givenUp"];
    expect(Object.keys(body)).toEqual(expect.arrayContaining(counted));
    const document = JSON.stringify(await (await api.app.request("/openapi.json")).json());
    for (const name of [...counted, "breaker", "worker", "since", "leaseUntil"])
      expect(
        document.split(`"${name}":`).some((of) => /^.{1,230}"description":"\w/.test(of)),
        name,
      ).toBe(true);
  });

  it("The paths of the OpenAPI document are in docs/http.md", () => {
    const page = readFileSync(new URL("../../docs/http.md", import.meta.url), "utf8");
    const heads = operationList.map(([, { path }]) => /^\/[^/]+/.exec(path)?.[0] ?? path);
    expect([...new Set(heads)].filter((head) => !new RegExp(`[\` ]${head}\\b`).test(page))).toEqual(
      [],
    );
  });

  it("A Hono client has the types of the API", async () => {
    const client = hc<MemoryApp>("http://memory.test", {
      fetch: (input: string | URL | Request, init?: RequestInit) =>
        api.app.request(input as string, init),
      headers: { authorization: `Bearer ${api.token("zoe")}` },
    });
    const added = await client.memories.$post({
      json: { memories: [{ text: "Zoe paints doors." }] },
    });
    const { outcomes } = await added.json();
    expectTypeOf(outcomes[0]?.outcome).toExtend<string | undefined>();
    const found = await (
      await client.memories[":id"].$get({ param: { id: outcomes[0]?.id as string } })
    ).json();
    expectTypeOf(found.createdAt).toEqualTypeOf<string>();
    expectTypeOf(found.revision).toEqualTypeOf<number>();
    expect(found.text).toBe("Zoe paints doors.");
    const page = await (
      await client.memories.$get({ query: { limit: "1", kinds: ["fact"] } })
    ).json();
    expect(page.memories).toHaveLength(1);
    // @ts-expect-error There is no such body.
    await client.recall.$post({ json: { thread: "t" } });
  });
});
