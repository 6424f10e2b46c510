import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { Clock } from "./clock.js";
import type { Logger } from "./logger.js";
import type { Describer } from "./models/describer.js";
import type { Embedder } from "./models/embedder.js";
import type { ModelPause } from "./models/model-pause.js";
import type { MemoryEvent } from "./observability/events/event-log.js";
import type { Usage } from "./observability/usage/usage.js";
import type { Database } from "./postgres/database.js";
import type { Screen } from "./screening/reads-as-instruction.js";
import type { Redactor } from "./screening/redactor.js";
import type { Job } from "./work/work-kinds.rule.js";

/** The services of one memory. Each capability declares the settings that it reads as `Config`. */
export interface Runtime<Config = unknown> {
  readonly db: Database;
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Null without embeddings: then search is lexical. */
  readonly embedder: Embedder | null;
  /** Removes private text before anything is stored or shown to a model. */
  readonly redactor: Redactor;
  readonly screen: Screen;
  /** Null without `describe`: then files have no captions. */
  readonly describer: Describer | null;
  /** Whether background work has a model, in this process or in the workers of its queues. */
  readonly hasModel: boolean;
  readonly modelHere: boolean;
  /** The model of background work. @throws MemoryError `MODEL_REQUIRED` */
  readonly model: () => BaseChatModel;
  readonly pause: ModelPause;
  readonly usage: Usage;
  /** How this process asks users for consent, and the waiting fields that were reported. */
  readonly consent: { readonly ways: Set<"interrupt" | "tool">; readonly reported: Set<string> };
  /** Without a scope an event of nobody. One that cannot be written is logged. */
  readonly record: (
    event: Omit<MemoryEvent, "scope"> & Partial<Pick<MemoryEvent, "scope">>,
  ) => Promise<void>;
  /** Schedules a retry of failed work, or of `again`, which waits for other running work. */
  readonly onRetry: (delayMs: number, again?: Job) => void;
}
