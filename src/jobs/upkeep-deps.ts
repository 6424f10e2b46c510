import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Logger } from "../logger.js";
import type { WriteDeps } from "../memories/write/write-memories.js";

/** What background work on memories needs. */
export interface UpkeepDeps extends WriteDeps {
  readonly logger: Logger;
  /** @throws MemoryError `MODEL_REQUIRED` */
  readonly model: () => BaseChatModel;
  /** Told when failed work may be tried again. */
  readonly onRetry: (delayMs: number) => void;
}
