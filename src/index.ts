export type { Clock } from "./clock.js";
export { createMemory } from "./create-memory.js";
export type { DatabaseOption } from "./database/open-database.js";
export type {
  ConsentEvidence,
  ConsentRequest,
  ConsentStatus,
  ConsentVia,
} from "./domain/consent-request.js";
export type { ExportLine } from "./domain/export-line.js";
export type { MemoryDraft, MemoryItem, MemoryKind, MemorySource } from "./domain/memory.js";
export type { MemoryFilter } from "./domain/memory-filter.js";
export type { MemoryHit } from "./domain/rank-memories.js";
export type { Scope } from "./domain/scope.js";
export type { SummaryWindow } from "./domain/summary-window.js";
export type { MemoryOrigin, MemoryTrust } from "./domain/trust.js";
export { MemoryError, type MemoryErrorCode, type MemoryErrorDetails } from "./errors.js";
export type { ConsentAcknowledgement } from "./governance/acknowledge-consent.js";
export type { ChangesApi } from "./governance/changes-api.js";
export type { ConsentsApi } from "./governance/consents-api.js";
export type { ConsentDecision } from "./governance/decide-consent.js";
export type { EventsApi } from "./governance/events-api.js";
export type { ForgetOptions, ForgetProgress, Forgotten, RemoveThread } from "./governance/forget.js";
export type { Imported, ImportOptions, ImportProgress } from "./governance/import-lines.js";
export type { LifecycleApi, LifecycleResult } from "./governance/lifecycle.js";
export type { ImportTrust } from "./governance/lower-line.js";
export type { CheckpointsApi, Pruned, PruneOptions } from "./governance/prune-checkpoints.js";
export type { QuarantineApi, QuarantineApproval, QuarantineDecision } from "./governance/quarantine.js";
export type { ConsentAnswer } from "./langgraph/consent-answer.js";
export { type ConsentNodeOptions, type ConsentQuestion, consentNode } from "./langgraph/consent-node.js";
export { type ConsentToolOptions, consentTool } from "./langgraph/consent-tool.js";
export {
  type CopiedCheckpoints,
  type CopyCheckpointsOptions,
  copyCheckpoints,
} from "./langgraph/copy-checkpoints.js";
export {
  createMemorySupervisor,
  type MemorySupervisor,
  type MemorySupervisorOptions,
} from "./langgraph/create-memory-supervisor.js";
export {
  type MemoryMiddleware,
  type MemoryMiddlewareOptions,
  memoryMiddleware,
} from "./langgraph/memory-middleware.js";
export { type MemoryQueryToolOptions, memoryQueryTool } from "./langgraph/memory-query-tool.js";
export { type MemoryState, memoryAnnotation, memoryStateFields } from "./langgraph/memory-state.js";
export { type InjectAs, modelView } from "./langgraph/model-view.js";
export type { OnError } from "./langgraph/on-error.js";
export { type ProcedureToolOptions, procedureTool } from "./langgraph/procedure-tool.js";
export { type RecallNodeOptions, recallNode } from "./langgraph/recall-node.js";
export { type RememberNodeOptions, rememberNode, type SessionMode } from "./langgraph/remember-node.js";
export type { MemoryStreamEvent } from "./langgraph/stream-event.js";
export type { NamedSubagent, Subagent, SubagentDefinition, SubagentGraph } from "./langgraph/subagent.js";
export type { Delegations } from "./langgraph/supervisor-delegations.js";
export { type CreatedAgent, type WithMemoryOptions, withMemory } from "./langgraph/with-memory.js";
export type { Logger } from "./logger.js";
export type { Memory, MemoryOptions } from "./memory.js";
export type { MemoryConfig, RecallMode } from "./options.js";
export type { MemoryBullet } from "./recall/answer-query.js";
export type { MemoryQuery, MemoryRequest } from "./recall/query-memories.js";
export type { Recalled, RecalledMemories, RecallInput } from "./recall/recall.js";
export type { TranscriptHit, TranscriptQuery } from "./recall/search-transcript.js";
export type { MemoryPatch } from "./remember/change-memory.js";
export type { MemoriesApi, MemoryAccess, MemoryChangeAccess } from "./remember/memories-api.js";
export type { RecordInput } from "./remember/record.js";
export type { Redact } from "./remember/redactor.js";
export type { Remembered } from "./remember/remember.js";
export type { WriteOutcome } from "./remember/write-memories.js";
export type { EventCount, EventField, EventSelection } from "./store/count-events.js";
export type { MemoryEvent } from "./store/insert-event.js";
export type { Change, Changes } from "./store/list-changes.js";
export type { RecordedEvent } from "./store/list-events.js";
export type { HistoryEntry } from "./store/list-history.js";
export type { Summary, SummaryProgress } from "./store/list-summaries.js";
export type { Thread } from "./store/list-threads.js";
export type { MemoryStats } from "./store/memory-stats.js";
export type { SummaryStats } from "./store/summary-stats.js";
export type { ProcedureInput, ProceduresApi } from "./upkeep/procedures-api.js";
export type { Reembedded, ReembedOptions, ReembedProgress } from "./upkeep/reembed.js";
