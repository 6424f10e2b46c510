import { z } from "zod";
import { scopeField, threadField } from "./scope/scope.js";
import { storableText } from "./text/parse-input.js";

const isObject = (value: unknown) => typeof value === "object" && value !== null;
const isFunction = (value: unknown) => typeof value === "function";

const hasFunctions = (names: readonly string[]) => (value: unknown) =>
  isObject(value) && names.every((name) => isFunction((value as Record<string, unknown>)[name]));

const isPgBoss = hasFunctions(["getQueues", "createQueue", "insert", "fetch", "complete", "fail"]);
const pgBossOptions = z.strictObject({ pgBoss: z.record(z.string(), z.unknown()) });
const isLogger = hasFunctions(["debug", "info", "warn", "error"]);

/** Checks what untyped callers pass. `config` has its own schema; `openDatabase` checks the database. */
export const memoryOptionsSchema = z.strictObject({
  database: z.unknown().optional(),
  schema: z.string().optional(),
  model: z.custom(isObject, "must be a chat model").optional(),
  embeddings: z.custom(isObject, "must be embeddings").optional(),
  config: z.unknown().optional(),
  jobs: z
    .union(
      [z.enum(["background", "inline"]), pgBossOptions, z.custom(isPgBoss)],
      'must be "background", "inline", a started pg-boss, or { pgBoss: options }',
    )
    .optional(),
  isolation: z.literal("rls").optional(),
  defaultScope: z.unknown().optional(),
  logger: z.custom(isLogger, "must have the functions debug, info, warn and error").optional(),
  redact: z.custom(isFunction, "must be a function").optional(),
  screen: z.custom(isFunction, "must be a function").optional(),
  clock: z.custom(isFunction, "must be a function").optional(),
});

const label = storableText.nullish();

/** `eventNode` checks the step. */
export const eventSchema = z.strictObject({
  scope: scopeField,
  threadId: label,
  agentId: label,
  runId: label,
  step: z.string(),
  op: z.string(),
  status: z.enum(["ok", "error", "skipped"]),
  detail: storableText.optional(),
  category: storableText.optional(),
  similarity: z.number().optional(),
  shownIds: z.array(z.string()).optional(),
});

export const failureSchema = z.strictObject({
  scope: scopeField,
  threadId: threadField,
  node: z.enum(["recall", "consent", "remember"]),
  error: z.unknown().optional(),
});
