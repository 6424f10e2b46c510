import pg from "pg";
import { HashingEmbeddings } from "../src/testing/index.js";
import type { BenchDatabase } from "./bench-database.js";
import { openBenchMemory } from "./bench-memory.js";
import { options } from "./options.js";
import { printTable } from "./report.js";
import { runBench } from "./run-bench.js";
import type { Slices } from "./slices.js";
import { type Timed, timing } from "./timing.js";
import { graphsOf } from "./turn/graphs.js";
import { loadVariant, slicesOf, type Variant } from "./turn/variant.js";

// What a whole turn costs: statements, time and processor time of graphs with and without memory,
// in one run.
//   npm run bench:turn [-- --small] [--against REF [--json]]
// --small only shows that it works; --against compares the working tree with a commit.

const rounds = options.small ? 3 : 40;
const roundsOfFifty = options.small ? 1 : 4;
const users = options.small ? 5 : 50;
const latencyMs = 100;

await runBench("bench:turn", {
  report: (database) =>
    withVariants(database, async (names, load) => {
      const results: Record<string, Record<string, number>> = {};
      for (const name of shuffled(names)) results[name] = await measure(await load(name));
      const ordered = Object.fromEntries(names.map((name) => [name, results[name] ?? {}]));
      const rows = Object.entries(ordered).map(([variant, of]) => ({ variant, ...of }));
      printTable("A turn", rows);
      return ordered;
    }),
  withSlices: (database, work) =>
    withVariants(database, async (names, load) => {
      const slices: Slices[] = [];
      for (const name of names) slices.push(slicesOf(name, await load(name)));
      await work(Object.assign({}, ...slices));
    }),
});

async function withVariants<Result>(
  { server, schema }: BenchDatabase,
  work: (names: string[], load: (name: string) => Promise<Variant>) => Promise<Result>,
): Promise<Result> {
  if (server === null) throw new Error("Set DATABASE_URL: this is measured on a server.");
  // Connections stay: the processor time of their processes is read.
  const pool = new pg.Pool({ connectionString: server, max: 10, idleTimeoutMillis: 0 });
  try {
    const embeddings = new HashingEmbeddings({ dimensions: 384 });
    const memory = await openBenchMemory({ database: pool, schema, embeddings });
    const graphs = graphsOf(memory, { pool, schema }, 0);
    const slow = graphsOf(memory, { pool, schema }, latencyMs);
    const bench = { memory, pool, server, schema, users };
    const result = await work(Object.keys(graphs), (name) =>
      loadVariant(bench, name, {
        graph: graphs[name as keyof typeof graphs],
        slow: slow[name as keyof typeof graphs],
      }),
    );
    await memory.close();
    return result;
  } finally {
    await pool.end();
  }
}

async function measure(variant: Variant): Promise<Record<string, number>> {
  const p50 = async (of: Timed) => {
    const ms: number[] = [];
    // The turns of one user.
    for (let round = 0; round < rounds; round++) ms.push(await of(0));
    return timing(ms).p50;
  };
  const statements = await variant.statements();
  const times = { p50: await p50(variant.turn), firstTokenMs: await p50(variant.firstToken) };
  const all = await variant.all(roundsOfFifty);
  return { statements, ...times, ...all, p50of100ms: await p50(variant.slowTurn) };
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
