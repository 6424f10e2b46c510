import { describe, expect, it } from "vitest";
import * as main from "../../src/index.js";
import { type Memory, MemoryError } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type Arguments,
  type Call,
  callOf,
  callsOf,
  errorOf,
  sampleCalls,
  sampleScope,
} from "./sample-calls.js";

const db = useTestDatabase();

const scope = sampleScope;
const calls = Object.entries(sampleCalls);

/** Calls without named arguments. */
const polls = ["databaseStatus", "energyConsumedSinceLastPoll", "settings"];
const withoutArguments = ["setup", "graphs", "idle", "close", "checkpointer", ...polls];

const model = new ScriptedChatModel({ replies: [] });

/** Valid arguments of the exported functions. */
const exported: Readonly<Record<string, (memory: Memory) => Arguments>> = {
  createMemory: (memory) => [
    {
      database: db.pool,
      config: { context: { cacheMs: 3 }, categories: { custom: [{ name: "cars" }] } },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      clock: () => memory && new Date(),
    },
  ],
  consentNode: (memory) => [memory, { limit: 2 }],
  consentTool: (memory) => [memory, { name: "ask" }],
  createMemorySupervisor: (memory) => [
    { memory, model, planner: { prompt: "plan" }, executor: { prompt: "do" } },
  ],
  memoryMiddleware: (memory) => [memory, { injectAs: "text" }],
  memoryManageTool: (memory) => [memory, { agent: "planner" }],
  endConversationTool: (memory) => [memory, { name: "end" }],
  procedureTool: (memory) => [memory, { agent: "planner" }],
  transcriptSearchTool: (memory) => [memory, { name: "said" }],
  recallNode: (memory) => [memory, { agent: "planner" }],
  rememberNode: (memory) => [memory, { session: "bounded" }],
  withMemory: (memory) => [memory.graphs().summarization, memory, { session: "bounded" }],
};
/** Exports without options; `memoryQueryTool` has tests of its own. */
const withoutOptions = [
  ...["fieldsFirst", "fromRun", "MemoryError", "memoryAnnotation", "memoryFields"],
  ...["memoryStateFields", "memoryQueryTool", "modelView", "shownBy"],
];

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** `value` once for each object in it, with an unknown key added there. */
function misspelt(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => misspelt(item).map((wrong) => value.with(index, wrong)));
  }
  if (!isPlainObject(value) || "recall" in value || "debug" in value) return [];
  const inner = Object.entries(value).flatMap(([key, each]) =>
    misspelt(each).map((wrong) => ({ ...value, [key]: wrong })),
  );
  return [{ ...value, zzunknown: 1 }, ...inner];
}

const mistakes = (args: Arguments): Arguments[] => misspelt(args) as Arguments[];

function expectRefused(error: unknown, key?: string) {
  expect(error).toBeInstanceOf(MemoryError);
  expect(["INVALID_INPUT", "SCOPE_REQUIRED"]).toContain((error as MemoryError).code);
  if (key !== undefined) expect((error as MemoryError).message).toContain(`unknown key "${key}"`);
}

/** The error for a missing `key`, if any, names the key. */
function expectNamed(error: unknown, key: string) {
  if (error === null) return;
  expect(error).toBeInstanceOf(MemoryError);
  const { code, message } = error as MemoryError;
  expect(message).not.toMatch(/nonoptional/);
  if (key === "threadId")
    expect(["INVALID_INPUT", "THREAD_FORBIDDEN", "NOT_FOUND"]).toContain(code);
  if (message.includes("undefined")) expect(message).toContain(key);
}

describe("calls of a memory", () => {
  it("The samples of this test cover every call of a memory and every exported function", () => {
    const paths = callsOf(db.memory()).map(([path]) => path);
    expect(paths.sort()).toEqual([...withoutArguments, ...Object.keys(sampleCalls)].sort());
    expect([...Object.keys(exported), ...withoutOptions].sort()).toEqual(Object.keys(main).sort());
  });

  it.each(calls)("%s names an unknown key, wherever it is", async (path, args) => {
    const call = callOf(db.memory({ embeddings: undefined as never, model }), path);
    for (const wrong of mistakes(args))
      expectRefused(await errorOf(() => call(...wrong)), "zzunknown");
  });

  it.each(calls)("%s refuses null, text and missing options", async (path, args) => {
    const call = callOf(db.memory({ model }), path);
    const positions = args.flatMap((arg, index) => (isPlainObject(arg) ? [index] : []));
    for (const index of positions) {
      for (const wrong of [null, 7, "no options", []]) {
        if (path === "memories.add" && Array.isArray(wrong) && index === 0) continue;
        expectRefused(await errorOf(() => call(...args.with(index, wrong))));
      }
    }
    const error = await errorOf(() => call());
    if (error !== null) expect(error).toBeInstanceOf(MemoryError);
  });

  it.each(calls)("%s names each missing key that it needs", async (path, args) => {
    const call = callOf(db.memory({ model }), path);
    for (const [index, options] of args.entries()) {
      if (!isPlainObject(options)) continue;
      for (const key of Object.keys(options)) {
        const { [key]: _, ...without } = options;
        expectNamed(await errorOf(() => call(...args.with(index, without))), key);
      }
    }
  });

  it.each<[string, Arguments, string]>([
    [
      "memories.add",
      [{ text: "x" }, { scope }],
      'unknown key "text" (known: scope, actor, consent, threadId, messageId, reason, memories)',
    ],
    ["memories.list", [{ scope: undefined }], "leave it out where all scopes are meant"],
    [
      "memories.add",
      [{ scope, memories: { text: "x", expiresAt: "tomorrow" } }],
      "must be a Date, or a text in ISO 8601",
    ],
    ["memories.add", [{ scope, memories: "The user rows." }], "pass { text, … }"],
    ["remember", ["hello"], "must be an object, with keys of these: scope,"],
  ])("%s says what to pass instead of %j", async (path, args, message) => {
    const call = callOf(db.memory({ model }), path);
    await expect(Promise.resolve().then(() => call(...args))).rejects.toThrow(message);
  });

  it("An error suggests the key that was probably meant", async () => {
    const memory = db.memory();
    const listing = { scope, kind: ["fact"] };
    await expect(memory.memories.list(listing)).rejects.toThrow(
      'unknown key "kind" (did you mean "kinds"?)',
    );
    const other = { scope: { user_id: "ana" } };
    await expect(memory.memories.list(other as never)).rejects.toThrow('did you mean "userId"?');
    expect(() => db.memory({ config: { retreival: {} } as never })).toThrow(
      'did you mean "retrieval"?',
    );
    expect(() => db.memory({ config: { retrieval: { topk: 3 } } as never })).toThrow(
      'did you mean "topK"?',
    );
    const allowlists = { allowlists: { planner: ["task"] } };
    expect(() => db.memory({ config: allowlists })).toThrow('did you mean "tasks"?');
  });

  it.each<[string, (long: string) => object]>([
    ["record", (timeZone) => ({ scope, threadId: "t", messages: [], timeZone })],
    ["memories.list", (category) => ({ scope, categories: [category] })],
    ["memories.list", (long) => ({ scope: long })],
  ])("The error of %s for a very long text is short", async (path, input) => {
    const error = await errorOf(() => callOf(db.memory(), path)(input("x".repeat(300_000))));
    expectRefused(error);
    expect((error as MemoryError).message.length).toBeLessThan(1_000);
  });

  it("A value that cannot be read is refused as input", async () => {
    const { proxy: draft, revoke } = Proxy.revocable({}, {});
    revoke();
    const record = callOf(db.memory(), "record");
    const error = await errorOf(() => record({ scope, threadId: "t", messages: [], shown: draft }));
    expectRefused(error);
    expect((error as MemoryError).message).toMatch(/Invalid .* cannot be read.*revoked/);
    expectRefused(
      await errorOf(() =>
        callOf(db.memory(), "query")({ scope, query: "tea", kinds: new Uint8Array(3) }),
      ),
    );
  });

  it("A budget that the database cannot count with is refused as a setting", () =>
    expect(() => db.memory({ config: { retrieval: { budgetTokens: 2 ** 40 } } })).toThrow(
      "retrieval.budgetTokens",
    ));

  it("An unknown key is answered with each key that contains it", () => {
    expect(() => db.memory({ config: { context: { tokens: 3_000 } } as never })).toThrow(
      'unknown key "tokens" (did you mean "tailTokens" or "toolResultTokens"?)',
    );
  });
});

describe("exported functions", () => {
  it.each(Object.keys(exported))(
    "%s names an unknown option, and refuses null for its options",
    async (name) => {
      const memory = db.memory({ model });
      const call = (main as unknown as Record<string, Call>)[name] as Call;
      const args = (exported[name] as (memory: Memory) => Arguments)(memory);
      const wrong = mistakes(args);
      expect(wrong.length).toBeGreaterThan(0);
      for (const each of wrong) expectRefused(await errorOf(() => call(...each)), "zzunknown");
      expectRefused(await errorOf(() => call(...args.slice(0, -1), null)));
      if (name !== "createMemory") expectRefused(await errorOf(() => call()));
    },
  );
});
