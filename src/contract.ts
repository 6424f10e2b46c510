/**
 * What the packages beside this one need of it, and nobody else: it may change with any version.
 */
import "./node-version.js";

export { hasCheckpoints } from "./checkpoints/checkpoint-names.js";
export { resolveConfig } from "./config.js";
export { createMemory } from "./create-memory.js";
export { inTime, withDeadline } from "./deadline.js";
export { MemoryError, messageOf } from "./errors.js";
export {
  abortSignal,
  callback,
  explainIssue,
  nonBlank,
  parseInput,
  revisionNumber,
  storableText,
  suggestion,
} from "./input/parse-input.js";
export { defined, parseJson, propertyOf } from "./input/plain-json.js";
export { reportSearch } from "./internal-api.js";
export { setUpCheckpointer } from "./langgraph/checkpointer/set-up-checkpointer.js";
export {
  continueOnError,
  type TurnOptions,
  turnOptionsSchema,
} from "./langgraph/run/node-options.js";
export { identityKeys } from "./langgraph/run/run-identity.js";
export { localEmbeddings } from "./local-embeddings/index.js";
export { defaultLogger, errorKind } from "./logger.js";
export { consentStatuses } from "./memories/consent/consent-request.rule.js";
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
export { attachmentOf, withReferences } from "./messages/attachments.js";
export { messageText, spokenText } from "./messages/message-text.js";
export { keepsVectors } from "./models/embedding-space.js";
export { statusOf } from "./models/provider-error.js";
export { countLacking } from "./models/reembed.js";
export { eventOps, eventParts, eventSteps } from "./observability/events/event-log.js";
export { eventFields } from "./observability/events/events.js";
export type { StatsOf } from "./observability/events/stats.js";
export { installedVersion } from "./peers.js";
export type { Database } from "./postgres/database.js";
export { lacksPgvector, toMemoryError } from "./postgres/database-error.js";
export { acrossTenants, findIsolation } from "./postgres/isolation.js";
export { migrate } from "./postgres/migrate.js";
export { type MigrationSet, shippedSchema } from "./postgres/migration-set.js";
export { type MigrationStatus, migrationStatus } from "./postgres/migration-status.js";
export { defaultDataDir, type OpenSettings, openDatabase } from "./postgres/open-database.js";
export { commandAt, migrateCommandLine } from "./postgres/schema-state.js";
export { askOf } from "./postgres/session-settings.js";
export { withAdvice } from "./prompt/explain-refusal.js";
export { memoryBlock } from "./prompt/memory-block.js";
export { plainMessages } from "./prompt/prompt-for.js";
export { withMessages } from "./prompt/recalled.js";
export { handedForm, shownBy } from "./prompt/shown-by.js";
export { noCost } from "./prompt/thread-cost.js";
export { type InjectAs, turnMessages } from "./prompt/turn-messages.js";
export { runStatuses } from "./reflection/consolidation/consolidation-run.js";
export {
  erasureKinds,
  erasureReceipt,
  receiptProblems,
} from "./retention/forgetting/receipt.rule.js";
export { isIdle, isWaiting } from "./retention/lifecycle/age-threads.js";
export {
  type AppScope,
  parseAppScope,
  parseScope,
  requiredScope,
  requiredThread,
  scopeField,
} from "./scope/scope.js";
export { answerForms } from "./search/answer-query.js";
export { memoryFilterSchema, minTrustField } from "./search/memory-filter.rule.js";
export { vectorRows } from "./store/item-vectors.js";
export { timeZoneField } from "./text/time-zone.js";
export { threadStates } from "./transcript/list-threads.js";
export { blockParts, scoreSignals, shownParts } from "./transcript/shown-turns.js";
export { splitLines } from "./transfer/read-export.js";
export { jobStates } from "./work/jobs-api.js";
export { type WorkKind, workKinds } from "./work/work-kinds.rule.js";
