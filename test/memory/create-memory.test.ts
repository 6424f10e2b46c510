import { resolve } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { resolveConfig } from "../../src/config.js";
import { createMemory } from "../../src/create-memory.js";
import type { MemoryOptions } from "../../src/create-memory-options.js";
import { MemoryError } from "../../src/errors.js";
import { useChildScripts } from "../support/child-scripts.js";
import { recordingLogger } from "../support/recording-logger.js";

const start = useChildScripts();
const database = "postgresql://ana@127.0.0.1/db";

describe("config", () => {
  it("The preset every-round has a window of 14 messages and a first summary after seq 5", () => {
    const summaries = { windowMessages: 14, afterSeq: 5, timeoutMs: 30_000, maxAttempts: 5 };
    expect(resolveConfig({ preset: "every-round" }).summaries).toMatchObject(summaries);
  });

  it.each<[unknown, RegExp]>([
    [{ context: { tailTokens: 0 } }, /tailTokens/],
    [{ upkeep: { timeoutMs: "30s" } }, /timeoutMs/],
    [{ upkeep: { inputBudgetTokens: 10 } }, /inputBudgetTokens/],
    [{ upkeep: { leaseMs: 1 } }, /leaseMs/],
  ])("A config is refused with the name of its wrong key: %j", (config, message) => {
    const create = () => createMemory({ database, config: config as never });
    expect(create).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    expect(create).toThrow(message);
  });
});

describe("models and embeddings", () => {
  it.each<[string, object, RegExp]>([
    ["a model's name", { model: "gpt-4.1-mini" }, /chat model.*await initChatModel/],
    ["a promise", { model: Promise.resolve({}) }, /chat model.*await initChatModel/],
    ["another library's client", { model: { doGenerate() {} } }, /chat model of LangChain/],
    ["a name of embeddings", { embeddings: "openai" }, /embeddings of LangChain.*"local"/],
    ["other embeddings", { embeddings: { doEmbed() {} } }, /embedQuery/],
  ])("%s in their place is refused at once, with what is taken", (_, options, message) => {
    const create = () => createMemory({ database, ...options });
    expect(create).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    expect(create).toThrow(message);
  });
});

describe("an undefined database", () => {
  afterEach(() => vi.unstubAllEnvs());
  const linesOf = (options: MemoryOptions) => {
    const logger = recordingLogger();
    // An open memory is read by metrics that a later test collects, which creates its folder.
    void createMemory({ ...options, logger }).close();
    return logger.lines;
  };

  it("A database given as undefined is refused in production, and warned of at each start elsewhere", () => {
    vi.stubEnv("NODE_ENV", "production");
    const message = expect.stringMatching(
      /`database` is given, but undefined.*environment variable.*dataDir/,
    );
    const refused = expect.objectContaining({ code: "INVALID_INPUT", message });
    expect(() => createMemory({ database: undefined })).toThrow(refused);
    vi.stubEnv("NODE_ENV", "development");
    for (let run = 1; run <= 2; run++)
      expect(linesOf({ database: undefined })).toEqual([
        expect.stringMatching(/^warn: `database` is given, but undefined/),
      ]);
    expect(linesOf({ database: undefined })[0]).toContain(resolve(".mnemograph"));
  });

  it.each(["production", "development"])(
    "An omitted database and a folder are not taken for an undefined one, in %s",
    (env) => {
      vi.stubEnv("NODE_ENV", env);
      expect([...linesOf({}), ...linesOf({ database: { dataDir: "here" } })]).toEqual([]);
    },
  );
});

describe("MemoryError", () => {
  it("MemoryError is recognised by code, also across two copies of the package", async () => {
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

  it.each([null, undefined, "CLOSED", { code: "CLOSED" }, new Error("CLOSED")])(
    "MemoryError.is returns false for %j",
    (error) => {
      expect(MemoryError.is(error)).toBe(false);
    },
  );
});

describe("the package of the embedded database", () => {
  it("A missing PGlite is named with the command that installs it, and a server needs none", async () => {
    const script = start("without-pglite");
    expect(await script.exitCode).toBe(0);
    expect(script.lines[0]).toBe("PEER_MISSING");
    expect(script.lines[1]).toContain("npm install @electric-sql/pglite");
    expect(script.stderr()).toBe("");
  });
});
