import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Clock } from "./clock.js";
import { migrate } from "./database/migrate.js";
import { type DatabaseOption, openDatabase } from "./database/open-database.js";
import type { CategoryPolicy } from "./domain/category.js";
import type { MemoryHit } from "./domain/rank-memories.js";
import { parseScope } from "./domain/scope.js";
import { MemoryError } from "./errors.js";
import { backgroundJobs, inlineJobs } from "./jobs/job-runner.js";
import { createCheckpointer, setUpCheckpointer } from "./langgraph/postgres-checkpointer.js";
import { createSummarizationGraph } from "./langgraph/summarization-graph.js";
import { createEmbedder } from "./llm/embedder.js";
import { defaultLogger, type Logger } from "./logger.js";
import { type MemoryConfig, resolveConfig } from "./options.js";
import { type MemoryQuery, queryMemories } from "./recall/query-memories.js";
import { type Recalled, type RecallInput, recall } from "./recall/recall.js";
import { searchTranscript, type TranscriptHit, type TranscriptQuery } from "./recall/search-transcript.js";
import { createMemoriesApi, type MemoriesApi } from "./remember/memories-api.js";
import { type RecordInput, record } from "./remember/record.js";
import { type Remembered, remember } from "./remember/remember.js";
import { claimDueSummaries } from "./store/claim-due-summaries.js";
import type { SummaryClaim } from "./store/claim-summary.js";
import { insertEvent, type MemoryEvent } from "./store/insert-event.js";
import { type ListThreads, listThreads, type Thread } from "./store/list-threads.js";
import { createSummariesApi, type SummariesApi, type ThreadAddress } from "./summarize/summaries-api.js";

/** How to create a memory. */
export interface MemoryOptions {
  /** A `pg.Pool`, a connection string, or a folder for the embedded database. @default { dataDir: ".mnemograph" } */
  readonly database?: DatabaseOption | undefined;
  /** The schema that holds every table. @default "mnemograph" */
  readonly schema?: string;
  /** Any chat model, for background work. Without one conversations are recorded but not summarised. */
  readonly model?: BaseChatModel;
  /** Any embeddings; needs pgvector. Without them retrieval is lexical. */
  readonly embeddings?: EmbeddingsInterface;
  /** Name of the vectors' space, when two models share a name. @default the model's name */
  readonly embeddingSpace?: string;
  /** Settings, or the path of a YAML file with them. */
  readonly config?: MemoryConfig | string;
  /** "background": in this process, after the answer. "inline": before `remember` returns. @default "background" */
  readonly jobs?: "background" | "inline";
  /** @default warnings and errors on standard error */
  readonly logger?: Logger;
  /** @default the database's clock */
  readonly clock?: Clock;
}

/** Long-term memory for agents. */
export interface Memory {
  /** Creates or updates the tables; safe from many processes at once. Returns the migrations that ran. */
  setup(): Promise<string[]>;
  /** Appends messages to a thread's transcript; those it has are left out. Returns how many were new. */
  record(input: RecordInput): Promise<{ recorded: number; lastSeq: number }>;
  /** What memory knows at the start of a round. One round trip, after the embedding of the question. */
  recall(input: RecallInput): Promise<Recalled>;
  /** Ends a round: records its messages and starts a summary when it is time. */
  remember(input: RecordInput): Promise<Remembered>;
  readonly summaries: SummariesApi;
  readonly memories: MemoriesApi;
  /**
   * The memories that fit a question, best first; none when nothing fits.
   *
   * @throws MemoryError `CATEGORY_DENIED`, `INVALID_INPUT`
   */
  query(input: MemoryQuery): Promise<MemoryHit[]>;
  readonly transcript: {
    /** What was said that fits a question, best first. @throws MemoryError `INVALID_INPUT` */
    search(input: TranscriptQuery): Promise<TranscriptHit[]>;
  };
  readonly threads: {
    /** A user's or an app's threads, most recently active first. @throws MemoryError `INVALID_INPUT` */
    list(input: ListThreads): Promise<Thread[]>;
  };
  /** LangGraph's Postgres checkpointer on the same pool; its tables are made by `setup`. */
  checkpointer(): PostgresSaver;
  /** The graph that makes summaries, to look at in Studio or to run by hand on `{ scope, threadId }`. */
  summarizationGraph(): ReturnType<typeof createSummarizationGraph>;
  /** Does the work that is due now: failed summaries to try again, and those a dead worker left. Returns how many. */
  upkeep(): Promise<number>;
  /** Which categories there are, and which agents may read them. */
  readonly policy: CategoryPolicy;
  /** Keeps an event, without content; its failure is logged and goes no further. */
  emit(event: MemoryEvent): Promise<void>;
  /** Logs a failure that a turn survived, and keeps an event of it. */
  reportError(input: ThreadAddress & { node: "recall" | "remember"; error: unknown }): Promise<void>;
  /** Resolves when no background work of this process is running or waiting. */
  idle(): Promise<void>;
  /** Waits for background work, then ends the pool if it was made here. */
  close(): Promise<void>;
}

/** Most summaries one sweep takes on; the rest are found by the next, or by another process. */
const sweepLimit = 20;

/**
 * A memory on `options.database`. Nothing is opened before the first call.
 *
 * @throws MemoryError `INVALID_INPUT`, `PEER_MISSING`
 */
export function createMemory(options: MemoryOptions = {}): Memory {
  const config = resolveConfig(options.config);
  const logger = options.logger ?? defaultLogger;
  const { summaries } = config;
  const db = openDatabase(
    options.database,
    { schemaName: options.schema ?? "mnemograph", clock: options.clock },
    logger,
  );
  const embedder = options.embeddings ? createEmbedder(db, options.embeddings, options.embeddingSpace) : null;
  const write = { db, config, embedder };
  const search = { ...write, logger, clock: options.clock };
  const emit = (event: MemoryEvent) =>
    insertEvent(db, event).catch((error: unknown) => {
      logger.error(`an event could not be kept: ${error instanceof Error ? error.message : error}`);
    });
  const background = options.jobs !== "inline";
  const jobs = background ? backgroundJobs(config.jobs.concurrency, logger) : inlineJobs(logger);
  const timers = new Set<NodeJS.Timeout>();
  let saver: PostgresSaver | undefined;
  let sweeper: NodeJS.Timeout | undefined;
  let closing: Promise<void> | undefined;

  const graph = createSummarizationGraph({
    db,
    logger,
    config,
    model: () => {
      if (options.model) return options.model;
      throw new MemoryError("MODEL_REQUIRED", "Summaries need a model: createMemory({ model }).");
    },
    onRetry: (delayMs) => background && later(delayMs),
  });

  const summarize = (claim: SummaryClaim) =>
    jobs.run(`Summary ${claim.summaryId}`, async () => {
      await graph.invoke({ claim });
    });

  const upkeep = async () => {
    if (!options.model) return 0;
    const { leaseMs, maxAttempts } = summaries;
    const claims = await claimDueSummaries(db, { leaseMs, maxAttempts, limit: sweepLimit });
    await Promise.all(claims.map(summarize));
    return claims.length;
  };
  const sweep = () => void jobs.run("Upkeep", async () => void (await upkeep()));

  const later = (delayMs: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      sweep();
    }, delayMs).unref();
    if (closing) clearTimeout(timer);
    else timers.add(timer);
  };

  /** The first turn also looks for what a dead process left behind; it costs that turn nothing. */
  const startSweeping = () => {
    if (!background || sweeper || closing || !options.model) return;
    sweeper = setInterval(sweep, config.jobs.sweepIntervalMs).unref();
    sweep();
  };

  return {
    setup: () =>
      migrate(db, {
        vectors: options.embeddings !== undefined,
        also: (client) => setUpCheckpointer(client, db.schemaName),
      }),
    record: async (input) => {
      const { recorded, lastSeq } = await record(db, input, config);
      return { recorded, lastSeq };
    },
    recall: (input) => recall(search, input),
    async remember(input) {
      const remembered = await remember({ db, logger, config, hasModel: options.model !== undefined }, input);
      if (remembered.summary.started) await summarize(remembered.summary.claim);
      startSweeping();
      return remembered;
    },
    summaries: createSummariesApi(db),
    memories: createMemoriesApi(write),
    query: (input) => queryMemories(search, input),
    transcript: { search: (input) => searchTranscript({ db, retrieval: config.retrieval }, input) },
    threads: {
      list: async ({ scope, ...page }) => listThreads(db, { scope: parseScope(scope), ...page }),
    },
    checkpointer() {
      saver ??= createCheckpointer(db);
      return saver;
    },
    // A copy: LangGraph's server sets its own checkpointer on the graphs it is given.
    summarizationGraph: () => graph.withConfig({}),
    upkeep,
    policy: config.policy,
    emit,
    async reportError({ node, error, scope, threadId }) {
      const message = error instanceof Error ? error.message : String(error);
      logger.error(`${node} failed for ${threadId}, the turn goes on without it: ${message}`);
      // Trying to write to a database that is down would make the user wait once more.
      if (MemoryError.is(error, "DATABASE_UNAVAILABLE")) return;
      const detail = MemoryError.is(error) ? error.code : "UNEXPECTED";
      const op = node === "recall" ? "search" : "create";
      await emit({ scope, threadId, node, op, status: "error", detail });
    },
    idle: () => jobs.idle(),
    close() {
      closing ??= (async () => {
        clearInterval(sweeper);
        for (const timer of timers) clearTimeout(timer);
        await jobs.idle();
        await db.close();
      })();
      return closing;
    },
  };
}
