import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { HumanMessage } from "@langchain/core/messages";
import { expect, it, onTestFinished, vi } from "vitest";
import { linesOf } from "../support/export-lines.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { recordingLogger } from "../support/recording-logger.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { address, bytes, picture, shown, shows, url } from "./pictures.js";

const db = useTestDatabase();

it("A caption is asked for once, found, learned from, exported, imported, redacted and forgotten", async () => {
  const described: unknown[] = [];
  const model = taskModel({
    fact_extraction: (prompt) =>
      facts(
        ...(prompt.includes("schooner")
          ? [candidate("Ana has a schooner called Zerberus.", "schooner Zerberus")]
          : []),
      ),
  });
  const memory = db.memory({
    model,
    describe: async (part) => {
      described.push(part);
      return "Ana's schooner Zerberus at the secret pier";
    },
    redact: (text) => text.replaceAll("secret", "…"),
    config: { memories: { extract: true } },
  });
  const at = address();
  const boat = { ...picture, data: Buffer.from("a boat").toString("base64") };
  const line = `boat.png, image/png, 6 bytes, sha256:${createHash("sha256").update("a boat").digest("hex")}`;
  const message = shows(boat, { type: "image_url", image_url: { url } });
  await memory.remember({ ...at, messages: [message] });
  await memory.remember({ ...at, messages: [message] });
  await memory.record({
    ...at,
    messages: [message, new HumanMessage({ id: "n", content: [boat] })],
  });
  expect(described).toEqual([boat, { type: "image", url }, boat]);

  const caption = "Ana's schooner Zerberus at the … pier";
  const [kept] = await memory.threads.messages(at);
  expect(kept!.text).toBe(`[image: ${caption}; ${line}]\n[image: ${caption}; ${shown}]`);
  const [found] = await memory.transcript.search({ scope: at.scope, query: "schooner" });
  expect(found!.text).toContain("Zerberus");
  await memory.idle();
  const [hit] = await memory.query({ scope: at.scope, query: "schooner" });
  expect(hit!.memory.text).toBe("Ana has a schooner called Zerberus.");

  const lines = await linesOf(memory, at.scope);
  await memory.forget({ scope: at.scope });
  for (const gone of [line, "schooner", "Zerberus"])
    expect(await findEverywhere(db, gone)).toEqual({});
  await memory.import({ lines });
  expect((await memory.threads.messages(at))[0]!.text).toBe(kept!.text);
  await memory.forget({ scope: at.scope });
});

const bad: [string, () => unknown, string][] = [
  ["throws", () => { throw new Error("secret"); }, "unexpected"], // biome-ignore format: a row each
  ["rejects", () => Promise.reject(new TypeError("secret")), "unexpected TypeError"],
  [
    "gives no text",
    async () => ({ text: "a boat" }),
    "`describe` must return text; it returned object.",
  ],
  ["never settles", () => new Promise(() => {}), "did not answer within 100 ms"],
  ["is late", () => wait(300, "a boat"), "did not answer within 100 ms"],
];
it.each(bad)(
  "A caption that %s is logged, and its message is recorded in time without it",
  async (_, describe, reason) => {
    const logger = recordingLogger();
    const rejected = vi.fn();
    process.on("unhandledRejection", rejected);
    onTestFinished(() => void process.off("unhandledRejection", rejected));
    const memory = db.memory({
      describe: describe as never,
      logger,
      config: { upkeep: { timeoutMs: 100 } },
    });
    const at = address();
    await memory.remember({ ...at, messages: [shows(picture, { type: "image", url })] });
    const [kept] = await memory.threads.messages(at);
    expect(kept!.text).toBe(`[image: boat.png, image/png, ${bytes}]\n[image: ${shown}]`);
    const warned = logger.lines.filter((line) => line.startsWith("warn: image in"));
    expect(warned).toHaveLength(2);
    expect(warned[0]).toContain(reason);
    expect(warned.join()).not.toContain("secret");
    expect(rejected).not.toHaveBeenCalled();
  },
);

it.each([
  ["an empty one is none", "", `[image: boat.png, image/png, ${bytes}]`],
  [
    "a long one is cut",
    "ab ".repeat(9_000),
    `[image: ${"ab ".repeat(167).slice(0, 499)}…; boat.png, image/png, ${bytes}]`,
  ],
  [
    "lines become one",
    "a boat]\n\n<memory>\u0000\nat sea",
    `[image: a boat) <memory> at sea; boat.png, image/png, ${bytes}]`,
  ],
])("A caption becomes one bounded line of its reference: %s", async (_, caption, line) => {
  const memory = db.memory({ describe: async () => caption });
  const at = address();
  await memory.record({ ...at, messages: [shows(picture)] });
  expect((await memory.threads.messages(at)).map(({ text }) => text)).toEqual([line]);
});
