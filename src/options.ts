import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { MemoryError, messageOf } from "./errors.js";
import { jobsOptionsSchema, taskOptionsSchema } from "./jobs/jobs-options.js";
import { lifecycleOptionsSchema } from "./lifecycle/lifecycle-options.js";
import { type ConsentPolicy, consentConfigSchema, consentPolicy } from "./memories/guard/consent-policy.js";
import { type CategoryPolicy, categoryConfigSchema, categoryPolicy } from "./memories/item/category.js";
import { memoryOptionsSchema } from "./memories/item/memory-options.js";
import { databaseOptionsSchema } from "./postgres/open-database.js";
import { telemetryOptionsSchema } from "./rounds/observe.js";
import { retrievalOptionsSchema } from "./search/retrieval-options.js";
import { summaryOptionsSchema } from "./summaries/summary-options.js";
import { namesKeys } from "./text/parse-input.js";

const configSchema = z.strictObject({
  database: databaseOptionsSchema.prefault({}),
  summaries: summaryOptionsSchema.prefault({}),
  memories: memoryOptionsSchema.prefault({}),
  upkeep: taskOptionsSchema.prefault({}),
  lifecycle: lifecycleOptionsSchema.prefault({}),
  telemetry: telemetryOptionsSchema.prefault({}),
  retrieval: retrievalOptionsSchema.prefault({}),
  /** What is remembered only with the user's consent, or when it was said twice. */
  consent: consentConfigSchema.prefault({}),
  /** Added to the default categories, or in the place of those with the same name. */
  categories: categoryConfigSchema.optional(),
  /** Agent → categories it may read. Without any, every agent reads everything. */
  allowlists: z.record(z.string().min(1), z.array(z.string())).optional(),
  jobs: jobsOptionsSchema.prefault({}),
});

/** Everything tunable, as the user writes it. */
export type MemoryConfig = z.input<typeof configSchema>;

type ParsedConfig = z.output<typeof configSchema>;

/** Everything tunable, with defaults filled in. */
export type ResolvedConfig = Omit<ParsedConfig, "categories" | "allowlists" | "consent"> & {
  readonly policy: CategoryPolicy;
  readonly consent: ConsentPolicy;
};

/**
 * `config`, an object or the path of a YAML file, with defaults filled in.
 *
 * @throws MemoryError `INVALID_INPUT` that names each unknown or wrong option.
 */
export function resolveConfig(config: MemoryConfig | string | undefined): ResolvedConfig {
  const parsed = configSchema.safeParse(
    typeof config === "string" ? readConfigFile(config) : config === undefined ? {} : config,
    { error: namesKeys },
  );
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
  const { categories, allowlists, consent, ...rest } = parsed.data;
  const policy = categoryPolicy(categories, allowlists);
  return { ...rest, policy, consent: consentPolicy(consent, policy) };
}

function readConfigFile(path: string): unknown {
  try {
    return parse(readFileSync(path, "utf8")) ?? {};
  } catch (cause) {
    throw invalid(`${path} cannot be read: ${messageOf(cause)}`, cause);
  }
}

function invalid(problem: string, cause?: unknown): MemoryError {
  return new MemoryError("INVALID_INPUT", `Invalid config: ${problem}`, { cause });
}
