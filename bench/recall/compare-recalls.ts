import { createMemory, type Memory, type Recalled } from "../../src/index.js";
import { type BenchDatabase, countStatements } from "../bench-database.js";
import type { Owner } from "../data/corpus.js";
import { question, seeded } from "../data/sentences.js";
import { printTimings, type Rounds, type Timed, timed, timeInTurns } from "../timing.js";
import { type LoadedBench, readerOf, threadOf } from "./load-bench.js";
import { checkFound, namespaceOf, type PeerStores } from "./peer-stores.js";
import { facts, type Sizes } from "./sizes.js";

/** Items that LangGraph's stores are asked for: as many as recall shows of what fits a question. */
const limit = 8;

/**
 * The whole recall beside one vector search of each store, asked the same in turns: p50 of the
 * search in `PostgresStore` ÷ p50 of the recall, by number of memories; null without a server.
 */
export async function compareWithStores(
  { memory, peers, readers }: LoadedBench,
  { recalls, rows }: Sizes,
): Promise<Record<string, number | null>> {
  const speedup: Record<string, number | null> = {};
  for (const reader of readers) {
    const size = reader.texts.length;
    const questions = questionsAbout(reader.texts, recalls);
    const { recall, postgres, inMemory } = await timeInTurns(
      {
        recall: readerRecall(memory, reader, recalls),
        ...(peers && searches(peers, reader, questions)),
      },
      recalls,
    );
    printTimings(
      `One user's ${size.toLocaleString("en")} memories among ${rows.toLocaleString("en")}`,
      {
        "Mnemograph: whole recall": recall,
        ...(postgres && { "LangGraph PostgresStore: vector search": postgres }),
        ...(inMemory && { "LangGraph InMemoryStore: vector search": inMemory }),
      },
    );
    speedup[size] = postgres ? postgres.p50 / recall.p50 : null;
  }
  return speedup;
}

function searches(
  { postgres, inMemory }: PeerStores,
  { userId, texts }: Owner,
  questions: readonly string[],
): Readonly<Record<"postgres" | "inMemory", Timed>> {
  const search = (store: PeerStores["postgres" | "inMemory"]) =>
    timed(
      (round) => store.search(namespaceOf(userId), { query: questions[round] as string, limit }),
      (found) => checkFound(found, userId, Math.min(limit, texts.length)),
    );
  return { postgres: search(postgres), inMemory: search(inMemory) };
}

/** What conversations cost recall. */
export interface SourceCost {
  /**
   * p50 with facts learned from 2,000 messages ÷ of as many other facts of a user who never said
   * anything else.
   */
  readonly conversation: number;
  /** p50 with facts learned from 2,000 messages ÷ of the same facts alone, by number of facts. */
  readonly sources: Readonly<Record<string, number>>;
}

/** Recall of facts with and without the messages they were learned from. */
export async function compareSources(bench: LoadedBench, { recalls }: Sizes): Promise<SourceCost> {
  const timings = await timeInTurns(sourceRecalls(bench, recalls), recalls);
  const messages = (2 * facts).toLocaleString("en");
  printTimings(`What a conversation adds to recall of ${facts.toLocaleString("en")} facts`, {
    [`learned from ${messages} messages of one thread`]: timings.talker,
    [`the same beside the same ${messages} messages, without a source`]: timings.unsourced,
    "the same alone": timings.alone,
    "others alone": timings.reader,
  });
  return {
    conversation: timings.talker.p50 / timings.reader.p50,
    sources: { [facts]: timings.talker.p50 / timings.alone.p50 },
  };
}

/** Recalls of the same facts with and without a source, and of other facts. */
export function sourceRecalls(bench: LoadedBench, rounds: Rounds) {
  const { memory, talker, unsourced, alone } = bench;
  const recall = (owner: Owner, sourced = false) =>
    recallOf(memory, owner, {
      questions: questionsAbout(owner.texts, rounds),
      threadId: "a new thread",
      check({ memories: { relevant } }) {
        const citing = relevant.filter((hit) => hit.memory.source !== null).length;
        if (citing !== (sourced ? relevant.length : 0))
          throw new Error(`${citing} of ${relevant.length} memories have a source.`);
      },
    });
  return {
    talker: recall(talker, true),
    unsourced: recall(unsourced),
    alone: recall(alone),
    reader: recall(readerOf(bench)),
  };
}

/** The whole recall of a reader, in the thread that has a summary. */
export function readerRecall(memory: Memory, reader: Owner, rounds: Rounds): Timed {
  return recallOf(memory, reader, {
    questions: questionsAbout(reader.texts, rounds),
    threadId: threadOf(reader),
    check: hasSummary,
  });
}

/** Statements that one recall sends. */
export async function countRoundTrips(
  { pool, schema }: BenchDatabase,
  bench: LoadedBench,
): Promise<number> {
  const reader = readerOf(bench);
  const memory = createMemory({ database: pool, schema });
  const counted = countStatements(pool);
  await memory.recall({
    scope: { userId: reader.userId },
    threadId: threadOf(reader),
    query: "What is planned?",
  });
  const statements = counted.stop();
  await memory.close();
  return statements;
}

/** What recalls ask, one question a turn, and from the first one again when there is no more. */
export interface Asked {
  readonly questions: readonly string[];
  readonly threadId: string;
  readonly check?: ((recalled: Recalled, round: number) => void) | undefined;
}

/**
 * Recalls that ask `questions`, in a thread; each must find something of the owner's, and what
 * `check` asks for.
 */
export function recallOf(
  memory: Memory,
  { userId }: Owner,
  { questions, threadId, check }: Asked,
): Timed {
  const questionOf = (round: number) => questions[round % questions.length] as string;
  return timed(
    (round) => memory.recall({ scope: { userId }, threadId, query: questionOf(round) }),
    (recalled, round) => {
      const { relevant, timedOut } = recalled.memories;
      const strangers = relevant.filter((hit) => hit.memory.scope.userId !== userId).length;
      if (timedOut || relevant.length === 0 || strangers > 0) {
        throw new Error(
          `"${questionOf(round)}" found ${relevant.length} memories for ${userId}, ${strangers} of others` +
            `${timedOut ? ", and took too long" : ""}.`,
        );
      }
      check?.(recalled, round);
    },
  );
}

/** A question about one of `texts` for each of the rounds, the same for the same texts. */
export function questionsAbout(texts: readonly string[], { rounds, warmUps }: Rounds): string[] {
  const random = seeded(texts.length);
  return Array.from({ length: rounds + warmUps }, () =>
    question(random, texts[Math.floor(random() * texts.length)] as string),
  );
}

/** Throws unless the thread has a summary, and messages after it. */
function hasSummary({ summary, gap }: Recalled): void {
  if (summary === null || gap.length === 0)
    throw new Error("The thread has no summary, or nothing after it.");
}
