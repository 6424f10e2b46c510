/** `mnemograph/ai-sdk`: memory for models of the AI SDK. Needs the package `ai` 6. */
export {
  type MemoryModelOptions,
  memoryModelMiddleware,
  memoryQueryToolFor,
} from "./model-middleware.js";
