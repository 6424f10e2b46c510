import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { resolveConfig } from "../../src/config.js";
import { withDeadline } from "../../src/deadline.js";
import type { Memory, Scope } from "../../src/index.js";
import { internalApi } from "../../src/internal-api.js";
import { isConnectionError, toMemoryError } from "../../src/postgres/database-error.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import type { Within } from "../../src/work/define-work.js";
import { createRunner } from "../../src/work/runner.js";
import { silentLogger } from "../support/silent-logger.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type Arguments,
  callOf,
  errorOf,
  sampleCalls,
  sampleId,
  sampleScope,
} from "./sample-calls.js";

const db = useTestDatabase();
const user = () => ({ scope: { userId: randomUUID() } });

const tooLong = "boat ".repeat(200_000);
/** Invalid numbers, dates, lists and texts. */
const numbers = [Number.NaN, Number.POSITIVE_INFINITY, -1, 2 ** 53, 1e300, "7", {}];
const integers = [...numbers, 1.5, null];
const counts = [...integers, 0];
const topKs = [...numbers, 1.5, 0, 201];
const invalidDates = [Number.NaN, "+010000-01-01T00:00:00Z", "-000001-01-01T00:00:00Z", 8.64e15];
const dates = [...invalidDates.map((date) => new Date(date)), "9999-99-99", 7];
const texts = ["a\u0000b", "\uD800", "b\uDC00", 7, {}];
const lists = ["active", [7], ["constructor"], ["__proto__"], [["active"]], {}];

/**
 * A call, a place in its arguments ("0.limit": the key `limit` of the first), and values for it.
 */
type Placed = readonly [path: string, place: string, values: readonly unknown[]];

const limited = [
  "memories",
  "consents",
  "events",
  "threads",
  "notes",
  "users",
  "apps",
  "jobs",
  "summaries",
];

const refused: Placed[] = [
  ...limited.map((api): Placed => [`${api}.list`, "0.limit", [...counts, 1_001]]),
  ["threads.messages", "0.limit", counts],
  ["changes.list", "0.limit", counts],
  ["transcript.search", "0.limit", [-1]],
  ["forget", "0.batchSize", counts],
  ["forget", "0.signal", ["stop"]],
  ["checkpoints.prune", "0.keepLast", counts],
  ["checkpoints.prune", "0.olderThan", [...dates.filter((date) => date !== 7), 1e300, Number.NaN]],
  ["memories.list", "0.kinds", lists],
  ["memories.list", "0.states", [...lists, ["actve"]]],
  ["memories.list", "0.categories", [...lists, ["a\u0000"], ["preferance"]]],
  ["memories.list", "0.after", [...texts, "x", sampleId]],
  ["memories.list", "0.sort", ["best"]],
  ["memories.list", "0.contains", [""]],
  ["memories.list", "0", [{ limit: 0 }, { after: sampleId }].map(ofEverybody)],
  ["memories.get", "0.id", [7, {}, undefined]],
  ["memories.add", "0.memories.text", ["\uD800", "b\uDC00", 7, {}]],
  ["memories.add", "0.memories.source.quote", texts],
  ["memories.add", "0.memories.source.threadId", texts],
  ["memories.add", "0.memories.source.seqs.0", [...integers, 2 ** 31]],
  ["memories.add", "0.memories.turns.end", [...integers, 2 ** 31]],
  ["memories.add", "0.memories.validFrom", dates],
  ["memories.add", "0.memories.expiresAt", [...dates, "soon"]],
  ["memories.add", "0.memories.importance", [...numbers, null]],
  ["memories.add", "0.memories.tags", [texts, lists]],
  ["memories.add", "0.memories.agentId", texts],
  ["memories.add", "0.actor", texts],
  ["memories.update", "0.text", ["\uD800", "e\uDC00", 7, {}]],
  ["memories.update", "0.importance", numbers],
  ["memories.update", "0.pinned", ["yes"]],
  ["memories.update", "0.tags", [texts]],
  ["memories.update", "0.actor", texts],
  ["memories.remove", "0.ifRevision", integers],
  ["memories.remove", "0.consent", ["yes"]],
  ["memories.revert", "0.to", integers],
  ["memories.approve", "0.actor", texts],
  ["consents.list", "0.status", [...lists, ["waiting"]]],
  ["consents.list", "0.rule", [...texts, "constructor"]],
  ["consents.list", "0.after", [sampleId]],
  ["consents.list", "0", [{ after: "nonsense" }]],
  ["consents.decide", "0.actor", texts],
  ["consents.decide", "0.evidence.quote", texts],
  ["consents.decide", "0.value", texts],
  ["changes.list", "0.since", integers],
  ["events.list", "0.before", integers],
  ["events.list", "0.op", ["serch"]],
  ["events.list", "0.since", dates],
  ["events.list", "0.until", dates],
  ["events.list", "0.threadId", texts],
  ["events.count", "0.op", texts],
  ["events.count", "0.node", [...texts, "recal"]],
  ["events.count", "0.step", [""]],
  ["events.count", "0.by", [...lists, [], "text"]],
  ["events.count", "0.since", dates],
  ["threads.list", "0.after", [...texts, "", "x", "2030-01-01", "2030-01-01T10:00:00.123Z/1"]],
  ["threads.list", "0.after", ["9999-99-99T00:00:00.000000Z/1", "10000-01-01T00:00:00.000000Z/1"]],
  [
    "threads.list",
    "0.after",
    ["2030-02-30T10:00:00.123000Z/1", "2030-01-01T10:00:00.123000Z/1; drop"],
  ],
  ["threads.list", "0.since", dates],
  ["threads.list", "0.until", dates],
  ["threads.list", "0.state", ["closed"]],
  ["threads.shown", "0.limit", [0, 1_001]],
  ["threads.shown", "0.before", [-1]],
  ["query", "0.query", [tooLong, 7, null]],
  ["query", "0.topK", topKs],
  ["query", "0.top_k", topKs],
  ["query", "0.threshold", [Number.NaN, 2, "0.5"]],
  ["query", "0.budgetTokens", [...numbers, 1.5, 15]],
  ["query", "0.return", ["lines"]],
  ["query", "0.agent", [7]],
  ["query", "0.kinds", [...lists, [], "fact", ["facts"]]],
  ["query", "0.categories", [...lists, [], "pets"]],
  [
    "query",
    "0.filters",
    ["pinned", ["pinned"], { constructor: "x" }, JSON.parse('{"__proto__":"x"}')],
  ],
  ["query", "0.filters.pinned", ["yes"]],
  ["query", "0.filters.category", ["pets"]],
  ["query", "0.filters.agent_id", texts],
  ["query", "0.filters.updated_after", [...dates, "0000-01-01", "0000-01-01T00:00:00Z"]],
  ["query", "0.filters.importance_min", [...numbers, 0]],
  ["query", "0.filters.importance_max", [6]],
  ["transcript.search", "0.query", [tooLong, 7, null]],
  ["transcript.search", "0.topK", topKs],
  ["transcript.search", "0.threshold", [Number.NaN]],
  ["recall", "0.query", [7, ["boat"]]],
  ["recall", "0.mode", ["quiet"]],
  ["promptFor", "0.query", [7, " \n", undefined]],
  ["recall", "0.messageIds", [[7], 7, {}]],
  ["record", "0.saidAt", dates],
  ["record", "0.timeZone", [...texts, "", "Asia/Atlantis", "+99:00"]],
  ["record", "0.shown.revision", integers],
  ["record", "0.shown.memoryIds", ["active", [7], [["active"]], {}]],
  ["import", "0.lines", [undefined, 7, null]],
  ["procedures.write", "0.fromSeq", [...integers, 2 ** 31]],
  ["procedures.write", "0.agentId", texts],
  ["procedures.write", "0.actor", texts],
];

const answered: Placed[] = [
  ["memories.get", "0.id", ["a\u0000b", "\uD800", "b\uDC00"]],
  ["memories.add", "0.memories.text", ["a\u0000b"]],
  ["memories.update", "0.text", ["c\u0000d"]],
  ["query", "0.query", ["a\u0000b", "\uD800"]],
  ["recall", "0.query", ["a\u0000b", "\uD800"]],
  ["recall", "0.messageIds", [["a\u0000b"], ["\uD800"]]],
  ["record", "0.shown.memoryIds", [["constructor"], ["__proto__"], ["no uuid"], ["a\u0000"]]],
];

/** A listing of quarantined memories of all scopes. */
function ofEverybody(listing: object) {
  return { states: ["quarantined"], ...listing };
}

/** `args` with `value` at a place, which may be missing in it. */
function placed(args: unknown, [key = "", ...rest]: readonly string[], value: unknown): unknown {
  const inner = (args as Record<string, unknown> | undefined)?.[key];
  const changed = rest.length === 0 ? value : placed(inner, rest, value);
  return Array.isArray(args)
    ? args.with(Number(key), changed)
    : { ...(args as object), [key]: changed };
}

describe("arguments of the public API", () => {
  let memory: Memory;
  let id: string;
  beforeAll(async () => {
    memory = db.memory({ model: new OfflineChatModel() });
    const [added] = await memory.memories.add({
      scope: sampleScope,
      memories: { text: "Likes tea." },
    });
    id = added!.id!;
    await memory.record({
      scope: sampleScope,
      threadId: "t",
      messages: [new HumanMessage("hi"), new AIMessage("ho")],
    });
  });

  /** The error of the call with the value in that place. */
  const errorWith = (path: string, place: string, value: unknown) => {
    const args = sampleCalls[path]!.map((arg) =>
      (arg as { id?: unknown }).id === sampleId ? { ...(arg as object), id } : arg,
    );
    return errorOf(() =>
      callOf(memory, path)(...(placed(args, place.split("."), value) as Arguments)),
    );
  };

  it.each(refused)(
    "%s refuses an invalid %s with its name before the database does",
    async (path, place, values) => {
      // Of categories, the unknown one is named.
      const name = /([a-z_]+?)(?:ies)?[.\d]*$/i.exec(place)?.[1] ?? "";
      for (const value of values) {
        const error = await errorWith(path, place, value);
        expect(error, `${path} ${place} ${JSON.stringify(value)}`).toMatchObject({
          code: "INVALID_INPUT",
          message: expect.stringContaining(name),
        });
      }
    },
  );

  it.each(answered)("%s accepts an odd %s without an error", async (path, place, values) => {
    for (const value of values) expect(await errorWith(path, place, value)).toBeNull();
  });

  it("A date may be at either end of the calendar", async () => {
    for (const day of ["0001-01-02T00:00:00Z", "9999-12-30T23:59:59.999Z"]) {
      const own = user();
      const validFrom = new Date(day);
      const [added] = await memory.memories.add({
        ...own,
        memories: { text: "Likes tea.", validFrom },
      });
      expect((await memory.memories.get({ ...own, id: added!.id! }))?.validFrom).toEqual(validFrom);
      await memory.record({
        ...own,
        threadId: day,
        messages: [new HumanMessage("hi")],
        saidAt: validFrom,
      });
      await memory.events.list({ ...own, since: validFrom, until: validFrom });
    }
  });
});

describe("names of properties of every object", () => {
  const words = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "prototype"];

  it.each(words)("The name of a property of every object is plain text: %s", async (word) => {
    const memory = db.memory();
    const of = user();
    const draft = { text: `${word} is set to 1.`, category: "profile", key: word, value: "1" };
    const named = { actorId: word, agentId: word, runId: word, role: word, tags: [word] };
    await memory.memories.add({ ...of, memories: { ...draft, value: "2" } });
    const [added] = await memory.memories.add({ ...of, memories: { ...draft, ...named } });
    expect(added).toMatchObject({ outcome: "replaced" });
    expect(await memory.memories.get({ ...of, id: added!.id! })).toMatchObject({
      value: "1",
      ...named,
    });
    const invalid = { code: "INVALID_INPUT" };
    await expect(
      memory.memories.add({ ...of, memories: { ...draft, category: word } }),
    ).rejects.toMatchObject(invalid);
    expect(
      await memory.query({ ...of, query: word, filters: { role: word, actor_id: word } }),
    ).toHaveLength(1);
    await expect(memory.query({ ...of, query: word, categories: [word] })).rejects.toMatchObject(
      invalid,
    );
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
});

describe("shown memories", () => {
  const usedBy = async (id: string) => {
    const { rows } = await db.pool.query(
      `select access_count from "${db.schema}".memory where id = $1`,
      [id],
    );
    return rows[0].access_count as number;
  };

  it("Memories shown to a turn or a tool count as used, except those of other scopes", async () => {
    const memory = db.memory();
    const tenantId = randomUUID();
    const local = db.memory({
      config: { categories: { custom: [{ name: "local", level: "app" as const }] } },
    });
    const ana = { tenantId, userId: "ana", appId: "notes" };
    const add = async (scope: object, draft: object = {}) => {
      const [added] = await local.memories.add({
        scope,
        memories: { text: `of ${JSON.stringify(scope)}`, ...draft },
      });
      return added!.id!;
    };
    const user = { tenantId, userId: "ana" };
    const own = [
      await add(user),
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
    const emit = (scope: Scope) =>
      internalApi(memory).emit({ scope, step: "tool", op: "search", status: "ok", shownIds });
    await emit(ana);
    const shown = { revision: 0, memoryIds: shownIds };
    await memory.record({ scope: ana, threadId: "t", messages: [new HumanMessage("hi")], shown });
    expect(await Promise.all(own.map(usedBy))).toEqual([2, 2, 2]);
    expect(await Promise.all(foreign.map(usedBy))).toEqual([0, 0, 0, 0]);
    await emit(user);
    expect(await Promise.all(own.map(usedBy))).toEqual([3, 3, 2]);
    expect(await usedBy(foreign[3]!)).toBe(1);
  });
});

describe("waits beyond the range of timers", () => {
  afterEach(() => vi.useRealTimers());

  it("Waits beyond the range of timers are refused as settings, and capped where a timer is set", async () => {
    for (const config of [
      { upkeep: { timeoutMs: 2 ** 31 } },
      { lifecycle: { purgeAfterMs: Number.MAX_SAFE_INTEGER } },
      { lifecycle: { unusedAfterMs: Number.MAX_SAFE_INTEGER } },
    ]) {
      expect(() => resolveConfig(config)).toThrow(
        expect.objectContaining({ code: "INVALID_INPUT" }),
      );
    }
    vi.useFakeTimers();
    let sweeps = 0;
    const due = async () => {
      sweeps++;
      return [];
    };
    const works = [{ kind: "lifecycle" as const, due, run: async () => false }];
    const options = { db: db.database, concurrency: 1, logger: silentLogger, works };
    const within: Within = (_, piece) => piece();
    const work = createRunner({ ...options, within, sweepIntervalMs: 2 ** 40 }, "background");
    work.wakeIn(2 ** 40);
    work.startSweeping();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sweeps).toBe(1);
    await work.stop();
    const never = withDeadline(
      2 ** 40,
      () => new Promise((resolve) => setTimeout(resolve, 50, "answer")),
    );
    await vi.advanceTimersByTimeAsync(50);
    expect(await never).toBe("answer");
  });
});

it("A server without free connections counts as unavailable, and is retried", () => {
  const full = Object.assign(new Error("sorry, too many clients already"), { code: "53300" });
  expect(isConnectionError(full)).toBe(true);
  const message = expect.stringContaining("no more connections");
  expect(toMemoryError(full, "mnemograph")).toMatchObject({
    code: "DATABASE_UNAVAILABLE",
    message,
  });
  expect(isConnectionError(Object.assign(new Error("temp_file_limit"), { code: "53400" }))).toBe(
    false,
  );
});
