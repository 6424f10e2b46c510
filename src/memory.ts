import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { CheckpointsApi } from "./checkpoints/prune-checkpoints.js";
import type { ConsentsApi } from "./consents/consents-api.js";
import type { defineEpisodes } from "./episodes/define-episodes.js";
import type { defineFacts } from "./facts/define-facts.js";
import type { AsOf } from "./memories/audit/as-of.js";
import type { ChangesApi } from "./memories/audit/changes-api.js";
import type { CategoryPolicy } from "./memories/item/category.rule.js";
import type { MemoriesApi } from "./memories/memories-api.js";
import type { Reembedded, ReembedOptions } from "./models/reembed.js";
import type { defineCompaction } from "./notes/define-compaction.js";
import type { defineNotes } from "./notes/define-notes.js";
import type { NotesApi } from "./notes/notes-api.js";
import type { EventsApi } from "./observability/events/events.js";
import type { StatsCall } from "./observability/events/stats.js";
import type { EnergyApi } from "./observability/usage/energy.js";
import type { DatabaseStatus } from "./postgres/outage.js";
import type { ProceduresApi } from "./procedures/procedures-api.js";
import type { MemoryPrompt, PromptInput } from "./prompt/prompt-for.js";
import type { RecallInput } from "./prompt/recall-request.js";
import type { Recalled } from "./prompt/recalled.js";
import type { ConsolidationsApi } from "./reflection/consolidation/consolidations-api.js";
import type { defineConsolidation } from "./reflection/consolidation/define-consolidation.js";
import type { defineInsights } from "./reflection/insights/define-insights.js";
import type { Remembered } from "./remember/remember.js";
import type { ErasuresApi } from "./retention/forgetting/erasures-api.js";
import type { ForgetInput, Forgotten } from "./retention/forgetting/forget.js";
import type { AppsApi, UsersApi } from "./retention/owners/users-api.js";
import type { Scope } from "./scope/scope.js";
import type { MemoryBullet } from "./search/answer-query.js";
import type { Explanation } from "./search/explain-query.js";
import type { HitsThen, MemoryQuery, MemoryRequest } from "./search/query-memories.js";
import type { MemoryHit } from "./search/rank-memories.rule.js";
import type { SettingInUse } from "./settings-in-use.js";
import type { LangGraphStore, StoreInput } from "./store/langgraph-store.js";
import type { defineSummaries } from "./summaries/define-summaries.js";
import type { SummariesApi } from "./summaries/summaries-api.js";
import type { ThreadsApi, TranscriptApi } from "./threads-api.js";
import type { RecordInput } from "./transcript/record.js";
import type { ExportLine } from "./transfer/export-line.js";
import type { Imported, ImportInput } from "./transfer/import-lines.js";
import type { JobsApi } from "./work/jobs-api.js";
import type { JobWorker, WorkInput } from "./work/queue-runner.js";
import type { UpkeepInput } from "./work/runner.js";

/**
 * Long-term memory for agents. Every call takes one object, whose `scope` names the owner of the
 * memory.
 */
export interface Memory {
  /**
   * Creates or updates the tables; many processes may call it together. Returns the migrations that
   * ran. Logs that `reembed` is due, as after a change of the embeddings' model or dimensions.
   * @example
   * ```ts
   * console.log("migrations:", await memory.setup());
   * ```
   */
  setup(): Promise<string[]>;
  /**
   * Appends new messages to a thread's transcript. Returns how many were new.
   * @example
   * ```ts
   * const { recorded } = await memory.record({
   *   scope: { userId: "ana" },
   *   threadId: "t1",
   *   messages: [{ role: "user", content: "I am vegan." }],
   * });
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`, `THREAD_FORBIDDEN`, `REDACTION_FAILED`,
   * `BUSY`
   */
  record(input: RecordInput): Promise<{ recorded: number; lastSeq: number }>;
  /**
   * Reads what memory knows at the start of a turn. Takes one round trip after the embedding of the
   * question.
   * @example
   * ```ts
   * const { summary, memories } = await memory.recall({ scope: { userId: "ana" }, threadId: "t1", query: "Dinner?" });
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`, `THREAD_FORBIDDEN`
   */
  recall(input: RecallInput): Promise<Recalled>;
  /**
   * The prompt of a turn, for a program without a graph. Takes one round trip after the embedding
   * of the question.
   * @example
   * ```ts
   * const { messages, shown } = await memory.promptFor({ scope: { userId: "ana" }, threadId: "t1", query: "Dinner?" });
   * ```
   * @throws MemoryError as `recall`
   */
  promptFor(input: PromptInput): Promise<MemoryPrompt>;
  /**
   * Ends a turn: records its messages and starts due work: a summary, fact extraction, compression
   * of older turns. With `shown: shownBy(recalled)`, the shown memories count as used and seen.
   * @example
   * ```ts
   * await memory.remember({ scope: { userId: "ana" }, threadId: "t1", messages: [{ role: "user", content: "I am vegan." }] });
   * ```
   * @throws MemoryError as `record`
   */
  remember(input: RecordInput): Promise<Remembered>;
  /** The versions of a thread's summary: list them. Each names the one that it updates. */
  readonly summaries: SummariesApi;
  /** Durable memories one by one: add, read, change, remove, restore, and who changed what. */
  readonly memories: MemoriesApi;
  /** Steps that led to a result, written from a conversation. */
  readonly procedures: ProceduresApi;
  /**
   * An app's notes of ended conversations: list, count and remove them, delete all, or format them
   * for a prompt.
   */
  readonly notes: NotesApi;
  /** Changes in the memories of a user or an app since a revision. */
  readonly changes: ChangesApi;
  /** What memory did: counts and lists of events, without content. */
  readonly events: EventsApi;
  /** Unfinished background work: list it, and retry failed jobs. For operators. */
  readonly jobs: JobsApi;
  /** Requests for the user's consent: list and decide them. */
  readonly consents: ConsentsApi;
  /** Runs of consolidation: preview, list, apply and revert them. For operators. */
  readonly consolidations: ConsolidationsApi;
  /**
   * The hits of a question with the parts of each score, and related memories that are no hits, with
   * the reason; with `asOf` those of a past time. For debugging: it takes four round trips, and shows memories that the agent may not
   * read.
   * @example
   * ```ts
   * const { hits, omitted } = await memory.query({ scope: { userId: "ana" }, query: "What may she eat?", explain: true });
   * for (const { memory, reason, detail } of omitted) console.log(memory.text, reason, detail);
   * ```
   * @throws MemoryError `CATEGORY_DENIED`, `INVALID_INPUT`
   */
  query(
    input: MemoryQuery & { readonly explain: true; readonly asOf?: AsOf | undefined },
  ): Promise<Explanation>;
  /**
   * The memories that fitted a question at a past time, in their texts of then: see
   * `memories.list`. They are compared by their words; `byWords` says how many have no vector of
   * that text. Neither source messages nor links count.
   * @example
   * ```ts
   * const { hits, complete } = await memory.query({
   *   scope: { userId: "ana" },
   *   query: "What may she eat?",
   *   asOf: "2026-03-01",
   * });
   * ```
   * @throws MemoryError `CATEGORY_DENIED`, `INVALID_INPUT` also for a time in the future
   */
  query(
    input: MemoryQuery & { readonly return?: null | undefined; readonly asOf: AsOf },
  ): Promise<HitsThen>;
  /** The same, in the form that models read. */
  query(input: MemoryRequest & { readonly asOf: AsOf }): Promise<HitsThen<MemoryBullet>>;
  /**
   * The memories that fit a question, best first; none when nothing fits.
   * @example
   * ```ts
   * const hits = await memory.query({ scope: { userId: "ana" }, query: "What may she eat?", topK: 3 });
   * for (const { memory, reason } of hits) console.log(memory.text, reason);
   * ```
   * @throws MemoryError `CATEGORY_DENIED`, `INVALID_INPUT`
   */
  query(input: MemoryQuery & { readonly return?: null | undefined }): Promise<MemoryHit[]>;
  /** The same, in the form that models read. */
  query(input: MemoryRequest): Promise<MemoryBullet[]>;
  /** The messages of conversations, word for word. */
  readonly transcript: TranscriptApi;
  /**
   * Conversations: list, end and delete them, read their messages, and see what their turns were
   * shown and cost.
   */
  readonly threads: ThreadsApi;
  /**
   * LangGraph's Postgres checkpointer on the same pool. Only the owner of a thread can read its
   * checkpoints: pass the ids of the run to `getState`, `getStateHistory` and `updateState` as
   * well. `setup` creates its tables.
   * @example
   * ```ts
   * const graph = new StateGraph(MessagesAnnotation)
   *   .addNode("agent", () => ({ messages: [] }))
   *   .addEdge("__start__", "agent")
   *   .compile({ checkpointer: memory.checkpointer() });
   * await graph.invoke(
   *   { messages: [] },
   *   { configurable: { thread_id: "t9", userId: "ana" } },
   * );
   * ```
   */
  checkpointer(): PostgresSaver;
  /** LangGraph's checkpoints: delete superseded ones. */
  readonly checkpoints: CheckpointsApi;
  /**
   * A store for LangGraph (`BaseStore`) on the same tables, for `compile({ store })`,
   * `createAgent({ store })` and `getStore()`. Searches by words and, with embeddings, by meaning;
   * `forget`, `export` and row-level security include items of a scope. A batch runs in its order,
   * in one round trip for each scope.
   * @example
   * ```ts
   * const store = memory.store({ scope: ([, userId = ""]) => ({ userId }) });
   * await store.put(["memories", "ana"], "tea", { text: "Likes green tea." });
   * const found = await store.search(["memories", "ana"], { query: "What does she drink?" });
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  store(input?: StoreInput): LangGraphStore;
  /**
   * The graphs of background work, for Studio or to run by hand: `summarization`, `extraction`,
   * `compression` and `note` on `{ scope, threadId }`; `compaction` on the `{ scope }` of an app;
   * `insights` on that of a user, at most once a day and only after new messages or memories;
   * `consolidation` on either, even if it is not due. With nothing to do they end with the `status`
   * "skipped" and a `reason`, such as "too_early".
   * @example
   * ```ts
   * const { summarization } = memory.graphs();
   * const { status, reason } = await summarization.invoke({ scope: { userId: "ana" }, threadId: "t1" });
   * ```
   */
  graphs(): {
    readonly summarization: ReturnType<typeof defineSummaries>["graph"];
    readonly extraction: ReturnType<typeof defineFacts>["graph"];
    readonly compression: ReturnType<typeof defineEpisodes>["graph"];
    readonly note: ReturnType<typeof defineNotes>["graph"];
    readonly compaction: ReturnType<typeof defineCompaction>["graph"];
    readonly insights: ReturnType<typeof defineInsights>["graph"];
    readonly consolidation: ReturnType<typeof defineConsolidation>["graph"];
  };
  /** The users with stored data. */
  readonly users: UsersApi;
  /** The apps with stored data: list them, and uninstall one. */
  readonly apps: AppsApi;
  /** Statistics of memory: in total, by day or by app. */
  readonly stats: StatsCall;
  /** Each tenant's remaining budget for background calls of models. */
  readonly energy: EnergyApi;
  /**
   * Energy units that this process's background calls used since the last call, of all tenants.
   * Reads no table.
   * @example
   * ```ts
   * setInterval(() => console.log(memory.energyConsumedSinceLastPoll()), 60_000).unref();
   * ```
   */
  energyConsumedSinceLastPoll(): number;
  /**
   * Starts the work that is due now, at most 20 pieces of each kind: summaries, facts, episodes,
   * notes and compaction, insights, consolidation, ageing, expiry and purging. Includes retries,
   * work of dead workers, and silent conversations of apps. With `jobs: "inline"` it is done when
   * this returns, else `idle` waits for it; with pg-boss, workers are woken for it, and at most
   * 2,000 pieces of each kind are counted.
   * @example
   * ```ts
   * const due = await memory.upkeep({ kinds: ["lifecycle", "purge"] });
   * await memory.idle();
   * ```
   * @param which.kinds only these kinds, such as `upkeep({ kinds: ["lifecycle", "purge"] })`.
   * @default all
   * @returns how many pieces were due, without purging.
   * @throws MemoryError `INVALID_INPUT`
   */
  upkeep(which?: UpkeepInput): Promise<number>;
  /**
   * Does due work of all processes, woken by those with `jobs: boss`, until it is stopped; also the
   * work of dead workers. Where tenants are isolated, only the role that owns the tables
   * may.
   * @example
   * ```ts
   * const worker = await memory.work({ kinds: ["facts", "summaries"] });
   * process.once("SIGTERM", () => worker.stop().then(() => memory.close()));
   * ```
   * @throws MemoryError `INVALID_INPUT`, `PERMISSION_DENIED`, `PEER_MISSING`, `CLOSED`
   */
  work(input?: WorkInput): Promise<JobWorker>;
  /**
   * Makes the missing vectors of active memories and searchable store items, of all scopes, with
   * the configured embeddings. An interrupted run keeps its progress.
   * @example
   * ```ts
   * const { embedded, remaining } = await memory.reembed();
   * ```
   * @throws MemoryError `INVALID_INPUT` without embeddings, `EMBEDDING_FAILED`
   */
  reembed(options?: ReembedOptions): Promise<Reembedded>;
  /**
   * Deletes everything of a user, of a user within an app, or of an app, in every table and in the
   * checkpoints of its threads. Returns what was deleted. An interrupted run keeps its progress:
   * run it again.
   * @example
   * ```ts
   * const { total } = await memory.forget({ scope: { userId: "ana" }, dryRun: true });
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`; `BUSY` when others kept writing there:
   * then run it again
   */
  forget(input: ForgetInput): Promise<Forgotten>;
  /** What was erased, with receipts, and what users asked to forget. For operators. */
  readonly erasures: ErasuresApi;
  /**
   * The stored data of a user, of a user within an app, or of an app, line by line: threads with
   * their messages and summaries, memories, links, audit trail, changes, consents, work, items of
   * the store. Write each as one line of JSON. Reads in pages without a snapshot: for an exact
   * copy, export while nobody writes.
   * @example
   * ```ts
   * for await (const line of memory.export({ scope: { userId: "ana" } })) console.log(JSON.stringify(line));
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`
   */
  export(input: { readonly scope: Scope }): AsyncIterable<ExportLine>;
  /**
   * Restores an export into an empty scope, for operators. To continue an interrupted import, import the same file again. Memories that read as
   * instructions to a model go into quarantine. `reembed` makes the vectors.
   * @example
   * ```ts
   * const restored = createMemory({ database: process.env.OTHER_DATABASE_URL });
   * await restored.setup();
   * const { total } = await restored.import({ lines: memory.export({ scope: { userId: "ana" } }) });
   * ```
   * @throws MemoryError `WRONG_STATE` when the scope has data; `INVALID_INPUT` that names the line,
   *   `ID_TAKEN`, `FORGOTTEN`, `REDACTION_FAILED`, `BUSY`
   */
  import(input: ImportInput): Promise<Imported>;
  /** The categories, and which agents may read them. */
  readonly policy: CategoryPolicy;
  /**
   * The settings in use, group by group, each with its default. A secret, a connection, a function
   * or an object of yours is only "given". For operators.
   * @example
   * ```ts
   * for (const { group, name, value, changed } of memory.settings())
   *   if (changed) console.log(group, name, value);
   * ```
   */
  settings(): SettingInUse[];
  /**
   * Whether the database answered this memory's last statements; sends none. For health checks.
   * @example
   * ```ts
   * const { state, silentMs } = memory.databaseStatus();
   * if (state === "paused") console.warn(`The database has been silent for ${silentMs} ms.`);
   * ```
   */
  databaseStatus(): DatabaseStatus;
  /**
   * Resolves when no background work of this process is running or waiting.
   * @example
   * ```ts
   * await memory.remember({ scope: { userId: "ana" }, threadId: "t1", messages: [] });
   * await memory.idle();
   * ```
   */
  idle(): Promise<void>;
  /**
   * Waits for running calls, at most ten seconds, and for background work, then ends the pool if it
   * created it.
   * @example
   * ```ts
   * await memory.close();
   * ```
   */
  close(): Promise<void>;
}
