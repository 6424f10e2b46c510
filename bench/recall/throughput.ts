import { readFileSync } from "node:fs";
import type pg from "pg";
import type { Memory, Recalled } from "../../src/index.js";
import { type BenchDatabase, openPool, poolSize } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import type { Owner } from "../data/corpus.js";
import { printTable } from "../report.js";
import { questionsAbout } from "./compare-recalls.js";
import { checkCold, checkHeld, compareAnswers, countServed, openHolding, takeIn } from "./held.js";
import { type LoadedBench, messagesOfTalk, threadOf } from "./load-bench.js";
import type { Sizes } from "./sizes.js";

/** Recalls at once, of one user, on a pool of ten connections. */
const atOnce = 50;

/** Memories of the largest user who is asked for so: cold, one with more keeps every core busy for minutes. */
const largest = 5_000;

type BySize<Value> = Record<string, Value>;

/** What a server and a process get done, by number of memories. */
export interface Throughput {
  /** Recalls a second. */
  readonly cold: BySize<number>;
  readonly held: BySize<number>;
  /** Processor time of the server's backends a recall; null where they are not on this machine. */
  readonly serverCpuMs: { readonly cold: BySize<number | null>; readonly held: BySize<number | null> };
}

/** Fifty recalls at once, cold and held, in turns; null without a server. */
export async function compareThroughput(
  database: BenchDatabase,
  bench: LoadedBench,
  { throughput: recalls }: Sizes,
): Promise<Throughput | null> {
  if (database.server === null) return null;
  const runners: Runners = {
    cold: await openRunner(database, bench, openBenchMemory),
    held: await openRunner(database, bench, openHolding),
  };
  const result = { cold: {}, held: {}, serverCpuMs: { cold: {}, held: {} } } as Throughput;
  for (const reader of bench.readers.filter(({ texts }) => texts.length <= largest)) {
    const measured = await runInTurns(runners, reader, recalls);
    const size = reader.texts.length;
    printTable(
      `${atOnce} recalls at once of one user's ${size.toLocaleString("en")} memories`,
      measured.map(([recall, { ms, serverMs, clientMs }, n]) => ({
        ...{ recall, n, "a second": 1_000 / ms },
        "server's CPU ms each": Number.isNaN(serverMs) ? "not here" : serverMs,
        "client's CPU ms each": clientMs,
      })),
    );
    for (const [path, { ms, serverMs }] of measured) {
      result[path][size] = 1_000 / ms;
      result.serverCpuMs[path][size] = Number.isNaN(serverMs) ? null : serverMs;
    }
  }
  for (const { close } of Object.values(runners)) await close();
  return result;
}

interface Runners {
  readonly cold: Runner;
  readonly held: Runner;
}

/** A memory on a pool of its own, whose backends are known. */
interface Runner {
  readonly memory: Memory;
  readonly pids: readonly number[];
  close(): Promise<void>;
}

async function openRunner(
  database: BenchDatabase,
  { embeddings }: LoadedBench,
  open: typeof openHolding,
): Promise<Runner> {
  const { pool, close } = openPool(database);
  const memory = await open({ database: pool, schema: database.schema, embeddings });
  return {
    ...{ memory, pids: await connectAll(pool) },
    async close() {
      await memory.close();
      await close();
    },
  };
}

/** Opens every connection of `pool`; they stay. Returns the process ids of their backends. */
async function connectAll(pool: pg.Pool): Promise<number[]> {
  const clients = await Promise.all(Array.from({ length: poolSize }, () => pool.connect()));
  for (const client of clients) client.release();
  return clients.map((client) => (client as pg.PoolClient & { readonly processID: number }).processID);
}

/** What recalls took together. */
interface Taken {
  readonly ms: number;
  /** Processor time of the backends; not a number where they are not on this machine. */
  readonly serverMs: number;
  readonly clientMs: number;
}

const turns = 5;

/** `recalls` by each runner, a fifth of them in each turn, the same questions. */
async function runInTurns(
  { cold, held }: Runners,
  reader: Owner,
  recalls: number,
): Promise<(readonly [path: "cold" | "held", each: Taken, count: number])[]> {
  await takeIn(held.memory, reader, messagesOfTalk);
  const served = countServed(held.memory);
  const contestants = [
    { path: "cold" as const, runner: cold, check: () => checkCold(cold.memory), took: [] as Taken[] },
    { path: "held" as const, runner: held, check: served, took: [] as Taken[] },
  ];
  const answered = compareAnswers();
  const perTurn = Math.ceil(recalls / turns);
  const questions = questionsAbout(reader.texts, { rounds: perTurn * turns, warmUps: 0 });
  // The first turn is taken twice: at first it warms connections and plans.
  for (const turn of [null, ...Array(turns).keys()]) {
    const start = (turn ?? 0) * perTurn;
    const asked = questions.slice(start, start + perTurn);
    for (const { runner, check, took } of contestants) {
      const { found, ...taken } = await recallAtOnce(runner, reader, asked);
      check(asked.length);
      requireFound(found, asked);
      if (turn === null) continue;
      for (const [index, { memories }] of found.entries()) answered(memories, start + index);
      took.push(taken);
    }
  }
  checkHeld(held.memory, reader, messagesOfTalk);
  const count = perTurn * turns;
  return contestants.map(({ path, took }) => {
    const each = (of: keyof Taken) => took.reduce((sum, taken) => sum + taken[of], 0) / count;
    return [path, { ms: each("ms"), serverMs: each("serverMs"), clientMs: each("clientMs") }, count];
  });
}

async function recallAtOnce(
  { memory, pids }: Runner,
  reader: Owner,
  questions: readonly string[],
): Promise<Taken & { readonly found: readonly Recalled[] }> {
  const found: Recalled[] = [];
  const place = { scope: { userId: reader.userId }, threadId: threadOf(reader) };
  let next = 0;
  const recallNext = async () => {
    for (let at = next++; at < questions.length; at = next++)
      found[at] = await memory.recall({ ...place, query: questions[at] as string });
  };
  const [serverBefore, clientBefore, startedAt] = [backendsMs(pids), process.cpuUsage(), performance.now()];
  await Promise.all(Array.from({ length: atOnce }, recallNext));
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(clientBefore);
  return { found, ms, serverMs: backendsMs(pids) - serverBefore, clientMs: (user + system) / 1_000 };
}

function requireFound(found: readonly Recalled[], asked: readonly string[]): void {
  for (const [index, { memories }] of found.entries()) {
    if (!memories.timedOut && memories.relevant.length > 0) continue;
    throw new Error(`"${asked[index]}" found nothing${memories.timedOut ? ", and took too long" : ""}.`);
  }
}

/** Linux counts a process's time in hundredths of a second, whatever the machine. */
const msPerTick = 10;

/** Processor time that the server's processes `pids` took so far; not a number where they are not on this machine. */
function backendsMs(pids: readonly number[]): number {
  try {
    return pids.reduce((sum, pid) => {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, name, rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
      // Another machine's ids are other processes here.
      if (name !== "postgres") return Number.NaN;
      const fields = rest.split(" ");
      return sum + (Number(fields[11]) + Number(fields[12])) * msPerTick;
    }, 0);
  } catch {
    return Number.NaN;
  }
}
