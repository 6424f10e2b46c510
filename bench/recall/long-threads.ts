import type { Memory } from "../../src/index.js";
import { type BenchDatabase, vacuumSchema } from "../bench-database.js";
import { messagesOf, openBenchMemory, recordTurns, type ThreadPlace } from "../bench-memory.js";
import { checkMessages } from "../data/check-data.js";
import { fixedName, sentences } from "../data/corpus.js";
import { printTimings, type Rounds, type Timed, timed, timeInTurns } from "../timing.js";
import { questionsAbout } from "./compare-recalls.js";
import type { LoadedBench } from "./load-bench.js";
import type { Sizes } from "./sizes.js";

/** What the length of a thread costs where no model makes summaries. */
export interface ThreadCost {
  /** p50 in the longest thread ÷ p50 in one of 100 messages. */
  readonly longThread: { readonly recall: number; readonly remember: number };
  /** p50 of remember in the long thread ÷ in one of 100 messages. */
  readonly remember: number;
}

/**
 * Rounds in threads of 100, 5,000 and 10,000 messages, each of a user who has no other and no
 * memories.
 */
export async function compareThreads(
  database: BenchDatabase,
  bench: LoadedBench,
  sizes: Sizes,
): Promise<ThreadCost> {
  const { threads, recalls, remembers, close } = await loadThreads(database, bench, sizes);
  const recall = await timeInTurns(recalls, sizes.longTurns);
  const remember = await timeInTurns(remembers, sizes.longTurns);
  await close();
  const title = (what: string, { said }: Thread) =>
    `${what}, thread of ${(2 * said.length).toLocaleString("en")} messages`;
  const [short, long, longest] = threads;
  printTimings("Rounds without a model", {
    [title("recall", short)]: recall.short,
    [title("recall", longest)]: recall.longest,
    [title("remember", short)]: remember.short,
    [title("remember", long)]: remember.long,
    [title("remember", longest)]: remember.longest,
  });
  return {
    longThread: {
      recall: recall.longest.p50 / recall.short.p50,
      remember: remember.longest.p50 / remember.short.p50,
    },
    remember: remember.long.p50 / remember.short.p50,
  };
}

/** The threads, and what is timed in them. */
export async function loadThreads(
  { pool, schema, source }: BenchDatabase,
  { embeddings }: LoadedBench,
  { threads: lengths, longTurns }: Sizes,
) {
  const memory = await openBenchMemory({ database: source, schema, embeddings });
  const threads: Thread[] = [];
  for (const messages of lengths) threads.push(await loadThread(memory, messages));
  await checkMessages(
    pool,
    schema,
    Object.fromEntries(threads.map(({ userId, said }) => [userId, 2 * said.length])),
  );
  await vacuumSchema(pool, schema);
  const [short, long, longest] = threads as [Thread, Thread, Thread];
  return {
    threads: [short, long, longest] as const,
    recalls: {
      short: recalls(memory, short, longTurns),
      longest: recalls(memory, longest, longTurns),
    },
    remembers: {
      short: remembers(memory, short),
      long: remembers(memory, long),
      longest: remembers(memory, longest),
    },
    close: () => memory.close(),
  };
}

/** A user's one thread. */
interface Thread {
  readonly userId: string;
  /** What the user said; the agent answered each. */
  readonly said: readonly string[];
}

async function loadThread(memory: Memory, messages: number): Promise<Thread> {
  const userId = fixedName("listener", messages);
  const said = sentences(messages / 2, 31);
  const answers = sentences(messages / 2, 32);
  await recordTurns(
    memory,
    placeOf({ userId }),
    said.map((text, index) => [text, answers[index] as string]),
  );
  return { userId, said };
}

function placeOf({ userId }: Pick<Thread, "userId">): ThreadPlace {
  return { scope: { userId }, threadId: `thread of ${userId}` };
}

function recalls(memory: Memory, thread: Thread, rounds: Rounds): Timed {
  const questions = questionsAbout(thread.said, rounds);
  const last = 2 * thread.said.length - 1;
  return timed(
    (round) =>
      memory.recall({ ...placeOf(thread), query: questions[round % questions.length] as string }),
    ({ lastSeq, summary }) => {
      // Beside `remembers` it grows.
      if (lastSeq >= last && summary === null) return;
      throw new Error(`The thread ends with message ${lastSeq}, before ${last}, or has a summary.`);
    },
  );
}

/** Ends one turn after another in the thread, which grows by two messages each time. */
function remembers(memory: Memory, thread: Thread): Timed {
  const said = sentences(2_000, 34);
  const before = 2 * thread.said.length;
  return timed(
    (round) => {
      const messages = messagesOf([said[2 * round] as string, said[2 * round + 1] as string]);
      return memory.remember({ ...placeOf(thread), messages });
    },
    ({ recorded, lastSeq, summary }, round) => {
      if (recorded === 2 && lastSeq === before + 2 * round + 1 && !summary.started) return;
      throw new Error(
        `${recorded} messages were recorded, up to ${lastSeq}, in a thread of ${before}.`,
      );
    },
  );
}
