import { type AddressInfo, connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createAdaptorServer } from "@hono/node-server";
import { bearerTokens, createMemoryApp } from "../src/http/index.js";
import { createMemory } from "../src/index.js";
import { openBenchDatabase, openPool } from "./bench-database.js";
import { printEnvironment, printLoad, printResult } from "./report.js";

/**
 * `npm run bench:http [-- --seconds N --callers N]`: callers that ask all the time, each for a user of its own, over real
 * connections; some go away in the middle, and some read a byte now and then. Errors, speed, what the process holds at a third
 * of the time and at its end, and the pool's connections afterwards: it fails unless all are idle and nobody met an error.
 */
const { values } = parseArgs({
  options: { seconds: { type: "string", default: "30" }, callers: { type: "string", default: "200" } },
});
const [callers, seconds] = [Number(values.callers), Number(values.seconds)];
if (!(callers >= 1 && seconds >= 3))
  throw new Error("Give --callers of 1 or more and --seconds of 3 or more.");
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
    await wait(50);
    socket.destroy();
  }
}

/** Somebody who asks for everything and hardly reads it. */
async function dawdler(): Promise<void> {
  while (performance.now() < until) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    socket.write(`GET /export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token(1)}\r\n\r\n`);
    for (let read = 0; read < 20 && performance.now() < until; read++) {
      await wait(100);
      socket.read(1);
    }
    socket.destroy();
  }
}

/** What the process holds after its garbage is gone, in MB: at a third of the time, and at its end. */
async function weigh(): Promise<{ readonly atThird: number; readonly atEnd: number }> {
  const heapMb = () => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed / 1e6;
  };
  await wait((seconds * 1_000) / 3);
  const atThird = heapMb();
  await wait(Math.max(0, until - performance.now()));
  return { atThird, atEnd: heapMb() };
}

const [heapMb] = await Promise.all([
  weigh(),
  ...Array.from({ length: callers }, (_, index) => caller(index)),
  ...[quitter(), quitter(), dawdler(), dawdler()],
]);
// Statements of callers who went are still answered.
for (let waited = 0; waited < 50 && pool.idleCount < pool.totalCount; waited++) await wait(100);
const { totalCount, idleCount, waitingCount } = pool;
await new Promise((resolve) => server.close(resolve));
await memory.close();
await close();
await database.close();

tookMs.sort((one, two) => one - two);
for (const [error, times] of errors) console.log(`${times} × ${error}`);
printLoad();
printResult({
  requests,
  requestsPerSecond: Math.round(requests / seconds),
  errors: [...errors.values()].reduce((sum, value) => sum + value, 0),
  p50Ms: Math.round(tookMs[Math.floor(tookMs.length * 0.5)] ?? 0),
  p95Ms: Math.round(tookMs[Math.floor(tookMs.length * 0.95)] ?? 0),
  heapMb,
  busyConnections: totalCount - idleCount,
  waitingCalls: waitingCount,
});
if (errors.size > 0 || idleCount < totalCount || waitingCount > 0) process.exitCode = 1;
