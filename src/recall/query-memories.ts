import { z } from "zod";
import type { Clock } from "../clock.js";
import type { Connection } from "../database/connection.js";
import { type CategoryPolicy, readableCategories, requireCategory } from "../domain/category.js";
import { type MemoryKind, memoryKinds } from "../domain/memory.js";
import { type MemoryFilter, parseFilter } from "../domain/memory-filter.js";
import { parseInput } from "../domain/parse-input.js";
import { namedSpans, questionDates } from "../domain/question-dates.js";
import { namesActor, questionWords } from "../domain/question-words.js";
import { type MemoryHit, rankMemories } from "../domain/rank-memories.js";
import { parseScope, type Scope } from "../domain/scope.js";
import { searchText } from "../domain/search-text.js";
import { MemoryError } from "../errors.js";
import type { Embedder } from "../llm/embedder.js";
import { errorLine, type Logger } from "../logger.js";
import type { ResolvedConfig } from "../options.js";
import { searchMemories } from "../store/search-memories.js";

/** What is asked of memory. */
export interface MemoryQuery {
  readonly scope: Scope;
  readonly query: string;
  /** The agent that asks: only its categories are searched. @default no restriction */
  readonly agent?: string | undefined;
  /** @default all the agent may read */
  readonly categories?: readonly string[] | undefined;
  readonly filters?: MemoryFilter | undefined;
  /** @default all kinds but procedures, which are found only by their category */
  readonly kinds?: readonly MemoryKind[] | undefined;
  /** 1 to 200. @default 5 */
  readonly topK?: number | undefined;
  /** Least similarity of a hit, 0 to 1. @default 0.05, and nothing at all when even the best hit is below 0.1 */
  readonly threshold?: number | undefined;
}

/** What a query needs. */
export interface QueryDeps {
  readonly db: Connection;
  readonly config: ResolvedConfig;
  readonly embedder: Embedder | null;
  readonly logger: Logger;
  readonly clock?: Clock | undefined;
}

const querySchema = z.object({
  query: z.string().max(10_000),
  topK: z.int().min(1).max(200).default(5),
  threshold: z.number().min(0).max(1).optional(),
  agent: z.string().optional(),
  categories: z.array(z.string()).optional(),
  kinds: z.array(z.enum(memoryKinds)).optional(),
});

/** Kinds that are found unasked: procedures are found by their category only. */
export const defaultKinds: readonly MemoryKind[] = ["fact", "episode", "note", "insight"];

/** Candidates ranked for each hit wanted: the final signals reorder the head of the list only. */
const candidatesPerHit = 4;

/**
 * The memories that fit `query` best, best first; none when nothing fits. One round trip, after the embedding
 * call if there are embeddings; when that fails, the search goes on without it.
 *
 * @throws MemoryError `CATEGORY_DENIED` when a category is not in the agent's allowlist, `INVALID_INPUT`.
 */
export async function queryMemories(deps: QueryDeps, input: MemoryQuery): Promise<MemoryHit[]> {
  const scope = parseScope(input.scope);
  const { query, topK, threshold } = parseInput(querySchema, input, "query");
  const filter = parseFilter(input.filters);
  const categories = allowedCategories(deps.config.policy, input.agent ?? null, input.categories);
  if (filter.category !== null) {
    allowedCategories(deps.config.policy, input.agent ?? null, [filter.category]);
  }
  const { language, embedTimeoutMs } = deps.config.retrieval;
  const terms = searchText(query, language);
  const asked = questionWords(terms);
  const dates = questionDates(query);
  const vector = await embedQuestion(deps, query, embedTimeoutMs);
  const candidates = await searchMemories(
    deps.db,
    { scope, terms, ...asked, language },
    {
      scope,
      kinds: input.kinds ?? (input.categories === undefined ? defaultKinds : [...defaultKinds, "procedure"]),
      categories,
      filter: {
        ...filter,
        category: filter.category && requireCategory(deps.config.policy, filter.category).name,
      },
      vector,
      spans: namedSpans(dates),
      everything:
        (input.agent !== undefined && deps.config.policy.allowlists !== null) ||
        input.categories !== undefined ||
        input.kinds !== undefined ||
        input.filters !== undefined,
      limit: Math.max(50, topK * candidatesPerHit),
    },
  );
  return rankMemories(candidates, {
    dates,
    names: namesActor(asked, language),
    now: (deps.clock ?? (() => new Date()))(),
    threshold,
  }).slice(0, topK);
}

/** The categories to search. @throws MemoryError `CATEGORY_DENIED` */
function allowedCategories(
  policy: CategoryPolicy,
  agent: string | null,
  requested: readonly string[] | undefined,
): string[] {
  const readable = readableCategories(policy, agent);
  if (requested === undefined) return [...readable];
  const names = requested.map((name) => requireCategory(policy, name).name);
  const denied = names.filter((name) => !readable.has(name));
  if (denied.length === 0) return names;
  throw new MemoryError(
    "CATEGORY_DENIED",
    `Agent "${agent}" may not read ${denied.join(", ")}. It may read: ${[...readable].join(", ") || "nothing"}.`,
  );
}

/** The question's vector, or null: lexical search alone is better than no answer. */
export async function embedQuestion({ embedder, logger }: QueryDeps, query: string, timeoutMs: number) {
  if (!embedder || query.trim() === "") return null;
  try {
    const { space, vectors } = await embedder.query(query, timeoutMs);
    return { space, value: vectors[0] as string };
  } catch (error) {
    if (MemoryError.is(error) && error.code !== "EMBEDDING_FAILED") throw error;
    logger.warn(`searching without vectors: ${errorLine(error)}`);
    return null;
  }
}
