import type { BenchDatabase } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import { printTable } from "../report.js";
import { backendsOf, cpuMs } from "../server-cpu.js";
import { hasSummary, questionsAbout, recallOf } from "./compare-recalls.js";
import { type LoadedBench, readerOf, threadOf } from "./load-bench.js";
import { facts, type Sizes } from "./sizes.js";

/**
 * What a recall of the user with 1,000 memories takes, in milliseconds; each null without a server
 * on this machine.
 */
export interface RecallCost {
  /** Processor time of the server's process. */
  readonly serverCpuMs: number | null;
  /** Processor time of this process. */
  readonly clientCpuMs: number;
  /** Median of the first recall on a new connection. */
  readonly firstCallMs: number;
}

const firstCalls = 7;
const applicationName = "mnemograph_bench_cost";

/**
 * Recalls one after the other on one connection, then first recalls on connections of their own.
 */
export async function measureCost(
  { server, schema }: BenchDatabase,
  bench: LoadedBench,
  { recalls }: Sizes,
): Promise<RecallCost | null> {
  if (server === null) return null;
  const url = new URL(server);
  url.searchParams.set("application_name", applicationName);
  const reader = readerOf(bench);
  const questions = questionsAbout(reader.texts, recalls);
  const open = () => openBenchMemory({ database: url.href, schema, embeddings: bench.embeddings });
  const askedBy = (memory: LoadedBench["memory"]) =>
    recallOf(memory, reader, { questions, threadId: threadOf(reader), check: hasSummary });

  const memory = await open();
  const recall = askedBy(memory);
  for (let round = 0; round < recalls.warmUps; round++) await recall(round);
  const pids = await backendsOf(server, applicationName);
  const before = { server: cpuMs(pids), client: process.cpuUsage() };
  for (let round = 0; round < recalls.rounds; round++) await recall(recalls.warmUps + round);
  const client = process.cpuUsage(before.client);
  const serverMs = cpuMs(pids);
  await memory.close();

  const firsts: number[] = [];
  for (let call = 0; call < firstCalls; call++) {
    const fresh = await open();
    const startedAt = performance.now();
    await askedBy(fresh)(call);
    firsts.push(performance.now() - startedAt);
    await fresh.close();
  }
  const cost = {
    serverCpuMs:
      before.server === null || serverMs === null
        ? null
        : (serverMs - before.server) / recalls.rounds,
    clientCpuMs: (client.user + client.system) / 1_000 / recalls.rounds,
    firstCallMs: firsts.toSorted((a, b) => a - b)[Math.floor(firstCalls / 2)] as number,
  };
  printTable(`What a recall of ${facts.toLocaleString("en")} memories takes`, [
    {
      "server CPU ms": cost.serverCpuMs ?? "not on this machine",
      "client CPU ms": cost.clientCpuMs,
      "first call ms": cost.firstCallMs,
    },
  ]);
  return cost;
}
