import { createServer } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { OfflineChatModel } from "../../src/testing/index.js";
import { listen } from "../support/free-port.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";

const db = useTestDatabase();
const scope = { userId: "ana" };

afterEach(() => vi.unstubAllEnvs());

/** A server in the place of LangSmith. */
async function startLangSmith() {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      bodies.push(Buffer.concat(chunks).toString("latin1"));
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  return { bodies, url, close: () => new Promise((resolve) => server.close(resolve)) };
}

describe("background work", () => {
  it("LangSmith sees background work as one run of its graph, with the model's call in it", async () => {
    const langsmith = await startLangSmith();
    vi.stubEnv("LANGSMITH_TRACING", "true");
    vi.stubEnv("LANGSMITH_ENDPOINT", langsmith.url);
    vi.stubEnv("LANGSMITH_API_KEY", "a key");
    const memory = summaryMemory(db, { model: new OfflineChatModel() });
    const messages = [...round("one"), ...round("two"), ...round("three"), ...round("four")];
    await memory.remember({ scope, threadId: "traced", messages });
    await memory.idle();
    expect(await memory.summaries.list({ scope, threadId: "traced" })).toMatchObject([
      { status: "completed" },
    ]);
    await expect
      .poll(() => langsmith.bodies.join("\n"), { timeout: limitsMs.step })
      .toMatch(/"name":"summaries"/);
    await expect
      .poll(() => langsmith.bodies.join("\n"), { timeout: limitsMs.step })
      .toMatch(/OfflineChatModel/);
    await memory.close();
    await langsmith.close();
  });
});
