import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { MemoryError } from "../../../src/errors.js";
import { internalApi } from "../../../src/internal-api.js";
import { fieldsFirst, type LogFields, lineLogger } from "../../../src/logger.js";
import { OfflineChatModel } from "../../../src/testing/index.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

/** A logger like pino, which takes fields, then the message. */
function fieldsFirstRecorder() {
  const lines: { level: string; fields: LogFields; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields, message });
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

describe("log lines", () => {
  it("Log lines have fields, with the ids of new memories, and no text of messages", async () => {
    const logger = fieldsFirstRecorder();
    const memory = db.memory({
      model: new OfflineChatModel(),
      logger: fieldsFirst(logger),
      config: { memories: { extract: true, episodes: false } },
    });
    const scope = { userId: "ana" };
    for (const [n, text] of [
      "My name is Anastasia.",
      "I live on an island.",
      "I drink Earl Grey.",
    ].entries()) {
      const said = new HumanMessage({ id: `${n}`, content: text });
      await memory.remember({ scope, threadId: "t", messages: [said] });
    }
    await memory.idle();
    const learned = logger.lines.filter(
      ({ fields }) => fields.step === "facts" && fields.memoryIds !== undefined,
    );
    expect(learned.length).toBeGreaterThan(0);
    const ids = learned.flatMap(({ fields }) => fields.memoryIds ?? []);
    const kept = await memory.memories.list({ scope });
    expect(kept.length).toBeGreaterThan(0);
    expect(ids).toEqual(expect.arrayContaining(kept.map(({ id }) => id)));
    expect(learned[0]).toMatchObject({ level: "info", fields: { threadId: "t", startSeq: 0 } });
    expect(JSON.stringify(logger.lines)).not.toMatch(/Anastasia|island|Earl/i);
  });

  it("The log line of a failure has its step and error code", async () => {
    const logger = fieldsFirstRecorder();
    const memory = db.memory({ logger: fieldsFirst(logger) });
    const error = new MemoryError("DATABASE_TIMEOUT", "too late");
    await internalApi(memory).reportError({
      scope: { userId: "ben" },
      threadId: "b",
      node: "recall",
      error,
    });
    const fields = { threadId: "b", step: "recall", code: "DATABASE_TIMEOUT" };
    expect(logger.lines).toMatchObject([{ level: "error", fields }]);
  });

  it("A log line without fields is logged as a single argument", () => {
    const calls: unknown[][] = [];
    const log = (...given: unknown[]) => void calls.push(given);
    const logger = lineLogger({ debug: log, info: log, warn: log, error: log });
    logger.info("one\ntwo");
    logger.warn("three", { threadId: "t" });
    expect(calls).toEqual([["one two"], ["three", { threadId: "t" }]]);
  });
});
