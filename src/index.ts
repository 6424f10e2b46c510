import "./node-version.js";

export type { Pruned } from "./checkpoints/prune-checkpoints.js";
export type { Clock } from "./clock.js";
export type { MemoryConfig } from "./config.js";
export type { PendingConsent } from "./consents/consent-lines.rule.js";
export type { ConsentDecision } from "./consents/consents-api.js";
export { createMemory } from "./create-memory.js";
export type { MemoryOptions } from "./create-memory-options.js";
export { MemoryError, type MemoryErrorCode, type MemoryErrorDetails } from "./errors.js";
export type { ConsentAnswer } from "./langgraph/nodes/consent-answer.rule.js";
export { type ConsentQuestion, consentNode } from "./langgraph/nodes/consent-node.js";
export { modelView } from "./langgraph/nodes/model-view.js";
export { type RecallNode, recallNode } from "./langgraph/nodes/recall-node.js";
export { type RememberNode, rememberNode } from "./langgraph/nodes/remember-node.js";
export { fromRun } from "./langgraph/run/run-identity.js";
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
  type SubagentDefinition,
} from "./langgraph/supervisor/create-memory-supervisor.js";
export { consentTool } from "./langgraph/tools/consent-tool.js";
export { endConversationTool } from "./langgraph/tools/end-conversation-tool.js";
export { memoryManageTool } from "./langgraph/tools/memory-manage-tool.js";
export { memoryQueryTool } from "./langgraph/tools/memory-query-tool.js";
export { procedureTool } from "./langgraph/tools/procedure-tool.js";
export { transcriptSearchTool } from "./langgraph/tools/transcript-search-tool.js";
export {
  type MemoryMiddleware,
  type MemoryMiddlewareOptions,
  memoryMiddleware,
} from "./langgraph/wrap/memory-middleware.js";
export {
  type WithMemory,
  type WithMemoryOptions,
  withMemory,
} from "./langgraph/wrap/with-memory.js";
export { fieldsFirst, type Logger } from "./logger.js";
export type { AsOf, KnownThen, MissingPast } from "./memories/audit/as-of.js";
export type { Change, Changes, HistoryEntry } from "./memories/audit/changes-api.js";
export type { MemoriesThen } from "./memories/audit/list-remembered.js";
export type { ConsentRequest } from "./memories/consent/consent-request.rule.js";
export type { Category, CategoryPolicy } from "./memories/item/category.rule.js";
export type { MemoryDraft, MemoryItem, MemoryKind } from "./memories/item/memory.js";
export type { MemoryMetadata } from "./memories/item/memory-metadata.rule.js";
export type { MemoryListing } from "./memories/item/memory-row.js";
export type { WriteOutcome } from "./memories/write/write-types.js";
export type { Memory } from "./memory.js";
export type { Reembedded } from "./models/reembed.js";
export type { NotesContext } from "./notes/notes-api.js";
export type { EventCount, RecordedEvent } from "./observability/events/events.js";
export type { MemoryCounts, MemoryStats, StatsBy } from "./observability/events/stats.js";
export type { Cost, EnergyLevel } from "./observability/usage/energy.js";
export type { DatabaseOption } from "./postgres/open-database.js";
export type { DatabaseStatus } from "./postgres/outage.js";
export type { MemoryPrompt } from "./prompt/prompt-for.js";
export type { ReplayGap } from "./prompt/rebuild-turn.js";
export type { RecallInput } from "./prompt/recall-request.js";
export type { Recalled } from "./prompt/recalled.js";
export type { ReplayAnswer, ReplayedTurn } from "./prompt/replay.js";
export type { HandedMessage } from "./prompt/shown-by.js";
export { shownBy } from "./prompt/shown-by.js";
export type { ShownWords } from "./prompt/shown-words.js";
export type { ThreadCost } from "./prompt/thread-cost.js";
export type { ReplayLine } from "./prompt/what-if.js";
export type { ConsolidationRun } from "./reflection/consolidation/consolidation-run.js";
export type {
  ChangedTranscript,
  MessageRemoval,
  MessageReplacement,
} from "./remember/change-transcript.js";
export type { Remembered } from "./remember/remember.js";
export type { Purged } from "./retention/forgetting/erase-app-memories.js";
export type { ForgetRequest, ListedErasure } from "./retention/forgetting/erasures-api.js";
export type { ForgetInput, Forgotten } from "./retention/forgetting/forget.js";
export type { ErasureReceipt } from "./retention/forgetting/receipt.rule.js";
export type { ListedOwner } from "./retention/owners/list-owners.js";
export type { Uninstalled } from "./retention/owners/uninstall-app.js";
export type { Scope, ThreadAddress } from "./scope/scope.js";
export type { Redact } from "./screening/redactor.js";
export type { MemoryBullet } from "./search/answer-query.js";
export type { Explanation } from "./search/explain-query.js";
export type { MemoryFilter } from "./search/memory-filter.rule.js";
export type { HitsThen, MemoryQuery } from "./search/query-memories.js";
export type { MemoryHit } from "./search/rank-memories.rule.js";
export type { Reranker } from "./search/retrieval-options.js";
export type { TranscriptHit, TranscriptQuery } from "./search/search-transcript.js";
export type { SettingInUse } from "./settings-in-use.js";
export type { LangGraphStore, StoreInput } from "./store/langgraph-store.js";
export type { Summary } from "./summaries/summaries-api.js";
export type { EndedThread } from "./transcript/end-thread.js";
export type { ThreadMessage } from "./transcript/list-messages.js";
export type { Thread } from "./transcript/list-threads.js";
export type { RecordInput } from "./transcript/record.js";
export type { ShownTo } from "./transcript/shown-to.js";
export type { ShownContext, ShownTurn } from "./transcript/shown-turns.js";
export type { ExportLine } from "./transfer/export-line.js";
export type { Imported, ImportInput } from "./transfer/import-lines.js";
export type { ListedJob } from "./work/jobs-api.js";
export type { JobWorker } from "./work/queue-runner.js";
export type { PgBossInstance, QueueOption } from "./work/wake-ups.js";
