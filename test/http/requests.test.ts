import { beforeAll, describe, expect, it } from "vitest";
import { createMemoryApp } from "../../packages/server/src/http/memory-app.js";
import { httpStatuses, problemOf } from "../../packages/server/src/http/problem.js";
import { MemoryError } from "../../src/errors.js";
import type { Memory } from "../../src/memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { httpClients } from "./http-client.js";

const db = useTestDatabase();
let memory: Memory;
const callers = {
  ana: { role: "user", scope: { userId: "ana" } },
  operator: { role: "operator" },
} as const;
let api: ReturnType<typeof clients>;
const clients = () => httpClients(memory, callers);
beforeAll(() => {
  memory = db.memory();
  api = clients();
});

const added = async (text: string) =>
  (await api.ana("POST", "/memories", { memories: [{ text }] })).body.outcomes[0].id as string;

describe("ETags", () => {
  it("A change of a memory is refused with the current memory when its ETag is stale", async () => {
    const id = await added("Ana lives near the harbour.");
    const tag = (await api.ana("GET", `/memories/${id}`)).headers.get("etag") ?? "";
    expect(tag).toMatch(/^"\d+"$/);
    const change = (text: string, match: string) =>
      api.ana("PATCH", `/memories/${id}`, { text }, { "if-match": match });
    const first = await change("Ana lives near the old harbour.", tag);
    expect(first.status).toBe(200);
    expect(first.headers.get("etag")).not.toBe(tag);
    const lost = await change("Ana lives near the station.", tag);
    expect(lost).toMatchObject({ status: 412, body: { code: "STALE_REVISION" } });
    expect(lost.body.current.text).toBe("Ana lives near the old harbour.");
    expect(lost.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(
      (await change("Ana lives near the station.", `W/${lost.headers.get("etag")}`)).status,
    ).toBe(200);
    expect((await change("Ana lives near the park.", "*")).status).toBe(200);
    for (const wrong of ['"1", "2"', "3", '"abc"', '"0"', '"-1"'])
      expect((await change("Ana lives nowhere.", wrong)).status, wrong).toBe(400);
    expect(
      (await api.ana("DELETE", `/memories/${id}`, undefined, { "if-match": tag })).status,
    ).toBe(412);
  });

  it("A decision on a consent is refused with the current request when its ETag is stale", async () => {
    const city = { text: "Lives in Porto.", category: "profile", key: "city", value: "Porto" };
    const [proposed] = await memory.memories.add({ scope: { userId: "ana" }, memories: city });
    const place = `/consents/${proposed?.consentId}/decision`;
    const decide = (headers = {}) => api.ana("POST", place, { decision: "approve" }, headers);
    const current = { id: proposed?.consentId };
    expect(await decide({ "if-match": '"99"' })).toMatchObject({ status: 412, body: { current } });
    expect((await decide()).body).toMatchObject({
      status: "approved",
      decidedVia: "http",
      decidedBy: "user",
    });
    expect(await decide()).toMatchObject({ status: 409, body: { current } });
  });

  it("If-Match is refused where nothing has a revision", async () => {
    const refused = await api.ana(
      "POST",
      "/memories",
      { memories: [{ text: "Ana rows." }] },
      { "if-match": '"3"' },
    );
    expect(refused).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  });

  it("If-None-Match answers 304 until a change of the memory changes its ETag", async () => {
    const id = await added("Ana plays the oboe.");
    const tag = (await api.ana("GET", `/memories/${id}`)).headers.get("etag") ?? "";
    const again = () => api.ana("GET", `/memories/${id}`, undefined, { "if-none-match": tag });
    expect(await again()).toMatchObject({ status: 304, body: "" });
    await api.ana("PATCH", `/memories/${id}`, { pinned: true });
    expect((await again()).status).toBe(200);
  });
});

describe("invalid requests", () => {
  type Wrong = ["GET" | "POST" | "DELETE", string, unknown?];
  const wrongLists = [
    "limit=0",
    "limit=ten",
    "limit=1e3",
    "lmit=10",
    "limit=1&limit=2",
    "kinds=facts",
  ];
  const wrongQueries = [
    "[]",
    "null",
    '{"query":',
    '{"__proto__":{"query":"x"}}',
    '"text"',
    undefined,
  ];
  it.each<Wrong>([
    ...[...wrongLists, "after=nothing-there", "__proto__=1"].map(
      (query): Wrong => ["GET", `/memories?${query}`],
    ),
    ...["/events/count", "/events?before=", "/changes?since=-1"].map(
      (path): Wrong => ["GET", path],
    ),
    ["POST", "/forget?dryRun=true"],
    ["DELETE", "/threads/t", { dryRun: true }],
    ["DELETE", "/threads/t?dryRun=yes"],
    ["POST", "/memories", { memories: [] }],
    ["POST", "/memories", { memories: [{ text: "x", scope: { userId: "bob" } }] }],
    ["POST", "/memories/one/restore", { id: "other" }],
    ["POST", "/recall", { threadId: "t", scope: { userId: "bob" } }],
    ["POST", "/recall", { threadId: " " }],
    ["POST", "/query", { query: "x", filters: { user_id: "bob" } }],
    ["POST", "/query", { query: "x", filters: { agentid: "a" } }],
    ["POST", "/query", { query: "x".repeat(10_001) }],
    ["POST", "/remember", { threadId: "t", messages: [{ role: "user" }] }],
    ...wrongQueries.map((body): Wrong => ["POST", "/query", body]),
  ])("An invalid request is refused (%s %s %j)", async (method, path, body) => {
    const { status, body: problem } = await api.ana(method, path, body);
    expect([status, problem.code]).toEqual([400, "INVALID_INPUT"]);
    expect(problem.detail.length).toBeLessThan(2_000);
  });

  it("An invalid request is refused with the key that was probably meant", async () => {
    const { body } = await api.ana("POST", "/query", { query: "bees", top_K: 3 });
    expect(body.detail).toMatch(/unknown key "top_K" \(did you mean "topK"\?\)/);
    expect(await api.ana("GET", "/nothing")).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
  });

  it.each([
    ["POST", "/stats", "GET"],
    ["DELETE", "/memories", "GET, POST"],
    ["PATCH", "/memories/one", "GET, DELETE"],
    ["POST", "/healthz", "GET"],
    ["DELETE", "/openapi.json", "GET"],
  ] as const)("A wrong method answers 405 (%s %s, allowed: %s)", async (method, path, allowed) => {
    const wrong = method === "PATCH" ? "PUT" : method;
    const answer = await createMemoryApp(memory).request(path, { method: wrong });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")?.split(", ")).toEqual(
      expect.arrayContaining(allowed.split(", ")),
    );
    expect(await answer.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED" });
  });

  it("A request is refused when its body is not JSON or too long", async () => {
    const { app, token } = httpClients(memory, callers, { maxBodyBytes: 1_000 });
    const headers = { authorization: `Bearer ${token("ana")}` };
    const status = async (body: unknown, type = "application/json") => {
      const init = {
        method: "POST",
        body,
        headers: { ...headers, "content-type": type },
        duplex: "half",
      };
      return (await app.request("/query", init as RequestInit)).status;
    };
    for (const type of ["text/plain", "application/json-patch", "application/jsonp; x=json"])
      expect(await status('{"query":"x"}', type)).toBe(415);
    expect(await status('{"query":"x"}', "application/vnd.api+json ;v=1")).toBe(200);
    expect(await status('{"query":"x"}', "application/json; charset=utf-8")).toBe(200);
    expect(await status(`{"query":"${"x".repeat(2_000)}"}`)).toBe(413);
    // Of unknown length, and endless.
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent++;
        controller.enqueue(new TextEncoder().encode("x".repeat(100)));
      },
    });
    expect(await status(endless)).toBe(413);
    expect(sent).toBeLessThan(50);
  });

  it("A request over the rate limit answers 429", async () => {
    const seen: string[] = [];
    const limited = httpClients(memory, callers, {
      rateLimit: ({ caller, operation }) => {
        seen.push(`${caller.role} ${operation}`);
        return operation === "recall" ? { retryAfterMs: 1_200 } : undefined;
      },
    });
    const refused = await limited.ana("POST", "/recall", { threadId: "t" });
    expect(refused).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
    expect(refused.headers.get("retry-after")).toBe("2");
    expect((await limited.ana("GET", "/memories")).status).toBe(200);
    expect(seen).toEqual(["user recall", "user listMemories"]);
  });

  it("A user may send 500 memories at once and an operator more, and a longer list writes none", async () => {
    const memories = Array.from({ length: 501 }, (_, n) => ({
      text: `Ana saw plant ${n}.`,
      kind: "fact",
    }));
    const refused = await api.ana("POST", "/memories", { memories });
    expect(refused).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
    expect(refused.body.detail).toMatch(/500.*501/);
    expect((await api.ana("GET", "/memories?contains=saw%20plant")).body.memories).toEqual([]);
    expect(
      (await api.ana("POST", "/memories", { memories: memories.slice(0, 500) })).body.outcomes,
    ).toHaveLength(500);
    expect((await api.operator("POST", "/memories?userId=bob", { memories })).status).toBe(200);
  });

  it("A request a million levels deep, or with 200,000 message ids, is refused, and no answer is sniffed", async () => {
    const refused = (detail: string) => {
      return {
        status: 400,
        body: { code: "INVALID_INPUT", detail: expect.stringContaining(detail) },
      };
    };
    const deep = await api.ana("POST", "/query", "[".repeat(2_000_000));
    // It is refused before `JSON.parse`, which takes seconds for it.
    expect(deep).toMatchObject(refused("500 levels"));
    const messageIds = Array.from({ length: 200_000 }, (_, n) => `m${n}`);
    expect(await api.ana("POST", "/recall", { threadId: "t", messageIds })).toMatchObject(
      refused("10000"),
    );
    for (const { headers } of [
      deep,
      await api.ana("GET", "/memories"),
      await api.ana("GET", "/nothing"),
    ])
      expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("A request of 4 MB of mistakes costs little time, and its answer names a few", async () => {
    const many = (count: number, part: (at: number) => string) =>
      Array.from({ length: count }, (_, at) => part(at)).join(",");
    const misspelt = (count: number) => many(count, (at) => `"k${at}":1`);
    const memories = many(5_000, () => `{"text":"The user sings.",${misspelt(60)}}`);
    for (const [path, body] of [
      ["/recall", `{"threadId":"t","messageIds":[${many(1_900_000, () => "1")}]}`],
      ["/recall", `{${misspelt(330_000)}}`],
      ["/memories", `{"memories":[${memories}]}`],
    ] as const) {
      const before = process.cpuUsage();
      const answer = await api.ana("POST", path, body);
      const { user, system } = process.cpuUsage(before);
      expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
      expect(JSON.stringify(answer.body).length).toBeLessThan(50_000);
      // Four to eight seconds where each mistake is explained.
      expect((user + system) / 1_000, path).toBeLessThan(2_000);
    }
  });

  it("The API describes itself to everybody without work for each request", async () => {
    const ask = async () => (await api.app.request("/openapi.json")).json();
    await ask();
    const before = process.cpuUsage();
    for (let times = 0; times < 50; times++) await ask();
    const { user, system } = process.cpuUsage(before);
    // 50 ms each, unless it is made once.
    expect((user + system) / 1_000).toBeLessThan(1_500);
  });

  it("A request whose sender is too slow answers 503", async () => {
    const { app, token } = httpClients(memory, callers, { timeoutMs: 50 });
    const body: unknown = new ReadableStream({ pull: () => new Promise(() => {}) });
    const headers = { authorization: `Bearer ${token("ana")}`, "content-type": "application/json" };
    const response = await app.request("/query", {
      method: "POST",
      body,
      duplex: "half",
      headers,
    } as RequestInit);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: "REQUEST_TIMEOUT" });
  });
});

it("A failure has a status for each code, and reveals nothing internal", () => {
  for (const [code, status] of Object.entries(httpStatuses)) {
    const { problem } = problemOf(
      new MemoryError(code as keyof typeof httpStatuses, "select secret from memory where …"),
    );
    expect(problem.status).toBe(status);
    expect(problem.type).toMatch(/^urn:mnemograph:problem:[a-z-]+$/);
    // HTTP has its own messages for these codes.
    const isOwn = ["THREAD_FORBIDDEN", "NOT_FOUND", "SCOPE_REQUIRED"].includes(code);
    if (status === 500 || isOwn) expect(problem.detail).not.toContain("select");
    else expect(problem.detail).toContain("select");
  }
  expect(problemOf(new TypeError("secret")).problem).toMatchObject({
    status: 500,
    code: "INTERNAL",
  });
  expect(JSON.stringify(problemOf(new TypeError("secret")))).not.toContain("secret");
  const paused = new MemoryError("DATABASE_UNAVAILABLE", "…", { details: { retryInMs: 1_500 } });
  expect(problemOf(paused).headers).toMatchObject({ "retry-after": "2" });
});

describe("the past over HTTP", () => {
  it("A request lists and searches what was known at a past time, and says what is missing", async () => {
    const id = await added("Ana rides a bicycle to the office.");
    const { body } = await api.ana("GET", `/memory/${id}/history`);
    const then = body.events[0].at as string;
    await api.ana("PATCH", `/memories/${id}`, { text: "Ana takes the tram downtown." });
    const listed = async (asOf: string) =>
      (await api.ana("GET", `/memories?contains=bicycle&asOf=${encodeURIComponent(asOf)}`)).body;
    const past = {
      memories: [{ id, text: "Ana rides a bicycle to the office." }],
      complete: true,
      missing: [],
    };
    expect(await listed(then)).toMatchObject({ ...past, asOf: { validAt: then, knownAt: then } });
    expect(await listed(JSON.stringify({ knownAt: then }))).toMatchObject(past);
    const asked = { query: "Who rides a bicycle?", asOf: then };
    const found = await api.ana("POST", "/query", asked);
    expect(found.body).toMatchObject({ hits: [{ memory: { id } }], complete: true, byWords: 0 });
    const explained = await api.ana("POST", "/query", { ...asked, explain: true });
    expect(explained.body.past).toMatchObject({ complete: true });
    expect(await listed("tomorrow")).toMatchObject({ code: "INVALID_INPUT" });
    expect((await listed("2091-01-01")).detail).toContain("which is in the future");
    expect((await listed('{"knownAt":')).code).toBe("INVALID_INPUT");
  });
});

it("A user's request to replay a turn has no answers of the model, which no budget of theirs pays", async () => {
  const asked = httpClients(db.memory({ model: new OfflineChatModel() }), callers);
  const turn = { threadId: "replayed", messages: [{ role: "user", content: "Hello." }] };
  const { shown } = (await asked.ana("POST", "/recall", { threadId: "replayed" })).body;
  await asked.ana("POST", "/remember", { ...turn, shown });
  const place = "/threads/replayed/replay";
  const refused = await asked.ana("POST", place, { turn: 1, ask: true });
  expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/oper/) } });
  const plain = await asked.ana("POST", place, { turn: 1 });
  expect(plain.body).toMatchObject({ canAsk: false, answers: null });
  const byOperator = { turn: 1, ask: true };
  const answered = await asked.operator("POST", `${place}?userId=ana`, byOperator);
  expect(answered.body).toMatchObject({ canAsk: true, answers: { changed: null } });
});
