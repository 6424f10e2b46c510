import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { createCheckpointsApi } from "./checkpoints/prune-checkpoints.js";
import { createConsentExpiryWork, createConsentsApi } from "./consents/consents-api.js";
import { claimConversation, refuseInConversation } from "./conversation/claim-conversation.js";
import { listThreads } from "./conversation/list-threads.js";
import { record } from "./conversation/record.js";
import { createCompressionGraph } from "./episodes/compression-graph.js";
import { MemoryError } from "./errors.js";
import { insertEvent, type MemoryEvent } from "./events/event-log.js";
import { createEventsApi } from "./events/events.js";
import { memoryStats } from "./events/memory-stats.js";
import { createExtractionGraph } from "./facts/extraction-graph.js";
import { forget, removeThread } from "./forgetting/forget.js";
import { isolatedMemory } from "./isolated-memory.js";
import {
  acrossAllTenants,
  type BackgroundWork,
  createBackgroundWork,
  keepTenant,
  type Worker,
} from "./jobs/background-work.js";
import { createTaskWorker } from "./jobs/thread-task.js";
import { OwnedPostgresSaver, setUpCheckpointer } from "./langgraph/checkpointer/owned-postgres-saver.js";
import { createLifecycle } from "./lifecycle/lifecycle.js";
import { defaultLogger, errorLine, errorWords, lineLogger } from "./logger.js";
import { createChangesApi } from "./memories/changes/changes-api.js";
import { createQuarantineApi } from "./memories/edit/quarantine.js";
import { createMemoriesApi } from "./memories/memories-api.js";
import { writingProblemNames } from "./memories/write/writing-constraints.js";
import type { Memory, MemoryOptions } from "./memory.js";
import { eventSchema, failureSchema, memoryOptionsSchema, statsSchema } from "./memory-input.js";
import { createEmbedder } from "./models/embedder.js";
import { reembed } from "./models/reembed.js";
import { type ResolvedConfig, resolveConfig } from "./options.js";
import { migrate } from "./postgres/migrate.js";
import { openDatabase } from "./postgres/open-database.js";
import { createProceduresApi } from "./procedures/procedures-api.js";
import {
  createObserve,
  reportHits,
  reportRecalled,
  reportRemembered,
  reportWork,
  spans,
} from "./rounds/observe.js";
import { recall } from "./rounds/recall.js";
import { remember } from "./rounds/remember.js";
import type { Runtime } from "./runtime.js";
import { parseScope, parseScopeIn } from "./scope/scope.js";
import { bulletsOf, fittingHits } from "./search/answer-query.js";
import { type MemoryQuery, queryMemories } from "./search/query-memories.js";
import { searchTranscript } from "./search/search-transcript.js";
import { createSummaryWorker } from "./summaries/claim-summary.js";
import { createSummariesApi } from "./summaries/summaries-api.js";
import { createSummarizationGraph } from "./summaries/summarization-graph.js";
import { parseInput } from "./text/parse-input.js";
import { createRedactor } from "./text/redactor.js";
import { exportScope } from "./transfer/export-scope.js";
import { importLines } from "./transfer/import-lines.js";

/**
 * A memory on `options.database`. Nothing is opened before the first call.
 *
 * @example
 * ```ts
 * const memory = createMemory({ database: process.env.DATABASE_URL });
 * await memory.setup();
 * ```
 * @throws MemoryError `INVALID_INPUT`, `PEER_MISSING`
 */
export function createMemory(options: MemoryOptions = {}): Memory {
  parseInput(memoryOptionsSchema, options, "options of createMemory");
  const config = resolveConfig(options.config);
  const logger = lineLogger(options.logger ?? defaultLogger);
  const db = openDatabase(
    options.database,
    {
      ...{ schemaName: options.schema ?? "mnemograph", clock: options.clock, isolation: options.isolation },
      language: config.retrieval.language,
      ...config.database,
    },
    logger,
  );
  const embedder = options.embeddings ? createEmbedder(db, options.embeddings, options.embeddingSpace) : null;
  const redactor = createRedactor(options.redact);
  const runtime: Runtime<ResolvedConfig> = {
    ...{ db, config, logger, embedder, redactor },
    clock: options.clock ?? (() => new Date()),
    hasModel: options.model !== undefined,
    model() {
      if (options.model) return options.model;
      throw new MemoryError("MODEL_REQUIRED", "Background work needs a model: createMemory({ model }).");
    },
    onRetry: (delayMs) => background.wakeIn(delayMs),
  };
  /** For work in bulk, whose statements have no deadline. */
  const patient = { ...runtime, db: db.patient };
  const observe = createObserve(db, config.telemetry, redactor);
  const emit = async (event: MemoryEvent) => {
    parseInput(eventSchema, event, "event");
    try {
      await insertEvent(db, { ...event, scope: parseScope(event.scope) }, config.retrieval);
    } catch (error) {
      logger.error(`an event could not be kept: ${errorLine(error)}`);
    }
  };
  const lifecycle = createLifecycle(patient);
  const modelless: Worker[] = [createConsentExpiryWork(db), lifecycle.work, lifecycle.trimming];
  const background: BackgroundWork = createBackgroundWork({
    ...config.jobs,
    ...{ logger, jobs: options.jobs ?? "background" },
    workers: () => due,
  });
  const summarization = createSummarizationGraph(runtime);
  const extraction = createExtractionGraph(runtime);
  const compression = createCompressionGraph(runtime);
  const summaryWorker = createSummaryWorker(db, config.summaries, (claim) =>
    observe(spans.summarize, () => summarization.invoke({ claim }), reportWork),
  );
  const { leaseMs } = config.upkeep;
  const taskWorkers = {
    extract: createTaskWorker(db, {
      ...{ task: "extract", leaseMs },
      step: (claim) => observe(spans.extract, () => extraction.invoke({ claim }), reportWork),
    }),
    compress: createTaskWorker(db, {
      ...{ task: "compress", leaseMs },
      step: (claim) => observe(spans.compress, () => compression.invoke({ claim }), reportWork),
    }),
  };
  const workers: Worker[] = [
    summaryWorker,
    ...(config.memories.extract ? [taskWorkers.extract] : []),
    ...(config.memories.episodes ? [taskWorkers.compress] : []),
  ];
  // Made once: a sweep remembers when it last looked for each.
  const due = [...(options.model ? workers : []), ...modelless].map((worker) => acrossAllTenants(db, worker));
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
      const { recorded, lastSeq } = await record(runtime, input);
      return { recorded, lastSeq };
    },
    recall: (input) =>
      observe(spans.recall, (seen) => recall({ ...runtime, db: seen }, input), reportRecalled(input?.query)),
    async remember(input) {
      const { remembered, due } = await observe(
        spans.remember,
        (seen) => remember({ ...runtime, db: seen }, input),
        reportRemembered(input),
      );
      const { summary } = remembered;
      if (summary.started) await background.start(keepTenant(summaryWorker.of(summary.claim)));
      for (const { task, threadRef } of due)
        await background.start(keepTenant(taskWorkers[task].of(threadRef)));
      // The first turn also looks for what a dead process left behind; it costs that turn nothing.
      background.startSweeping();
      return remembered;
    },
    summaries: createSummariesApi(db),
    memories: createMemoriesApi(runtime),
    procedures: createProceduresApi(runtime),
    quarantine: createQuarantineApi(runtime),
    changes: createChangesApi(db),
    events: createEventsApi(db),
    lifecycle: lifecycle.api,
    consents: createConsentsApi(runtime),
    query: (async (input: MemoryQuery) => {
      const { hits, form, budgetTokens } = await observe(
        spans.query,
        (seen) => queryMemories({ ...runtime, db: seen }, input),
        reportHits(input?.query),
      );
      return form === null ? fittingHits(hits, budgetTokens) : bulletsOf(hits, form, budgetTokens);
    }) as Memory["query"],
    transcript: { search: (input) => searchTranscript(runtime, input) },
    threads: {
      list: (page) => listThreads(db, page),
      claim: (input) => claimConversation(db, input),
      refuse: (input) => refuseInConversation(db, input),
      remove: (input) => removeThread(db.patient, input),
    },
    checkpointer() {
      saver ??= new OwnedPostgresSaver(db);
      return saver;
    },
    checkpoints: createCheckpointsApi(db.patient),
    // A copy: LangGraph's server sets its own checkpointer on the graphs it is given.
    summarizationGraph: () => summarization.withConfig({}),
    extractionGraph: () => extraction.withConfig({}),
    compressionGraph: () => compression.withConfig({}),
    stats: async (of) => {
      if (of !== undefined) parseInput(statsSchema, of, "statistics");
      return memoryStats(db.patient, parseScopeIn(of) ?? null, writingProblemNames);
    },
    upkeep: background.upkeep,
    reembed: (how) => reembed(patient, how),
    forget: (scope, how) => forget(db.patient, scope, how),
    export: (scope) => exportScope(db.patient, scope, runtime.clock),
    import: (lines, how) => importLines(patient, lines, how),
    policy: config.policy,
    emit,
    async reportError(failure) {
      parseInput(failureSchema, failure, "failure");
      const { node, error, scope, threadId } = failure;
      const words = config.telemetry.content ? ` (${errorWords(error)})` : "";
      logger.error(
        `${node} failed for ${threadId}, the turn goes on without it: ${errorLine(error)}${words}`,
      );
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
