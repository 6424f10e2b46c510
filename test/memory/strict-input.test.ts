import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import * as main from "../../src/index.js";
import { type Memory, MemoryError } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

type Arguments = readonly unknown[];
type Call = (...args: Arguments) => unknown;

const scope = { userId: "ana" };
const app = { appId: "shop" };
const id = randomUUID();
const threadId = "t";
const message = new HumanMessage("hello");
const draft = { text: "The user drinks tea.", source: { threadId, seqs: [0] }, turns: { start: 1, end: 2 } };

/** Calls that take no options, and those whose input is told apart elsewhere (query: memory-query tests). */
const plain: ReadonlySet<string> = new Set([
  ...[
    "setup",
    "graphs",
    "idle",
    "close",
    "checkpointer",
    "query",
    "databaseStatus",
    "energyConsumedSinceLastPoll",
  ],
]);

/** What every other call of a memory takes; objects in it are options, filters, scopes or drafts. */
const calls: Readonly<Record<string, Arguments>> = {
  record: [{ scope, threadId, messages: [message], shown: { revision: 0, memoryIds: [] } }],
  remember: [{ scope, threadId, messages: [message], shown: { revision: 0, memoryIds: [] } }],
  recall: [{ scope, threadId, query: "tea" }],
  upkeep: [{ kinds: ["lifecycle"] }],
  stats: [{ scope }],
  "energy.level": [{ tenantId: "acme" }],
  "users.list": [{ tenantId: "acme", limit: 3 }],
  "apps.list": [{ limit: 3 }],
  "apps.uninstall": [app, { actor: "ana" }],
  reembed: [{ batchSize: 10 }],
  work: [{ kinds: ["facts"] }],
  "jobs.list": [{ tenantId: "acme", limit: 3 }],
  "jobs.retry": ["extract-1", { tenantId: "acme" }],
  forget: [scope, { dryRun: true }],
  export: [scope],
  import: [[], { scope }],
  "summaries.list": [{ scope, threadId }],
  "memories.add": [draft, { scope }],
  "memories.get": [id, { scope }],
  "memories.list": [{ scope, limit: 3 }],
  "memories.update": [id, { importance: 2 }, { scope }],
  "memories.remove": [id, { scope }],
  "memories.restore": [id, { scope }],
  "memories.approve": [id, { scope }],
  "memories.revert": [id, { scope, to: 1 }],
  "memories.history": [id, { scope }],
  "procedures.write": [{ scope, threadId, messages: [message] }],
  "notes.list": [{ scope: app, limit: 3 }],
  "notes.count": [{ scope: app }],
  "notes.remove": [id, { scope: app, actor: "ana" }],
  "notes.purge": [{ scope: app, dryRun: true }],
  "notes.context": [{ scope: app, agent: "planner" }],
  "changes.since": [0, { scope }],
  "events.count": [{ scope, by: "op" }],
  "events.list": [{ scope, limit: 3 }],
  "consents.list": [{ scope }],
  "consents.decide": [{ scope, id, decision: "refuse", actor: "ana", evidence: { quote: "no" } }],
  "transcript.search": [{ scope, query: "tea" }],
  "threads.list": [{ scope }],
  "threads.delete": [{ scope, threadId: "removed" }],
  "threads.end": [{ scope, threadId, reason: "done", afterRound: false }],
  "threads.shown": [{ scope, threadId }],
  "threads.messages": [{ scope, threadId, limit: 3 }],
  "checkpoints.prune": [{ scope, keepLast: 1 }],
  store: [{ scope }],
};

const model = new ScriptedChatModel({ replies: [] });

/** What the exported functions take. */
const exported: Readonly<Record<string, (memory: Memory) => Arguments>> = {
  createMemory: (memory) => [
    {
      ...{
        database: db.pool,
        config: { summaries: { afterSeq: 3 }, categories: { custom: [{ name: "cars" }] } },
      },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      clock: () => memory && new Date(),
    },
  ],
  consentNode: (memory) => [memory, { limit: 2 }],
  consentTool: (memory) => [memory, { name: "ask" }],
  createMemorySupervisor: (memory) => [
    { memory, model, planner: { prompt: "plan" }, executor: { prompt: "do" } },
  ],
  memoryMiddleware: (memory) => [memory, { injectAs: "user" }],
  memoryManageTool: (memory) => [memory, { agent: "planner" }],
  endConversationTool: (memory) => [memory, { name: "end" }],
  procedureTool: (memory) => [memory, { agent: "planner" }],
  transcriptSearchTool: (memory) => [memory, { name: "said" }],
  recallNode: (memory) => [memory, { agent: "planner" }],
  rememberNode: (memory) => [memory, { session: "bounded" }],
  withMemory: (memory) => [memory.graphs().summarization, memory, { session: "bounded" }],
};
/** No options; `memoryQueryTool` is told apart by tests of its own. */
const withoutOptions = [
  "fieldsFirst",
  "MemoryError",
  "memoryAnnotation",
  "memoryFields",
  "memoryStateFields",
  "memoryQueryTool",
  "modelView",
  "shownBy",
];

/** Every call of `api` by its path: "memories.add". */
function callsOf(api: object, path = ""): [path: string, call: Call][] {
  return Object.entries(api).flatMap(([name, member]: [string, unknown]): [string, Call][] => {
    if (typeof member === "function") return [[`${path}${name}`, member as Call]];
    const isApi = typeof member === "object" && member !== null && name !== "policy";
    return isApi ? callsOf(member, `${path}${name}.`) : [];
  });
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** `value` once for each object in it, with a key there that nobody knows. Scopes have a code of their own. */
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

async function outcomeOf(call: () => unknown): Promise<unknown> {
  try {
    const result = await call();
    // A generator begins when it is asked.
    if (typeof result === "object" && result !== null && Symbol.asyncIterator in result)
      for await (const _ of result as AsyncIterable<unknown>);
    return null;
  } catch (error) {
    return error;
  }
}

function expectRefused(error: unknown, key?: string) {
  expect(error).toBeInstanceOf(MemoryError);
  expect(["INVALID_INPUT", "SCOPE_REQUIRED"]).toContain((error as MemoryError).code);
  if (key !== undefined) expect((error as MemoryError).message).toContain(`unknown key "${key}"`);
}

/** Where the call needs `key`: an error in the words of who calls. */
function expectNamed(error: unknown, key: string) {
  if (error === null) return;
  expect(error).toBeInstanceOf(MemoryError);
  const { code, message } = error as MemoryError;
  expect(message).not.toMatch(/nonoptional/);
  if (key === "threadId") expect(["INVALID_INPUT", "THREAD_FORBIDDEN", "NOT_FOUND"]).toContain(code);
  if (message.includes("undefined")) expect(message).toContain(key);
}

describe("every call of a memory", () => {
  it("is known to this test", () => {
    const paths = callsOf(db.memory()).map(([path]) => path);
    expect(paths.filter((path) => !plain.has(path)).sort()).toEqual(Object.keys(calls).sort());
    expect([...Object.keys(exported), ...withoutOptions].sort()).toEqual(Object.keys(main).sort());
  });

  it.each(Object.entries(calls))(
    "%s names a key that it does not know, wherever it stands",
    async (path, args) => {
      const memory = db.memory({ embeddings: undefined as never, model });
      const call = new Map(callsOf(memory)).get(path) as Call;
      for (const wrong of mistakes(args)) expectRefused(await outcomeOf(() => call(...wrong)), "zzunknown");
    },
  );

  it.each(Object.entries(calls))(
    "%s takes no null or text for its options, and nothing that is missing",
    async (path, args) => {
      const memory = db.memory({ model });
      const call = new Map(callsOf(memory)).get(path) as Call;
      const positions = args.flatMap((arg, index) => (isPlainObject(arg) ? [index] : []));
      for (const index of positions) {
        for (const wrong of [null, 7, "no options", []]) {
          if (path === "memories.add" && Array.isArray(wrong) && index === 0) continue;
          expectRefused(await outcomeOf(() => call(...args.with(index, wrong))));
        }
      }
      const error = await outcomeOf(() => call());
      if (error !== null) expect(error).toBeInstanceOf(MemoryError);
    },
  );

  it.each(Object.entries(calls))("%s says of each key that is missing what it needs", async (path, args) => {
    const memory = db.memory({ model });
    const call = new Map(callsOf(memory)).get(path) as Call;
    for (const [index, options] of args.entries()) {
      if (!isPlainObject(options)) continue;
      for (const key of Object.keys(options)) {
        const { [key]: _, ...without } = options;
        expectNamed(await outcomeOf(() => call(...args.with(index, without))), key);
      }
    }
  });

  it.each<[string, Arguments, string]>([
    ["memories.add", [draft], "Invalid access: ✖ must be an object, with keys of these: scope, actor,"],
    ["memories.list", [], "must be an object, with keys of these: scope,"],
    [
      "memories.add",
      [{ text: "x", expiresAt: "tomorrow" }, { scope }],
      "must be a Date, or a text in ISO 8601",
    ],
    ["memories.add", ["The user rows.", { scope }], "pass { text, … }"],
    ["remember", ["hello"], "must be an object, with keys of these: scope,"],
  ])("%s says what is to be passed instead: %j", async (path, args, message) => {
    const call = new Map(callsOf(db.memory({ model }))).get(path) as Call;
    await expect(Promise.resolve().then(() => call(...args))).rejects.toThrow(message);
  });

  it.each([
    ["memories.list", [{ scope, limit: -1 }]],
    ["memories.list", [{ scope, limit: Number.NaN }]],
    ["memories.list", [{ scope, limit: "10" }]],
    ["memories.list", [{ scope, limit: 1.5 }]],
    ["memories.list", [{ scope, categories: ["preferance"] }]],
    ["memories.update", [id, { importance: Number.NaN }, { scope }]],
    ["memories.update", [id, { pinned: "yes" }, { scope }]],
    ["memories.remove", [id, { scope, ifRevision: "1" }]],
    ["memories.remove", [id, { scope, consent: "yes" }]],
    ["memories.get", [undefined, { scope }]],
    ["changes.since", [-1, { scope }]],
    ["changes.since", [0, { scope, limit: 0 }]],
    ["threads.list", [{ scope, limit: "10" }]],
    ["threads.list", [{ scope, after: "nonsense" }]],
    ["memories.list", [{ scope, after: "nonsense" }]],
    ["memories.list", [{ scope, after: id }]],
    ["memories.list", [{ scope, states: ["actve"] }]],
    ["memories.list", [{ states: ["quarantined"], limit: 0 }]],
    ["consents.list", [{ scope, limit: -1 }]],
    ["consents.list", [{ scope, after: id }]],
    ["consents.list", [{ after: "nonsense" }]],
    ["memories.list", [{ states: ["quarantined"], after: id }]],
    ["memories.list", [{ states: ["active"] }]],
    ["memories.list", [{ states: ["quarantined"], kinds: ["fact"] }]],
    ["consents.list", [{ scope, status: ["waiting"] }]],
    ["events.list", [{ scope, limit: 1_001 }]],
    ["events.list", [{ scope, op: "serch" }]],
    ["events.list", [{ scope, before: -1 }]],
    ["events.count", [{ scope, by: "op", node: "recal" }]],
    ["events.count", [{ scope, by: "op", step: "" }]],
    ["summaries.list", [{ scope, threadId: "t", limit: -1 }]],
    ["transcript.search", [{ scope, query: "tea", limit: -1 }]],
    ["transcript.search", [{ scope, query: "tea", topK: 0 }]],
    ["query", [{ scope, query: "tea", topK: -1 }]],
    ["query", [{ scope, query: "tea", kinds: ["facts"] }]],
    ["query", [{ scope, query: "tea", budgetTokens: -5 }]],
    ["record", [{ scope, threadId, messages: [{ role: "user" }] }]],
    ["record", [{ scope, threadId }]],
    ["import", [undefined, {}]],
    ["forget", [scope, { batchSize: 0 }]],
    ["forget", [scope, { signal: "stop" }]],
  ] as [string, Arguments][])("%s refuses %j", async (path, args) => {
    const call = new Map(callsOf(db.memory())).get(path) as Call;
    expectRefused(await outcomeOf(() => call(...args)));
  });

  it("says which key was probably meant", async () => {
    const memory = db.memory();
    const listing = { scope, kind: ["fact"] };
    await expect(memory.memories.list(listing)).rejects.toThrow('unknown key "kind" (did you mean "kinds"?)');
    const other = { scope: { user_id: "ana" } };
    await expect(memory.memories.list(other as never)).rejects.toThrow('did you mean "userId"?');
    expect(() => db.memory({ config: { retreival: {} } as never })).toThrow('did you mean "retrieval"?');
    expect(() => db.memory({ config: { retrieval: { topk: 3 } } as never })).toThrow('did you mean "topK"?');
    const allowlists = { allowlists: { planner: ["task"] } };
    expect(() => db.memory({ config: allowlists })).toThrow('did you mean "tasks"?');
  });
});

describe("every exported function", () => {
  it.each(Object.keys(exported))(
    "%s names an option that it does not know, and takes nothing in its place",
    async (name) => {
      const memory = db.memory({ model });
      const call = (main as unknown as Record<string, Call>)[name] as Call;
      const args = (exported[name] as (memory: Memory) => Arguments)(memory);
      const wrong = mistakes(args);
      expect(wrong.length).toBeGreaterThan(0);
      for (const each of wrong) expectRefused(await outcomeOf(() => call(...each)), "zzunknown");
      expectRefused(await outcomeOf(() => call(...args.slice(0, -1), null)));
      if (name !== "createMemory") expectRefused(await outcomeOf(() => call()));
    },
  );
});
