import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { shownBy } from "../../src/index.js";
import type { BenchDatabase } from "../bench-database.js";
import { openBenchMemory } from "../bench-memory.js";
import { printTimings, timed, timeInTurns } from "../timing.js";
import { questionsAbout } from "./compare-recalls.js";
import { type LoadedBench, readerOf } from "./load-bench.js";
import type { Sizes } from "./sizes.js";

/** What keeping memory blocks costs. */
export interface TracesCost {
  /** p50 with blocks kept ÷ without: of a recall, and of a turn, which is a recall and what is remembered of it. */
  readonly recall: number;
  readonly turn: number;
}

/** Turns of the user with 1,000 memories, with and without `retrieval.traces`, each in a thread of its own. */
export async function compareTraces(
  { source, schema }: BenchDatabase,
  bench: LoadedBench,
  { recalls }: Sizes,
): Promise<TracesCost> {
  const { userId, texts } = readerOf(bench);
  const questions = questionsAbout(texts, recalls);
  const open = async (traces: boolean) => {
    const options = { database: source, schema, embeddings: bench.embeddings };
    const memory = await openBenchMemory(options, { retrieval: { traces } });
    const thread = { scope: { userId }, threadId: `traced ${traces}` };
    const ask = (round: number) => memory.recall({ ...thread, query: questions[round] as string });
    const turn = async (round: number) => {
      const shown = shownBy(await ask(round));
      const messages = [new HumanMessage(questions[round] as string), new AIMessage("I see.")];
      await memory.remember({ ...thread, shown, messages });
    };
    const check = async (_: unknown, round: number) => {
      const [last] = await memory.threads.shown({ ...thread, limit: 1 });
      if (last?.turn === undefined || last.memories.length === 0 || (last.block !== null) !== traces)
        throw new Error(`Round ${round} of ${thread.threadId} is not kept as it should be.`);
    };
    return { recall: timed(ask), turn: timed(turn, check), close: () => memory.close() };
  };
  const [kept, plain] = [await open(true), await open(false)];
  const timings = await timeInTurns(
    { keptTurn: kept.turn, plainTurn: plain.turn, keptRecall: kept.recall, plainRecall: plain.recall },
    recalls,
  );
  await kept.close();
  await plain.close();
  printTimings("What keeping memory blocks costs", {
    "a recall, blocks kept": timings.keptRecall,
    "a recall": timings.plainRecall,
    "a turn, blocks kept": timings.keptTurn,
    "a turn": timings.plainTurn,
  });
  return {
    recall: timings.keptRecall.p50 / timings.plainRecall.p50,
    turn: timings.keptTurn.p50 / timings.plainTurn.p50,
  };
}
