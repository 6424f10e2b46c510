/**
 * What the packages beside this one need of it, and nobody else: it may change with any version.
 */
import "./node-version.js";

export { threadStates } from "./conversation/list-threads.js";
export { scoreSignals, shownParts } from "./conversation/shown-turns.js";
export { createMemory } from "./create-memory.js";
export { inTime, withDeadline } from "./deadline.js";
export { MemoryError, messageOf } from "./errors.js";
export { eventOps, eventParts, eventSteps } from "./events/event-log.js";
export { eventFields } from "./events/events.js";
export type { StatsOf } from "./events/stats.js";
export { erasureKinds, erasureReceipt, receiptProblems } from "./forgetting/receipt.rule.js";
export { reportSearch } from "./internal-api.js";
export { jobStates } from "./jobs/jobs-api.js";
export { type WorkKind, workKinds } from "./jobs/work-kinds.rule.js";
export { setUpCheckpointer } from "./langgraph/checkpointer/set-up-checkpointer.js";
export {
  continueOnError,
  type TurnOptions,
  turnOptionsSchema,
} from "./langgraph/run/node-options.js";
export { identityKeys } from "./langgraph/run/run-identity.js";
export { localEmbeddings } from "./local-embeddings/index.js";
export { defaultLogger, errorKind } from "./logger.js";
export { consentStatuses } from "./memories/guard/consent-request.rule.js";
export {
  categoryOfKind,
  readableCategories,
  requireCategory,
} from "./memories/item/category.rule.js";
export {
  isApproved,
  type MemoryPatch,
  memoryKinds,
  memorySorts,
  memoryStates,
  shownLine,
} from "./memories/item/memory.js";
export {
  agentFields,
  changeFields,
  draftFields,
  itemColumns,
  memoryColumns,
  type SetName,
  setsWords,
} from "./memories/item/memory-fields.js";
export { isExpired } from "./memories/write/hide-memories.js";
export { keepsVectors } from "./models/embedding-space.js";
export { statusOf } from "./models/provider-error.js";
export { countLacking } from "./models/reembed.js";
export { resolveConfig } from "./options.js";
export { installedVersion } from "./peers.js";
export { type Connection, identifier } from "./postgres/connection.js";
export type { Database } from "./postgres/database.js";
export { lacksPgvector, toMemoryError } from "./postgres/database-error.js";
export { acrossTenants, findIsolation } from "./postgres/isolation.js";
export { migrate } from "./postgres/migrate.js";
export { type MigrationSet, shippedSchema } from "./postgres/migration-set.js";
export { type MigrationStatus, migrationStatus } from "./postgres/migration-status.js";
export { defaultDataDir, type OpenSettings, openDatabase } from "./postgres/open-database.js";
export { commandAt, migrateCommandLine } from "./postgres/schema-state.js";
export { askOf } from "./postgres/session-settings.js";
export {
  type AppScope,
  parseAppScope,
  parseScope,
  requiredScope,
  requiredThread,
  scopeField,
} from "./scope/scope.js";
export { isSomebody } from "./scope/scope-predicates.js";
export { answerForms } from "./search/answer-query.js";
export { memoryFilterSchema, minTrustField } from "./search/memory-filter.rule.js";
export { vectorRows } from "./store/item-vectors.js";
export { attachmentOf, withReferences } from "./text/attachments.js";
export { messageText, spokenText } from "./text/message-text.js";
export {
  abortSignal,
  callback,
  parseInput,
  revisionNumber,
  storableText,
  suggestion,
} from "./text/parse-input.js";
export { parseJson, propertyOf } from "./text/plain-json.js";
export { timeZoneField } from "./text/time-zone.js";
export { splitLines } from "./transfer/read-export.js";
export { withAdvice } from "./turns/explain-refusal.js";
export { memoryBlock } from "./turns/memory-block.js";
export { plainMessages } from "./turns/prompt-for.js";
export { withMessages } from "./turns/recalled.js";
export { shownBy } from "./turns/shown-by.js";
export { noCost } from "./turns/thread-cost.js";
export { type InjectAs, turnMessages } from "./turns/turn-messages.js";
