import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Clock } from "./clock.js";
import { migrate } from "./database/migrate.js";
import { type DatabaseOption, openDatabase } from "./database/open-database.js";
import type { CategoryPolicy } from "./domain/category.js";
import type { ExportLine } from "./domain/export-line.js";
import type { MemoryHit } from "./domain/rank-memories.js";
import { parseScope, type Scope } from "./domain/scope.js";
import { MemoryError } from "./errors.js";
import { type ChangesApi, createChangesApi } from "./governance/changes-api.js";
import { createConsentExpiryWork } from "./governance/consent-expiry-work.js";
import { type ConsentsApi, createConsentsApi } from "./governance/consents-api.js";
import { createEventsApi, type EventsApi } from "./governance/events-api.js";
import { exportScope } from "./governance/export-scope.js";
import { type ForgetOptions, type Forgotten, forget } from "./governance/forget.js";
import { type Imported, type ImportOptions, importLines } from "./governance/import-lines.js";
import { createLifecycle, type LifecycleApi } from "./governance/lifecycle.js";
import { type CheckpointsApi, createCheckpointsApi } from "./governance/prune-checkpoints.js";
import { createQuarantineApi, type QuarantineApi } from "./governance/quarantine.js";
import { type BackgroundWork, createBackgroundWork, type WorkKind } from "./jobs/background-work.js";
import { keepTenant, workAcrossTenants } from "./jobs/tenant-work.js";
import { isolatedMemory } from "./isolated-memory.js";
import { createCompressionGraph } from "./langgraph/compression-graph.js";
import { createExtractionGraph } from "./langgraph/extraction-graph.js";
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
import { createRedactor, type Redact } from "./remember/redactor.js";
import { type Remembered, remember } from "./remember/remember.js";
import { insertEvent, type MemoryEvent } from "./store/insert-event.js";
import { type ListThreads, listThreads, type Thread } from "./store/list-threads.js";
import { type MemoryStats, memoryStats } from "./store/memory-stats.js";
import { createSummariesApi, type SummariesApi, type ThreadAddress } from "./summarize/summaries-api.js";
import { createSummaryWork } from "./summarize/summary-work.js";
import {
  createObserve,
  reportHits,
  reportRecalled,
  reportRemembered,
  reportWork,
  spans,
} from "./telemetry/observe.js";
import { createProceduresApi, type ProceduresApi } from "./upkeep/procedures-api.js";
import { type Reembedded, type ReembedOptions, reembed } from "./upkeep/reembed.js";
import { createThreadTaskWork } from "./upkeep/thread-task-work.js";

/** How to create a memory. */
export interface MemoryOptions {
  /** A `pg.Pool`, a connection string, or a folder for the embedded database. @default { dataDir: ".mnemograph" } */
  readonly database?: DatabaseOption | undefined;
  /** The schema that holds every table. @default "mnemograph" */
  readonly schema?: string;
  /** Any chat model, for background work: without one conversations are recorded, and nothing is made of them. */
  readonly model?: BaseChatModel;
  /** Any embeddings; needs pgvector. Without them retrieval is lexical. */
  readonly embeddings?: EmbeddingsInterface;
  /** Name of the vectors' space, when two models share a name. @default the model's name */
  readonly embeddingSpace?: string;
  /** Settings, or the path of a YAML file with them. */
  readonly config?: MemoryConfig | string;
  /** "background": in this process, after the answer. "inline": before `remember` returns. @default "background" */
  readonly jobs?: "background" | "inline";
  /**
   * "rls": PostgreSQL itself keeps tenants apart, so that even a wrong statement sees only the rows of the tenant it was
   * made for. Needs a server, `setup` with this option by the role that will own the tables, and from then on a role
   * that is no superuser. Calls without a scope work across tenants, which only the tables' owner may; a process whose
   * role is not does no background work for others' turns. LangGraph's checkpoints stay outside. @default none
   */
  readonly isolation?: "rls";
  /** @default warnings and errors on standard error */
  readonly logger?: Logger;
  /**
   * Takes out of every text what must not be kept: applied to messages, memories, summaries and imports before they are
   * stored or shown to the model of background work. When it fails, nothing is stored: `REDACTION_FAILED`. What the
   * graph's own checkpoints hold is the graph's.
   */
  readonly redact?: Redact;
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
  /**
   * Ends a round: records its messages and starts what is due: a summary, the extraction of facts, the compression
   * of older turns.
   */
  remember(input: RecordInput): Promise<Remembered>;
  readonly summaries: SummariesApi;
  readonly memories: MemoriesApi;
  readonly procedures: ProceduresApi;
  readonly quarantine: QuarantineApi;
  readonly changes: ChangesApi;
  readonly events: EventsApi;
  readonly lifecycle: LifecycleApi;
  readonly consents: ConsentsApi;
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
  readonly checkpoints: CheckpointsApi;
  /** The graph that makes summaries, to look at in Studio or to run by hand on `{ scope, threadId }`. */
  summarizationGraph(): ReturnType<typeof createSummarizationGraph>;
  /** The graph that extracts facts from what the user said, likewise. */
  extractionGraph(): ReturnType<typeof createExtractionGraph>;
  /** The graph that compresses older turns into an episode, likewise. */
  compressionGraph(): ReturnType<typeof createCompressionGraph>;
  /** How memory has worked over the last 30 days, for a scope's user or app, or for all. */
  stats(of?: { readonly scope?: Scope }): Promise<MemoryStats>;
  /**
   * Does the work that is due now, summaries, facts and episodes: what is to be tried again, and what a dead
   * worker left. Returns how many pieces were due.
   */
  upkeep(): Promise<number>;
  /**
   * Gives every active memory of all scopes that lacks one a vector of the configured embeddings, after they were
   * added or changed. What is done stays done when it is interrupted.
   *
   * @throws MemoryError `INVALID_INPUT` without embeddings, `EMBEDDING_FAILED`, `DIMENSION_MISMATCH`
   */
  reembed(options?: ReembedOptions): Promise<Reembedded>;
  /**
   * Deletes everything of a user, of a user within an app, or of an app, in every table and in the checkpoints of
   * its threads, and says what went. What is done stays done when it is interrupted: run it again.
   *
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`
   */
  forget(scope: Scope, options?: ForgetOptions): Promise<Forgotten>;
  /**
   * What is kept of a user, of a user within an app, or of an app, line by line: threads with their messages and
   * summaries, memories, links, audit trail, news, consents. Write each as one line of JSON. Read in pages and never
   * held whole; what others write meanwhile may be in it or not.
   *
   * @throws MemoryError `SCOPE_REQUIRED`
   */
  export(scope: Scope): AsyncIterable<ExportLine>;
  /**
   * Writes an export: each line as text, or as `export` gives it. What is there already is left as it is, so an import
   * that was interrupted is finished by the next. `reembed` makes the vectors.
   *
   * @throws MemoryError `INVALID_INPUT` that names the line, `CONFLICT` when an id belongs to another scope here
   */
  import(
    lines: AsyncIterable<string | ExportLine> | Iterable<string | ExportLine>,
    options?: ImportOptions,
  ): Promise<Imported>;
  /** Which categories there are, and which agents may read them. */
  readonly policy: CategoryPolicy;
  /** Keeps an event, without content; its failure is logged and goes no further. */
  emit(event: MemoryEvent): Promise<void>;
  /** Logs a failure that a turn survived, and keeps an event of it. */
  reportError(
    input: ThreadAddress & { node: "recall" | "consent" | "remember"; error: unknown },
  ): Promise<void>;
  /** Resolves when no background work of this process is running or waiting. */
  idle(): Promise<void>;
  /** Waits for background work, then ends the pool if it was made here. */
  close(): Promise<void>;
}

/**
 * A memory on `options.database`. Nothing is opened before the first call.
 *
 * @throws MemoryError `INVALID_INPUT`, `PEER_MISSING`
 */
export function createMemory(options: MemoryOptions = {}): Memory {
  const config = resolveConfig(options.config);
  const logger = options.logger ?? defaultLogger;
  const db = openDatabase(
    options.database,
    { schemaName: options.schema ?? "mnemograph", clock: options.clock, isolation: options.isolation },
    logger,
  );
  const embedder = options.embeddings ? createEmbedder(db, options.embeddings, options.embeddingSpace) : null;
  const redactor = createRedactor(options.redact);
  const write = { db, config, embedder, redactor };
  const search = { ...write, logger, clock: options.clock };
  const observe = createObserve(db, config.telemetry, redactor);
  const emit = (event: MemoryEvent) =>
    insertEvent(db, event).catch((error: unknown) => {
      logger.error(`an event could not be kept: ${error instanceof Error ? error.message : error}`);
    });
  const model = () => {
    if (options.model) return options.model;
    throw new MemoryError("MODEL_REQUIRED", "Background work needs a model: createMemory({ model }).");
  };
  const lifecycle = createLifecycle(write);
  const modelless: WorkKind[] = [createConsentExpiryWork(db), lifecycle.work];
  const background: BackgroundWork = createBackgroundWork({
    ...config.jobs,
    ...{ logger, jobs: options.jobs ?? "background" },
    kinds: () => [...(options.model ? kinds : []), ...modelless].map((kind) => workAcrossTenants(db, kind)),
  });
  const upkeepDeps = { ...write, logger, model, onRetry: background.wakeIn };
  const summarization = createSummarizationGraph(upkeepDeps);
  const extraction = createExtractionGraph(upkeepDeps);
  const compression = createCompressionGraph(upkeepDeps);
  const summaryWork = createSummaryWork(db, config.summaries, async (claim) => {
    await observe(spans.summarize, () => summarization.invoke({ claim }), reportWork);
  });
  const { leaseMs } = config.upkeep;
  const threadWork = {
    extract: createThreadTaskWork(db, {
      ...{ task: "extract", leaseMs },
      step: async (claim) =>
        void (await observe(spans.extract, () => extraction.invoke({ claim }), reportWork)),
    }),
    compress: createThreadTaskWork(db, {
      ...{ task: "compress", leaseMs },
      step: async (claim) =>
        void (await observe(spans.compress, () => compression.invoke({ claim }), reportWork)),
    }),
  };
  const kinds: WorkKind[] = [
    summaryWork,
    ...(config.memories.extract ? [threadWork.extract] : []),
    ...(config.memories.episodes ? [threadWork.compress] : []),
  ];
  let saver: PostgresSaver | undefined;
  let closing: Promise<void> | undefined;

  const memory: Memory = {
    setup: () =>
      migrate(db, {
        vectors: options.embeddings !== undefined,
        isolation: options.isolation === "rls",
        also: (client) => setUpCheckpointer(client, db.schemaName),
      }),
    record: async (input) => {
      const { recorded, lastSeq } = await record(write, input);
      return { recorded, lastSeq };
    },
    recall: (input) =>
      observe(spans.recall, (seen) => recall({ ...search, db: seen }, input), reportRecalled(input.query)),
    async remember(input) {
      const deps = { logger, config, redactor, hasModel: options.model !== undefined };
      const { remembered, due } = await observe(
        spans.remember,
        (seen) => remember({ ...deps, db: seen }, input),
        reportRemembered(input),
      );
      const { summary } = remembered;
      if (summary.started) await background.start(keepTenant(summaryWork.of(summary.claim)));
      for (const { task, threadRef } of due) await background.start(keepTenant(threadWork[task].of(threadRef)));
      // The first turn also looks for what a dead process left behind; it costs that turn nothing.
      background.startSweeping();
      return remembered;
    },
    summaries: createSummariesApi(db),
    memories: createMemoriesApi(write),
    procedures: createProceduresApi(upkeepDeps),
    quarantine: createQuarantineApi(write),
    changes: createChangesApi(db),
    events: createEventsApi(db),
    lifecycle: lifecycle.api,
    consents: createConsentsApi(write),
    query: (input) =>
      observe(spans.query, (seen) => queryMemories({ ...search, db: seen }, input), reportHits(input.query)),
    transcript: { search: (input) => searchTranscript({ db, retrieval: config.retrieval }, input) },
    threads: {
      list: async ({ scope, ...page }) => listThreads(db, { scope: parseScope(scope), ...page }),
    },
    checkpointer() {
      saver ??= createCheckpointer(db);
      return saver;
    },
    checkpoints: createCheckpointsApi(db),
    // A copy: LangGraph's server sets its own checkpointer on the graphs it is given.
    summarizationGraph: () => summarization.withConfig({}),
    extractionGraph: () => extraction.withConfig({}),
    compressionGraph: () => compression.withConfig({}),
    stats: async ({ scope } = {}) => memoryStats(db, scope === undefined ? null : parseScope(scope)),
    upkeep: background.upkeep,
    reembed: (how) => reembed(write, how),
    forget: (scope, how) => forget(db, scope, how),
    export: (scope) => exportScope(db, scope, options.clock ?? (() => new Date())),
    import: (lines, how) => importLines(write, lines, how),
    policy: config.policy,
    emit,
    async reportError({ node, error, scope, threadId }) {
      const message = error instanceof Error ? error.message : String(error);
      logger.error(`${node} failed for ${threadId}, the turn goes on without it: ${message}`);
      // Trying to write to a database that is down would make the user wait once more.
      if (MemoryError.is(error, "DATABASE_UNAVAILABLE")) return;
      const detail = MemoryError.is(error) ? error.code : "UNEXPECTED";
      const op = ({ recall: "search", consent: "approve", remember: "create" } as const)[node];
      await emit({ scope, threadId, step: node, op, status: "error", detail });
    },
    idle: background.idle,
    close() {
      closing ??= (async () => {
        await background.stop();
        await db.close();
      })();
      return closing;
    },
  };
  return options.isolation === "rls" ? isolatedMemory(memory) : memory;
}
