import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { CheckpointsApi } from "./checkpoints/prune-checkpoints.js";
import type { ConsentsApi } from "./consents/consents-api.js";
import type { defineConsolidation } from "./consolidation/define-consolidation.js";
import type { EndedThread, EndThread } from "./conversation/end-thread.js";
import type { ListMessages, ThreadMessage } from "./conversation/list-messages.js";
import type { ListThreads, Thread } from "./conversation/list-threads.js";
import type { RecordInput } from "./conversation/record.js";
import type { ListShown, ShownTurn } from "./conversation/shown-turns.js";
import type { defineEpisodes } from "./episodes/define-episodes.js";
import type { EventsApi } from "./events/events.js";
import type { StatsCall } from "./events/stats.js";
import type { defineFacts } from "./facts/define-facts.js";
import type { ForgetOptions, Forgotten } from "./forgetting/erase-scope.js";
import type { DeleteThread } from "./forgetting/forget.js";
import type { defineInsights } from "./insights/define-insights.js";
import type { JobsApi } from "./jobs/jobs-api.js";
import type { JobWorker, WorkInput } from "./jobs/queue-runner.js";
import type { UpkeepInput } from "./jobs/runner.js";
import type { ChangesApi } from "./memories/changes/changes-api.js";
import type { CategoryPolicy } from "./memories/item/category.rule.js";
import type { MemoriesApi } from "./memories/memories-api.js";
import type { Reembedded, ReembedOptions } from "./models/reembed.js";
import type { defineCompaction } from "./notes/define-compaction.js";
import type { defineNotes } from "./notes/define-notes.js";
import type { NotesApi } from "./notes/notes-api.js";
import type { AppsApi, UsersApi } from "./owners/users-api.js";
import type { DatabaseStatus } from "./postgres/outage.js";
import type { ProceduresApi } from "./procedures/procedures-api.js";
import type { Scope } from "./scope/scope.js";
import type { MemoryBullet } from "./search/answer-query.js";
import type { Explanation } from "./search/explain-query.js";
import type { MemoryQuery, MemoryRequest } from "./search/query-memories.js";
import type { MemoryHit } from "./search/rank-memories.rule.js";
import type { TranscriptHit, TranscriptQuery } from "./search/search-transcript.js";
import type { LangGraphStore, StoreInput } from "./store/langgraph-store.js";
import type { defineSummaries } from "./summaries/define-summaries.js";
import type { SummariesApi } from "./summaries/summaries-api.js";
import type { ExportLine } from "./transfer/export-line.js";
import type { Imported, ImportOptions } from "./transfer/import-lines.js";
import type { RecallInput } from "./turns/recall.js";
import type { Recalled } from "./turns/recalled.js";
import type { Remembered } from "./turns/remember.js";
import type { ThreadCost } from "./turns/thread-cost.js";
import type { EnergyApi } from "./usage/energy.js";

/**
 * Long-term memory for agents. Where a call is about one thing (an id, drafts, a scope, an export), that comes first;
 * everything else is one object, whose `scope` says whose memory is meant.
 */
export interface Memory {
  /** Creates or updates the tables; safe from many processes at once. Returns the migrations that ran. */
  setup(): Promise<string[]>;
  /**
   * Appends messages to a thread's transcript, except those it has. Returns how many were new.
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`, `THREAD_FORBIDDEN`, `REDACTION_FAILED`, `BUSY`
   */
  record(input: RecordInput): Promise<{ recorded: number; lastSeq: number }>;
  /**
   * What memory knows at the start of a turn. One round trip, after the embedding of the question.
   * @example
   * ```ts
   * const { summary, memories } = await memory.recall({ scope: { userId: "ana" }, threadId: "t1", query: "Dinner?" });
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`, `THREAD_FORBIDDEN`
   */
  recall(input: RecallInput): Promise<Recalled>;
  /**
   * Ends a turn: records its messages and starts what is due: a summary, the extraction of facts, the compression
   * of older turns. With `shown: shownBy(recalled)`, what the turn was shown counts as used and as seen.
   * @example
   * ```ts
   * await memory.remember({ scope: { userId: "ana" }, threadId: "t1", messages: [{ role: "user", content: "I am vegan." }] });
   * ```
   * @throws MemoryError as `record`
   */
  remember(input: RecordInput): Promise<Remembered>;
  /** The versions of each thread's summary: list them, follow their chain, go back to an earlier one. */
  readonly summaries: SummariesApi;
  /** Durable memories one by one: add, read, change, remove, restore, and who changed what. */
  readonly memories: MemoriesApi;
  /** Steps that led to a result, written down from a conversation. */
  readonly procedures: ProceduresApi;
  /** What an app remembers of conversations that ended: list, search, show and delete its notes. */
  readonly notes: NotesApi;
  /** What changed in the memories of a user or an app since a revision. */
  readonly changes: ChangesApi;
  /** What memory did: counts and lists of events, without content. */
  readonly events: EventsApi;
  /** Background work that is not done: list it, and try again what failed. For operators. */
  readonly jobs: JobsApi;
  /** Requests for the user's consent: list and decide them. */
  readonly consents: ConsentsApi;
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
  /** The same as models are given it. */
  query(input: MemoryRequest): Promise<MemoryBullet[]>;
  /**
   * The same hits with the score of each taken apart, and related memories that are no hits, with the reason.
   * For people who look: it takes four round trips, and shows memories that the agent may not read.
   * @example
   * ```ts
   * const { hits, omitted } = await memory.query({ scope: { userId: "ana" }, query: "What may she eat?", explain: true });
   * for (const { memory, reason, detail } of omitted) console.log(memory.text, reason, detail);
   * ```
   * @throws MemoryError `CATEGORY_DENIED`, `INVALID_INPUT`
   */
  query(input: MemoryQuery & { readonly explain: true }): Promise<Explanation>;
  /** What was said, word for word. */
  readonly transcript: {
    /** What was said that fits a question, best first. @throws MemoryError `INVALID_INPUT` */
    search(input: TranscriptQuery): Promise<TranscriptHit[]>;
  };
  /** Conversations: list, end and delete them, and see what their turns were shown. */
  readonly threads: {
    /** An app's threads or a user's (without `appId`, in all apps), latest first. @throws MemoryError `INVALID_INPUT` */
    list(input: ListThreads): Promise<Thread[]>;
    /**
     * Ends a conversation. One with an app leaves a note of what was said since its last one, made in the background; see
     * `config.notes`. Ending it again changes nothing; a message opens it again.
     * @example
     * ```ts
     * await memory.threads.end({ scope: { userId: "ana", appId: "shop" }, threadId: "t1", reason: "resolved" });
     * ```
     * @throws MemoryError `NOT_FOUND`, `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`
     */
    end(input: EndThread): Promise<EndedThread>;
    /**
     * Deletes a thread with its messages, summaries, episodes, checkpoints and events. What was learned there stays
     * without its source, or goes as well.
     * @throws MemoryError `NOT_FOUND`, `SCOPE_REQUIRED`, `INVALID_INPUT`, `BUSY`
     */
    delete(input: DeleteThread): Promise<Forgotten>;
    /**
     * Which memories each turn of a thread was shown in which part of the block, latest first, and how many were omitted.
     * @throws MemoryError `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`
     */
    shown(input: ListShown): Promise<ShownTurn[]>;
    /**
     * What a thread took of models, in tokens: turn by turn, latest first, and in all; what prompts shared and caches
     * served; and background calls by kind. As models report it, else estimated.
     * @throws MemoryError `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`
     */
    cost(input: ListShown): Promise<ThreadCost>;
    /**
     * Messages of a thread, in order, page by page: the last ones, those before a `seq`, or those after one.
     * @throws MemoryError `THREAD_FORBIDDEN`, `SCOPE_REQUIRED`, `INVALID_INPUT`
     */
    messages(input: ListMessages): Promise<ThreadMessage[]>;
  };
  /**
   * LangGraph's Postgres checkpointer on the same pool, which gives the checkpoints of a thread to their owner only:
   * pass the ids of the run to `getState`, `getStateHistory` and `updateState` as well. `setup` makes its tables.
   */
  checkpointer(): PostgresSaver;
  /** LangGraph's checkpoints: delete those that are superseded. */
  readonly checkpoints: CheckpointsApi;
  /**
   * A store for LangGraph (`BaseStore`) on the same tables: for `compile({ store })`, `createAgent({ store })`, and what
   * uses `getStore()`. Items are found by words and, with embeddings, by meaning; `forget`, `export` and row-level security
   * reach those of a scope. A batch runs in its order, in one round trip for each scope.
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
   * The graphs of background work, for Studio or to run by hand: `summarization`, `extraction`, `compression` and `note`
   * on `{ scope, threadId }`; `compaction` on the `{ scope }` of an app; `insights`, at most once a day and only since
   * something new was said or learned, on that of a user; `consolidation` on either, whether it is due or not.
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
  /** The users that something is kept of. */
  readonly users: UsersApi;
  /** The apps that something is kept of: list them, and take one out of use. */
  readonly apps: AppsApi;
  /** How memory has worked, by day or by app. */
  readonly stats: StatsCall;
  /** What is left to each tenant for background calls of models. */
  readonly energy: EnergyApi;
  /** Units of energy that background calls of this process took since the last call, of all tenants. Reads no table. */
  energyConsumedSinceLastPoll(): number;
  /**
   * Starts the work that is due now, at most 20 pieces of each kind: summaries, facts, episodes, notes and compaction,
   * insights, consolidation, ageing, expiry and purging. That includes retries, what a dead worker left, and conversations
   * of apps that have gone silent. With `jobs: "inline"` it is done when this returns, else `idle` waits for it; with
   * pg-boss it is put in the queues, at most 2,000 pieces of each kind.
   * @param which.kinds only these, as `upkeep({ kinds: ["lifecycle", "purge"] })`. @default all
   * @returns how many pieces were due, without purging.
   * @throws MemoryError `INVALID_INPUT`
   */
  upkeep(which?: UpkeepInput): Promise<number>;
  /**
   * Does the jobs that processes with `jobs: boss` put in queues, until it is stopped, and what a dead worker left or a
   * queue lost. Where tenants are isolated, only the role that owns the tables may.
   * @example
   * ```ts
   * const worker = await memory.work({ kinds: ["facts", "summaries"] });
   * process.once("SIGTERM", () => worker.stop().then(() => memory.close()));
   * ```
   * @throws MemoryError `INVALID_INPUT`, `PERMISSION_DENIED`, `PEER_MISSING`, `CLOSED`
   */
  work(input?: WorkInput): Promise<JobWorker>;
  /**
   * Gives active memories and searched store items, of all scopes, the vectors of the configured embeddings that they
   * lack. What is done stays done when it is interrupted.
   * @throws MemoryError `INVALID_INPUT` without embeddings, `EMBEDDING_FAILED`, `DIMENSION_MISMATCH`
   */
  reembed(options?: ReembedOptions): Promise<Reembedded>;
  /**
   * Deletes everything of a user, of a user within an app, or of an app, in every table and in the checkpoints of
   * its threads, and says what went. What is done stays done when it is interrupted: run it again.
   * @example
   * ```ts
   * const { total } = await memory.forget({ userId: "ana" }, { dryRun: true });
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`; `BUSY` when others kept writing there: then run it again
   */
  forget(scope: Scope, options?: ForgetOptions): Promise<Forgotten>;
  /**
   * What is kept of a user, of a user within an app, or of an app, line by line: threads with their messages and
   * summaries, memories, links, audit trail, changes, consents. Write each as one line of JSON. Read in pages without a
   * snapshot: for an exact copy export while nobody writes.
   * @example
   * ```ts
   * for await (const line of memory.export({ userId: "ana" })) console.log(JSON.stringify(line));
   * ```
   * @throws MemoryError `SCOPE_REQUIRED`
   */
  export(scope: Scope): AsyncIterable<ExportLine>;
  /**
   * Restores an export into an empty scope, for operators: each line as text, or as `export` gives it. Interrupted, it
   * continues when the same file is imported again. What reads as instructions to a model waits in quarantine.
   * `reembed` makes the vectors.
   * @throws MemoryError `WRONG_STATE` when the scope has data; `INVALID_INPUT` that names the line, `ID_TAKEN`,
   *   `FORGOTTEN`, `REDACTION_FAILED`, `BUSY`
   */
  import(
    lines: AsyncIterable<string | ExportLine> | Iterable<string | ExportLine>,
    options?: ImportOptions,
  ): Promise<Imported>;
  /** Which categories there are, and which agents may read them. */
  readonly policy: CategoryPolicy;
  /** Whether the database answers, as this memory's own statements found it; it asks nothing. For health checks. */
  databaseStatus(): DatabaseStatus;
  /** Resolves when no background work of this process is running or waiting. */
  idle(): Promise<void>;
  /** Waits for running calls, ten seconds at most, and for background work, then ends the pool if it was made here. */
  close(): Promise<void>;
}
