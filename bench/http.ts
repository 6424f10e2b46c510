import { type AddressInfo, connect } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { bearerTokens, createMemoryApp } from "../src/http/index.js";
import { createMemory } from "../src/index.js";
import { openBenchDatabase, openPool } from "./bench-database.js";
import { printEnvironment, printLoad, printResult } from "./report.js";

/**
 * `npm run bench:http`: callers that ask all the time, each for a user of its own, over real connections; a few go away in
 * the middle. Errors, speed, and what the process holds at a third of the time and at its end.
 */
const callers = Number(process.env.CALLERS ?? 200);
const seconds = Number(process.env.SECONDS ?? 30);
const users = 50;

const database = await openBenchDatabase();
printEnvironment(database);
const { pool, close } = openPool(database);
const memory = createMemory({ database: pool, schema: database.schema });
await memory.setup();
for (let user = 0; user < users; user++) {
  const drafts = Array.from({ length: 20 }, (_, index) => ({
    text: `User ${user} likes dish number ${index} with rice.`,
  }));
  await memory.memories.add(drafts, { scope: { userId: `u${user}` } });
}
const token = (user: number) => `token-of-user-${user}-0000000000`;
const authenticate = bearerTokens(
  Object.fromEntries(
    Array.from({ length: users }, (_, user) => [
      token(user),
      { role: "user", scope: { userId: `u${user}` } } as const,
    ]),
  ),
);
const server = createAdaptorServer({ fetch: createMemoryApp(memory, { authenticate }).fetch });
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;

let requests = 0;
const errors = new Map<string, number>();
const tookMs: number[] = [];
const heapMb: number[] = [];
const until = performance.now() + seconds * 1_000;

async function ask(path: string, user: number, body?: unknown): Promise<void> {
  const begun = performance.now();
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${token(user)}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    await response.text();
    if (!response.ok) count(`${path} ${response.status}`);
  } catch (error) {
    count(String(error));
  }
  requests++;
  tookMs.push(performance.now() - begun);
}

function count(error: string): void {
  errors.set(error, (errors.get(error) ?? 0) + 1);
}

async function caller(index: number): Promise<void> {
  const user = index % users;
  for (let turn = 0; performance.now() < until; turn++) {
    const threadId = `t${index}`;
    if (turn % 4 === 0) await ask("/query", user, { query: "Which dish does the user like?" });
    else if (turn % 4 === 1) await ask("/recall", user, { threadId, query: "What about rice?" });
    else if (turn % 4 === 2) await ask("/memories?limit=5", user);
    else
      await ask("/record", user, {
        threadId,
        messages: [{ role: "user", content: `Turn ${turn}.`, id: `${index}-${turn}` }],
      });
  }
}

/** Somebody who asks for everything and goes. */
async function quitter(): Promise<void> {
  while (performance.now() < until) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`GET /export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token(0)}\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
  }
}

const timer = setInterval(() => {
  globalThis.gc?.();
  heapMb.push(process.memoryUsage().heapUsed / 1e6);
}, 1_000);
await Promise.all([...Array.from({ length: callers }, (_, index) => caller(index)), quitter(), quitter()]);
clearInterval(timer);
// Statements of callers who went are still answered.
for (let wait = 0; wait < 50 && pool.idleCount < pool.totalCount; wait++) {
  await new Promise((resolve) => setTimeout(resolve, 100));
}
const { totalCount, idleCount, waitingCount } = pool;
await new Promise((resolve) => server.close(resolve));
await memory.close();
await close();
await database.close();

tookMs.sort((one, two) => one - two);
const third = heapMb.slice(0, Math.ceil(heapMb.length / 3));
const last = heapMb.slice(-Math.ceil(heapMb.length / 3));
const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
for (const [error, times] of errors) console.log(`${times} × ${error}`);
printLoad();
printResult({
  requests,
  requestsPerSecond: Math.round(requests / seconds),
  errors: [...errors.values()].reduce((sum, value) => sum + value, 0),
  p50Ms: Math.round(tookMs[Math.floor(tookMs.length * 0.5)] ?? 0),
  p95Ms: Math.round(tookMs[Math.floor(tookMs.length * 0.95)] ?? 0),
  heapMbFirstThird: Math.round(mean(third)),
  heapMbLastThird: Math.round(mean(last)),
  busyConnections: totalCount - idleCount,
  waitingCalls: waitingCount,
});
if (errors.size > 0) process.exitCode = 1;
