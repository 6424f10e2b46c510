import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { longestSpanMs, longestTimerMs } from "./clock.js";
import { MemoryError } from "./errors.js";
import { type ConsentPolicy, consentConfigSchema, consentPolicy } from "./memories/guard/consent-policy.js";
import {
  type Category,
  type CategoryPolicy,
  categoryConfigSchema,
  defaultCategories,
  findCategory,
} from "./memories/item/category.js";
import { namesKeys, nearestName, smallCount } from "./text/parse-input.js";

/** How long something waits. */
const timerMs = z.int().max(longestTimerMs);

/** How long ago or ahead a time is. */
const spanMs = z.int().max(longestSpanMs);

const databaseOptionsSchema = z.strictObject({
  /**
   * Longest time of one statement; setup, forget, export, import, reembed, pruning, statistics and the lifecycle apart.
   * A turn's statements take milliseconds: what takes this long waits for a lock that will not come, and holds a
   * connection that others wait for. Does not hold on the embedded database.
   */
  statementTimeoutMs: timerMs.min(1).default(30_000),
  /** Longest wait for a connection, of pools made here. A server far away takes a second. */
  connectTimeoutMs: timerMs.min(1).default(10_000),
});

const summaryOptionsSchema = z.strictObject({
  /** Messages a summary stands for: seven rounds of plain chat. */
  windowMessages: smallCount.min(2).default(14),
  /** First seq after which a round's end starts a summary: three rounds of plain chat. */
  afterSeq: z.int().min(0).default(5),
  /**
   * Tokens that no summary covers after which a round's end starts one, however few the messages: what one call of the
   * model holds. Rounds of ordinary chat have some hundred.
   */
  afterTokens: z.int().min(1).default(16_000),
  /** Longest wait for one model call. A background call that takes longer is stuck. */
  timeoutMs: timerMs.min(1).default(30_000),
  /** Tokens of conversation given to the model in one call; more is summarised in pieces. An eighth of a 128k window. */
  inputBudgetTokens: z.int().min(200).default(16_000),
  /**
   * Most calls for one summary, a summary of eight being half a megabyte of English. What a thread has said beyond it
   * waits for the next summary; only of a single round that is longer is the middle left out.
   */
  mostPieces: z.int().min(1).default(8),
  /** Longest summary kept; a window of 14 messages needs far less. */
  maxCharacters: z.int().min(200).default(4_000),
  /** How long a worker may be silent before another takes over: two model calls and their repairs. */
  leaseMs: spanMs.min(1).default(150_000),
  /** Tries before a summary is left `failed` for good; the next round starts a fresh one anyway. */
  maxAttempts: z.int().min(1).default(5),
  /** Wait after the first failure; doubles each time. */
  retryDelayMs: timerMs.min(0).default(30_000),
});

const memoryOptionsSchema = z.strictObject({
  /** Whether facts are extracted from what users say, after each round. Needs a model. */
  extract: z.boolean().default(true),
  /** Whether older turns become episodes. Needs a model. */
  episodes: z.boolean().default(true),
  /** Facts below this confidence are not kept. Below, guesses outnumber facts. */
  minConfidence: z.number().min(0).max(1).default(0.4),
  /** Facts below this importance are not kept. What the model gives less than 1, the least there is, is not worth keeping. */
  minImportance: z.number().min(1).max(5).default(1),
  /** Most facts one message may give: more is a model that splits hairs. */
  candidatesPerTurn: z.int().min(1).default(5),
  /** Most facts written after one user message: bounds cost, and what one poisoned message can do. */
  writesPerTurn: z.int().min(1).default(3),
  /** Most facts extracted for one owner in a day. Ten full turns. */
  writesPerDay: z.int().min(1).default(30),
  /** Similarity from which a free statement is the same, without asking. */
  mergeSimilarity: z.number().min(0).max(1).default(0.95),
  /** Similarity from which a model is asked whether it is the same. */
  askSimilarity: z.number().min(0).max(1).default(0.85),
  /** Similarity from which a pair is worth a later look. */
  reviewSimilarity: z.number().min(0).max(1).default(0.75),
  /**
   * The same three for updates of who the user is: what `consent` names. Halfway to certainty from the others: what waits
   * for the user's consent, or is held for a second signal, must not pass for something else.
   */
  contextMergeSimilarity: z.number().min(0).max(1).default(0.975),
  contextAskSimilarity: z.number().min(0).max(1).default(0.925),
  contextReviewSimilarity: z.number().min(0).max(1).default(0.875),
  /** Similarity from which memories are linked: well above unrelated sentences of common models. */
  linkSimilarity: z.number().min(0).max(1).default(0.6),
  /** Most links made for a memory whose text is new. */
  links: z.int().min(0).default(3),
  /** Turns of a thread after which the older ones become an episode. */
  episodeEveryTurns: z.int().min(2).default(20),
  /** Turns that stay out of episodes: the summary and the messages themselves still hold them. */
  episodeKeepTurns: z.int().min(0).default(10),
});

/** Whether a turn is shown memories. */
export const recallModeSchema = z.enum(["active", "passive"]);
export type RecallMode = z.output<typeof recallModeSchema>;

const retrievalOptionsSchema = z.strictObject({
  /**
   * "passive" writes and does not recall: turns are shown their conversation and no memories. A run says otherwise by
   * `memory_mode`, and a node by its option.
   */
  mode: recallModeSchema.default("active"),
  /** A text search configuration of PostgreSQL; "simple" where there is none for the language. */
  language: z.string().min(1).default("english"),
  /** Slots below this importance are not shown unasked. The middle of the scale. */
  minSlotImportance: z.number().min(1).max(5).default(2.5),
  /**
   * Least similarity of what is shown unasked. Without it, a tenth of the question's words, or a vector that stands out
   * from what is unrelated in its space.
   */
  threshold: z.number().min(0).max(1).optional(),
  /** Most hits shown unasked. */
  topK: z.int().min(1).default(8),
  /** Most episodes shown unasked. */
  topEpisodes: z.int().min(0).default(3),
  /** Episodes farther than this are not shown, with embeddings. Cosine distance. */
  maxEpisodeDistance: z.number().min(0).max(2).default(0.4),
  /** Tokens of memory shown unasked, the conversation's summary apart. */
  budgetTokens: z.int().min(50).default(1_500),
  /** Longest wait for the embedding of a question; recall goes on without it. */
  embedTimeoutMs: timerMs.min(1).default(2_000),
  /**
   * Longest time of a recall's search in the database; then the turn is told what is known without a question. Users
   * notice a second; searches take milliseconds. Does not hold on the embedded database.
   */
  timeoutMs: timerMs.min(1).default(2_000),
});

const upkeepOptionsSchema = z.strictObject({
  /** Longest wait for one model call. A background call that takes longer is stuck. */
  timeoutMs: timerMs.min(1).default(30_000),
  /** Tokens of conversation given to the model in one call; more is worked on in pieces. An eighth of a 128k window. */
  inputBudgetTokens: z.int().min(200).default(16_000),
  /**
   * Most calls for the facts of some messages, an episode or a procedure: eight are half a megabyte of English. Of longer
   * messages the middle is left out; what more of them there are, facts are extracted of in further pieces of work.
   */
  mostPieces: z.int().min(1).default(8),
  /** How long a worker may be silent before another takes over: two model calls and their repairs. */
  leaseMs: spanMs.min(1).default(150_000),
  /** Tries, of two answers each, before output that cannot be used becomes a dead letter. */
  maxAttempts: z.int().min(1).default(3),
  /** Tries before work whose calls fail becomes a dead letter: with the growing waits some 14 hours of outage. */
  maxFailures: z.int().min(1).default(20),
  /** Wait after the first failure; doubles each time, up to an hour. */
  retryDelayMs: timerMs.min(0).default(30_000),
});

const dayMs = 86_400_000;

const lifecycleOptionsSchema = z.strictObject({
  /** A memory that was neither said nor recalled for this long may be forgotten: two months without a use. */
  unusedAfterMs: spanMs.min(1).default(60 * dayMs),
  /**
   * Only memories below this importance are forgotten by age, from 1 to 5. What nobody rated has 3, so that only what
   * was judged minor goes.
   */
  importanceBelow: z.number().min(1).max(6).default(3),
  /** How long a removed or forgotten memory can be restored: time to notice and to regret. */
  purgeAfterMs: spanMs.min(0).default(30 * dayMs),
  /**
   * How long news of changes is kept, for delta headers and `changes.since`: half a year. A thread that was used since was told of
   * all that is older; one that was not is told of what is left. The audit trail keeps everything.
   */
  keepChangesMs: spanMs.min(0).default(180 * dayMs),
  /** How often this process looks for memories to forget and to purge. Both are a matter of days. */
  intervalMs: spanMs.min(10).default(3_600_000),
  /** Most memories of one owner changed in one transaction, which its writers wait for: some 50 ms. */
  batchSize: z.int().min(1).max(10_000).default(500),
});

const telemetryOptionsSchema = z.strictObject({
  /**
   * Whether spans carry questions and what was found, and log lines what errors of models and of the database say,
   * which may quote a conversation. Events and tables never do.
   */
  content: z.boolean().default(false),
});

const configSchema = z.strictObject({
  database: databaseOptionsSchema.prefault({}),
  summaries: summaryOptionsSchema.prefault({}),
  memories: memoryOptionsSchema.prefault({}),
  upkeep: upkeepOptionsSchema.prefault({}),
  lifecycle: lifecycleOptionsSchema.prefault({}),
  telemetry: telemetryOptionsSchema.prefault({}),
  retrieval: retrievalOptionsSchema.prefault({}),
  /** What is remembered only with the user's consent, or when it was said twice. */
  consent: consentConfigSchema.prefault({}),
  /** Added to the default categories, or in the place of those with the same name. */
  categories: categoryConfigSchema.optional(),
  /** Agent → categories it may read. Without any, every agent reads everything. */
  allowlists: z.record(z.string().min(1), z.array(z.string())).optional(),
  jobs: z
    .strictObject({
      /** Background jobs at the same time in this process. */
      concurrency: z.int().min(1).default(4),
      /** How often this process looks for work that another one left behind. Half a lease. */
      sweepIntervalMs: timerMs.min(10).default(60_000),
    })
    .prefault({}),
});

/** Everything tunable, as the user writes it. */
export type MemoryConfig = z.input<typeof configSchema>;

type ParsedConfig = z.output<typeof configSchema>;

/** Everything tunable, with defaults filled in. */
export type ResolvedConfig = Omit<ParsedConfig, "categories" | "allowlists" | "consent"> & {
  readonly policy: CategoryPolicy;
  readonly consent: ConsentPolicy;
};

/** How background work on memories is done: extraction, episodes, procedures. */
export type UpkeepOptions = ResolvedConfig["upkeep"];

/** When memories are forgotten by age, and when for good. */
export type LifecycleOptions = ResolvedConfig["lifecycle"];

/** How memories are found. */
export type RetrievalOptions = ResolvedConfig["retrieval"];

/** How summaries are made. */
export type SummaryOptions = ResolvedConfig["summaries"];

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
    throw invalid(`${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`, cause);
  }
}

function categoryPolicy(
  configured: ParsedConfig["categories"],
  allowlists: ParsedConfig["allowlists"],
): CategoryPolicy {
  const added: readonly Category[] = [...(configured?.system ?? []), ...(configured?.custom ?? [])];
  const twice = added.find(({ name }, index) => added.findIndex((other) => other.name === name) < index);
  if (twice) throw invalid(`category "${twice.name}" is configured twice`);
  const categories = new Map([...defaultCategories, ...added].map((category) => [category.name, category]));
  const policy = { categories, allowlists: null };
  if (!allowlists) return policy;
  const resolve = (agent: string, name: string) => {
    const category = findCategory(policy, name);
    if (!category) {
      const nearest = nearestName(name, [...categories.keys()]);
      const hint = nearest === null ? "" : ` (did you mean "${nearest}"?)`;
      throw invalid(`allowlists.${agent} names the category "${name}", which is not configured${hint}`);
    }
    return category.name;
  };
  const resolved = Object.entries(allowlists).map(
    ([agent, names]) => [agent, new Set(names.map((name) => resolve(agent, name)))] as const,
  );
  return { categories, allowlists: new Map(resolved) };
}

function invalid(problem: string, cause?: unknown): MemoryError {
  return new MemoryError("INVALID_INPUT", `Invalid config: ${problem}`, { cause });
}
