/** `@mnemograph/ai-sdk`: memory for models of the AI SDK. Needs the package `ai`, 6 or 7. */
export {
  type MemoryModelOptions,
  memoryModelMiddleware,
  memoryQueryToolFor,
} from "./model-middleware.js";
