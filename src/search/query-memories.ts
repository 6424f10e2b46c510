import { z } from "zod";
import { MemoryError } from "../errors.js";
import { parseInput } from "../input/parse-input.js";
import { type AsOfTimes, asOfField, type KnownThen, requirePast } from "../memories/audit/as-of.js";
import {
  type CategoryPolicy,
  readableCategories,
  requireCategory,
} from "../memories/item/category.rule.js";
import { type MemoryItem, type MemoryKind, memoryKinds } from "../memories/item/memory.js";
import { requiredScope } from "../scope/scope.js";
import { timeZoneField } from "../text/time-zone.js";
import { type AnswerForm, answerForms } from "./answer-query.js";
import { type MemoryFilter, minTrustField, parseFilter, withTrust } from "./memory-filter.rule.js";
import {
  type MemoryHit,
  noParts,
  type RankedHit,
  rankWeighed,
  weighMemories,
  withoutParts,
  withRelated,
} from "./rank-memories.rule.js";
import { type EmbeddedQuestion, embedQuestion } from "./read-question.js";
import { rerank } from "./rerank.js";
import type { SearchRuntime } from "./retrieval-options.js";
import { searchMemories } from "./search-memories.js";
import { searchRemembered } from "./search-remembered.js";

const topK = z.int().min(1).max(200).nullish();
const budgetTokens = z.int().min(16).max(100_000).nullish();
const someOf = <Name extends z.ZodType>(name: Name) =>
  z.array(name).min(1, "must name at least one: leave it out for all").readonly().nullish();
const querySchema = z.strictObject({
  scope: requiredScope,
  /**
   * At most 10,000 characters. A broad query, empty or of stop words alone ("Who am I?"), lists
   * pinned memories, then the most important and latest ones, and ignores `threshold`.
   */
  query: z.string().max(10_000),
  /**
   * Accepted so that an input of `recall` fits; not used: memories of all conversations are
   * searched.
   */
  threadId: z.string().nullish(),
  /**
   * Time zone of the days that `query` and `filters` name, and of the days in an answer for a model:
   * "Europe/Lisbon".
   * @default retrieval.timeZone
   */
  timeZone: timeZoneField.nullish(),
  /** Searches only the categories that this agent may read. @default no restriction */
  agent: z.string().nullish(),
  /** @default all the agent may read */
  categories: someOf(z.string()),
  filters: z.custom<MemoryFilter>().nullish(),
  /** Finds only memories of at least this trust. @default any */
  minTrust: minTrustField,
  /** @default all kinds but procedures, which need their category */
  kinds: someOf(z.enum(memoryKinds)),
  /** 1 to 200. @default 5 */
  topK,
  top_k: topK,
  /**
   * Least similarity of a hit, 0 to 1.
   * @default by evidence: see docs/recall.md#when-nothing-fits
   */
  threshold: z.number().min(0).max(1).nullish(),
  return: z.enum(answerForms).nullish(),
  /**
   * Most tokens of the answer as `return` formats it, or of texts, keys and values of hits and
   * related memories; 16 to 100,000. Cuts the first hit to fit, and omits others that are too long.
   * @default no limit
   */
  budgetTokens,
  budget_tokens: budgetTokens,
  /** What was known at a past time. @default today */
  asOf: asOfField.nullish(),
});

/**
 * A search. `top_k` and `budget_tokens` are other names of `topK` and `budgetTokens`; null means
 * unset.
 */
export interface MemoryQuery extends Omit<z.input<typeof querySchema>, "return" | "asOf"> {}

/** A query with an answer formatted for models: see `MemoryBullet`. */
export interface MemoryRequest extends MemoryQuery {
  readonly return: AnswerForm;
}

/** Hits of what was known at a past time. */
export interface HitsThen<Hit = MemoryHit> extends KnownThen, RankedThen {
  readonly hits: readonly Hit[];
}

export interface RankedThen {
  /**
   * How many of the memories that were searched have no vector, since their text has changed since:
   * they were compared by words alone.
   */
  readonly byWords: number;
}

export const defaultKinds: readonly MemoryKind[] = ["fact", "episode", "note", "insight"];

/**
 * SQL orders candidates without importance, recency, speaker and links: four for each hit leave
 * room for these.
 */
const candidatesPerHit = 4;

export type ReadQuery = ReturnType<typeof readQuery>;

/**
 * Embeds the query, then searches in one round trip.
 * @throws MemoryError `CATEGORY_DENIED`, `INVALID_INPUT`
 */
export async function queryMemories(deps: SearchRuntime, input: MemoryQuery) {
  // Whose memories are searched, which of them, how many, and how the answer is written.
  const query = readQuery(deps, input);
  // The question's words, the days and people that it names, and its vector.
  const question = await embedQuestion(deps, query);
  // What fits it, best first.
  const { ordered, candidates, past } = await findHits(deps, query, question);
  // The best of them, with memories that are linked to them. `query` of
  // create-memory.ts writes them for a model, by `bulletsOf`.
  const hits = withoutParts(ordered.slice(0, query.search.maxHits));
  return { hits: withRelated(hits, candidates), past, ...query.shape };
}

export async function findHits(
  deps: SearchRuntime,
  { search, threshold, asOf }: ReadQuery,
  question: EmbeddedQuestion,
) {
  // One query finds candidates, and the features that rank them; of a past time, the audit trail has them.
  const { candidates, important, past } = await findCandidates(deps, asOf, search, question);
  // A broad question compares nothing: it lists what is most important.
  const isBroad = important.length > 0;
  if (isBroad)
    return { isBroad, ordered: important.map(listedHit), candidates: [], weighed: [], past };
  // A score for each, of its features; what proves nothing is left out, and the best come first.
  const ranking = { ...question, threshold, now: asOf?.knownAt ?? deps.clock() };
  const weighed = weighMemories(candidates, ranking);
  const ranked = rankWeighed(weighed, ranking);
  // The user's own reranker reorders the head of the list.
  return { isBroad, ordered: await rerank(deps, question, ranked), candidates, weighed, past };
}

/** @returns `past` only with `asOf` */
async function findCandidates(
  { db, clock, config }: SearchRuntime,
  asOf: AsOfTimes | null,
  search: ReadQuery["search"],
  question: EmbeddedQuestion,
) {
  if (asOf === null) return { ...(await searchMemories(db, question, search)), past: undefined };
  const reader = { now: clock(), idKey: config.receipts.idKey };
  return searchRemembered(db, question, { ...search, asOf }, reader);
}

export function readQuery({ config, clock }: SearchRuntime, input: MemoryQuery) {
  const { policy } = config;
  const { scope, ...request } = parseInput(querySchema, input, "query");
  const maxHits = valueOfAliases(request, "topK", "top_k") ?? 5;
  const agent = request.agent ?? null;
  const timeZone = request.timeZone ?? config.retrieval.timeZone;
  const filter = parseFilter(request.filters, scope, timeZone);
  const categories = allowedCategories(policy, agent, request.categories ?? null);
  const namesCategories = Boolean(request.categories ?? filter.category);
  if (filter.category) allowedCategories(policy, agent, [filter.category]);
  return {
    text: request.query,
    timeZone,
    agent,
    threshold: request.threshold ?? undefined,
    asOf: request.asOf ? requirePast(request.asOf, clock()) : null,
    search: {
      scope,
      categories,
      maxHits,
      maxCandidates: Math.max(50, maxHits * candidatesPerHit),
      kinds: request.kinds ?? (namesCategories ? [...defaultKinds, "procedure"] : defaultKinds),
      filter: withTrust(
        { ...filter, category: filter.category && requireCategory(policy, filter.category).name },
        request.minTrust,
      ),
    },
    shape: {
      form: request.return ?? null,
      timeZone,
      budgetTokens: valueOfAliases(request, "budgetTokens", "budget_tokens"),
    },
  };
}

/** A hit of a broad question, which compares nothing. */
function listedHit(memory: MemoryItem): RankedHit {
  const parts = { ...noParts, importance: memory.importance / 5, pinned: memory.pinned ? 1 : 0 };
  const reason = memory.pinned ? "pinned" : "among the most important";
  return { memory, similarity: 0, score: parts.pinned + parts.importance, reason, parts };
}

function valueOfAliases<Name extends string>(
  request: Readonly<Partial<Record<Name, number | null | undefined>>>,
  name: Name,
  other: Name,
): number | null {
  const [first, second] = [request[name] ?? null, request[other] ?? null];
  if (first === null || second === null || first === second) return first ?? second;
  throw new MemoryError(
    "INVALID_INPUT",
    `Invalid query: \`${name}\` and \`${other}\` are the same, but differ here.`,
  );
}

function allowedCategories(
  policy: CategoryPolicy,
  agent: string | null,
  requested: readonly string[] | null,
): string[] {
  const readable = readableCategories(policy, agent);
  if (requested === null) return [...readable];
  const names = requested.map((name) => requireCategory(policy, name).name);
  const denied = names.filter((name) => !readable.has(name));
  if (denied.length === 0) return names;
  throw new MemoryError(
    "CATEGORY_DENIED",
    `Agent "${agent}" may not read ${denied.join(", ")}. It may read: ${[...readable].join(", ") || "nothing"}.`,
  );
}
