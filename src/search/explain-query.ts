import sql from "sql-template-tag";
import { readableCategories } from "../memories/item/category.rule.js";
import { type MemoryItem, memoryKinds } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { seenOwners } from "../scope/scope-predicates.js";
import { bulletsOf, fittingHits } from "./answer-query.js";
import { noFilter } from "./memory-filter.rule.js";
import { findHits, type MemoryQuery, type ReadQuery, readQuery, withRelated } from "./query-memories.js";
import { type MemoryHit, type RankedHit, weighMemories } from "./rank-memories.rule.js";
import { type EmbeddedQuestion, embedQuestion } from "./read-question.js";
import type { SearchRuntime } from "./retrieval-options.js";
import { searchMemories, type VisibleMemories, visibleArguments } from "./search-memories.js";

/** A hit with what each signal adds to its score. */
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

/** What a query finds, and why. */
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
  /** As `query` finds them, in its order. */
  readonly hits: readonly ExplainedHit[];
  /** Best first; at most 50, and 20 of those that are not in use. */
  readonly leftOut: readonly LeftOutMemory[];
}

const mostLeftOut = 50;
const mostHidden = 20;

/**
 * What `queryMemories` finds and leaves out, with scores taken apart. Four round trips: for people, not for turns.
 * @throws MemoryError `CATEGORY_DENIED`, `INVALID_INPUT`
 */
export async function explainQuery(deps: SearchRuntime, input: MemoryQuery): Promise<Explanation> {
  const query = readQuery(deps, input);
  const { search, threshold, floor, shape } = query;
  const question = await embedQuestion(deps, query);
  const { ordered, candidates, weighed, ranking, isBroad } = await findHits(deps, query, question);
  const best = withRelated(ordered.slice(0, search.most), candidates);
  const shown = fitting(best, query);
  const ids = new Set(ordered.map(({ memory }) => memory.id));
  const invisible = isBroad ? [] : await findInvisible(deps, question, search);
  const { lexemes, hidden } = await findHidden(deps.db, question, search);
  const leftOut = [
    ...best.filter(({ memory }) => !shown.has(memory.id)).map((hit) => overBudget(hit, query)),
    ...ordered.slice(search.most).map((hit, index) => overLimit(hit, search.most + index + 1, query)),
    ...weighed.filter(({ memory }) => !ids.has(memory.id)).map(belowFloor),
    ...weighMemories(invisible, ranking).map((each) => notSelected(each, query, deps)),
  ];
  return {
    question: { text: query.text, lexemes, embedded: question.vector !== null, broad: isBroad },
    floor: threshold ?? floor,
    budgetTokens: shape.budgetTokens,
    hits: best
      .filter(({ memory }) => shown.has(memory.id))
      .map((hit, index) => ({ ...hit, rank: index + 1 })),
    leftOut: [
      ...leftOut.toSorted((first, second) => second.score - first.score).slice(0, mostLeftOut),
      ...hidden,
    ],
  };
}

/** Ids of the hits that the budget holds. */
function fitting(
  hits: readonly MemoryHit[],
  { shape: { form, budgetTokens } }: ReadQuery,
): ReadonlySet<string> {
  const idsOf = (found: readonly MemoryHit[]) => new Set(found.map(({ memory }) => memory.id));
  if (budgetTokens === null) return idsOf(hits);
  if (form === null) return idsOf(fittingHits(hits, budgetTokens));
  // The first is cut to fit, if need be to its text alone.
  const ids = bulletsOf(hits, form, budgetTokens).flatMap(({ id }) => id ?? []);
  return new Set([...hits.slice(0, 1).map(({ memory }) => memory.id), ...ids]);
}

type Scored = Pick<MemoryHit, "memory" | "score">;
type LeftOut = LeftOutMemory & { readonly score: number };

function overLimit({ memory, score }: Scored, place: number, { search: { most } }: ReadQuery): LeftOut {
  return { memory, score, reason: "limit", detail: `It is number ${place}; ${most} were asked for.` };
}

function overBudget({ memory, score }: Scored, { shape: { budgetTokens } }: ReadQuery): LeftOut {
  return { memory, score, reason: "budget", detail: `It does not fit into ${budgetTokens} tokens.` };
}

function belowFloor({ memory, score, evidence }: Scored & { readonly evidence: number }): LeftOut {
  return { memory, score, reason: "floor", detail: `It is hardly alike: ${evidence.toFixed(3)}.` };
}

function notSelected(
  { memory, score }: Scored,
  { agent, search }: ReadQuery,
  { config: { policy } }: SearchRuntime,
): LeftOut {
  const { category, kind } = memory;
  const left = (reason: LeftOutReason, detail: string): LeftOut => ({ memory, score, reason, detail });
  if (!readableCategories(policy, agent).has(category)) {
    return left("allowlist", `The agent "${agent}" may not read ${category}.`);
  }
  if (!search.categories.includes(category)) return left("category", `${category} was not asked for.`);
  if (!search.kinds.includes(kind)) return left("kind", `Memories of the kind ${kind} were not asked for.`);
  return left("filter", "The filters leave it out.");
}

/** Candidates of the same question that only its categories, kinds and filters leave out. */
async function findInvisible(
  { db, config: { policy } }: SearchRuntime,
  question: EmbeddedQuestion,
  search: ReadQuery["search"],
) {
  const all = { kinds: memoryKinds, filter: noFilter, categories: [...readableCategories(policy, null)] };
  const { candidates } = await searchMemories(db, question, { ...search, ...all });
  const rows = await db.query<{ id: string }>(sql`
    select m.id from ${db.schema}.memory m
    where m.id = any (${candidates.map(({ memory }) => memory.id)}::uuid[])
      and not ${db.schema}.is_visible_1(m, ${visibleArguments(db, search)})`);
  const ids = new Set(rows.map(({ id }) => id));
  return candidates.filter(({ memory }) => ids.has(memory.id));
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
      const detail = expired
        ? `It expired at ${memory.expiresAt?.toISOString()}.`
        : `Its state is ${memory.state}.`;
      return [{ memory, score: null, reason: expired ? "expired" : "state", detail }];
    }),
  };
}
