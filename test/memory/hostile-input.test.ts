import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Memory, MemoryError } from "../../src/index.js";
import { createBackgroundWork } from "../../src/jobs/background-work.js";
import { withDeadline } from "../../src/models/model-answer.js";
import { resolveConfig } from "../../src/options.js";
import { isConnectionError, toMemoryError } from "../../src/postgres/database-error.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { wayIn } from "../../src/way-in.js";
import { silentLogger } from "../support/silent-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const user = () => ({ scope: { userId: randomUUID() } });

/** Values that numbers, dates, lists and texts of the public API are not. */
const numbers = [Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5, 2 ** 53, 1e300, "7", null, {}];
const dates = [
  new Date(Number.NaN),
  new Date("+010000-01-01T00:00:00Z"),
  new Date("-000001-01-01T00:00:00Z"),
  new Date(8.64e15),
  "9999-99-99",
  7,
];
const texts = ["a\u0000b", "\uD800", "b\uDC00", 7, {}];
const lists = ["active", [7], ["constructor"], ["__proto__"], [["active"]], {}];

type Call = (memory: Memory, value: never, of: ReturnType<typeof user>, id: string) => Promise<unknown>;

/** Each public call by what it is given; none reaches the database with what that cannot hold. */
const calls: Record<string, [readonly unknown[], Call]> = {
  "memories.list limit": [[...numbers, 0], ({ memories }, limit, of) => memories.list({ ...of, limit })],
  "memories.list kinds": [lists, ({ memories }, kinds, of) => memories.list({ ...of, kinds })],
  "memories.list states": [lists, ({ memories }, states, of) => memories.list({ ...of, states })],
  "memories.list categories": [
    [...lists, ["a\u0000"]],
    ({ memories }, categories, of) => memories.list({ ...of, categories }),
  ],
  "memories.list after": [[...texts, "x"], ({ memories }, after, of) => memories.list({ ...of, after })],
  "memories.get id": [[...texts, undefined], ({ memories }, id, of) => memories.get(id, of)],
  "memories.add text": [texts, ({ memories }, text, of) => memories.add({ text }, of)],
  "memories.add quote": [
    texts,
    ({ memories }, quote, of) => memories.add({ text: "x", source: { threadId: "t", seqs: [], quote } }, of),
  ],
  "memories.add thread": [
    texts,
    ({ memories }, threadId, of) => memories.add({ text: "x", source: { threadId, seqs: [] } }, of),
  ],
  "memories.add seqs": [
    [...numbers, 2 ** 31],
    ({ memories }, seq, of) => memories.add({ text: "x", source: { threadId: "t", seqs: [seq] } }, of),
  ],
  "memories.add turns": [
    [...numbers, 2 ** 31],
    ({ memories }, end, of) => memories.add({ text: "x", turns: { start: 1, end } }, of),
  ],
  "memories.add validFrom": [
    dates,
    ({ memories }, validFrom, of) => memories.add({ text: "x", validFrom }, of),
  ],
  "memories.add importance": [
    numbers,
    ({ memories }, importance, of) => memories.add({ text: "x", importance }, of),
  ],
  "memories.add tags": [[texts, lists], ({ memories }, tags, of) => memories.add({ text: "x", tags }, of)],
  "memories.add agent": [texts, ({ memories }, agentId, of) => memories.add({ text: "x", agentId }, of)],
  "memories.add actor": [texts, ({ memories }, actor, of) => memories.add({ text: "x" }, { ...of, actor })],
  "memories.update text": [texts, ({ memories }, text, of, id) => memories.update(id, { text }, of)],
  "memories.update tags": [[texts], ({ memories }, tags, of, id) => memories.update(id, { tags }, of)],
  "memories.update actor": [
    texts,
    ({ memories }, actor, of, id) => memories.update(id, { text: "y" }, { ...of, actor }),
  ],
  "memories.revert to": [numbers, ({ memories }, to, of, id) => memories.revert(id, { ...of, to })],
  "consents.list limit": [[...numbers, 0], ({ consents }, limit, of) => consents.list({ ...of, limit })],
  "consents.list status": [lists, ({ consents }, status, of) => consents.list({ ...of, status })],
  "consents.list rule": [
    [...texts, "constructor"],
    ({ consents }, rule, of) => consents.list({ ...of, rule }),
  ],
  "consents.decide actor": [
    texts,
    ({ consents }, actor, of, id) => consents.decide({ ...of, id, actor, decision: "refuse" }),
  ],
  "consents.decide quote": [
    texts,
    ({ consents }, quote, of, id) =>
      consents.decide({ ...of, id, actor: "a", decision: "refuse", evidence: { quote } }),
  ],
  "consents.decide value": [
    texts,
    ({ consents }, value, of, id) => consents.decide({ ...of, id, actor: "a", decision: "approve", value }),
  ],
  "memories.list limit, of everybody": [
    [...numbers, 0],
    ({ memories }, limit) => memories.list({ states: ["quarantined"], limit }),
  ],
  "memories.approve actor": [texts, ({ memories }, actor, of, id) => memories.approve(id, { ...of, actor })],
  "changes.since": [numbers, ({ changes }, rev, of) => changes.since(rev, of)],
  "changes.since limit": [[...numbers, 0], ({ changes }, limit, of) => changes.since(0, { ...of, limit })],
  "events.list limit": [[...numbers, 0], ({ events }, limit, of) => events.list({ ...of, limit })],
  "events.list before": [numbers, ({ events }, before, of) => events.list({ ...of, before })],
  "events.list since": [dates, ({ events }, since, of) => events.list({ ...of, since })],
  "events.list until": [dates, ({ events }, until, of) => events.list({ ...of, until })],
  "events.list thread": [texts, ({ events }, threadId, of) => events.list({ ...of, threadId })],
  "events.count op": [texts, ({ events }, op, of) => events.count({ ...of, op, by: "op" })],
  "events.count node": [texts, ({ events }, node, of) => events.count({ ...of, node, by: "op" })],
  "events.count by": [lists, ({ events }, by, of) => events.count({ ...of, by })],
  "threads.list limit": [[...numbers, 0], ({ threads }, limit, of) => threads.list({ ...of, limit })],
  "threads.list after": [
    [...texts, "9999-99-99T00:00:00.000000Z/1", "10000-01-01T00:00:00.000000Z/1"],
    ({ threads }, after, of) => threads.list({ ...of, after }),
  ],
  "query query": [[7, null, {}, "a\u0000b", "\uD800"], (memory, query, of) => memory.query({ ...of, query })],
  "query topK": [[...numbers, 0], (memory, topK, of) => memory.query({ ...of, query: "x", topK })],
  "query kinds": [lists, (memory, kinds, of) => memory.query({ ...of, query: "x", kinds })],
  "query categories": [lists, (memory, categories, of) => memory.query({ ...of, query: "x", categories })],
  "query agent filter": [
    texts,
    (memory, agent_id, of) => memory.query({ ...of, query: "x", filters: { agent_id } }),
  ],
  "query date filter": [
    [...dates, "0000-01-01", "0000-01-01T00:00:00Z"],
    (memory, updated_after, of) => memory.query({ ...of, query: "x", filters: { updated_after } }),
  ],
  "query importance filter": [
    numbers,
    (memory, importance_min, of) => memory.query({ ...of, query: "x", filters: { importance_min } }),
  ],
  "transcript.search query": [
    [7, null, {}],
    (memory, query, of) => memory.transcript.search({ ...of, query }),
  ],
  "transcript.search topK": [
    [...numbers, 0],
    (memory, topK, of) => memory.transcript.search({ ...of, query: "x", topK }),
  ],
  "recall query": [
    [7, {}, "a\u0000b", "\uD800"],
    (memory, query, of) => memory.recall({ ...of, threadId: "new", query }),
  ],
  "recall messageIds": [
    [["a\u0000b"], ["\uD800"], [7], 7, {}],
    (memory, messageIds, of) => memory.recall({ ...of, threadId: "new", messageIds }),
  ],
  "record saidAt": [
    dates,
    (memory, saidAt, of) => memory.record({ ...of, threadId: randomUUID(), messages: [], saidAt }),
  ],
  "record revision": [
    numbers,
    (memory, revision, of) =>
      memory.record({ ...of, threadId: randomUUID(), messages: [], shown: { revision, memoryIds: [] } }),
  ],
  "record shown": [
    [...lists, ["no uuid"], ["a\u0000"]],
    (memory, memoryIds, of) =>
      memory.record({ ...of, threadId: randomUUID(), messages: [], shown: { revision: 0, memoryIds } }),
  ],
  "procedures.write seqs": [
    [...numbers, 2 ** 31],
    (memory, fromSeq, of) => memory.procedures.write({ ...of, threadId: "t", fromSeq }),
  ],
  "procedures.write agent": [
    texts,
    (memory, agentId, of) => memory.procedures.write({ ...of, threadId: "t", agentId }),
  ],
  "procedures.write actor": [
    texts,
    (memory, actor, of) => memory.procedures.write({ ...of, threadId: "t", actor }),
  ],
  "checkpoints.prune olderThan": [
    [...dates.filter((date) => date !== 7), 1e300, Number.NaN],
    (memory, olderThan) => memory.checkpoints.prune({ keepLast: 1, olderThan, scope: { userId: "nobody" } }),
  ],
  "checkpoints.prune keepLast": [
    [...numbers, 0],
    (memory, keepLast) => memory.checkpoints.prune({ keepLast, scope: { userId: "nobody" } }),
  ],
  "forget batchSize": [
    [...numbers, 0],
    (memory, batchSize, { scope }) => memory.forget(scope, { batchSize, dryRun: true }),
  ],
};

describe("what the public API is given by mistake", () => {
  let memory: Memory;
  const of = user();
  let id = "";
  beforeAll(async () => {
    memory = db.memory({ model: new OfflineChatModel() });
    const [added] = await memory.memories.add({ text: "Likes tea." }, of);
    id = added!.id!;
    await memory.record({ ...of, threadId: "t", messages: [new HumanMessage("hi"), new AIMessage("ho")] });
  });

  it.each(Object.entries(calls))(
    "is answered or refused with what is wrong: %s",
    async (_, [values, call]) => {
      for (const value of values) {
        const error = await (async () => call(memory, value as never, of, id))().then(
          () => null,
          (thrown: unknown) => thrown,
        );
        if (error === null) continue;
        const shown = `${JSON.stringify(value)}: ${error instanceof Error ? error.stack : error}`;
        expect(MemoryError.is(error), shown).toBe(true);
        expect((error as MemoryError).code, shown).not.toMatch(/DATABASE/);
      }
    },
  );

  it("is kept where it is odd, but can be: dates at the ends of the calendar", async () => {
    for (const day of ["0001-01-02T00:00:00Z", "9999-12-30T23:59:59.999Z"]) {
      const own = user();
      const validFrom = new Date(day);
      const [added] = await memory.memories.add({ text: "Likes tea.", validFrom }, own);
      expect((await memory.memories.get(added!.id!, own))?.validFrom).toEqual(validFrom);
      await memory.record({ ...own, threadId: day, messages: [new HumanMessage("hi")], saidAt: validFrom });
      await memory.events.list({ ...own, since: validFrom, until: validFrom });
    }
  });
});

describe("words that name what every object has", () => {
  const words = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"];

  it.each(words)("are words: %s", async (word) => {
    const memory = db.memory();
    const of = user();
    const draft = { text: `${word} is set to 1.`, category: "profile", key: word, value: "1" };
    const [added] = await memory.memories.add({ ...draft, agentId: word, role: word, tags: [word] }, of);
    expect(added).toMatchObject({ outcome: "created" });
    expect(await memory.memories.get(added!.id!, of)).toMatchObject({ agentId: word, role: word });
    await expect(memory.memories.add({ ...draft, category: word }, of)).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    const found = await memory.query({ ...of, query: word, filters: { role: word, agent_id: word } });
    expect(found).toHaveLength(1);
    await expect(memory.query({ ...of, query: word, categories: [word] })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    await memory.recall({ ...of, threadId: word, agent: word, query: word });
    const message = new HumanMessage(word);
    vi.spyOn(message, "getType").mockReturnValue(word as never);
    await memory.record({ ...of, threadId: word, messages: [message] });
    const { rows } = await db.pool.query(
      `select m.role from "${db.schema}".message m join "${db.schema}".thread t on t.id = m.thread_ref
       where t.user_id = $1`,
      [of.scope.userId],
    );
    expect(rows).toEqual([{ role: "other" }]);
  });

  it("are no steps of events: what cannot be kept of an event is logged, and goes no further", async () => {
    const error = vi.fn();
    const memory = db.memory({ logger: { ...silentLogger, error } });
    const event = { ...user(), op: "search", status: "ok" } as const;
    await wayIn(memory).emit({ ...event, step: "constructor" as never });
    await wayIn(memory).emit({ ...event, scope: { userId: undefined, appId: "x" } as never, step: "tool" });
    expect(error.mock.calls.map(([line]) => line)).toEqual([
      expect.stringContaining('no step "constructor"'),
      expect.stringContaining("userId is given without a value"),
    ]);
  });
});

describe("memories that a turn or a tool was shown", () => {
  const usedBy = async (id: string) => {
    const { rows } = await db.pool.query(`select access_count from "${db.schema}".memory where id = $1`, [
      id,
    ]);
    return rows[0].access_count as number;
  };

  it("count as used where they are seen, and nobody else's", async () => {
    const memory = db.memory();
    const tenantId = randomUUID();
    const config = { categories: { custom: [{ name: "local", level: "app" as const }] } };
    const local = db.memory({ config });
    const ana = { tenantId, userId: "ana", appId: "notes" };
    const add = async (scope: object, draft: object = {}) => {
      const [added] = await local.memories.add({ text: `of ${JSON.stringify(scope)}`, ...draft }, { scope });
      return added!.id!;
    };
    const own = [
      await add({ tenantId, userId: "ana" }),
      await add(ana, { category: "local" }),
      await add({ tenantId, appId: "notes" }),
    ];
    const foreign = [
      await add({ tenantId, userId: "ben" }),
      await add({ userId: "ana" }),
      await add({ tenantId, appId: "mail" }),
      await add({ ...ana, appId: "mail" }, { category: "local" }),
    ];
    const shownIds = [...own, ...foreign, "no uuid"];
    await wayIn(memory).emit({ scope: ana, step: "tool", op: "search", status: "ok", shownIds });
    const shown = { revision: 0, memoryIds: shownIds };
    await memory.record({ scope: ana, threadId: "t", messages: [new HumanMessage("hi")], shown });
    expect(await Promise.all(own.map(usedBy))).toEqual([2, 2, 2]);
    expect(await Promise.all(foreign.map(usedBy))).toEqual([0, 0, 0, 0]);
    await wayIn(memory).emit({
      scope: { tenantId, userId: "ana" },
      step: "tool",
      op: "search",
      status: "ok",
      shownIds,
    });
    expect(await Promise.all(own.map(usedBy))).toEqual([3, 3, 2]);
    expect(await usedBy(foreign[3]!)).toBe(1);
  });
});

describe("waits longer than timers wait", () => {
  afterEach(() => vi.useRealTimers());

  it("are refused as settings, and cut where a timer is set", async () => {
    for (const config of [
      { upkeep: { timeoutMs: 2 ** 31 } },
      { lifecycle: { purgeAfterMs: Number.MAX_SAFE_INTEGER } },
      { lifecycle: { unusedAfterMs: Number.MAX_SAFE_INTEGER } },
    ]) {
      expect(() => resolveConfig(config)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    }
    vi.useFakeTimers();
    let sweeps = 0;
    const due = async () => {
      sweeps++;
      return [];
    };
    const options = {
      jobs: "background",
      concurrency: 1,
      logger: silentLogger,
      workers: [{ due }],
    } as const;
    const work = createBackgroundWork({ ...options, sweepIntervalMs: 2 ** 40 });
    work.wakeIn(2 ** 40);
    work.startSweeping();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sweeps).toBe(1);
    await work.stop();
    const never = withDeadline(2 ** 40, () => new Promise((resolve) => setTimeout(resolve, 50, "answer")));
    await vi.advanceTimersByTimeAsync(50);
    expect(await never).toBe("answer");
  });
});

it("a server without a connection to spare is one that is not available, and is asked again", () => {
  const full = Object.assign(new Error("sorry, too many clients already"), { code: "53300" });
  expect(isConnectionError(full)).toBe(true);
  expect(toMemoryError(full, "mnemograph")).toMatchObject({
    code: "DATABASE_UNAVAILABLE",
    message: expect.stringContaining("no more connections"),
  });
  expect(isConnectionError(Object.assign(new Error("temp_file_limit"), { code: "53400" }))).toBe(false);
});
