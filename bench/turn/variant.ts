import { HumanMessage } from "@langchain/core/messages";
import type pg from "pg";
import type { Memory } from "../../src/index.js";
import { countStatements } from "../bench-database.js";
import { addMemories } from "../bench-memory.js";
import { sentences } from "../data/corpus.js";
import { question, seeded } from "../data/sentences.js";
import { startCpu } from "../server-cpu.js";
import { type Figures, fewPairs, manyPairs, type Slices, timedSlices } from "../slices.js";
import { timing } from "../timing.js";
import { answer, type Runnable } from "./graphs.js";

const memories = 80;
const earlierTurns = 20;

/** Where the turns of all variants go. */
export interface TurnBench {
  readonly memory: Memory;
  readonly pool: pg.Pool;
  readonly server: string;
  readonly schema: string;
  readonly users: number;
}

/** One way to have memory, or none: the same graph with an instant model and with a slow one. */
export interface Graphs {
  readonly graph: Runnable;
  readonly slow: Runnable;
}

/** What is measured of a variant; turns are of one user after the other unless it says otherwise. */
export type Variant = Awaited<ReturnType<typeof loadVariant>>;

/** Users with memories and earlier turns, and what is measured of their next ones. */
export async function loadVariant(bench: TurnBench, name: string, { graph, slow }: Graphs) {
  const { memory, pool, server, schema, users } = bench;
  const random = seeded(7);
  const facts = sentences(memories, 3);
  const ask = () => ({
    messages: [new HumanMessage(question(random, facts[Math.floor(random() * memories)] ?? ""))],
  });
  const runs = Array.from({ length: users }, (_, user) => ({
    configurable: { thread_id: `${name} ${user}`, user_id: `${name} ${user}` },
  }));
  const turn = async (of: Runnable, run: object) => {
    const startedAt = performance.now();
    const { messages } = await of.invoke(ask(), run);
    const ms = performance.now() - startedAt;
    if (messages.at(-1)?.text !== answer) throw new Error(`${name} gave no answer.`);
    return ms;
  };
  for (const { configurable } of runs) {
    await addMemories(
      memory,
      { userId: configurable.user_id },
      facts.map((text) => ({ text })),
    );
  }
  const everybody = () => Promise.all(runs.map((run) => turn(graph, run)));
  for (let earlier = 0; earlier < earlierTurns; earlier++) await everybody();
  const runOf = (user: number) => runs[user % users] as object;
  return {
    turn: (user: number) => turn(graph, runOf(user)),
    slowTurn: (user: number) => turn(slow, runOf(user)),
    firstToken: (user: number) => firstTokenOf(graph, ask(), runOf(user)),
    async statements() {
      const counted = countStatements(pool);
      await turn(graph, runOf(0));
      return counted.stop();
    },
    /** Turns of all users at once. */
    async all(rounds: number) {
      const stop = await startCpu(server, schema);
      const counted = countStatements(pool);
      const ms: number[] = [];
      for (let round = 0; round < rounds; round++) ms.push(...(await everybody()));
      const { clientMs, serverMs } = stop();
      const statements = counted.stop();
      if (!serverMs)
        throw new Error("This is measured on the server's machine, whose processor time it reads.");
      return {
        statementsOf50: statements / ms.length,
        p50of50: timing(ms).p50,
        clientCpuMs: clientMs / ms.length,
        serverCpuMs: serverMs / ms.length,
      };
    },
  };
}

/**
 * What two commits are compared by. A thread grows with each turn, so that each turn of a slice is
 * another user's.
 */
export function slicesOf(name: string, variant: Variant): Slices {
  const named = (figures: Figures): Figures =>
    Object.fromEntries(Object.entries(figures).map(([what, value]) => [`${name} ${what}`, value]));
  return {
    [`${name} statements`]: {
      pairs: 5,
      measure: async () => named({ statements: await variant.statements() }),
    },
    ...timedSlices(
      { [`${name} p50`]: variant.turn, [`${name} firstTokenMs`]: variant.firstToken },
      manyPairs,
    ),
    ...timedSlices({ [`${name} p50of100ms`]: variant.slowTurn }, fewPairs),
    [`${name} of 50`]: { pairs: fewPairs, measure: async () => named(await variant.all(1)) },
  };
}

async function firstTokenOf(
  graph: Runnable,
  input: { messages: HumanMessage[] },
  run: object,
): Promise<number> {
  const startedAt = performance.now();
  let first: number | undefined;
  for await (const _ of await graph.stream(input, { ...run, streamMode: "messages" })) {
    first ??= performance.now() - startedAt;
  }
  if (first === undefined) throw new Error("No token came.");
  return first;
}
