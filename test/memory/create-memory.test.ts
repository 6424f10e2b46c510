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
    [{ upkeep: { timeoutMs: "30s" } }, /timeoutMs/],
    [{ upkeep: { inputBudgetTokens: 10 } }, /inputBudgetTokens/],
    [{ upkeep: { leaseMs: 1 } }, /leaseMs/],
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
