import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { consolidationOptionsSchema } from "./consolidation/consolidation-options.js";
import {
  contextConstants,
  contextOptionsSchema,
  presetConstants,
  presetSchema,
} from "./conversation/context-options.js";
import { MemoryError, messageOf } from "./errors.js";
import { insightConstants, insightsOptionsSchema } from "./insights/insights-options.js";
import {
  jobConstants,
  jobsOptionsSchema,
  taskConstants,
  taskOptionsSchema,
} from "./jobs/jobs-options.js";
import { lifecycleOptionsSchema } from "./lifecycle/lifecycle-work.js";
import { consentConfigSchema, consentPolicy } from "./memories/guard/consent-policy.rule.js";
import { categoryConfigSchema, categoryPolicy } from "./memories/item/category.rule.js";
import { memoryConstants, memoryOptionsSchema } from "./memories/item/memory-options.js";
import { notesOptionsSchema } from "./notes/notes-options.js";
import { databaseOptionsSchema } from "./postgres/open-database.js";
import { retrievalConstants, retrievalOptionsSchema } from "./search/retrieval-options.js";
import { storeOptionsSchema } from "./store/store-options.js";
import { summaryConstants } from "./summaries/summary-window.rule.js";
import { explainIssue } from "./text/parse-input.js";
import { spansOptionsSchema } from "./turns/observe.js";
import { energyOptionsSchema } from "./usage/energy-options.js";

export const configSchema = z.strictObject({
  /** How long statements and connections may take. */
  database: databaseOptionsSchema.prefault({}),
  /**
   * "ledger": prompts only grow until they are folded, so that providers cache them. "every-round":
   * each turn has a prompt of its own, and each turn's end starts a summary and extracts facts.
   * @default "ledger"
   */
  preset: presetSchema,
  /** How long prompts grow. */
  context: contextOptionsSchema.prefault({}),
  /** Which facts and episodes are made and kept, and when two are the same. */
  memories: memoryOptionsSchema.prefault({}),
  /** Whether insights into a user are made. */
  insights: insightsOptionsSchema.prefault({}),
  /**
   * How facts, episodes, procedures, notes, compaction, insights and consolidation are made in the
   * background.
   */
  upkeep: taskOptionsSchema.prefault({}),
  /** How apps remember conversations that ended. */
  notes: notesOptionsSchema.prefault({}),
  /** When memories are forgotten by age, and for good. */
  lifecycle: lifecycleOptionsSchema.prefault({}),
  /** How memories that say the same are merged in the background. */
  consolidation: consolidationOptionsSchema.prefault({}),
  /** How memories are found, and how many are shown. */
  retrieval: retrievalOptionsSchema.prefault({}),
  /** What is remembered only with the user's consent, or when it was said twice. */
  consent: consentConfigSchema.prefault({}),
  /** Added to the default categories; one of a default's name changes what it says. @default none */
  categories: categoryConfigSchema.optional(),
  /** Agent → categories it may read. @default every agent reads everything */
  allowlists: z.record(z.string().min(1), z.array(z.string())).optional(),
  /** How background work runs in this process. */
  jobs: jobsOptionsSchema.prefault({}),
  /** How much a tenant's background calls of models may take before work that can wait does so. */
  energy: energyOptionsSchema.prefault({}),
  /** How `memory.store()`, a store for LangGraph, keeps and finds items. */
  store: storeOptionsSchema.prefault({}),
  /** What OpenTelemetry spans carry. */
  spans: spansOptionsSchema.prefault({}),
});

/** Everything tunable. Each setting says its default. */
export interface MemoryConfig extends z.input<typeof configSchema> {}

/**
 * Constants that are no settings; each file gives their reasons. Tests make some of them smaller.
 */
export const constants = {
  context: contextConstants,
  summaries: { ...taskConstants, ...summaryConstants },
  memories: memoryConstants,
  insights: insightConstants,
  upkeep: taskConstants,
  retrieval: retrievalConstants,
  jobs: jobConstants,
};

export type ChangedConstants = {
  readonly [Group in keyof typeof constants]?: Partial<(typeof constants)[Group]>;
};

export type ResolvedConfig = Readonly<ReturnType<typeof resolveConfig>>;

/**
 * @param warn receives allowed but probably mistaken settings. @default ignores them
 * @throws MemoryError `INVALID_INPUT` that names each unknown or wrong option
 */
export function resolveConfig(
  config: MemoryConfig | string | undefined,
  changed: ChangedConstants = {},
  warn?: (message: string) => void,
) {
  const given =
    typeof config === "string" ? readConfigFile(config) : config === undefined ? {} : config;
  const parsed = configSchema.safeParse(given, { error: explainIssue });
  if (!parsed.success) throw unreadableConfig(z.prettifyError(parsed.error));
  const { categories, allowlists, consent, ...groups } = parsed.data;
  const policy = categoryPolicy(categories, allowlists, warn);
  const upkeep = { ...groups.upkeep, ...taskConstants, ...changed.upkeep };
  const context = { ...groups.context, ...contextConstants, ...changed.context };
  const preset = presetConstants(groups.preset, context);
  return {
    ...groups,
    context,
    summaries: { ...upkeep, ...summaryConstants, ...preset.summaries, ...changed.summaries },
    insights: { ...groups.insights, ...insightConstants, ...changed.insights },
    memories: { ...groups.memories, ...memoryConstants, ...preset.memories, ...changed.memories },
    upkeep,
    retrieval: { ...groups.retrieval, ...retrievalConstants, ...changed.retrieval },
    jobs: { ...groups.jobs, ...jobConstants, ...changed.jobs },
    policy,
    consent: consentPolicy(consent, policy),
  };
}

function readConfigFile(path: string): unknown {
  try {
    return parse(readFileSync(path, "utf8")) ?? {};
  } catch (cause) {
    throw unreadableConfig(`${path} cannot be read: ${messageOf(cause)}`, cause);
  }
}

function unreadableConfig(problem: string, cause?: unknown): MemoryError {
  return new MemoryError("INVALID_INPUT", `Invalid config: ${problem}`, { cause });
}
