import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Clock } from "./clock.js";
import type { Job } from "./jobs/work-kinds.rule.js";
import type { Logger } from "./logger.js";
import type { Embedder } from "./models/embedder.js";
import type { Database } from "./postgres/database.js";
import type { Screen } from "./text/reads-as-instruction.js";
import type { Redactor } from "./text/redactor.js";
import type { Usage } from "./usage/usage.js";

/** What one memory runs on. Each capability names the settings that it reads as `Config`, and takes what it needs. */
export interface Runtime<Config = unknown> {
  readonly db: Database;
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Null without embeddings: then words alone are compared. */
  readonly embedder: Embedder | null;
  /** Takes out what the user wants kept nowhere, before anything is stored or shown to a model. */
  readonly redactor: Redactor;
  readonly screen: Screen;
  /** Whether there is a model for background work: here, or where the queues are worked. */
  readonly hasModel: boolean;
  readonly modelHere: boolean;
  /** The model of background work. @throws MemoryError `MODEL_REQUIRED` */
  readonly model: () => BaseChatModel;
  readonly usage: Usage;
  /** How this process asks users for consent, and the fields that were reported to wait. */
  readonly consent: { readonly ways: Set<"interrupt" | "tool">; readonly reported: Set<string> };
  /** Called when work that failed may be tried again, or `again`, which waits for other work under way. */
  readonly onRetry: (delayMs: number, again?: Job) => void;
}
