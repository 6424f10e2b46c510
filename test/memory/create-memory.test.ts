import { describe, expect, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { MemoryError } from "../../src/errors.js";
import { resolveConfig } from "../../src/options.js";
import { useChildScripts } from "../support/child-scripts.js";

const start = useChildScripts();
const database = "postgresql://ana@127.0.0.1/db";

describe("the config", () => {
  it("has a window of 14 messages and a first summary after seq 5 by default", () => {
    expect(resolveConfig(undefined).summaries).toMatchObject({
      windowMessages: 14,
      afterSeq: 5,
      timeoutMs: 30_000,
      maxAttempts: 5,
    });
    expect(resolveConfig({ summaries: { afterSeq: 9 } }).summaries).toMatchObject({
      windowMessages: 14,
      afterSeq: 9,
    });
  });

  it.each<[unknown, RegExp]>([
    [{ summaries: { windowMesages: 10 } }, /windowMesages/],
    [{ summary: {} }, /summary/],
    [{ summaries: { windowMessages: 0 } }, /windowMessages/],
    [{ summaries: { windowMessages: 7.5 } }, /windowMessages/],
    [{ upkeep: { timeoutMs: "30s" } }, /timeoutMs/],
    [{ upkeep: { inputBudgetTokens: 10 } }, /inputBudgetTokens/],
    [{ memories: { extractAfterMessages: 0 } }, /extractAfterMessages/],
    [{ jobs: { concurrency: 0 } }, /concurrency/],
    [{ retrieval: { topk: 1 } }, /did you mean "topK"\?/],
    [{ preset: "economy" }, /preset/],
    [{ telemetry: { content: true } }, /telemetry/],
    [{ memories: { extractAfter: { messages: 4 } } }, /extractAfter/],
    [{ memories: { episodeKeepTurns: 10 } }, /episodeKeepTurns/],
    [{ retrieval: { held: false, mode: "passive", fill: false, traces: true } }, /held.*mode.*fill.*traces/s],
    [{ jobs: { concurrencyByKind: { facts: 1 } } }, /concurrencyByKind/],
    [{ upkeep: { leaseMs: 1 } }, /leaseMs/],
    [{ summaries: { timeoutMs: 1_000 } }, /timeoutMs/],
  ])("is refused at once, naming what is wrong: %j", (config, message) => {
    const create = () => createMemory({ database, config: config as never });
    expect(create).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    expect(create).toThrow(message);
  });
});

describe("MemoryError", () => {
  it("is recognised by code, also across two copies of the package", async () => {
    const path = "../../src/errors.js?copy";
    const copy: typeof import("../../src/errors.js") = await import(path);
    expect(copy.MemoryError).not.toBe(MemoryError);
    const error: unknown = new copy.MemoryError("CONFLICT", "no", { cause: new Error("why") });
    expect(error).not.toBeInstanceOf(MemoryError);
    expect(MemoryError.is(error)).toBe(true);
    expect(MemoryError.is(error, "CONFLICT")).toBe(true);
    expect(MemoryError.is(error, "CLOSED")).toBe(false);
    expect(error).toMatchObject({ name: "MemoryError", message: "no", cause: new Error("why") });
  });

  it.each([null, undefined, "CLOSED", { code: "CLOSED" }, new Error("CLOSED")])("is not %j", (error) => {
    expect(MemoryError.is(error)).toBe(false);
  });
});

describe("the embedded database's package", () => {
  it("is named with the command that installs it when it is missing, and not needed for a server", async () => {
    const script = start("without-pglite");
    expect(await script.exitCode).toBe(0);
    expect(script.lines[0]).toBe("PEER_MISSING");
    expect(script.lines[1]).toContain("npm install @electric-sql/pglite");
    expect(script.stderr()).toBe("");
  });
});
