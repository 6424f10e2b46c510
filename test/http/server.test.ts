import { connect } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";
import { createMemoryApp } from "../../packages/server/src/http/memory-app.js";
import type { Memory } from "../../src/memory.js";
import { listen } from "../support/free-port.js";
import { silentLogger } from "../support/silent-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
let memory: Memory;
let pool: pg.Pool | undefined;
let port = 0;
let base = "";
let server: ReturnType<typeof createAdaptorServer>;

// Two connections on a server reveal a leak soon.
beforeAll(async () => {
  const url = inject("databaseUrl");
  if (url !== null) pool = new pg.Pool({ connectionString: url, max: 2 });
  memory = db.memory(pool && { database: pool });
  const app = createMemoryApp(memory, { logger: silentLogger, timeoutMs: 5_000 });
  const outer = new Hono().get("/", (context) => context.text("mine")).route("/memory-api", app);
  server = createAdaptorServer({ fetch: outer.fetch });
  port = await listen(server);
  base = `http://127.0.0.1:${port}/memory-api`;
  const drafts = Array.from({ length: 400 }, (_, index) => ({
    text: `Plant ${index} needs ${"water ".repeat(30)}.`,
  }));
  await memory.memories.add({ scope: { userId: "big" }, memories: drafts });
});
afterAll(async () => {
  await new Promise((resolve) => server?.close(resolve));
  await memory.close();
  await pool?.end();
});

it("The API answers when it is mounted in another app", async () => {
  const forget = await fetch(`${base}/forget?userId=nobody`, { method: "POST" });
  expect(await forget.json()).toMatchObject({ total: 0, complete: true });
  expect((await (await fetch(`${base}/openapi.json`)).json()) as object).toMatchObject({
    openapi: "3.1.0",
  });
});

it.each([
  ["import", "first line", "Content-Type: application/x-ndjson\r\nContent-Length: 900\r\n"],
  ["import", "400\r\nfirst line", "Transfer-Encoding: chunked\r\n"],
  ["query", '{"query":', "Content-Type: application/json\r\nContent-Length: 900\r\n"],
])(
  "A body that sends nothing for 30 s ends the request (%s of %j)",
  async (route, body, headers) => {
    const patient = createMemoryApp(memory, { logger: silentLogger, timeoutMs: 120_000 });
    const slow = createAdaptorServer({ fetch: patient.fetch });
    const slowPort = await listen(slow);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const socket = connect(slowPort, "127.0.0.1");
      let answer = "";
      socket.on("data", (piece) => (answer += piece));
      socket.write(
        `POST /${route}?userId=slow HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n${body}`,
      );
      while (vi.getTimerCount() === 0) await new Promise(setImmediate);
      for (let n = 0; n < 20; n++) await new Promise(setImmediate);
      await vi.advanceTimersByTimeAsync(29_000);
      expect(answer).toBe("");
      while (!socket.closed) {
        await vi.advanceTimersByTimeAsync(1_000);
        await new Promise(setImmediate);
      }
      expect(answer).toMatch(/^HTTP\/1.1 503 [\s\S]*REQUEST_TIMEOUT/);
    } finally {
      vi.useRealTimers();
      await new Promise((resolve) => slow.close(resolve));
    }
  },
);

it("The API leaks no connection to callers that go away or do not read", async () => {
  const send = (text: string) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}).pause();
    socket.write(text);
    return socket;
  };
  // They ask for everything, and read nothing.
  const sockets = Array.from({ length: 12 }, () =>
    send("GET /memory-api/export?userId=big HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"),
  );
  const gone = Array.from({ length: 12 }, async (_, index) => {
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(), 5 * index);
    const body = JSON.stringify({ query: "Which plant needs water?" });
    const headers = { "content-type": "application/json" };
    await fetch(`${base}/query?userId=big`, {
      method: "POST",
      body,
      headers,
      signal: leaving.signal,
    }).catch(() => {});
    return send(
      "POST /memory-api/import?userId=big HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n\r\n{",
    );
  });
  const halves = await Promise.all(gone);
  // Others are answered all the while.
  for (let turn = 0; turn < 3; turn++)
    expect((await fetch(`${base}/memories?userId=big&limit=1`)).status).toBe(200);
  for (const socket of [...sockets, ...halves]) socket.destroy();
  expect(
    (await (await fetch(`${base}/export?userId=big`)).text()).trimEnd().split("\n").length,
  ).toBeGreaterThan(800);
  if (pool) {
    const { idleCount, totalCount, waitingCount } = pool;
    expect({ busy: totalCount - idleCount, waitingCount }).toEqual({ busy: 0, waitingCount: 0 });
  }
});
