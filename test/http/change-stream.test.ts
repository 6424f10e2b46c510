import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { runLifecycle } from "../support/run-lifecycle.js";
import { useTestDatabase } from "../support/test-database.js";
import { httpClients } from "./http-client.js";

const db = useTestDatabase();
const dayMs = 86_400_000;

it("a stream of changes says where some are no longer kept, and goes on with those that are", async () => {
  let now = new Date("2026-01-01T12:00:00Z");
  const memory = db.memory({ clock: () => now, config: { lifecycle: { keepChangesMs: 10 * dayMs } } });
  const scope = { userId: `trimmed ${randomUUID()}` };
  await memory.memories.add([{ text: "The user likes tea." }, { text: "The user likes rice." }], { scope });
  now = new Date(now.getTime() + 8 * dayMs);
  await memory.memories.add({ text: "The user likes plums." }, { scope });
  now = new Date(now.getTime() + 8 * dayMs);
  await runLifecycle(memory);
  const { app, token } = httpClients(memory, { ana: { role: "user", scope } });
  const gone = new AbortController();
  const response = await app.request("/changes/stream?since=0", {
    ...{ headers: { authorization: `Bearer ${token("ana")}` }, signal: gone.signal },
  });
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let told = "";
  while (!told.includes("plums")) told += (await reader.read()).value ?? "";
  gone.abort();
  const events = told.split("\n\n").filter((event) => event.startsWith("event: "));
  expect(events.map((event) => event.split("\n").slice(0, 2))).toEqual([
    ["event: trimmed", "id: 2"],
    ["event: change", "id: 3"],
  ]);
});
