import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import {
  type ConsolidationConfig,
  consolidationOptionsSchema,
} from "./consolidation/consolidation-options.js";
import {
  type ConversationConfig,
  type ConversationOptions,
  conversationConstants,
  conversationOptionsSchema,
} from "./conversation/conversation-options.js";
import { MemoryError, messageOf } from "./errors.js";
import {
  type InsightsConfig,
  type InsightsOptions,
  insightConstants,
  insightsOptionsSchema,
} from "./insights/insights-options.js";
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
import { type NotesConfig, notesOptionsSchema } from "./notes/notes-options.js";
import { type DatabaseConfig, databaseOptionsSchema } from "./postgres/open-database.js";
import { type TelemetryConfig, telemetryOptionsSchema } from "./rounds/observe.js";
import { type RetrievalConfig, retrievalOptionsSchema } from "./search/retrieval-options.js";
import { type StoreConfig, storeOptionsSchema } from "./store/store-options.js";
import {
  type SummaryConfig,
  type SummaryOptions,
  summaryConstants,
  summaryOptionsSchema,
} from "./summaries/summary-window.rule.js";
import { namesKeys } from "./text/parse-input.js";
import { type EnergyConfig, energyOption } from "./usage/energy-options.js";

/** Settings that go together. */
const presets = {
  standard: {},
  // The first summary comes as early; what is not summarised yet is shown word for word meanwhile.
  economy: {
    summaries: { everyMessages: 8 },
    memories: { extractAfter: { messages: 4, idleMs: 300_000 } },
  },
} as const;

const presetNames = ["standard", "economy"] as const;

/** The name of settings that go together. */
export type ConfigPreset = (typeof presetNames)[number];

const configSchema = z.strictObject({
  preset: z.enum(presetNames).default("standard"),
  database: databaseOptionsSchema.prefault({}),
  conversation: conversationOptionsSchema.prefault({}),
  summaries: summaryOptionsSchema.prefault({}),
  memories: memoryOptionsSchema.prefault({}),
  insights: insightsOptionsSchema.prefault({}),
  upkeep: taskOptionsSchema.prefault({}),
  notes: notesOptionsSchema.prefault({}),
  lifecycle: lifecycleOptionsSchema.prefault({}),
  consolidation: consolidationOptionsSchema.prefault({}),
  telemetry: telemetryOptionsSchema.prefault({}),
  retrieval: retrievalOptionsSchema.prefault({}),
  consent: consentConfigSchema.prefault({}),
  categories: categoryConfigSchema.optional(),
  allowlists: z.record(z.string().min(1), z.array(z.string())).optional(),
  jobs: jobsOptionsSchema.prefault({}),
  energy: energyOption.prefault({}),
  store: storeOptionsSchema.prefault({}),
});

/** Everything tunable. Each setting says its default. */
export interface MemoryConfig {
  /**
   * Settings that go together; what a config says itself goes before them. "economy" has models asked about a quarter as
   * often in the background: `summaries.everyMessages` 8, `memories.extractAfter` 4 messages or five minutes. Facts are
   * known some turns later then; the prompt holds some messages more.
   *
   * @default "standard"
   */
  readonly preset?: ConfigPreset | undefined;
  /** How long statements and connections may take. */
  readonly database?: DatabaseConfig | undefined;
  /** How much of a conversation is shown word for word where no summary covers it. */
  readonly conversation?: ConversationConfig | undefined;
  /** How conversations are summarised. */
  readonly summaries?: SummaryConfig | undefined;
  /** Which facts and episodes are made and kept, and when two are the same. */
  readonly memories?: MemoriesConfig | undefined;
  /** Whether insights into a user are made. */
  readonly insights?: InsightsConfig | undefined;
  /** How facts, episodes, procedures, notes, compaction, insights and consolidation are made in the background. */
  readonly upkeep?: UpkeepConfig | undefined;
  /** How apps remember conversations that ended. */
  readonly notes?: NotesConfig | undefined;
  /** When memories are forgotten by age, and for good. */
  readonly lifecycle?: LifecycleConfig | undefined;
  /** How memories that say the same are merged in the background. */
  readonly consolidation?: ConsolidationConfig | undefined;
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
  /** How much a tenant's background calls of models may take before work that can wait does so. */
  readonly energy?: EnergyConfig | boolean | undefined;
  /** How `memory.store()`, a store for LangGraph, keeps and finds items. */
  readonly store?: StoreConfig | undefined;
}

type ParsedConfig = z.output<typeof configSchema>;

/** Everything tunable, with defaults filled in. */
export type ResolvedConfig = Omit<
  ParsedConfig,
  "preset" | "categories" | "allowlists" | "consent" | "summaries" | "insights" | "conversation"
> & {
  readonly summaries: SummaryOptions;
  readonly insights: InsightsOptions;
  readonly conversation: ConversationOptions;
  readonly policy: CategoryPolicy;
  readonly consent: ConsentPolicy;
};

/**
 * `config`, an object or the path of a YAML file, with defaults filled in.
 *
 * @throws MemoryError `INVALID_INPUT` that names each unknown or wrong option.
 */
export function resolveConfig(config: MemoryConfig | string | undefined): ResolvedConfig {
  const given = typeof config === "string" ? readConfigFile(config) : config === undefined ? {} : config;
  const parsed = configSchema.safeParse(withPreset(given), { error: namesKeys });
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error));
  const { preset: _preset, categories, allowlists, consent, ...rest } = parsed.data;
  const policy = categoryPolicy(categories, allowlists);
  return {
    ...rest,
    summaries: { ...rest.summaries, ...summaryConstants },
    insights: { ...rest.insights, ...insightConstants },
    conversation: { ...rest.conversation, ...conversationConstants },
    policy,
    consent: consentPolicy(consent, policy),
  };
}

/**
 * `config` for one of several cells: what a process takes of memory and of models' time at most, it takes for all together.
 */
export function shareOf(config: ResolvedConfig, cells: number): ResolvedConfig {
  if (cells === 1) return config;
  const { jobs, retrieval } = config;
  const share = (whole: number) => Math.max(1, Math.floor(whole / cells));
  const held = { ...retrieval.held, mostBytes: share(retrieval.held.mostBytes) };
  return {
    ...config,
    jobs: { ...jobs, concurrency: share(jobs.concurrency) },
    retrieval: { ...retrieval, held },
  };
}

/** `given` with what its preset says where it says nothing itself; what is no config stays as it is. */
function withPreset(given: unknown): unknown {
  const { preset } = isGroup(given) ? given : {};
  const isKnown = typeof preset === "string" && Object.hasOwn(presets, preset);
  return isKnown ? over(presets[preset as ConfigPreset], given) : given;
}

/** `upper` laid over `lower`, group by group. */
function over(lower: unknown, upper: unknown): unknown {
  if (upper === undefined) return lower;
  if (!isGroup(lower) || !isGroup(upper)) return upper;
  const keys = new Set([...Object.keys(lower), ...Object.keys(upper)]);
  return Object.fromEntries([...keys].map((key) => [key, over(lower[key], upper[key])]));
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
