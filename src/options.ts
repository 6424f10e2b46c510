import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { MemoryError, messageOf } from "./errors.js";
import {
  type JobsConfig,
  jobsOptionsSchema,
  taskOptionsSchema,
  type UpkeepConfig,
} from "./jobs/jobs-options.js";
import { type LifecycleConfig, lifecycleOptionsSchema } from "./lifecycle/lifecycle-work.js";
import {
  type ConsentConfig,
  type ConsentPolicy,
  consentConfigSchema,
  consentPolicy,
} from "./memories/guard/consent-policy.rule.js";
import {
  type CategoryConfig,
  type CategoryPolicy,
  categoryConfigSchema,
  categoryPolicy,
} from "./memories/item/category.rule.js";
import { type MemoriesConfig, memoryOptionsSchema } from "./memories/item/memory-options.js";
import { type DatabaseConfig, databaseOptionsSchema } from "./postgres/open-database.js";
import { type TelemetryConfig, telemetryOptionsSchema } from "./rounds/observe.js";
import { type RetrievalConfig, retrievalOptionsSchema } from "./search/retrieval-options.js";
import { type SummaryConfig, summaryOptionsSchema } from "./summaries/summary-window.rule.js";
import { namesKeys } from "./text/parse-input.js";

const configSchema = z.strictObject({
  database: databaseOptionsSchema.prefault({}),
  summaries: summaryOptionsSchema.prefault({}),
  memories: memoryOptionsSchema.prefault({}),
  upkeep: taskOptionsSchema.prefault({}),
  lifecycle: lifecycleOptionsSchema.prefault({}),
  telemetry: telemetryOptionsSchema.prefault({}),
  retrieval: retrievalOptionsSchema.prefault({}),
  consent: consentConfigSchema.prefault({}),
  categories: categoryConfigSchema.optional(),
  allowlists: z.record(z.string().min(1), z.array(z.string())).optional(),
  jobs: jobsOptionsSchema.prefault({}),
});

/** Everything tunable. Each setting says its default. */
export interface MemoryConfig {
  /** How long statements and connections may take. */
  readonly database?: DatabaseConfig | undefined;
  /** How conversations are summarised. */
  readonly summaries?: SummaryConfig | undefined;
  /** Which facts and episodes are made and kept, and when two are the same. */
  readonly memories?: MemoriesConfig | undefined;
  /** How facts, episodes and procedures are made in the background. */
  readonly upkeep?: UpkeepConfig | undefined;
  /** When memories are forgotten by age, and for good. */
  readonly lifecycle?: LifecycleConfig | undefined;
  /** What spans and log lines may say. */
  readonly telemetry?: TelemetryConfig | undefined;
  /** How memories are found, and how many are shown. */
  readonly retrieval?: RetrievalConfig | undefined;
  /** What is remembered only with the user's consent, or when it was said twice. */
  readonly consent?: ConsentConfig | undefined;
  /** Added to the default categories, or in the place of those with the same name. @default none */
  readonly categories?: CategoryConfig | undefined;
  /** Agent → categories it may read. @default every agent reads everything */
  readonly allowlists?: Record<string, string[]> | undefined;
  /** How background work runs in this process. */
  readonly jobs?: JobsConfig | undefined;
}

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
