import sql from "sql-template-tag";
import { z } from "zod";
import { createCheckpointsApi } from "./checkpoints/prune-checkpoints.js";
import { closeAfterCalls, once } from "./composition/close-after-calls.js";
import { createInternalApi } from "./composition/create-internal-api.js";
import { createRuntime } from "./composition/create-runtime.js";
import { isolatedMemory } from "./composition/isolated-memory.js";
import { createMaintenance, type Maintenance } from "./composition/maintenance.js";
import {
  createObserve,
  type Observe,
  reportHits,
  reportRecalled,
  reportRemembered,
  type SpanReport,
} from "./composition/observe.js";
import { watchLevels } from "./composition/watch-levels.js";
import type { ChangedConstants, ResolvedConfig } from "./config.js";
import { createConsentsApi } from "./consents/consents-api.js";
import { type MemoryOptions, memoryOptionsSchema } from "./create-memory-options.js";
import { MemoryError } from "./errors.js";
import { parseInput } from "./input/parse-input.js";
import { internalApiKey, type MemoryWithInternalApi } from "./internal-api.js";
import { OwnedPostgresSaver } from "./langgraph/checkpointer/owned-postgres-saver.js";
import { setUpCheckpointer } from "./langgraph/checkpointer/set-up-checkpointer.js";
import { createChangesApi } from "./memories/audit/changes-api.js";
import { createMemoriesApi } from "./memories/memories-api.js";
import { writingProblemNames } from "./memories/write/writing-constraints.rule.js";
import type { Memory } from "./memory.js";
import { reembed, reportLacking } from "./models/reembed.js";
import { createNotesApi } from "./notes/notes-api.js";
import { leavesNotes } from "./notes/notes-options.js";
import { actions } from "./observability/events/event-log.js";
import { createEventsApi } from "./observability/events/events.js";
import { createStats } from "./observability/events/stats.js";
import { createEnergyApi } from "./observability/usage/energy.js";
import { acrossTenants, asTenant } from "./postgres/isolation.js";
import { migrate } from "./postgres/migrate.js";
import { createProceduresApi } from "./procedures/procedures-api.js";
import { parsePromptInput, promptOf } from "./prompt/prompt-for.js";
import { recall } from "./prompt/recall.js";
import { replayTurn } from "./prompt/replay.js";
import { listShownWords } from "./prompt/shown-words.js";
import { threadCost } from "./prompt/thread-cost.js";
import { createConsolidationsApi } from "./reflection/consolidation/consolidations-api.js";
import { removeMessage, replaceMessage } from "./remember/change-transcript.js";
import { recordTurn } from "./remember/edited-messages.js";
import { remember } from "./remember/remember.js";
import { createErasuresApi } from "./retention/forgetting/erasures-api.js";
import { deleteThread, forget } from "./retention/forgetting/forget.js";
import { listOwners } from "./retention/owners/list-owners.js";
import { uninstallApp } from "./retention/owners/uninstall-app.js";
import type { Runtime } from "./runtime.js";
import { parseScope, requiredScope, type Scope, type ThreadRef } from "./scope/scope.js";
import { bulletsOf, hitsWithinBudget } from "./search/answer-query.js";
import { explainQuery } from "./search/explain-query.js";
import { queryMemories } from "./search/query-memories.js";
import { searchTranscript } from "./search/search-transcript.js";
import { settingsInUse } from "./settings-in-use.js";
import { vectorRows } from "./store/item-vectors.js";
import { createStore } from "./store/langgraph-store.js";
import { createSummariesApi } from "./summaries/summaries-api.js";
import { endThread } from "./transcript/end-thread.js";
import { listMessages } from "./transcript/list-messages.js";
import { listThreads } from "./transcript/list-threads.js";
import { listShownTo } from "./transcript/shown-to.js";
import { listShown } from "./transcript/shown-turns.js";
import { exportLines } from "./transfer/export-scope.js";
import { importLines } from "./transfer/import-lines.js";
import { createJobsApi } from "./work/jobs-api.js";
import { otherThreads } from "./work/work-table.js";

/**
 * Creates a memory on `options.database`. Opens nothing before the first call.
 * @example
 * ```ts
 * const memory = createMemory({ database: process.env.DATABASE_URL });
 * await memory.setup();
 * ```
 * @throws MemoryError `INVALID_INPUT`, `PEER_MISSING`
 */
export function createMemory(options: MemoryOptions = {}): Memory {
  return createMemoryWith(options, {});
}

/** `createMemory` with other constants, for the package's own tests and benches. */
export function createMemoryWith(options: MemoryOptions, constants: ChangedConstants): Memory {
  parseInput(memoryOptionsSchema, options, "options of createMemory");
  return closeAfterCalls(assembleMemory(options, constants));
}

function assembleMemory(
  options: MemoryOptions,
  constants: ChangedConstants,
): MemoryWithInternalApi {
  // Its services, before anything is opened.
  const defaultScope = parseDefaultScope(options);
  const isIsolated = options.isolation === "rls";
  const runtime = createRuntime(options, constants, (...retry) => runner.wakeIn(...retry));
  const { db, config, clock } = runtime;
  /** For bulk work, whose statements have no deadline. */
  const bulk = { ...runtime, db: db.patient };
  const observe = createObserve(db, config.spans);
  // What it does in the background.
  const maintenance: Maintenance = createMaintenance(runtime, observe, options.jobs);
  const { runner } = maintenance;
  const endLevels = watchLevels(runtime);
  const startNote: StartNote =
    runtime.hasModel && leavesNotes(config.notes)
      ? (ref, { tenantId }) => asTenant(tenantId, () => runner.start({ kind: "notes", ref }))
      : null;

  // Its calls.
  const memory: MemoryWithInternalApi = {
    setup: () => setUpSchema(runtime, options),
    ...createTurnCalls(runtime, observe, maintenance),
    summaries: createSummariesApi(db),
    memories: createMemoriesApi(runtime),
    procedures: createProceduresApi(runtime),
    notes: createNotesApi(runtime),
    changes: createChangesApi(db),
    consents: createConsentsApi(runtime),
    consolidations: createConsolidationsApi(runtime),
    transcript: createTranscript(runtime, maintenance),
    threads: createThreads(runtime, maintenance, startNote),
    users: { list: (page) => listOwners(db, "users", page) },
    apps: {
      list: (page) => listOwners(db, "apps", page),
      uninstall: (input) => uninstallApp({ db, startNote }, input),
    },
    checkpointer: once(() => new OwnedPostgresSaver(db, defaultScope)),
    checkpoints: createCheckpointsApi(db),
    store: (input) => createStore(runtime, input, { scope: defaultScope, isRequired: isIsolated }),
    graphs: () => openGraphs(maintenance.works),
    jobs: createJobsApi(runtime, runner.start),
    upkeep: runner.upkeep,
    work: runner.work,
    idle: maintenance.idle,
    events: createEventsApi(db),
    stats: createStats(db.patient, {
      formProblems: writingProblemNames,
      energy: config.energy,
      clock,
    }),
    energy: createEnergyApi(db, config.energy),
    energyConsumedSinceLastPoll: runtime.usage.energyConsumedSinceLastPoll,
    reembed: (how) => reembed(bulk, vectorRows, how),
    forget: (input) => forget({ db: db.patient, receipts: config.receipts }, input),
    erasures: createErasuresApi({ ...runtime, db: db.patient }),
    export: (input) =>
      exportLines(db.patient, parseInput(exportSchema, input, "export").scope, clock),
    import: (input) => importLines(bulk, input),
    policy: config.policy,
    settings: () => settingsInUse(options, config.settings),
    databaseStatus: db.status,
    [internalApiKey]: createInternalApi(runtime, defaultScope),
    close: once(async () => {
      endLevels();
      await runner.stop();
      await db.close();
    }),
  };
  return isIsolated ? (isolatedMemory(memory) as MemoryWithInternalApi) : memory;
}

async function setUpSchema(
  runtime: Runtime<ResolvedConfig>,
  { embeddings, isolation }: MemoryOptions,
): ReturnType<Memory["setup"]> {
  const { db } = runtime;
  const applied = await migrate(db, {
    vectors: Boolean(embeddings),
    isolation: isolation === "rls",
    also: setUpCheckpointer,
  });
  const bulk = { ...runtime, db: db.patient };
  if (await db.mayCrossTenants()) await acrossTenants(() => reportLacking(bulk, vectorRows));
  return applied;
}

const exportSchema = z.strictObject({ scope: requiredScope });

/** Starts the note of an ended conversation; null where conversations leave none. */
type StartNote = ((ref: ThreadRef, scope: Scope) => Promise<void>) | null;

/** Copies, since LangGraph's server sets its own checkpointer on each graph. */
function openGraphs(works: Maintenance["works"]): ReturnType<Memory["graphs"]> {
  const { summaries, facts, episodes, notes, compaction, insights, consolidation } = works;
  return {
    summarization: summaries.graph.withConfig({}),
    extraction: facts.graph.withConfig({}),
    compression: episodes.graph.withConfig({}),
    note: notes.graph.withConfig({}),
    compaction: compaction.graph.withConfig({}),
    insights: insights.graph.withConfig({}),
    consolidation: consolidation.graph.withConfig({}),
  };
}

function parseDefaultScope({ defaultScope, isolation }: MemoryOptions): Scope | null {
  if (defaultScope === undefined) return null;
  if (isolation === undefined) return Object.freeze(parseScope(defaultScope));
  const why =
    "where tenants are isolated, a run without a scope must fail. Leave one of the two out.";
  throw new MemoryError(
    "INVALID_INPUT",
    `\`defaultScope\` does not go with isolation: "rls": ${why}`,
  );
}

function createTurnCalls(
  runtime: Runtime<ResolvedConfig>,
  observe: Observe,
  { runner, start, hasten }: Maintenance,
): Pick<Memory, "record" | "recall" | "promptFor" | "remember" | "query"> {
  const observed =
    <Input extends Parameters<Observe>[3], Result>(
      name: "recall" | "remember" | "query",
      call: (runtime: Runtime<ResolvedConfig>, input: Input) => Promise<Result>,
      report: (result: Result) => SpanReport,
    ) =>
    (input: Input) =>
      observe({ name, ...actions[name] }, (db) => call({ ...runtime, db }, input), report, input);
  const observedRecall = observed("recall", recall, reportRecalled);
  const observedRemember = observed("remember", remember, reportRemembered);
  const observedQuery = observed("query", queryMemories, reportHits);
  return {
    record: async (input) => {
      const { recorded, lastSeq } = await recordTurn(runtime, input);
      return { recorded, lastSeq };
    },
    recall: observedRecall,
    promptFor: async (input) => promptOf(await observedRecall(parsePromptInput(input)), input),
    async remember(input) {
      const { remembered, due, isNewThread, threadRef } = await observedRemember(input);
      await asTenant(input.scope.tenantId, async () => {
        await start(due);
        if (isNewThread) await hasten(otherThreads(runtime.db, threadRef));
      });
      // The first turn also finds the work of dead processes, without waiting for it.
      runner.startSweeping();
      return remembered;
    },
    query: (async (request) => {
      const { explain, ...given } = parseInput(explainSchema, request, "query");
      const query = given as object as Parameters<typeof queryMemories>[1];
      if (explain) return explainQuery(runtime, query);
      const { hits, form, past, ...shape } = await observedQuery(query);
      const shown =
        form === null ? hitsWithinBudget(hits, shape.budgetTokens) : bulletsOf(hits, form, shape);
      return past ? { hits: shown, ...past } : shown;
    }) as Memory["query"],
  };
}

const explainSchema = z.looseObject({ explain: z.boolean().optional() });

function createTranscript(
  runtime: Runtime<ResolvedConfig>,
  { start }: Maintenance,
): Memory["transcript"] {
  return {
    search: (input) => searchTranscript(runtime, input),
    remove: (input) => removeMessage(runtime, input),
    async replace(input) {
      const { changed, due } = await replaceMessage(runtime, input);
      await asTenant(input.scope.tenantId, () => start(due));
      return changed;
    },
  };
}

function createThreads(
  runtime: Runtime<ResolvedConfig>,
  { hasten }: Maintenance,
  startNote: StartNote,
): Memory["threads"] {
  const { db } = runtime;
  return {
    list: (page) => listThreads(db, page),
    async end(input) {
      const { threadRef, noteDue, ...ended } = await endThread(runtime, input, startNote !== null);
      await asTenant(input.scope.tenantId, () => hasten(sql`select ${threadRef}::bigint`));
      if (noteDue) await startNote?.(threadRef, input.scope);
      return ended;
    },
    delete: (input) => deleteThread(db.patient, input),
    shown: (input) => listShown(db, input),
    shownWords: (input) => listShownWords(db, input),
    replay: (input) => replayTurn(runtime, input),
    shownTo: (input) => listShownTo(db, input),
    cost: (input) => threadCost(db, input),
    messages: (input) => listMessages(db, input),
  };
}
