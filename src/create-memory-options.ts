import type { EmbeddingsInterface } from "@langchain/core/embeddings";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { z } from "zod";
import type { Clock } from "./clock.js";
import type { MemoryConfig } from "./config.js";
import { chatModel } from "./input/parse-input.js";
import type { Logger } from "./logger.js";
import type { Describe } from "./models/describer.js";
import type { DatabaseOption } from "./postgres/open-database.js";
import type { Scope } from "./scope/scope.js";
import type { Redact } from "./screening/redactor.js";
import type { QueueOption } from "./work/wake-ups.js";

// Told by hand: the schema below cannot say the types of functions and of others' classes.
export interface MemoryOptions {
  /**
   * A `pg.Pool`, a connection string, or a folder for the embedded database. `undefined`, as of an
   * unset environment variable, is refused where `NODE_ENV` is "production", else logged as a
   * warning.
   * @default { dataDir: ".mnemograph" }
   */
  readonly database?: DatabaseOption | undefined;
  /** The schema that holds every table. @default "mnemograph" */
  readonly schema?: string;
  /**
   * Any chat model, for background work: without one conversations are recorded, and nothing is
   * made of them.
   */
  readonly model?: BaseChatModel;
  /**
   * Any embeddings; needs pgvector. Without them retrieval is lexical. Each model has its own
   * vectors, by its `model` or `modelName`, else its class. For two models that share a name, pass
   * an object with another `model`.
   *
   * "local": a small model on this machine, without a key: `localEmbeddings()` of
   * `mnemograph/local-embeddings`, with the multilingual model unless `retrieval.language` is
   * "english".
   */
  readonly embeddings?: EmbeddingsInterface | "local";
  /** Settings, or the path of a YAML file with them. */
  readonly config?: MemoryConfig | string;
  /**
   * "background": in this process, after the answer. "inline": before `remember` returns. A started
   * pg-boss 10.4 or 12, or its options: processes that call `work` run the jobs, on any machine, and
   * this one wakes them. They need the same `config`, and they alone need the `model`.
   * @default "background"
   */
  readonly jobs?: "background" | "inline" | QueueOption;
  /**
   * "rls": PostgreSQL itself keeps tenants apart, so that even a wrong statement sees only the rows
   * of the tenant it was made for. Needs a server, `setup` with this option by the role that will
   * own the tables, and from then on a role that is no superuser. Calls without a scope work across
   * tenants, which only the tables' owner may; a process whose role is not does no background work
   * for others' turns. LangGraph's checkpoints stay outside.
   * @default none
   */
  readonly isolation?: "rls";
  /**
   * The scope of runs of graphs that name nobody: for Studio, and for apps of one user. Never of a
   * run that a server has authenticated. Calls in code name their scope anyway. Not with
   * `isolation`.
   * @default none: `SCOPE_REQUIRED`
   */
  readonly defaultScope?: Scope;
  /** @default warnings and errors on standard error */
  readonly logger?: Logger;
  /**
   * Removes from every text what must not be kept: from messages, memories, summaries and imports,
   * before they are stored or shown to the model of background work. When it fails, or takes longer
   * than `upkeep.timeoutMs` for a text, nothing is stored: `REDACTION_FAILED`. The graph's own
   * checkpoints are not redacted.
   *
   * "secrets" replaces keys, tokens, passwords, private keys, and numbers of cards and accounts by
   * "[redacted]". It knows them by their form, checksum or randomness, in any language.
   * @example
   * createMemory({ redact: "secrets" });
   * createMemory({ redact: (text) => text.replaceAll(employeeNumber, "[number]") });
   * @default none
   */
  readonly redact?: Redact | "secrets";
  /**
   * Whether a text reads as instructions to a model, asked before it is stored, in place of the
   * package's patterns. True: it waits in quarantine or is refused. When it fails, or takes longer
   * than `upkeep.timeoutMs`, the text counts as instructions.
   */
  readonly screen?: (text: string) => boolean | Promise<boolean>;
  /**
   * A caption for an image, file, audio or video in a message, from what LangChain calls a standard
   * content block: `type`, `mimeType`, `metadata.name`, and `data` in base64, `url` or `fileId`.
   * Asked once for each file of a new message, before `record` and `remember` return. When it
   * fails, or takes longer than `upkeep.timeoutMs`, there is no caption.
   * @default none: files are recorded by reference
   */
  readonly describe?: Describe;
  /** What time it is, for tests of what ages, expires or is due. @default the database's clock */
  readonly clock?: Clock;
}

const isFunction = (value: unknown) => typeof value === "function";

const hasFunctions = (names: readonly string[]) => (value: unknown) =>
  typeof value === "object" &&
  value !== null &&
  names.every((name) => isFunction((value as Record<string, unknown>)[name]));

const isPgBoss = hasFunctions(["getQueues", "createQueue", "insert", "fetch", "complete", "fail"]);
const pgBossOptions = z.strictObject({ pgBoss: z.record(z.string(), z.unknown()) });
const functionField = z.custom(isFunction, "must be a function").optional();
const isLogger = hasFunctions(["debug", "info", "warn", "error"]);

/**
 * Checks what untyped callers pass. `config` has its own schema; `openDatabase` checks the
 * database.
 */
export const memoryOptionsSchema = z.strictObject({
  database: z.unknown().optional(),
  schema: z.string().optional(),
  model: chatModel.optional(),
  embeddings: z
    .union(
      [z.literal("local"), z.custom(hasFunctions(["embedDocuments", "embedQuery"]))],
      'must be embeddings of LangChain, which have `embedDocuments` and `embedQuery`, or "local"',
    )
    .optional(),
  config: z.unknown().optional(),
  jobs: z
    .union(
      [z.enum(["background", "inline"]), pgBossOptions, z.custom(isPgBoss)],
      'must be "background", "inline", a started pg-boss 10.4 or 12, or { pgBoss: options }',
    )
    .optional(),
  isolation: z.literal("rls").optional(),
  defaultScope: z.unknown().optional(),
  logger: z.custom(isLogger, "must have the functions debug, info, warn and error").optional(),
  redact: z
    .union([z.literal("secrets"), z.custom(isFunction)], 'must be a function or "secrets"')
    .optional(),
  screen: functionField,
  describe: functionField,
  clock: functionField,
});
