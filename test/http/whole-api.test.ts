import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { hc } from "hono/client";
import { beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import type { MemoryApp } from "../../src/http/index.js";
import type { Memory } from "../../src/memory.js";
import { operationList, operations } from "../../src/operations/operations.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { fillSample, namedFor, requestOf, sampleOf } from "../support/sample-requests.js";
import { useTestDatabase } from "../support/test-database.js";
import { httpClients } from "./http-client.js";

const db = useTestDatabase();
let memory: Memory;
let api: ReturnType<typeof clients>;
const clients = () =>
  httpClients(memory, {
    ana: { role: "user", scope: { userId: "ana", appId: "shop" } },
    zoe: { role: "user", scope: { userId: "zoe" } },
    operator: { role: "operator" },
  });
beforeAll(() => {
  memory = db.memory({ model: new OfflineChatModel() });
  api = clients();
});

describe("the API", () => {
  it.each(operationList)("answers one call of %s as it describes it", async (name, operation) => {
    const scope = { userId: randomUUID(), appId: randomUUID() };
    const sample = sampleOf(name, await fillSample(memory, scope));
    // Import names whose it becomes in the file.
    const named = name === "import" ? {} : namedFor(operation, scope);
    const { method, path, body } = requestOf(operation, sample, named);
    const answer = await api.operator(method, path, body);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: sample.status ?? 200 });
  });

  it("takes a conversation from recall to its end, in the words of chat APIs", async () => {
    const recalled = await api.ana("POST", "/recall", { threadId: "t1", query: "Hello." });
    const messages = [
      { role: "user", content: "My boat is called Wind.", id: "u1" },
      { role: "assistant", content: "I see.", id: "a1" },
    ];
    const { shown } = recalled.body;
    const remembered = await api.ana("POST", "/remember", { threadId: "t1", messages, shown });
    expect(remembered).toMatchObject({ status: 200, body: { recorded: 2 } });
    const again = await api.ana("POST", "/record", { threadId: "t1", messages });
    expect(again.body).toEqual({ recorded: 0, lastSeq: 1 });
    const { body } = await api.ana("POST", "/recall", { threadId: "t1", query: "What is it called?" });
    expect([...body.recent, ...body.gap].at(-1)).toMatchObject({
      role: "assistant",
      content: "I see.",
      id: "a1",
    });
    const { body: listed } = await api.ana("GET", "/threads?limit=1");
    const next = `/threads?cursor=${encodeURIComponent(listed.nextCursor)}`;
    expect((await api.ana("GET", next)).body).toEqual({ threads: [], nextCursor: null });
    expect((await api.ana("DELETE", "/threads/t1")).body.complete).toBe(true);
    expect(await api.ana("DELETE", "/threads/t1")).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
  });

  it("decides requests once, and puts them off", async () => {
    const { consentId } = await fillSample(memory, { userId: "ana", appId: "shop" });
    const decide = (decision: string, headers = {}) =>
      api.ana("POST", `/consents/${consentId}/decision`, { decision }, headers);
    expect((await decide("later")).body).toMatchObject({ id: consentId, status: "pending" });
    expect((await api.ana("GET", "/consents?due=true")).body.consents).toEqual([]);
    expect(await decide("approve", { "if-match": '"99"' })).toMatchObject({
      ...{ status: 412, body: { current: { id: consentId } } },
    });
    const decided = await decide("approve");
    expect(decided.body).toMatchObject({ status: "approved", decidedVia: "http", decidedBy: "user" });
    expect(await decide("refuse")).toMatchObject({ status: 409, body: { current: { id: consentId } } });
  });

  it("lists what waits in quarantine of everybody, for operators, who approve or delete it", async () => {
    const scopes = ["eve", "finn"].map((userId) => ({ userId, appId: "shop" }));
    const [one, other] = [await fillSample(memory, scopes[0]!), await fillSample(memory, scopes[1]!)];
    const { body } = await api.operator("GET", "/memories?states=quarantined&limit=1");
    const rest = await api.operator("GET", `/memories?states=quarantined&cursor=${body.nextCursor}`);
    const waiting = [...body.memories, ...rest.body.memories].map(({ id }: { id: string }) => id);
    expect(waiting).toEqual(expect.arrayContaining([one.suspectId, other.suspectId]));
    expect((await api.operator("GET", "/memories?states=quarantined&kinds=fact")).status).toBe(400);
    const approved = await api.operator("POST", `/memories/${one.suspectId}/approve?userId=eve&appId=shop`);
    expect(approved.body).toMatchObject({ state: "active", trust: "operator" });
    const place = `/memories/${other.suspectId}?userId=finn&appId=shop`;
    expect((await api.operator("DELETE", place)).status).toBe(200);
    expect((await api.operator("GET", place)).status).toBe(404);
  });

  it("gives all of a scope away, forgets it, and takes it in from an operator", async () => {
    await api.zoe("POST", "/memories", {
      memories: [{ text: "Zoe climbs." }, { text: "Zoe has two sons." }],
    });
    const exported = await api.zoe("GET", "/export");
    expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = exported.body.trimEnd().split("\n");
    expect(JSON.parse(lines.at(-1))).toEqual({ type: "end", lines: lines.length - 1 });
    expect((await api.zoe("POST", "/forget", { dryRun: true })).body.total).toBeGreaterThan(2);
    const cut = lines.slice(0, -1).join("\n");
    expect(await api.operator("POST", "/import?userId=zoe", cut)).toMatchObject({
      ...{ status: 400, body: { detail: expect.stringContaining("cut off") } },
    });
    const taken = await api.operator("POST", "/import?userId=zoe", exported.body);
    expect(taken).toMatchObject({ status: 409, body: { code: "WRONG_STATE" } });
    expect((await api.zoe("POST", "/forget")).body).toMatchObject({ complete: true });
    expect((await api.zoe("GET", "/memories")).body.memories).toEqual([]);
    expect((await api.operator("POST", "/import?userId=zoe", exported.body)).body.total).toBeGreaterThan(2);
    expect((await api.zoe("GET", "/memories")).body.memories).toHaveLength(2);
  });
});

describe("its description", () => {
  it("is OpenAPI 3.1 as the specification has it, with every operation", async () => {
    const { app } = clients();
    const response = await app.request("/openapi.json");
    const document = (await response.json()) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    const documented = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(documented.filter(Boolean).sort()).toEqual(Object.keys(operations).sort());
    expect(JSON.stringify(document)).not.toContain("#/$defs");
    const refs = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    );
    const { schemas } = (document as unknown as { components: { schemas: object } }).components;
    for (const name of refs) expect(Object.keys(schemas)).toContain(name);
    for (const [name, { path }] of operationList) {
      const parameters = JSON.stringify(document.paths[path.replace(/:(\w+)/g, "{$1}")]);
      for (const [, param] of path.matchAll(/:(\w+)/g))
        expect(parameters, name).toContain(`"name":"${param}","in":"path"`);
    }
  });

  it("has every route on its page", () => {
    const page = readFileSync(new URL("../../docs/http.md", import.meta.url), "utf8");
    const heads = Object.values(operations).map(({ path }) => /^\/[^/]+/.exec(path)?.[0] ?? path);
    const missing = [...new Set(heads)].filter((head) => !new RegExp(`[\` ]${head}\\b`).test(page));
    expect(missing).toEqual([]);
  });

  it("is a typed client of Hono's", async () => {
    const { app, token } = clients();
    const client = hc<MemoryApp>("http://memory.test", {
      fetch: (input: string | URL | Request, init?: RequestInit) => app.request(input as string, init),
      headers: { authorization: `Bearer ${token("ana")}` },
    });
    const added = await client.memories.$post({ json: { memories: [{ text: "Ana paints doors." }] } });
    const { outcomes } = await added.json();
    expectTypeOf(outcomes[0]?.outcome).toExtend<string | undefined>();
    const id = outcomes[0]?.id as string;
    const answer = await client.memories[":id"].$get({ param: { id } });
    const found = await answer.json();
    expectTypeOf(found.createdAt).toEqualTypeOf<string>();
    expectTypeOf(found.revision).toEqualTypeOf<number>();
    expect(found.text).toBe("Ana paints doors.");
    const page = await (await client.memories.$get({ query: { limit: "1", kinds: ["fact"] } })).json();
    expect(page.memories).toHaveLength(1);
    // @ts-expect-error There is no such body.
    await client.recall.$post({ json: { thread: "t" } });
  });

  it("answers who only asks whether it is there", async () => {
    const { app } = clients();
    expect(await (await app.request("/healthz")).json()).toEqual({ status: "ok" });
    expect(await (await app.request("/readyz")).json()).toEqual({ status: "ok" });
    const closed = db.memory();
    await closed.close();
    const { app: dead } = httpClients(closed, {});
    expect((await dead.request("/healthz")).status).toBe(200);
    const ready = await dead.request("/readyz");
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: "unavailable", code: "CLOSED" });
  });
});

describe("a query", () => {
  it.each([{}, { return: "bullets" }, { return: "full" }])(
    "counts what a query shows as used: %j",
    async (form) => {
      let now = new Date("2026-01-05T10:00:00Z");
      const memory = db.memory({ clock: () => now });
      const scope = { userId: randomUUID() };
      const { finn } = httpClients(memory, { finn: { role: "user", scope } });
      const [added] = await memory.memories.add({ text: "Finn parks at the harbour." }, { scope });
      now = new Date("2026-02-05T10:00:00Z");
      await finn("POST", "/query", { query: "Where does Finn park?", agent: "planner", ...form });
      expect((await memory.memories.get(added?.id ?? "", { scope }))?.lastAccessedAt).toEqual(now);
      const events = await memory.events.list({ scope, op: "search" });
      expect(events.map(({ step, agentId }) => `${step} ${agentId}`)).toContain("tool planner");
    },
  );
});
