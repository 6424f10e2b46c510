import { type ChangedConstants, type ResolvedConfig, resolveConfig } from "../config.js";
import type { MemoryOptions } from "../create-memory-options.js";
import { inTime } from "../deadline.js";
import { MemoryError } from "../errors.js";
import { localEmbeddings } from "../local-embeddings/index.js";
import { modelForLanguage } from "../local-embeddings/local-models.js";
import { defaultLogger, errorLine, lineLogger } from "../logger.js";
import { memoryFields } from "../memories/item/memory-fields.js";
import { createDescriber } from "../models/describer.js";
import { createEmbedder } from "../models/embedder.js";
import { createModelPause } from "../models/model-pause.js";
import { actions, insertEvent, recordExhausted } from "../observability/events/event-log.js";
import { createUsage } from "../observability/usage/usage.js";
import type { Database } from "../postgres/database.js";
import { asTenant } from "../postgres/isolation.js";
import { openDatabase, reportUndefined } from "../postgres/open-database.js";
import type { Outage } from "../postgres/outage.js";
import type { Runtime } from "../runtime.js";
import { nobody, parseScope } from "../scope/scope.js";
import { createScreen } from "../screening/reads-as-instruction.js";
import { redactSecrets } from "../screening/redact-secrets.js";
import { createRedactor } from "../screening/redactor.js";

export function createRuntime(
  options: MemoryOptions,
  constants: ChangedConstants,
  onRetry: Runtime["onRetry"],
): Runtime<ResolvedConfig> {
  const logger = lineLogger(options.logger ?? defaultLogger);
  const config = resolveConfig(options.config, constants, logger.warn);
  if ("database" in options && options.database === undefined) reportUndefined(logger);
  const { database, schema: schemaName = "mnemograph", isolation } = options;
  const { clock = () => new Date() } = options;
  const { language } = config.retrieval;
  const embeddings =
    options.embeddings === "local"
      ? localEmbeddings({ model: modelForLanguage(language) })
      : options.embeddings;
  const { timeoutMs } = config.upkeep;
  const late = () => new DOMException(`No answer within ${timeoutMs} ms.`, "TimeoutError");
  const inDeadline = <Answer>(ask: ((text: string) => Answer | Promise<Answer>) | undefined) =>
    ask && (async (text: string) => inTime(timeoutMs, Promise.resolve(ask(text)), late));
  // The ready redaction takes linear time, and needs no deadline.
  const redact = options.redact === "secrets" ? redactSecrets : inDeadline(options.redact);
  const record: Runtime["record"] = async (event) => {
    try {
      const scope = "scope" in event ? parseScope(event.scope) : nobody;
      await asTenant(scope.tenantId, () => insertEvent(db, { ...event, scope }, config.retrieval));
    } catch (error) {
      logger.error(`an event could not be kept: ${errorLine(error)}`);
    }
  };
  const onBack = ({ durationMs, refused }: Outage) => {
    const detail = `after ${Math.round(durationMs / 1_000)} s, ${refused} calls refused`;
    void record({ ...actions.database, status: "ok", detail });
  };
  const db: Database = openDatabase(
    database,
    {
      schemaName,
      checksSchema: true,
      clock: options.clock,
      isolation,
      language,
      onBack,
      ...config.database,
    },
    logger,
  );
  return {
    db,
    config,
    logger,
    onRetry,
    record,
    consent: { ways: new Set(), reported: new Set() },
    embedder: embeddings
      ? createEmbedder({ db, logger }, embeddings, timeoutMs, ({ message: detail }) => {
          void record({ step: "embed", op: "search", status: "error", detail });
        })
      : null,
    redactor: createRedactor(redact, Object.keys(memoryFields)),
    screen: createScreen(inDeadline(options.screen), logger.warn),
    describer: createDescriber(options.describe, timeoutMs, logger),
    clock,
    pause: createModelPause(clock, config.upkeep.retryDelayMs),
    usage: createUsage({ db, options: config.energy, logger, recordExhausted }),
    hasModel: options.model !== undefined || typeof options.jobs === "object",
    modelHere: options.model !== undefined,
    model() {
      if (options.model) return options.model;
      throw new MemoryError(
        "MODEL_REQUIRED",
        "Background work needs a model: createMemory({ model }).",
      );
    },
  };
}
