export type { CellsApi, FreezeCell, ListedCell } from "./cells/cells-api.js";
export type { CheckpointsApi, Pruned, PruneOptions } from "./checkpoints/prune-checkpoints.js";
export type { Clock } from "./clock.js";
export type { PendingConsent } from "./consents/consent-lines.rule.js";
export type { ConsentListing } from "./consents/consent-rows.js";
export type { ConsentsApi } from "./consents/consents-api.js";
export type { ConsentDecision } from "./consents/decide-consent.js";
export type { ConsolidationConfig } from "./consolidation/consolidation-options.js";
export type { ClaimedThread, ThreadClaim } from "./conversation/claim-conversation.js";
export type { ConversationConfig } from "./conversation/conversation-options.js";
export type { EndedThread, EndThread } from "./conversation/end-thread.js";
export type { Conversation, ConversationSummary, LeftOut } from "./conversation/find-conversation.js";
export type { ListMessages, ThreadMessage } from "./conversation/list-messages.js";
export type { ListThreads, Thread } from "./conversation/list-threads.js";
export type { RecordInput } from "./conversation/record.js";
export type {
  ListShown,
  ShownMemory,
  ShownPart,
  ShownRound,
  ShownTurn,
} from "./conversation/shown-turns.js";
export { createMemory } from "./create-memory.js";
export { MemoryError, type MemoryErrorCode, type MemoryErrorDetails } from "./errors.js";
export type { EventNode, EventOp, EventStep } from "./events/event-log.js";
export type { EventCount, EventField, EventSelection, EventsApi, RecordedEvent } from "./events/events.js";
export type { MemoryStats } from "./events/memory-stats.js";
export type { DayStats, StatsByDay, StatsByDayOf } from "./events/stats-by-day.js";
export type { Purged } from "./forgetting/erase-app-memories.js";
export type { ForgetOptions, ForgetProgress, Forgotten } from "./forgetting/erase-scope.js";
export type { DeleteThread } from "./forgetting/forget.js";
export type { InsightsConfig } from "./insights/insights-options.js";
export type { UpkeepInput } from "./jobs/background-work.js";
export type { JobKind, WorkName } from "./jobs/job-kinds.rule.js";
export type { PgBossInstance, PgBossOptions, QueueOption } from "./jobs/job-queue.js";
export type { JobsApi, ListJobs } from "./jobs/jobs-api.js";
export type { JobsConfig, UpkeepConfig } from "./jobs/jobs-options.js";
export type { Lease } from "./jobs/lease.js";
export type { JobState, ListedJob } from "./jobs/listed-jobs.js";
export type { JobWorker, WorkInput } from "./jobs/queue-work.js";
export type { JobStatus } from "./jobs/settle-failure.js";
export type { WorkerStatus } from "./jobs/worker-status.js";
export {
  type CopiedCheckpoints,
  type CopyCheckpointsOptions,
  copyCheckpoints,
} from "./langgraph/checkpointer/copy-checkpoints.js";
export type { ConsentAnswer } from "./langgraph/nodes/consent-answer.rule.js";
export {
  type ConsentNodeOptions,
  type ConsentQuestion,
  consentNode,
} from "./langgraph/nodes/consent-node.js";
export { modelView } from "./langgraph/nodes/model-view.js";
export {
  type RecalledState,
  type RecallNode,
  type RecallNodeOptions,
  recallNode,
} from "./langgraph/nodes/recall-node.js";
export {
  type RememberedState,
  type RememberNode,
  type RememberNodeOptions,
  rememberNode,
} from "./langgraph/nodes/remember-node.js";
export type {
  InjectAs,
  MessagesKeyOption,
  NodeUpdate,
  OnError,
  RoundOptions,
  SessionMode,
  StateKeys,
} from "./langgraph/run/node-options.js";
export type { MemoryStreamEvent } from "./langgraph/run/run-state.js";
export {
  type MemoryState,
  memoryAnnotation,
  memoryFields,
  memoryStateFields,
} from "./langgraph/run/state-fields.js";
export {
  createMemorySupervisor,
  type MemorySupervisor,
  type MemorySupervisorOptions,
  type NamedSubagent,
  type Subagent,
  type SubagentDefinition,
} from "./langgraph/supervisor/create-memory-supervisor.js";
export { consentTool } from "./langgraph/tools/consent-tool.js";
export {
  type EndConversationToolOptions,
  endConversationTool,
} from "./langgraph/tools/end-conversation-tool.js";
export { type MemoryManageToolOptions, memoryManageTool } from "./langgraph/tools/memory-manage-tool.js";
export { type MemoryQueryToolOptions, memoryQueryTool } from "./langgraph/tools/memory-query-tool.js";
export { type ProcedureToolOptions, procedureTool } from "./langgraph/tools/procedure-tool.js";
export {
  type TranscriptSearchToolOptions,
  transcriptSearchTool,
} from "./langgraph/tools/transcript-search-tool.js";
export type {
  AgentState as MemoryAgentState,
  ModelRequest as MemoryModelRequest,
} from "./langgraph/wrap/memory-middleware.js";
export {
  type MemoryMiddleware,
  type MemoryMiddlewareOptions,
  memoryMiddleware,
} from "./langgraph/wrap/memory-middleware.js";
export type {
  Channels as AgentChannels,
  ContextChannels as AgentContextChannels,
  InputChannels as AgentInputChannels,
} from "./langgraph/wrap/with-memory.js";
export {
  type CompiledAgent,
  type CreatedAgent,
  type WithMemory,
  type WithMemoryOptions,
  withMemory,
} from "./langgraph/wrap/with-memory.js";
export type { LifecycleConfig } from "./lifecycle/lifecycle-work.js";
export { type FieldsFirstLogger, fieldsFirst, type LogFields, type Logger } from "./logger.js";
export type { ChangeEvent } from "./memories/changes/change-line.js";
export type { Change, Changes, ChangesApi, HistoryEntry } from "./memories/changes/changes-api.js";
export type { HistoryEvent } from "./memories/changes/record-changes.js";
export type { MemoryPatch } from "./memories/edit/change-memory.js";
export type { QuarantineApi, QuarantineApproval, QuarantineDecision } from "./memories/edit/quarantine.js";
export type { ConsentConfig, ConsentRule } from "./memories/guard/consent-policy.rule.js";
export type {
  ConsentEvidence,
  ConsentRequest,
  ConsentStatus,
  ConsentVia,
} from "./memories/guard/consent-request.rule.js";
export type { Category, CategoryConfig, CategoryPolicy } from "./memories/item/category.rule.js";
export type { MemoryLink } from "./memories/item/list-links.js";
export type {
  MemoryDraft,
  MemoryItem,
  MemoryKind,
  MemoryLifecycle,
  MemoryOrigin,
  MemorySort,
  MemorySource,
  MemoryTrust,
} from "./memories/item/memory.js";
export type { MemoryMetadata } from "./memories/item/memory-metadata.rule.js";
export type { ExtractAfterConfig, MemoriesConfig } from "./memories/item/memory-options.js";
export type { MemoryListing } from "./memories/item/memory-row.js";
export type { MemoriesApi, MemoryAccess, MemoryChangeAccess } from "./memories/memories-api.js";
export type { WriteOutcome } from "./memories/write/write-runtime.js";
export type { WritingProblem } from "./memories/write/writing-constraints.rule.js";
export type { Memory } from "./memory.js";
export type { MemoryOptions } from "./memory-options.js";
export type { Reembedded, ReembedOptions, ReembedProgress } from "./models/reembed.js";
export type { AppCounts, AppStats, AppStatsOf, AppsStats } from "./notes/app-stats.js";
export type {
  ExportedNote,
  ExportedNotes,
  ListNotes,
  NotesApi,
  NotesContext,
  NotesOf,
  PurgeNotes,
  RemoveNote,
  SearchNotes,
} from "./notes/notes-api.js";
export type { NotesConfig } from "./notes/notes-options.js";
export type { ConfigPreset, MemoryConfig } from "./options.js";
export type { ListedOwner, ListOwners } from "./owners/list-owners.js";
export type { Merged, MergeUsers } from "./owners/merge-users.js";
export type { UninstallApp, Uninstalled } from "./owners/uninstall-app.js";
export type { AppsApi, UsersApi } from "./owners/users-api.js";
export type { DatabaseStatus } from "./postgres/circuit-breaker.js";
export type { DatabaseConfig, DatabaseOption, PostgresPool } from "./postgres/open-database.js";
export type { TableSize } from "./postgres/table-sizes.js";
export type { ProcedureInput, ProceduresApi } from "./procedures/procedures-api.js";
export { shownBy } from "./rounds/memory-block.js";
export type { TelemetryConfig } from "./rounds/observe.js";
export type { RecallInput } from "./rounds/recall.js";
export type { Recalled, RecalledMemories } from "./rounds/recalled.js";
export type { Remembered } from "./rounds/remember.js";
export type { RecalledChange } from "./rounds/told-news.js";
export type { AppScope, SaidMessage, Scope, ThreadAddress } from "./scope/scope.js";
export type { AllListing } from "./scope/scope-predicates.js";
export type { AnswerForm, MemoryBullet } from "./search/answer-query.js";
export type { ExplainedHit, Explanation, LeftOutMemory, LeftOutReason } from "./search/explain-query.js";
export type { HeldLetGo, HeldOwner, HeldStatus } from "./search/held/held-status.js";
export type { HeldConfig } from "./search/held-options.js";
export type { MemoryFilter } from "./search/memory-filter.rule.js";
export type { MemoryQuery, MemoryRequest } from "./search/query-memories.js";
export type { MemoryHit, ScoreParts } from "./search/rank-memories.rule.js";
export type { RecallMode, RetrievalConfig } from "./search/retrieval-options.js";
export type { TranscriptHit, TranscriptQuery } from "./search/search-transcript.js";
export type { ImportedStore, ImportStore } from "./store/import-store.js";
export type { LangGraphStore, ScopeOfNamespace, StoreInput } from "./store/langgraph-store.js";
export type { StoreConfig } from "./store/store-options.js";
export type { SummaryClaim } from "./summaries/claim-summary.js";
export type { SummariesApi, Summary, SummaryPage } from "./summaries/summaries-api.js";
export type { SummaryConfig, SummarySkipReason, SummaryWindow } from "./summaries/summary-window.rule.js";
export type { MessageRole, TranscriptMessage } from "./text/message-text.js";
export type { Redact } from "./text/redactor.js";
export type { ExportLine } from "./transfer/export-line.js";
export type { Imported, ImportOptions, ImportProgress } from "./transfer/import-lines.js";
export type { ImportCounted } from "./transfer/import-tally.js";
export type { ImportTrust } from "./transfer/lower-line.js";
export type { EnergyApi, EnergyConsumed, EnergyField, EnergySelection } from "./usage/energy-api.js";
export type { EnergyLevel } from "./usage/energy-level.rule.js";
export type { EnergyConfig } from "./usage/energy-options.js";
export type { EnergyToday } from "./usage/energy-statements.js";
