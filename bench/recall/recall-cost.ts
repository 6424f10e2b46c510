import type { BenchDatabase } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import { printTable } from "../report.js";
import { startCpu } from "../server-cpu.js";
import { type Timed, timing } from "../timing.js";
import { readerRecall } from "./compare-recalls.js";
import { type LoadedBench, readerOf } from "./load-bench.js";
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

/**
 * Recalls one after the other on one connection, then first recalls on connections of their own.
 */
export async function measureCost(
  { server, schema }: BenchDatabase,
  bench: LoadedBench,
  { recalls }: Sizes,
): Promise<RecallCost | null> {
  if (server === null) return null;
  const reader = readerOf(bench);
  const memory = await openBenchMemory({ database: server, schema, embeddings: bench.embeddings });
  const recall = readerRecall(memory, reader, recalls);
  for (let round = 0; round < recalls.warmUps; round++) await recall(round);
  const stopCpu = await startCpu(server, schema);
  for (let round = 0; round < recalls.rounds; round++) await recall(recalls.warmUps + round);
  const { clientMs, serverMs } = stopCpu();
  await memory.close();

  const firsts: number[] = [];
  const first = firstRecall(server, schema, bench);
  for (let call = 0; call < firstCalls; call++) firsts.push(await first(call));
  const cost = {
    serverCpuMs: serverMs === null ? null : serverMs / recalls.rounds,
    clientCpuMs: clientMs / recalls.rounds,
    firstCallMs: timing(firsts).p50,
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

/** A recall on a new connection. */
export function firstRecall(server: string, schema: string, bench: LoadedBench): Timed {
  const { embeddings } = bench;
  return async (round) => {
    const fresh = await openBenchMemory({ database: server, schema, embeddings });
    const ms = await readerRecall(fresh, readerOf(bench), { rounds: 1, warmUps: 0 })(round);
    await fresh.close();
    return ms;
  };
}
