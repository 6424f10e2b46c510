export type { Clock } from "./clock.js";
export type { DatabaseOption } from "./database/open-database.js";
export type { Scope } from "./domain/scope.js";
export type { SummaryWindow } from "./domain/summary-window.js";
export { MemoryError, type MemoryErrorCode } from "./errors.js";
export {
  createMemorySupervisor,
  type MemorySupervisor,
  type MemorySupervisorOptions,
} from "./langgraph/create-memory-supervisor.js";
export { type MemoryState, memoryAnnotation, memoryStateFields } from "./langgraph/memory-state.js";
export { type InjectAs, modelView } from "./langgraph/model-view.js";
export type { OnError } from "./langgraph/on-error.js";
export { type RecallNodeOptions, recallNode } from "./langgraph/recall-node.js";
export { type RememberNodeOptions, rememberNode, type SessionMode } from "./langgraph/remember-node.js";
export type { NamedSubagent, Subagent, SubagentDefinition, SubagentGraph } from "./langgraph/subagent.js";
export type { Delegations } from "./langgraph/supervisor-delegations.js";
export { type WithMemoryOptions, withMemory } from "./langgraph/with-memory.js";
export type { Logger } from "./logger.js";
export { createMemory, type Memory, type MemoryOptions } from "./memory.js";
export type { MemoryConfig } from "./options.js";
export type { Recalled } from "./recall/recall.js";
export type { RecordInput } from "./remember/record.js";
export type { Remembered } from "./remember/remember.js";
export type { Summary } from "./store/list-summaries.js";
export type { Thread } from "./store/list-threads.js";
export type { SummaryStats } from "./store/summary-stats.js";
