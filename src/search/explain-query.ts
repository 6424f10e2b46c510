import sql from "sql-template-tag";
import { readableCategories } from "../memories/item/category.rule.js";
import { type MemoryItem, memoryKinds } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { seenOwners } from "../scope/scope-predicates.js";
import { type AnswerShape, bulletsOf, fittingHits, type MemoryBullet } from "./answer-query.js";
import { noFilter } from "./memory-filter.rule.js";
import { findHits, type MemoryQuery, type ReadQuery, readQuery, withRelated } from "./query-memories.js";
import type { MemoryHit, RankedHit } from "./rank-memories.rule.js";
import { type EmbeddedQuestion, embedQuestion } from "./read-question.js";
import type { SearchRuntime } from "./retrieval-options.js";
import { type VisibleMemories, visibleArguments } from "./search-memories.js";

interface ExplainedHit extends RankedHit {
  /** From 1. */
  readonly rank: number;
}

type LeftOutReason =
  /** Hardly alike: below the floor, or the `threshold` asked for. */
  | "floor"
  /** Better ones are `topK` already. */
  | "limit"
  | "budget"
  | "allowlist"
  | "category"
  | "kind"
  | "filter"
  /** It is not in use: removed, replaced, merged, or in quarantine. */
  | "state"
  | "expired";

interface LeftOutMemory {
  readonly memory: MemoryItem;
  readonly reason: LeftOutReason;
  /** The same in a sentence, with its figures. */
  readonly detail: string;
  /** What it would be ranked by; null of what is not in use. */
  readonly score: number | null;
}

export interface Explanation {
  readonly question: {
    readonly text: string;
    /** Its words in the index. */
    readonly lexemes: readonly string[];
    readonly embedded: boolean;
    /** Whether it asks for everything. */
    readonly broad: boolean;
  };
  /** Least evidence of a hit: the `threshold`, or the floor of each and of the best. */
  readonly floor: number | { readonly best: number; readonly each: number };
  readonly budgetTokens: number | null;
  readonly hits: readonly ExplainedHit[];
  /** Best first; at most 50, and 20 of those that are not in use. */
  readonly omitted: readonly LeftOutMemory[];
}

const mostLeftOut = 50;
const mostHidden = 20;

/** What `queryMemories` finds and leaves out, with scores taken apart. Four round trips: for people, not for turns. */
export async function explainQuery(deps: SearchRuntime, input: MemoryQuery): Promise<Explanation> {
  const query = readQuery(deps, input);
  const { search, threshold, floor, shape } = query;
  const question = await embedQuestion(deps, query);
  const more = { ...query, search: { ...search, most: search.most + mostLeftOut } };
  const { ordered, candidates, weighed, isBroad } = await findHits(deps, more, question);
  const best = withRelated(ordered.slice(0, search.most), candidates);
  const shown = fitting(best, shape);
  const ids = new Set(ordered.map(({ memory }) => memory.id));
  const invisible = await findInvisible(deps, question, more);
  const { lexemes, hidden } = await findHidden(deps.db, question, search);
  const omitted = [
    ...best
      .filter(({ memory }) => !shown.has(memory.id))
      .map((hit) => left(hit, "budget", `It does not fit into ${shape.budgetTokens} tokens.`)),
    ...ordered
      .slice(search.most)
      .map((hit, index) =>
        left(hit, "limit", `It is number ${search.most + index + 1}; ${search.most} were asked for.`),
      ),
    ...weighed
      .filter(({ memory }) => !ids.has(memory.id))
      .map((each) => left(each, "floor", `It is hardly alike: ${each.evidence.toFixed(3)}.`)),
    ...invisible.map((each) => notSelected(each, query, deps)),
  ];
  return {
    question: { text: query.text, lexemes, embedded: question.vector !== null, broad: isBroad },
    floor: threshold ?? floor,
    budgetTokens: shape.budgetTokens,
    hits: best.filter(({ memory }) => shown.has(memory.id)).map((hit, index) => ({ ...hit, rank: index + 1 })),
    omitted: [...omitted.toSorted((first, second) => second.score - first.score).slice(0, mostLeftOut), ...hidden],
  };
}

function fitting(hits: readonly MemoryHit[], { form, budgetTokens }: AnswerShape): ReadonlySet<string> {
  const shown: readonly Pick<MemoryBullet, "id">[] =
    form === null ? fittingHits(hits, budgetTokens).map(({ memory }) => memory) : bulletsOf(hits, form, budgetTokens);
  // The first is cut to fit, if need be to its text alone.
  return new Set(shown.flatMap(({ id }) => id ?? hits[0]?.memory.id ?? []));
}

type Scored = Pick<MemoryHit, "memory" | "score">;
type Omitted = LeftOutMemory & { readonly score: number };

function left({ memory, score }: Scored, reason: LeftOutReason, detail: string): Omitted {
  return { memory, score, reason, detail };
}

function notSelected(scored: Scored, { agent, search }: ReadQuery, { config: { policy } }: SearchRuntime): Omitted {
  const { category, kind } = scored.memory;
  if (!readableCategories(policy, agent).has(category))
    return left(scored, "allowlist", `The agent "${agent}" may not read ${category}.`);
  if (!search.categories.includes(category)) return left(scored, "category", `${category} was not asked for.`);
  if (!search.kinds.includes(kind)) return left(scored, "kind", `Memories of the kind ${kind} were not asked for.`);
  return left(scored, "filter", "The filters leave it out.");
}

/** What the same question finds that only its categories, kinds and filters leave out. */
async function findInvisible(deps: SearchRuntime, question: EmbeddedQuestion, query: ReadQuery) {
  const { db, config } = deps;
  const categories = [...readableCategories(config.policy, null)];
  const all = { ...query.search, kinds: memoryKinds, filter: noFilter, categories };
  const { isBroad, ordered, weighed } = await findHits(deps, { ...query, search: all }, question);
  const found: readonly Scored[] = isBroad ? ordered : weighed;
  const rows = await db.query<{ id: string }>(sql`
    select m.id from ${db.schema}.memory m
    where m.id = any (${found.map(({ memory }) => memory.id)}::uuid[])
      and not ${db.schema}.is_visible_1(m, ${visibleArguments(db, query.search)})`);
  const ids = new Set(rows.map(({ id }) => id));
  return found.filter(({ memory }) => ids.has(memory.id));
}

/** Memories with the question's words that are no longer in use. */
async function findHidden(
  db: Connection,
  { terms }: EmbeddedQuestion,
  { scope }: VisibleMemories,
): Promise<{ readonly lexemes: readonly string[]; readonly hidden: readonly LeftOutMemory[] }> {
  const rows = await db.query<{ lexemes: string[]; memory: MemoryJson | null; expired: boolean }>(sql`
    with asked as materialized (
      select tsvector_to_array(to_tsvector(${db.language}::regconfig, ${terms})) as lexemes
    ),
    hidden as (
      select m.ref, ${memoryJson(db)} as memory, m.state = 'active' as expired, cardinality(array(
        select unnest(a.lexemes) intersect select unnest(tsvector_to_array(to_tsvector(${db.language}::regconfig, m.content)))
      )) as shared
      from (${seenOwners(db, scope)}) o join ${db.schema}.memory m on m.owner_ref = o.id cross join asked a
      where (m.state <> 'active' or m.expires_at <= ${db.now()}) and m.app_id in ('', ${scope.appId ?? ""})
    )
    select a.lexemes, h.memory, h.expired from asked a
    left join (select * from hidden where shared > 0 order by shared desc, ref desc limit ${mostHidden}) h on true
    order by h.shared desc, h.ref desc`);
  return {
    lexemes: rows[0]?.lexemes ?? [],
    hidden: rows.flatMap(({ memory: row, expired }): LeftOutMemory[] => {
      if (!row) return [];
      const memory = memoryOf(row);
      const detail = expired ? `It expired at ${memory.expiresAt?.toISOString()}.` : `Its state is ${memory.state}.`;
      return [{ memory, score: null, reason: expired ? "expired" : "state", detail }];
    }),
  };
}
