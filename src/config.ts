import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { spansOptionsSchema } from "./composition/observe.js";
import { MemoryError, messageOf } from "./errors.js";
import { explainIssue } from "./input/parse-input.js";
import { consentConfigSchema, consentPolicy } from "./memories/consent/consent-policy.rule.js";
import { categoryConfigSchema, categoryPolicy } from "./memories/item/category.rule.js";
import { memoriesSettingsSchema, memoryConstants } from "./memories/item/memories-settings.js";
import { notesOptionsSchema } from "./notes/notes-options.js";
import { energyOptionsSchema } from "./observability/usage/energy-options.js";
import { databaseOptionsSchema } from "./postgres/open-database.js";
import { consolidationOptionsSchema } from "./reflection/consolidation/consolidation-options.js";
import { insightConstants, insightsOptionsSchema } from "./reflection/insights/insights-options.js";
import { receiptsOptionsSchema } from "./retention/forgetting/receipts-options.js";
import {
  checkpointOptionsSchema,
  lifecycleOptionsSchema,
  threadOptionsSchema,
} from "./retention/lifecycle/lifecycle-options.js";
import { retrievalConstants, retrievalOptionsSchema } from "./search/retrieval-options.js";
import { storeOptionsSchema } from "./store/store-options.js";
import { summaryConstants } from "./summaries/summary-window.rule.js";
import {
  contextConstants,
  contextOptionsSchema,
  presetConstants,
  presetSchema,
} from "./transcript/context-options.js";
import {
  jobConstants,
  jobsOptionsSchema,
  taskConstants,
  taskOptionsSchema,
} from "./work/jobs-options.js";

export const configSchema = z.strictObject({
  database: databaseOptionsSchema.prefault({}),
  preset: presetSchema,
  context: contextOptionsSchema.prefault({}),
  memories: memoriesSettingsSchema.prefault({}),
  insights: insightsOptionsSchema.prefault({}),
  upkeep: taskOptionsSchema.prefault({}),
  notes: notesOptionsSchema.prefault({}),
  lifecycle: lifecycleOptionsSchema.prefault({}),
  threads: threadOptionsSchema.prefault({}),
  checkpoints: checkpointOptionsSchema.prefault({}),
  receipts: receiptsOptionsSchema.prefault({}),
  consolidation: consolidationOptionsSchema.prefault({}),
  retrieval: retrievalOptionsSchema.prefault({}),
  consent: consentConfigSchema.prefault({}),
  categories: categoryConfigSchema.optional(),
  allowlists: z.record(z.string().min(1), z.array(z.string())).optional(),
  jobs: jobsOptionsSchema.prefault({}),
  energy: energyOptionsSchema.prefault({}),
  store: storeOptionsSchema.prefault({}),
  spans: spansOptionsSchema.prefault({}),
});

type Given = z.input<typeof configSchema>;

// Told by hand: in the declarations of an inferred type there are no docs.
/** Everything tunable. Each setting says its default. */
export interface MemoryConfig {
  /** How long statements and connections may take. */
  readonly database?: Given["database"];
  /**
   * "ledger": prompts only grow until they are folded, so that providers cache them. "every-round":
   * each turn has a prompt of its own, and each turn's end starts a summary and extracts facts.
   * @default "ledger"
   */
  readonly preset?: Given["preset"];
  /** How long prompts grow. */
  readonly context?: Given["context"];
  /** Which facts and episodes are made and kept, and when two are the same. */
  readonly memories?: Given["memories"];
  /** Whether insights into a user are made. */
  readonly insights?: Given["insights"];
  /**
   * How facts, episodes, procedures, notes, compaction, insights and consolidation are made in the
   * background.
   */
  readonly upkeep?: Given["upkeep"];
  /** How apps remember conversations that ended. */
  readonly notes?: Given["notes"];
  /** When memories are forgotten by age, and for good. */
  readonly lifecycle?: Given["lifecycle"];
  /** When conversations are deleted that nobody goes on with. */
  readonly threads?: Given["threads"];
  /** How many of LangGraph's checkpoints a thread keeps. */
  readonly checkpoints?: Given["checkpoints"];
  /** How receipts of erasures are signed, and whether an erased id can be asked for. */
  readonly receipts?: Given["receipts"];
  /** How memories that say the same are merged in the background. */
  readonly consolidation?: Given["consolidation"];
  /** How memories are found, and how many are shown. */
  readonly retrieval?: Given["retrieval"];
  /** Fields that need the user's consent, or a second mention. */
  readonly consent?: Given["consent"];
  /** Added to the default categories; one of a default's name changes what it says. @default none */
  readonly categories?: Given["categories"];
  /** Agent → categories it may read. @default every agent reads everything */
  readonly allowlists?: Given["allowlists"];
  /** How background work runs in this process. */
  readonly jobs?: Given["jobs"];
  /** How much a tenant's background calls of models may take before work that can wait does so. */
  readonly energy?: Given["energy"];
  /** How `memory.store()`, a store for LangGraph, keeps and finds items. */
  readonly store?: Given["store"];
  /** What OpenTelemetry spans carry. */
  readonly spans?: Given["spans"];
}

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
    /** As they were given, with defaults for the others. */
    settings: parsed.data,
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
