import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { MemoryConfig } from "../../../src/config.js";
import type { Memory, Scope } from "../../../src/index.js";
import { recordExhausted } from "../../../src/observability/events/event-log.js";
import type { StatsOf } from "../../../src/observability/events/stats.js";
import { energyOptionsSchema } from "../../../src/observability/usage/energy-options.js";
import { createUsage } from "../../../src/observability/usage/usage.js";
import {
  chargeCall,
  spentToday,
  trimRecords,
} from "../../../src/observability/usage/usage-statements.js";
import { createDatabase } from "../../../src/postgres/database.js";
import { recordingLogger } from "../../support/recording-logger.js";
import { runLifecycle } from "../../support/run-lifecycle.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const startMs = Date.parse("2031-05-05T10:30:00Z");
const hourMs = 3_600_000;

const usedBy = async (memory: Memory, of: StatsOf<undefined>) =>
  (await memory.stats(of)).energy.kinds;

/** A tenant's memory and its usage, on one clock that is moved by hours. */
function metered(energy: MemoryConfig["energy"] = {}, tenantId: string = randomUUID()) {
  let nowMs = startMs;
  const clock = () => new Date(nowMs);
  const options = energyOptionsSchema.parse(energy);
  const database = createDatabase(db.pool, { schemaName: db.schema, clock }, async () => {});
  const logger = recordingLogger();
  const usage = createUsage({ db: database, options, logger, recordExhausted });
  const memory = db.memory({ clock, config: { energy } });
  const user = (userId = "ana"): Scope => ({ tenantId, userId });
  return {
    memory,
    usage,
    database,
    tenantId,
    user,
    lines: logger.lines,
    passed(hours: number) {
      nowMs = startMs + hours * hourMs;
    },
    now: clock,
    /** Makes the users known, so that usage is theirs. */
    async know(...scopes: Scope[]) {
      for (const scope of scopes)
        await memory.memories.add({ scope, memories: { text: `Likes ${randomUUID()}.` } });
    },
    charge: (
      units: number,
      kind: Parameters<typeof usage.charging>[0]["kind"] = "facts",
      scope = user(),
    ) => usage.charging({ scope, kind })({ inputTokens: units * 60, outputTokens: units * 40 }),
  };
}

describe("the energy of a tenant", () => {
  it("The energy of a tenant falls by the cost of calls and recovers after two hours", async () => {
    const { memory, tenantId, charge, passed } = metered({ capacityUnits: 1_000 });
    const level = () => memory.energy.level({ tenantId });
    expect(await level()).toEqual({ level: 100, units: 1_000, capacity: 1_000, low: false });
    await charge(700);
    expect(await level()).toEqual({ level: 30, units: 300, capacity: 1_000, low: false });
    passed(1);
    await charge(150);
    expect(await level()).toMatchObject({ level: 15, low: true });
    passed(1.5);
    await charge(500);
    expect(await level()).toEqual({ level: 0, units: -350, capacity: 1_000, low: true });
    passed(2);
    expect(await level()).toMatchObject({ units: 350, low: false });
    passed(3.5);
    expect(await level()).toMatchObject({ level: 100, units: 1_000 });
  });

  it("The energy of a tenant is separate for each tenant, and shared by scopes without one", async () => {
    const one = metered({ capacityUnits: 100 });
    const other = metered({ capacityUnits: 100 });
    await one.charge(90);
    expect(await other.memory.energy.level({ tenantId: other.tenantId })).toMatchObject({
      level: 100,
    });
    expect(await other.memory.energy.level({ tenantId: one.tenantId })).toMatchObject({
      level: 10,
    });
    const before = (await one.memory.energy.level()).units ?? 0;
    await one.charge(7, "facts", { userId: "bob" });
    expect((await one.memory.energy.level({})).units).toBe(before - 7);
  });

  it("Used-up energy is reported once, by an event and a log line, and again after it came back", async () => {
    const { memory, tenantId, charge, passed, lines } = metered({ capacityUnits: 40 });
    const told = async () =>
      (await memory.events.list({ step: "energy" })).filter(({ detail }) =>
        detail?.includes(tenantId),
      );
    await charge(39);
    expect([lines, await told()]).toEqual([[], []]);
    await Promise.all([95, 1, 1].map((units) => charge(units)));
    passed(1);
    await charge(5);
    expect(lines).toEqual([
      expect.stringMatching(`^warn: energy .*tenant ${tenantId}: \\d+ of 40 units spent`),
    ]);
    expect(await told()).toMatchObject([{ op: "exhaust", status: "skipped", scope: null }]);
    passed(4);
    await charge(5);
    await charge(40);
    expect([lines.length, (await told()).length]).toEqual([2, 2]);
  });

  it("The energy of a tenant is always full without a budget, and calls are still counted", async () => {
    const { memory, tenantId, charge, usage, user } = metered({ capacityUnits: null });
    await charge(1_000);
    expect(await memory.energy.level({ tenantId })).toEqual({
      level: 100,
      units: null,
      capacity: null,
      low: false,
    });
    expect(await usage.pausedUntil(user())).toBeNull();
    expect(await usedBy(memory, { tenantId })).toMatchObject([{ units: 1_000 }]);
  });
});

describe("a charge", () => {
  it("A charge that is sent again counts once", async () => {
    const { memory, database, tenantId, user } = metered({ capacityUnits: 1_000 });
    const call = {
      id: randomUUID(),
      scope: user(),
      kind: "notes",
      inputTokens: 900,
      outputTokens: 100,
    } as const;
    for (let time = 0; time < 3; time++) await chargeCall(database, call);
    expect(await memory.energy.level({ tenantId })).toMatchObject({ units: 990 });
    expect(await usedBy(memory, { tenantId })).toEqual([
      { kind: "notes", calls: 1, inputTokens: 900, outputTokens: 100, units: 10 },
    ]);
  });

  it("A charge after its user or thread was forgotten is anonymous", async () => {
    const { memory, tenantId, charge, know, user, usage } = metered();
    await know(user());
    const threadId = randomUUID();
    await memory.remember({ scope: user(), threadId, messages: [new HumanMessage("Hi")] });
    const inThread = () =>
      usage.charging({ scope: user(), threadId, kind: "facts" })({
        inputTokens: 100,
        outputTokens: 0,
      });
    const rows = async () =>
      (
        await db.pool.query(
          `select user_id, thread_id from "${db.schema}".usage where tenant_id = $1 order by user_id desc, thread_id`,
          [tenantId],
        )
      ).rows;
    await inThread();
    expect(await rows()).toEqual([{ user_id: "ana", thread_id: threadId }]);
    await memory.threads.delete({ scope: user(), threadId });
    expect(await rows()).toEqual([]);
    await inThread();
    expect(await rows()).toEqual([{ user_id: "ana", thread_id: null }]);
    await memory.forget({ scope: user() });
    expect(await rows()).toEqual([]);
    await inThread();
    await charge(1);
    expect(await rows()).toEqual([
      { user_id: "", thread_id: null },
      { user_id: "", thread_id: null },
    ]);
  });
});

describe("deferrable work", () => {
  it("Deferrable work waits while energy is low, until enough calls are two hours old", async () => {
    const { memory, tenantId, usage, user, charge, passed, now } = metered({
      capacityUnits: 1_000,
    });
    const waits = async () => {
      const until = await usage.pausedUntil(user());
      return until && (until.getTime() - now().getTime()) / hourMs;
    };
    expect(await waits()).toBeNull();
    await charge(799);
    expect(await waits()).toBeNull();
    passed(0.5);
    await charge(1);
    expect(await waits()).toBe(1.5);
    expect(await memory.energy.level({ tenantId })).toMatchObject({ level: 20, low: true });
    passed(2);
    expect(await waits()).toBeNull();
    await charge(799);
    expect(await waits()).toBe(0.5);
  });
});

describe("consumption", () => {
  const spent = async () => {
    const of = metered();
    const { charge, passed, tenantId, know, user } = of;
    const shop = { tenantId, appId: "shop" };
    const inShop = { ...user("bob"), appId: "shop" };
    await know(user(), user("bob"), shop);
    await charge(30, "facts");
    passed(1);
    await charge(5, "notes", shop);
    await charge(40, "summaries", inShop);
    passed(25);
    await charge(2, "summaries");
    return { ...of, shop, inShop };
  };

  it("Consumption is reported by kind for a scope, a tenant or all", async () => {
    const { memory, shop, inShop, tenantId, user } = await spent();
    const units = async (of: StatsOf<undefined>) =>
      (await usedBy(memory, of)).map((row) => [row.kind, row.units]);
    expect(await units({ tenantId })).toEqual([
      ["summaries", 42],
      ["facts", 30],
      ["notes", 5],
    ]);
    expect(await units({ scope: shop })).toEqual([
      ["summaries", 40],
      ["notes", 5],
    ]);
    expect(await units({ scope: user() })).toEqual([
      ["facts", 30],
      ["summaries", 2],
    ]);
    expect(await units({ scope: inShop })).toEqual([["summaries", 40]]);
    expect(await units({ scope: user("nobody") })).toEqual([]);
    expect((await usedBy(memory, {})).length).toBeGreaterThan(0);
    const { rows } = await memory.stats({ by: "day", days: 2, tenantId });
    expect(rows.map(({ energyUnits }) => energyUnits)).toEqual([75, 2]);
  });

  it("Consumption of today is counted for caps, by UTC", async () => {
    const { database, user, passed, shop, tenantId } = await spent();
    const today = async (scope: Scope, kind: "summaries" | "facts" = "summaries") =>
      (await spentToday(database, { scope, kind })).tokens;
    expect([await today(user()), await today(user("bob")), await today(shop)]).toEqual([200, 0, 0]);
    passed(13);
    expect([await today(user()), await today(user(), "facts"), await today(user("bob"))]).toEqual([
      200, 3_000, 4_000,
    ]);
    expect([await today(shop), await today({ tenantId })]).toEqual([4_000, 4_200]);
    expect(await today({ tenantId: "none" })).toBe(0);
  });

  it("Consumption is in the statistics of a scope", async () => {
    const { memory, user, passed } = await spent();
    passed(25);
    const { energy } = await memory.stats({ scope: user() });
    expect(energy).toMatchObject({ level: 99.998, unitsToday: 2, callsToday: 1 });
  });

  it("Consumption in this process is reported once", async () => {
    const { usage, charge, user, memory, tenantId } = metered();
    expect(usage.energyConsumedSinceLastPoll()).toBe(0);
    await charge(3);
    await charge(4, "notes", { tenantId: randomUUID(), appId: "shop" });
    expect([usage.energyConsumedSinceLastPoll(), usage.energyConsumedSinceLastPoll()]).toEqual([
      7, 0,
    ]);
    await charge(1);
    await usage.charging({ scope: user(), kind: "facts" })({ inputTokens: 7, outputTokens: 1 });
    expect(usage.energyConsumedSinceLastPoll()).toBe(1.08);
    expect(await usedBy(memory, { tenantId })).toMatchObject([{ kind: "facts", units: 4.08 }]);
  });
});

it("Usage and events are kept for ninety days, however many there are", async () => {
  const { memory, database, tenantId, charge, know, user, passed } = metered();
  await know(user());
  await charge(1);
  await db.pool.query(
    `insert into "${db.schema}".usage
       select gen_random_uuid(), tenant_id, user_id, app_id, thread_id, kind, input_tokens, output_tokens, units, created_at
       from "${db.schema}".usage cross join generate_series(1, 11000) where tenant_id = $1`,
    [tenantId],
  );
  passed(24 * 9);
  await charge(2);
  await know(user("ben"));
  const count = async (table: string) =>
    (await db.pool.query(`select from "${db.schema}".${table} and tenant_id = $1`, [tenantId]))
      .rowCount;
  const counts = async () => [
    await count("usage where true"),
    await count("event where op = 'create'"),
  ];
  passed(24 * 89.9);
  await runLifecycle(memory);
  expect(await counts()).toEqual([11_002, 2]);
  passed(24 * 90 + 1);
  await memory.upkeep();
  expect(await counts()).toEqual([1, 1]);
  passed(24 * 99.1);
  await trimRecords(database);
  expect(await counts()).toEqual([0, 0]);
});
