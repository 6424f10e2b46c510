/**
 * Stand-ins for models, for tests, demos and offline use: the library never chooses one by itself.
 * And checks of what an agent's memory finds, shows and believes.
 */
export {
  expectMemory,
  type MemoryExpectation,
  MemoryExpectationError,
  type MemoryExpectations,
} from "./expect-memory.js";
export { createGate, type Gate } from "./gate.js";
export { HashingEmbeddings, type HashingEmbeddingsParams } from "./hashing-embeddings.js";
export {
  OfflineChatModel,
  type OfflineChatModelParams,
  type OfflineRule,
} from "./offline-chat-model.js";
export { believes, type MemoryClaim, type ReadPrompt, readPrompt } from "./prompt-reader.js";
export {
  type ScriptedCall,
  ScriptedChatModel,
  type ScriptedChatModelParams,
  type ScriptedReplyFunction,
} from "./scripted-chat-model.js";
export type { ScriptedReply, ScriptedToolCall } from "./scripted-reply.js";
export type {
  StandInCallOptions,
  StandInChatModel,
  StandInOptions,
  StandInParams,
} from "./stand-in-chat-model.js";
