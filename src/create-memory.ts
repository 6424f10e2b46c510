import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { createCheckpointsApi } from "./checkpoints/prune-checkpoints.js";
import { createConsentsApi } from "./consents/consents-api.js";
import { claimConversation, refuseInConversation } from "./conversation/claim-conversation.js";
import { listThreads } from "./conversation/list-threads.js";
import { record } from "./conversation/record.js";
import { listShown } from "./conversation/shown-turns.js";
import { MemoryError } from "./errors.js";
import { insertEvent, type MemoryEvent } from "./events/event-log.js";
import { createEventsApi } from "./events/events.js";
import { memoryStats } from "./events/memory-stats.js";
import { deleteThread, forget } from "./forgetting/forget.js";
import { isolatedMemory } from "./isolated-memory.js";
import { OwnedPostgresSaver, setUpCheckpointer } from "./langgraph/checkpointer/owned-postgres-saver.js";
import { defaultLogger, errorLine, errorWords, type Logger, lineLogger } from "./logger.js";
import { createChangesApi } from "./memories/changes/changes-api.js";
import { createQuarantineApi } from "./memories/edit/quarantine.js";
import { createMemoriesApi } from "./memories/memories-api.js";
import { writingProblemNames } from "./memories/write/writing-constraints.rule.js";
import type { Memory, MemoryOptions } from "./memory.js";
import { eventSchema, failureSchema, memoryOptionsSchema, statsSchema } from "./memory-input.js";
import { createEmbedder } from "./models/embedder.js";
import { reembed } from "./models/reembed.js";
import { type ResolvedConfig, resolveConfig } from "./options.js";
import { createAppsApi, createUsersApi } from "./owners/users-api.js";
import type { Outage } from "./postgres/circuit-breaker.js";
import type { Database } from "./postgres/database.js";
import { isConnectionError } from "./postgres/database-error.js";
import { asTenant } from "./postgres/isolation.js";
import { migrate } from "./postgres/migrate.js";
import { openDatabase } from "./postgres/open-database.js";
import { createProceduresApi } from "./procedures/procedures-api.js";
import {
  createObserve,
  type Observe,
  reportHits,
  reportRecalled,
  reportRemembered,
  spans,
} from "./rounds/observe.js";
import { recall } from "./rounds/recall.js";
import { remember } from "./rounds/remember.js";
import type { Runtime } from "./runtime.js";
import { nobody, parseScope, parseScopeIn, type Scope } from "./scope/scope.js";
import { bulletsOf, fittingHits } from "./search/answer-query.js";
import { type MemoryQuery, queryMemories } from "./search/query-memories.js";
import { searchTranscript } from "./search/search-transcript.js";
import { createSummariesApi } from "./summaries/summaries-api.js";
import { parseInput } from "./text/parse-input.js";
import { createRedactor } from "./text/redactor.js";
import { exportScope } from "./transfer/export-scope.js";
import { importLines } from "./transfer/import-lines.js";
import { createUpkeep, type Upkeep } from "./upkeep.js";
import { type MemoryWithWayIn, type WayIn, wayInKey } from "./way-in.js";

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
  const defaultScope = parseDefaultScope(options);
  const runtime = createRuntime(options, (delayMs) => upkeep.background.wakeIn(delayMs));
  const { db, config } = runtime;
  /** For work in bulk, whose statements have no deadline. */
  const patient = { ...runtime, db: db.patient };
  const observe = createObserve(db, config.telemetry, runtime.redactor);
  const upkeep: Upkeep = createUpkeep(runtime, patient, observe, options.jobs ?? "background");
  const { background, graphs, lifecycle } = upkeep;
  let saver: PostgresSaver | undefined;
  let closing: Promise<void> | undefined;

  const memory: MemoryWithWayIn = {
    setup: () =>
      migrate(db, {
        vectors: options.embeddings !== undefined,
        isolation: options.isolation === "rls",
        also: (client) => setUpCheckpointer(client, db.schemaName),
      }),
    ...createRounds(runtime, observe, upkeep),
    summaries: createSummariesApi(db),
    memories: createMemoriesApi(runtime),
    procedures: createProceduresApi(runtime),
    quarantine: createQuarantineApi(runtime),
    changes: createChangesApi(db),
    events: createEventsApi(db),
    lifecycle: lifecycle.api,
    consents: createConsentsApi(runtime),
    transcript: { search: (input) => searchTranscript(runtime, input) },
    threads: {
      list: (page) => listThreads(db, page),
      claim: (input) => claimConversation(db, input),
      delete: (input) => deleteThread(db.patient, input),
      shown: (input) => listShown(db, input),
    },
    checkpointer() {
      saver ??= new OwnedPostgresSaver(db, defaultScope);
      return saver;
    },
    checkpoints: createCheckpointsApi(db.patient),
    // A copy: LangGraph's server sets its own checkpointer on the graphs it is given.
    summarizationGraph: () => graphs.summarization.withConfig({}),
    extractionGraph: () => graphs.extraction.withConfig({}),
    compressionGraph: () => graphs.compression.withConfig({}),
    users: createUsersApi(runtime),
    apps: createAppsApi(runtime),
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
    databaseStatus: db.status,
    [wayInKey]: createWayIn(runtime, defaultScope),
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

function parseDefaultScope({ defaultScope, isolation }: MemoryOptions): Scope | null {
  if (defaultScope === undefined) return null;
  if (isolation === undefined) return Object.freeze(parseScope(defaultScope));
  throw new MemoryError(
    "INVALID_INPUT",
    '`defaultScope` is for apps of one user, and isolation: "rls" for many tenants: there, a run that names nobody ' +
      "is a mistake to be refused, and not somebody's. Leave one of the two out.",
  );
}

/** What `options` say, checked and with defaults. Nothing is opened. */
function createRuntime(options: MemoryOptions, onRetry: (delayMs: number) => void): Runtime<ResolvedConfig> {
  const config = resolveConfig(options.config);
  const logger = lineLogger(options.logger ?? defaultLogger);
  const { schema = "mnemograph", clock, isolation, embeddings } = options;
  const { language } = config.retrieval;
  const onBack = (outage: Outage) => void keepOutage(db, outage, logger);
  const settings = { schemaName: schema, clock, isolation, language, onBack, ...config.database };
  const db: Database = openDatabase(options.database, settings, logger);
  return {
    ...{ db, config, logger, onRetry },
    embedder: embeddings ? createEmbedder(db, embeddings, options.embeddingSpace) : null,
    redactor: createRedactor(options.redact),
    clock: clock ?? (() => new Date()),
    hasModel: options.model !== undefined,
    model() {
      if (options.model) return options.model;
      throw new MemoryError("MODEL_REQUIRED", "Background work needs a model: createMemory({ model }).");
    },
  };
}

/** Keeps an event of it, which is nobody's. */
async function keepOutage(db: Database, { durationMs, refused }: Outage, logger: Logger): Promise<void> {
  const detail = `after ${Math.round(durationMs / 1_000)} s, ${refused} calls refused`;
  const event = { scope: nobody, step: "database", op: "resume", status: "ok", detail } as const;
  await asTenant(nobody.tenantId, () => insertEvent(db, event)).catch((error: unknown) => {
    logger.error(`an event could not be kept: ${errorLine(error)}`);
  });
}

/** The two ends of a round, and questions within it; each a span. */
function createRounds(
  runtime: Runtime<ResolvedConfig>,
  observe: Observe,
  { background, start }: Upkeep,
): Pick<Memory, "record" | "recall" | "remember" | "query"> {
  return {
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
      await start(remembered.summary, due);
      // The first turn also looks for what a dead process left behind; it costs that turn nothing.
      background.startSweeping();
      return remembered;
    },
    query: (async (input: MemoryQuery) => {
      const { hits, form, budgetTokens } = await observe(
        spans.query,
        (seen) => queryMemories({ ...runtime, db: seen }, input),
        reportHits(input?.query),
      );
      return form === null ? fittingHits(hits, budgetTokens) : bulletsOf(hits, form, budgetTokens);
    }) as Memory["query"],
  };
}

/** How ways in tell of what happened to them. */
function createWayIn({ db, config, logger }: Runtime<ResolvedConfig>, defaultScope: Scope | null): WayIn {
  const emit = async (event: MemoryEvent) => {
    parseInput(eventSchema, event, "event");
    try {
      await insertEvent(db, { ...event, scope: parseScope(event.scope) }, config.retrieval);
    } catch (error) {
      logger.error(`an event could not be kept: ${errorLine(error)}`);
    }
  };
  return {
    emit,
    defaultScope: () => defaultScope,
    refuse: (input) => refuseInConversation(db, input),
    async reportError(failure) {
      parseInput(failureSchema, failure, "failure");
      const { node, error, scope, threadId } = failure;
      const words = config.telemetry.content ? ` (${errorWords(error)})` : "";
      logger.error(
        `${node} failed for ${threadId}, the turn goes on without it: ${errorLine(error)}${words}`,
        { threadId, step: node, ...(MemoryError.is(error) && { code: error.code }) },
      );
      // Trying to write to a database that is down would make the user wait once more.
      if (MemoryError.is(error, "DATABASE_UNAVAILABLE")) return;
      if (MemoryError.is(error) && isConnectionError(error.cause)) return;
      const detail = MemoryError.is(error) ? error.code : "UNEXPECTED";
      const op = ({ recall: "search", consent: "approve", remember: "create" } as const)[node];
      await emit({ scope, threadId, step: node, op, status: "error", detail });
    },
  };
}
