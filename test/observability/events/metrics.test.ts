import { readFileSync } from "node:fs";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import pg from "pg";
import ts from "typescript";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Memory } from "../../../src/memory.js";
import { type Role, useIsolatedDatabase } from "../../support/isolated-database.js";
import { candidate, facts, taskModel } from "../../support/task-model.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";
import { newAddress } from "../../support/thread-facts.js";
import { limitsMs } from "../../support/timing.js";
import { watchedPool } from "../../support/watched-pool.js";

const db = useTestDatabase();
const opened: Memory[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((memory) => memory.close()));
  metrics.disable();
});
const open = (...[options]: Parameters<typeof db.memory>) => {
  const memory = db.memory(options);
  opened.push(memory);
  return memory;
};

interface Point {
  readonly attributes: object;
  readonly value: unknown;
}

/**
 * Registers a meter provider; its result collects, and returns the points of each metric of ours by
 * its name.
 */
function watch() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 31 - 1 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const collect = async () => {
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    return resourceMetrics.scopeMetrics.flatMap(({ scope, metrics: found }) =>
      scope.name === "mnemograph" ? found : [],
    );
  };
  const read = async () =>
    Object.fromEntries(
      (await collect()).map(({ descriptor, dataPoints }) => [
        descriptor.name,
        dataPoints as readonly Point[],
      ]),
    );
  return { collect, read };
}

const failing = "The provider quotes: zanzibar";
const config = {
  memories: { extract: true, episodes: false },
  summaries: { afterSeq: 1 },
  upkeep: { maxAttempts: 1 },
} as const;

async function aConversation(memory: Memory) {
  const thread = newAddress();
  const messages = [new HumanMessage("I keep bees."), new AIMessage("How many?")];
  await memory.remember({ ...thread, messages });
  await memory.idle();
  await memory.recall({ ...thread, query: "What do I keep?" });
  return thread;
}

const model = () =>
  taskModel({
    fact_extraction: () => facts(candidate("The user keeps bees.", "I keep bees")),
    conversation_summary: () => new Error(failing),
  });

describe("metrics", () => {
  it("Metrics have recalls, failures by code, tokens and waiting work, without ids or words", async () => {
    const { read } = watch();
    const memory = open({
      model: model(),
      config: { ...config, energy: { capacityUnits: 1_000 } },
    });
    const begunMs = performance.now();
    const thread = await aConversation(memory);
    await memory.recall({ scope: {} as never, threadId: thread.threadId }).catch(() => {});
    await memory.query({ ...thread, query: "bees", categories: ["none such"] }).catch(() => {});
    await db.pool.query(
      `update "${db.schema}".work set retry_at = now() - interval '90 seconds', lease_until = null where kind = 'facts'`,
    );
    await db.pool.query(
      `insert into "${db.schema}".work (kind, thread_ref, done_until, error, given_up_at)
       select 'facts', id, 0, 'no answer', now() from "${db.schema}".thread where thread_id = $1`,
      [thread.threadId],
    );
    const found = await read();
    const namespace = { "db.namespace": db.schema };
    // Gauges also show memories that other tests left open.
    const isOwn = ({ attributes }: Point) =>
      (attributes as typeof namespace)["db.namespace"] === db.schema;
    const count = (name: string) =>
      found[name]
        ?.filter(isOwn)
        .map(({ attributes, value }) => [attributes, (value as { count?: number }).count ?? value]);
    // Refused calls are neither fast recalls nor failures.
    expect(count("mnemograph.recall.duration")).toEqual([[namespace, 1]]);
    const failed = { "error.type": "MODEL_FAILED", "mnemograph.operation": "summaries" };
    expect(count("mnemograph.failures")).toEqual([[{ ...namespace, ...failed }, 1]]);
    const refused = (code: string, operation: string) => {
      return [{ ...namespace, "error.type": code, "mnemograph.operation": operation }, 1];
    };
    expect(count("mnemograph.refusals")).toEqual([
      refused("SCOPE_REQUIRED", "recall"),
      refused("INVALID_INPUT", "query"),
    ]);
    const tokens = {
      ...namespace,
      "gen_ai.operation.name": "chat",
      "mnemograph.work": "facts",
    };
    expect(count("gen_ai.client.token.usage")).toEqual(
      ["input", "output"].map((type) => [{ ...tokens, "gen_ai.token.type": type }, 1]),
    );
    expect(count("mnemograph.work.due")).toEqual([[namespace, 1]]);
    expect(count("mnemograph.work.oldest_age")).toEqual([[namespace, expect.any(Number)]]);
    const oldestAge = Number(count("mnemograph.work.oldest_age")?.[0]?.[1]);
    expect(oldestAge).toBeGreaterThanOrEqual(90);
    expect(oldestAge).toBeLessThan((90_000 + limitsMs.test) / 1_000);
    expect(count("mnemograph.work.stuck")).toEqual([[namespace, 0]]);
    expect(count("mnemograph.work.given_up")).toEqual([[namespace, 1]]);
    expect(count("mnemograph.database.paused")).toEqual([[namespace, 0]]);
    const { energy, ...work } = await memory.stats();
    expect(count("mnemograph.energy.level")).toEqual([
      [namespace, expect.closeTo(energy.level / 100, 6)],
    ]);
    expect(energy.level).toBeLessThan(100);
    expect(work).toMatchObject({ backlog: 1, stuck: 0, givenUp: 1 });
    const seconds = found["mnemograph.recall.duration"]?.[0]?.value as { sum: number };
    expect(seconds.sum).toBeGreaterThan(0.0005);
    expect(seconds.sum * 1_000).toBeLessThan(performance.now() - begunMs);
    const written = JSON.stringify(found);
    for (const personal of [thread.threadId, thread.scope.userId, "bees", "zanzibar"])
      expect(written).not.toContain(personal);
  });

  it("Metrics query the database once per collection, and not at all without a provider or after close", async () => {
    const { pool, statements } = watchedPool(db.pool);
    const memory = open({ database: pool });
    await memory.recall(newAddress());
    expect(statements).toHaveLength(1);
    const { read } = watch();
    await memory.recall(newAddress());
    statements.length = 0;
    await read();
    await read();
    expect(statements).toHaveLength(2);
    await memory.close();
    await read();
    expect(statements).toHaveLength(2);
  });

  it("Metrics of a database that fails lack what it knows, and never fail the collection", async () => {
    const { read } = watch();
    const memory = open({ schema: "no_such_schema" });
    await memory.recall(newAddress()).catch(() => {});
    const found = await read();
    const attributes = { "db.namespace": "no_such_schema" };
    expect(found["mnemograph.database.paused"]).toContainEqual(
      expect.objectContaining({ attributes, value: 0 }),
    );
    expect(found["mnemograph.failures"]).toMatchObject([
      { attributes: { "error.type": "SETUP_REQUIRED" } },
    ]);
    expect(found["mnemograph.work.due"] ?? []).not.toContainEqual(
      expect.objectContaining({ attributes }),
    );
  });

  it("Metrics of a provider that fails are missing, and the turn goes on", async () => {
    metrics.setGlobalMeterProvider({ getMeter: () => ({}) } as never);
    expect(await open().recall({ ...newAddress(), query: "Hello" })).toMatchObject({ recent: [] });
  });
});

describe.skipIf(!onServer())("gauges with row-level security (server only)", () => {
  const isolated = useIsolatedDatabase(db);

  it("Gauges count the work of all tenants where the role owns the tables, and query nothing elsewhere", async () => {
    const { read } = watch();
    const asks = async (role: Role) => {
      const { pool, inTransactions } = watchedPool(
        new pg.Pool({ connectionString: isolated.connectionString(role) }),
      );
      const memory = isolated.memory({ role, database: pool });
      await memory.recall({ scope: { tenantId: "acme", userId: "ana" }, threadId: "t" });
      inTransactions.length = 0;
      await read();
      await memory.close();
      await pool.end();
      return inTransactions.filter(({ text }) => text.includes("given_up_at")).length;
    };
    expect([await asks("app"), await asks("owner")]).toEqual([0, 1]);
  });
});

it.skipIf(!onServer())(
  "A recall that goes on without hits counts as DATABASE_TIMEOUT (server only)",
  async () => {
    const { read } = watch();
    const memory = open({ config: { retrieval: { timeoutMs: 300 } } });
    const address = newAddress();
    await memory.memories.add({ ...address, memories: { text: "The user keeps bees." } });
    const holder = await db.pool.connect();
    await holder.query(`begin; lock table "${db.schema}".memory_term in access exclusive mode`);
    const { memories } = await memory
      .recall({ ...address, query: "bees" })
      .finally(() => holder.query("rollback"));
    holder.release();
    expect(memories.timedOut).toBe(true);
    const attributes = { "error.type": "DATABASE_TIMEOUT" };
    const found = await read();
    expect(found["mnemograph.recall.duration"]).toMatchObject([
      { attributes, value: { count: 1 } },
    ]);
    expect(found["mnemograph.failures"]).toMatchObject([{ attributes, value: 1 }]);
  },
);

describe("the dashboard and its page", () => {
  it("The program of docs/watching.md prints a recall in its first seconds", async () => {
    const page = readFileSync("docs/watching.md", "utf8");
    const [, program = ""] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
    const { outputText } = ts.transpileModule(program, {
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
    });
    const packages = new Map<string, unknown>([
      ["@opentelemetry/api", await import("@opentelemetry/api")],
      ["@opentelemetry/sdk-metrics", await import("@opentelemetry/sdk-metrics")],
    ]);
    const registered = vi.spyOn(metrics, "setGlobalMeterProvider");
    const printed = vi.spyOn(console, "dir").mockImplementation(() => {});
    new Function("require", "exports", outputText)((name: string) => packages.get(name), {});
    await open().recall({ ...newAddress(), query: "bees" });
    const names = () =>
      printed.mock.calls.map(([metric]) => Object(metric).descriptor?.name as unknown);
    await expect
      .poll(names, { timeout: 10_000, interval: 100 })
      .toContain("mnemograph.recall.duration");
    const [provider] = registered.mock.lastCall ?? [];
    await (provider as MeterProvider).shutdown();
    vi.restoreAllMocks();
  });

  it("The dashboard and docs/watching.md name each metric, and no other", async () => {
    const { collect } = watch();
    const memory = open({ model: model(), config });
    const thread = await aConversation(memory);
    await memory.query({ ...thread, query: "bees", categories: ["none such"] }).catch(() => {});
    const collected = await collect();
    const found = collected.map(({ descriptor }) => descriptor);
    expect(found).toHaveLength(10);
    for (const { descriptor, dataPoints } of collected)
      for (const { attributes } of dataPoints)
        expect(attributes, descriptor.name).toHaveProperty(["db.namespace"]);
    const units: Readonly<Record<string, string>> = { s: "_seconds", "1": "_ratio" };
    // As Prometheus writes names.
    const names = collected.map((metric) => {
      const { name, unit } = metric.descriptor;
      const suffix = "isMonotonic" in metric && metric.isMonotonic ? "_total" : (units[unit] ?? "");
      return `${name.replaceAll(".", "_")}${suffix}`;
    });
    const dashboard = readFileSync("docs/grafana-dashboard.json", "utf8");
    const queries = JSON.parse(dashboard).panels.flatMap(
      (panel: { targets?: { expr: string }[] }) => (panel.targets ?? []).map(({ expr }) => expr),
    );
    for (const query of queries as string[])
      expect(query.match(/\b(?:mnemograph|gen_ai)_\w+\{/g), query).toHaveLength(
        query.match(/db_namespace=~"\$schema"/g)?.length ?? 0,
      );
    const withoutLabels = queries.map((expr: string) =>
      expr.replaceAll(/\{[^}]*\}|\bby \([^)]*\)/g, ""),
    );
    const named = withoutLabels.flatMap(
      (expr: string) => expr.match(/\b(?:mnemograph|gen_ai)_\w+/g) ?? [],
    );
    const used = named.map((name: string) => name.replace(/_(bucket|sum|count)$/, ""));
    expect([...new Set(used)].toSorted()).toEqual(names.toSorted());
    const page = readFileSync("docs/watching.md", "utf8");
    const metricsOnPage = page.slice(0, page.indexOf("## Spans"));
    const onPage = [...metricsOnPage.matchAll(/`((?:mnemograph|gen_ai)\.[a-z_.]+)`/g)].map(
      ([, name = ""]) => name,
    );
    const attributes = ["mnemograph.operation", "mnemograph.work", "gen_ai.token.type"];
    expect(new Set(onPage)).toEqual(new Set([...found.map(({ name }) => name), ...attributes]));
  });
});
