import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { migrate } from "./database/migrate.js";
import { openDatabase } from "./database/open-database.js";
import { parseInput } from "./domain/parse-input.js";
import { parseScope, parseScopeIn } from "./domain/scope.js";
import { MemoryError } from "./errors.js";
import { createChangesApi } from "./governance/changes-api.js";
import { createConsentExpiryWork } from "./governance/consent-expiry-work.js";
import { createConsentsApi } from "./governance/consents-api.js";
import { createEventsApi } from "./governance/events-api.js";
import { exportScope } from "./governance/export-scope.js";
import { forget, removeThread } from "./governance/forget.js";
import { importLines } from "./governance/import-lines.js";
import { createLifecycle } from "./governance/lifecycle.js";
import { createCheckpointsApi } from "./governance/prune-checkpoints.js";
import { createQuarantineApi } from "./governance/quarantine.js";
import { isolatedMemory } from "./isolated-memory.js";
import { type BackgroundWork, createBackgroundWork, type WorkKind } from "./jobs/background-work.js";
import { keepTenant, workAcrossTenants } from "./jobs/tenant-work.js";
import { createCompressionGraph } from "./langgraph/compression-graph.js";
import { createExtractionGraph } from "./langgraph/extraction-graph.js";
import { OwnedPostgresSaver, setUpCheckpointer } from "./langgraph/owned-postgres-saver.js";
import { createSummarizationGraph } from "./langgraph/summarization-graph.js";
import { createEmbedder } from "./llm/embedder.js";
import { defaultLogger, errorLine, errorWords, lineLogger } from "./logger.js";
import type { Memory, MemoryOptions } from "./memory.js";
import { eventSchema, failureSchema, memoryOptionsSchema, statsSchema } from "./memory-input.js";
import { resolveConfig } from "./options.js";
import { bulletsOf, fittingHits } from "./recall/answer-query.js";
import { type MemoryQuery, queryMemories } from "./recall/query-memories.js";
import { recall } from "./recall/recall.js";
import { searchTranscript } from "./recall/search-transcript.js";
import { claimConversation, refuseInConversation } from "./remember/claim-conversation.js";
import { createMemoriesApi } from "./remember/memories-api.js";
import { record } from "./remember/record.js";
import { createRedactor } from "./remember/redactor.js";
import { remember } from "./remember/remember.js";
import { insertEvent, type MemoryEvent } from "./store/insert-event.js";
import { listThreads } from "./store/list-threads.js";
import { memoryStats } from "./store/memory-stats.js";
import { createSummariesApi } from "./summarize/summaries-api.js";
import { createSummaryWork } from "./summarize/summary-work.js";
import {
  createObserve,
  reportHits,
  reportRecalled,
  reportRemembered,
  reportWork,
  spans,
} from "./telemetry/observe.js";
import { createProceduresApi } from "./upkeep/procedures-api.js";
import { reembed } from "./upkeep/reembed.js";
import { createThreadTaskWork } from "./upkeep/thread-task-work.js";

/**
 * A memory on `options.database`. Nothing is opened before the first call.
 *
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
      ...config.database,
    },
    logger,
  );
  const embedder = options.embeddings ? createEmbedder(db, options.embeddings, options.embeddingSpace) : null;
  const redactor = createRedactor(options.redact);
  const now = options.clock ?? (() => new Date());
  const write = { db, config, embedder, redactor };
  const patient = { ...write, db: db.patient };
  const search = { ...write, logger, clock: options.clock };
  const observe = createObserve(db, config.telemetry, redactor);
  const emit = async (event: MemoryEvent) => {
    parseInput(eventSchema, event, "event");
    try {
      await insertEvent(db, { ...event, scope: parseScope(event.scope) }, config.retrieval);
    } catch (error) {
      logger.error(`an event could not be kept: ${errorLine(error)}`);
    }
  };
  const model = () => {
    if (options.model) return options.model;
    throw new MemoryError("MODEL_REQUIRED", "Background work needs a model: createMemory({ model }).");
  };
  const lifecycle = createLifecycle(patient);
  const modelless: WorkKind[] = [createConsentExpiryWork(db), lifecycle.work, lifecycle.trimming];
  const background: BackgroundWork = createBackgroundWork({
    ...config.jobs,
    ...{ logger, jobs: options.jobs ?? "background" },
    kinds: () => due,
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
  // Made once: a sweep remembers when it last looked for each.
  const due = [...(options.model ? kinds : []), ...modelless].map((kind) => workAcrossTenants(db, kind));
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
      observe(spans.recall, (seen) => recall({ ...search, db: seen }, input), reportRecalled(input?.query)),
    async remember(input) {
      const deps = { logger, config, redactor, hasModel: options.model !== undefined };
      const { remembered, due } = await observe(
        spans.remember,
        (seen) => remember({ ...deps, db: seen }, input),
        reportRemembered(input),
      );
      const { summary } = remembered;
      if (summary.started) await background.start(keepTenant(summaryWork.of(summary.claim)));
      for (const { task, threadRef } of due)
        await background.start(keepTenant(threadWork[task].of(threadRef)));
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
    query: (async (input: MemoryQuery) => {
      const { hits, form, budgetTokens } = await observe(
        spans.query,
        (seen) => queryMemories({ ...search, db: seen }, input),
        reportHits(input?.query),
      );
      return form === null ? fittingHits(hits, budgetTokens) : bulletsOf(hits, form, budgetTokens);
    }) as Memory["query"],
    transcript: { search: (input) => searchTranscript({ db, retrieval: config.retrieval }, input) },
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
      return memoryStats(db.patient, parseScopeIn(of) ?? null);
    },
    upkeep: background.upkeep,
    reembed: (how) => reembed(patient, how),
    forget: (scope, how) => forget(db.patient, scope, how),
    export: (scope) => exportScope(db.patient, scope, now),
    import: (lines, how) => importLines({ ...patient, now }, lines, how),
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
