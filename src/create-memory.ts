import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { closeAfterCalls } from "./calls-under-way.js";
import { createCheckpointsApi } from "./checkpoints/prune-checkpoints.js";
import { createConsentsApi } from "./consents/consents-api.js";
import { consolidate } from "./consolidation/consolidate.js";
import { claimThread } from "./conversation/claim-thread.js";
import { endThread } from "./conversation/end-thread.js";
import { listMessages } from "./conversation/list-messages.js";
import { listThreads } from "./conversation/list-threads.js";
import { record } from "./conversation/record.js";
import { listShown } from "./conversation/shown-turns.js";
import { MemoryError } from "./errors.js";
import { insertEvent, type MemoryEvent } from "./events/event-log.js";
import { createEventsApi } from "./events/events.js";
import { countWork, statsOfWork } from "./events/memory-stats.js";
import { type StatsByDayOf, statsByDay } from "./events/stats-by-day.js";
import { deleteThread, forget } from "./forgetting/forget.js";
import { isolatedMemory } from "./isolated-memory.js";
import { createJobsApi } from "./jobs/jobs-api.js";
import { OwnedPostgresSaver, setUpCheckpointer } from "./langgraph/checkpointer/owned-postgres-saver.js";
import { defaultLogger, errorLine, errorWords, type Logger, lineLogger } from "./logger.js";
import { createChangesApi } from "./memories/changes/changes-api.js";
import { createQuarantineApi } from "./memories/edit/quarantine.js";
import { createMemoriesApi } from "./memories/memories-api.js";
import { writingProblemNames } from "./memories/write/writing-constraints.rule.js";
import type { Memory } from "./memory.js";
import { eventSchema, failureSchema, memoryOptionsSchema, statsSchema } from "./memory-input.js";
import type { MemoryOptions } from "./memory-options.js";
import { createEmbedder } from "./models/embedder.js";
import { memoryVectors, reembed } from "./models/reembed.js";
import { type AppStatsOf, appStats } from "./notes/app-stats.js";
import { createNotesApi, type NotesApi } from "./notes/notes-api.js";
import { type ResolvedConfig, resolveConfig } from "./options.js";
import { type AppsApi, createAppsApi, createUsersApi, type UsersApi } from "./owners/users-api.js";
import type { Outage } from "./postgres/circuit-breaker.js";
import type { Database } from "./postgres/database.js";
import { isConnectionError } from "./postgres/database-error.js";
import { asTenant } from "./postgres/isolation.js";
import { migrate } from "./postgres/migrate.js";
import { openDatabase } from "./postgres/open-database.js";
import { createProceduresApi } from "./procedures/procedures-api.js";
import { createNoteWrite } from "./rounds/bring-up.js";
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
import { nobody, parseScope, parseScopeIn, type Scope, threadForbidden } from "./scope/scope.js";
import { bulletsOf, fittingHits } from "./search/answer-query.js";
import { explainQuery } from "./search/explain-query.js";
import { createHolding, type Holding } from "./search/held/holding.js";
import { type MemoryQuery, queryMemories } from "./search/query-memories.js";
import { searchTranscript } from "./search/search-transcript.js";
import { importStore } from "./store/import-store.js";
import { itemVectors } from "./store/item-vectors.js";
import { createStore } from "./store/langgraph-store.js";
import { createSummariesApi } from "./summaries/summaries-api.js";
import { parseInput } from "./text/parse-input.js";
import { createRedactor } from "./text/redactor.js";
import { exportScope } from "./transfer/export-scope.js";
import { importLines } from "./transfer/import-lines.js";
import { createUpkeep, type Upkeep } from "./upkeep.js";
import { createEnergyApi } from "./usage/energy-api.js";
import { findEnergyToday } from "./usage/energy-statements.js";
import { createUsage, type ProcessUsage } from "./usage/usage.js";
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
  return closeAfterCalls(openMemory(options));
}

function openMemory(options: MemoryOptions): MemoryWithWayIn {
  const defaultScope = parseDefaultScope(options);
  const base = createRuntime(options, (delayMs) => upkeep.background.wakeIn(delayMs));
  const holding = createHolding(base);
  const noteWrite = createNoteWrite({ db: base.db, holding }, base.config.retrieval.timeoutMs);
  const runtime = { ...base, neighbours: holding.neighbours, noteWrite };
  const { db, config } = runtime;
  /** For work in bulk, whose statements have no deadline. */
  const patient = { ...runtime, db: db.patient };
  const observe = createObserve(db, config.telemetry, runtime.redactor);
  const upkeep: Upkeep = createUpkeep(runtime, patient, observe, options.jobs ?? "background");
  const { background, lifecycle } = upkeep;
  let saver: PostgresSaver | undefined;
  let closing: Promise<void> | undefined;

  const memory: MemoryWithWayIn = {
    setup: () =>
      migrate(db, {
        vectors: options.embeddings !== undefined,
        isolation: options.isolation === "rls",
        also: (client) => setUpCheckpointer(client, db.schemaName),
      }),
    ...createRounds(runtime, observe, upkeep, holding),
    summaries: createSummariesApi(db),
    memories: createMemoriesApi(runtime),
    procedures: createProceduresApi(runtime),
    notes: purgingNone(createNotesApi(runtime), holding),
    quarantine: createQuarantineApi(runtime),
    changes: createChangesApi(db),
    events: createEventsApi(db),
    lifecycle: lifecycle.api,
    jobs: createJobsApi(db, upkeep.startTicket),
    consents: createConsentsApi(runtime),
    transcript: { search: (input) => searchTranscript(runtime, input) },
    threads: createThreads(runtime, upkeep, holding),
    checkpointer() {
      saver ??= new OwnedPostgresSaver(db, defaultScope);
      return saver;
    },
    checkpoints: createCheckpointsApi(db.patient),
    store: (input) =>
      createStore(runtime, input, { scope: options.isolation === "rls" ? "refuse" : defaultScope }),
    importStore: (input = {}) => importStore(patient, input, options.isolation === "rls"),
    ...openGraphs(upkeep.jobs),
    consolidate: (input) => consolidate(runtime, upkeep.jobs.consolidation, input),
    users: holdingNone(createUsersApi(runtime), holding),
    apps: createApps(runtime, upkeep, holding),
    stats: statsOn(runtime),
    energy: createEnergyApi(db, config.energy),
    energyConsumedSinceLastPoll: runtime.usage.energyConsumedSinceLastPoll,
    upkeep: background.upkeep,
    work: background.work,
    reembed: (how) => reembed(patient, [memoryVectors, itemVectors], how),
    forget: (scope, how) => holding.without(how, [scope], () => forget(db.patient, scope, how)),
    export: (scope) => exportScope(db.patient, scope, runtime.clock),
    import: (lines, how) => importLines(patient, lines, how),
    policy: config.policy,
    databaseStatus: db.status,
    [wayInKey]: createWayIn(runtime, defaultScope),
    held: holding.owners.status,
    async idle() {
      await background.idle();
      await holding.idle();
    },
    close() {
      closing ??= (async () => {
        await background.stop();
        await holding.close();
        await db.close();
      })();
      return closing;
    },
  };
  return options.isolation === "rls" ? (isolatedMemory(memory) as MemoryWithWayIn) : memory;
}

/** The background graphs as callers open them: copies, since LangGraph's server sets its own checkpointer on what it is given. */
function openGraphs(jobs: Upkeep["jobs"]) {
  return {
    summarizationGraph: () => jobs.summarization.graph.withConfig({}),
    extractionGraph: () => jobs.extraction.graph.withConfig({}),
    compressionGraph: () => jobs.compression.graph.withConfig({}),
    noteGraph: () => jobs.note.graph.withConfig({}),
    compactionGraph: () => jobs.compaction.graph.withConfig({}),
    insightsGraph: () => jobs.insights.graph.withConfig({}),
    consolidationGraph: () => jobs.consolidation.graph.withConfig({}),
  };
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
function createRuntime(
  options: MemoryOptions,
  onRetry: (delayMs: number) => void,
): Runtime<ResolvedConfig> & { readonly usage: ProcessUsage } {
  const config = resolveConfig(options.config);
  const logger = lineLogger(options.logger ?? defaultLogger);
  const { database, schema: schemaName = "mnemograph" } = options;
  const { clock, isolation, embeddings } = options;
  const { language } = config.retrieval;
  const { timeoutMs } = config.upkeep;
  const onBack = (outage: Outage) => void keepOutage(db, outage, logger);
  const settings = { schemaName, clock, isolation, language, onBack, ...config.database };
  const db: Database = openDatabase(database, settings, logger);
  return {
    ...{ db, config, logger, onRetry },
    embedder: embeddings ? createEmbedder(db, embeddings, { timeoutMs }) : null,
    redactor: createRedactor(options.redact),
    clock: clock ?? (() => new Date()),
    usage: createUsage({ db, options: config.energy, logger }),
    hasModel: options.model !== undefined || typeof options.jobs === "object",
    modelHere: options.model !== undefined,
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
  holding: Holding,
): Pick<Memory, "record" | "recall" | "remember" | "query" | "explain"> {
  return {
    record: async (input) => {
      const { recorded, lastSeq } = await record(runtime, input);
      return { recorded, lastSeq };
    },
    recall: (input) =>
      observe(
        spans.recall,
        (seen) => recall({ ...runtime, holding, db: seen }, input),
        reportRecalled(input?.query),
      ),
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
    explain: (input) => explainQuery(runtime, input),
  };
}

/** Conversations: their list, and what becomes of one. */
function createThreads(
  runtime: Runtime<ResolvedConfig>,
  upkeep: Upkeep,
  holding: Holding,
): Memory["threads"] {
  const { db, config, hasModel } = runtime;
  return {
    list: (page) => listThreads(db, page),
    async end(input) {
      const { threadRef, noteDue, ...ended } = await endThread(
        runtime,
        input,
        hasModel && config.notes.enabled,
      );
      if (noteDue) await upkeep.startNote(threadRef);
      return ended;
    },
    delete: (input) => holding.without(input, [input?.scope], () => deleteThread(db.patient, input)),
    shown: (input) => listShown(db, input),
    messages: (input) => listMessages(db, input),
  };
}

/** `users`, of whom none is held that was merged. */
function holdingNone(users: UsersApi, holding: Holding): UsersApi {
  return {
    ...users,
    merge: (merge) => holding.without(merge, [merge?.from, merge?.to], () => users.merge(merge)),
  };
}

/** The statistics of `db`, of all or by app. */
function statsOn({ db: { patient: db }, clock }: Runtime<ResolvedConfig>): Memory["stats"] {
  return (async (of?: { readonly scope?: Scope } | AppStatsOf | StatsByDayOf) => {
    if (typeof of === "object" && of !== null && "by" in of) {
      return of.by === "day" ? statsByDay(db, clock?.() ?? new Date(), of) : appStats(db, of);
    }
    if (of !== undefined) parseInput(statsSchema, of, "statistics");
    const scope = parseScopeIn(of) ?? null;
    const worked = await countWork(db, scope, writingProblemNames);
    return { ...statsOfWork(worked), energy: await findEnergyToday(db, scope) };
  }) as Memory["stats"];
}

/** What there is of apps, of which none is held that was uninstalled. */
function createApps(
  { db, config, hasModel }: Runtime<ResolvedConfig>,
  { startNote }: Upkeep,
  holding: Holding,
): AppsApi {
  const apps = createAppsApi({ db, startNote: hasModel && config.notes.enabled ? startNote : null });
  return {
    ...apps,
    uninstall: (app, how) => holding.without(undefined, [app], () => apps.uninstall(app, how)),
  };
}

/** `notes`, of whose app nothing is held that was purged. */
function purgingNone(notes: NotesApi, holding: Holding): NotesApi {
  return { ...notes, purge: (what) => holding.without(what, [what?.scope], () => notes.purge(what)) };
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
    async claim(run) {
      if (!(await claimThread(db, run))) throw threadForbidden(run.threadId);
    },
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
