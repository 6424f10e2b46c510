import sql from "sql-template-tag";
import { readableCategories } from "../memories/item/category.rule.js";
import { type MemoryItem, memoryKinds } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { bulletsOf, fittingHits } from "./answer-query.js";
import { noFilter } from "./memory-filter.rule.js";
import { searchMemories } from "./memory-hits.js";
import { type VisibleMemories, visible, wantedMemories } from "./memory-signals.js";
import {
  listedHit,
  type MemoryQuery,
  type ReadQuery,
  rankedFor,
  readQuery,
  withRelated,
} from "./query-memories.js";
import { seenOwners } from "./question-terms.js";
import {
  type MemoryHit,
  orderWeighed,
  type ScoreParts,
  type WeighedMemory,
  weighMemories,
} from "./rank-memories.rule.js";
import { type EmbeddedQuestion, embedQuestion } from "./read-question.js";
import type { SearchRuntime } from "./retrieval-options.js";

interface ExplainedHit extends MemoryHit {
  /** From 1. */
  readonly rank: number;
  /** What each signal adds; together, `score`. */
  readonly parts: ScoreParts & {
    /** What it loses because better hits say mostly the same; 0 or less. */
    readonly repeated: number;
    /** Of an answer to a question for everything: pinned memories go first. */
    readonly pinned: number;
  };
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
  const question = await embedQuestion(deps, query.text);
  const { candidates, important } = await searchMemories(deps.db, question, search);
  const { lexemes, hidden } = await findHidden(deps.db, question, search);
  const explanation = {
    question: { text: query.text, lexemes, embedded: question.vector !== null, broad: important.length > 0 },
    floor: threshold ?? floor,
    budgetTokens: shape.budgetTokens,
  };
  if (important.length > 0) {
    const listed = important.map(listedHit);
    const shown = fitting(listed, query);
    const isShown = ({ memory: { id } }: MemoryHit) => shown.has(id);
    return {
      ...explanation,
      hits: listed.filter(isShown).map(explainListed),
      leftOut: listed.filter((hit) => !isShown(hit)).map((hit) => leftByRank(hit, listed, query)),
    };
  }
  const ranking = rankedFor(deps, question, query);
  const weighed = weighMemories(candidates, ranking);
  const ordered = orderWeighed(weighed, ranking);
  const ranked = withRelated(ordered.slice(0, search.most), candidates);
  const shown = fitting(ranked, query);
  const hits = ranked.filter(({ memory }) => shown.has(memory.id));
  const all: VisibleMemories = {
    ...{ scope: search.scope, kinds: memoryKinds, filter: noFilter },
    categories: [...readableCategories(deps.config.policy, null)],
  };
  const others = await searchMemories(deps.db, question, { ...search, ...all });
  const unseen = await findInvisible(deps.db, search, idsOf(others.candidates));
  const outside = weighMemories(
    others.candidates.filter(({ memory }) => unseen.has(memory.id)),
    ranking,
  );
  const isHit = new Set(idsOf(hits));
  const leftOut = [
    ...ordered.filter(({ memory }) => !isHit.has(memory.id)).map((hit) => leftByRank(hit, ordered, query)),
    ...weighed
      .filter(({ memory: { id } }) => !ordered.some(({ memory }) => memory.id === id))
      .map(leftByFloor),
    ...outside.map((each) => leftBySelection(each, query, deps)),
  ];
  const byId = new Map(weighed.map((each) => [each.memory.id, each]));
  return {
    ...explanation,
    hits: hits.map((hit, index) => {
      const { score, parts } = byId.get(hit.memory.id) as WeighedMemory;
      return { ...hit, rank: index + 1, parts: { ...parts, repeated: hit.score - score, pinned: 0 } };
    }),
    leftOut: [
      ...leftOut.toSorted((first, second) => second.score - first.score).slice(0, mostLeftOut),
      ...hidden,
    ],
  };
}

function idsOf(found: readonly { readonly memory: MemoryItem }[]): string[] {
  return found.map(({ memory }) => memory.id);
}

function fitting(
  hits: readonly MemoryHit[],
  { shape: { form, budgetTokens } }: ReadQuery,
): ReadonlySet<string> {
  if (budgetTokens === null) return new Set(idsOf(hits));
  if (form === null) return new Set(idsOf(fittingHits(hits, budgetTokens)));
  const [first] = hits;
  const ids = bulletsOf(hits, form, budgetTokens).flatMap(({ id }) => id ?? []);
  // The first is cut to fit, if need be to its text alone.
  return new Set(first ? [first.memory.id, ...ids] : []);
}

const noParts: ScoreParts = {
  ...{ words: 0, vector: 0, sourceMessage: 0, thread: 0, relation: 0, date: 0, speaker: 0 },
  ...{ importance: 0, recency: 0, insight: 0 },
};

function explainListed(hit: MemoryHit, index: number): ExplainedHit {
  const pinned = hit.memory.pinned ? 1 : 0;
  const parts = { ...noParts, importance: hit.score - pinned, pinned, repeated: 0 };
  return { ...hit, rank: index + 1, parts };
}

type Ranked = LeftOutMemory & { readonly score: number };

function leftByRank(hit: MemoryHit, ordered: readonly MemoryHit[], { search, shape }: ReadQuery): Ranked {
  const { memory, score } = hit;
  const place = ordered.indexOf(hit) + 1;
  return place > search.most
    ? { memory, score, reason: "limit", detail: `It is number ${place}; ${search.most} were asked for.` }
    : { memory, score, reason: "budget", detail: `It does not fit into ${shape.budgetTokens} tokens.` };
}

function leftByFloor({ memory, score, evidence }: WeighedMemory): Ranked {
  return { memory, score, reason: "floor", detail: `It is hardly alike: ${evidence.toFixed(3)}.` };
}

function leftBySelection(
  { memory, score }: WeighedMemory,
  { agent, search }: ReadQuery,
  { config: { policy } }: SearchRuntime,
): Ranked {
  const { category, kind } = memory;
  const left = (reason: LeftOutReason, detail: string): Ranked => ({ memory, score, reason, detail });
  if (!readableCategories(policy, agent).has(category)) {
    return left("allowlist", `The agent "${agent}" may not read ${category}.`);
  }
  if (!search.categories.includes(category)) return left("category", `${category} was not asked for.`);
  if (!search.kinds.includes(kind)) return left("kind", `Memories of the kind ${kind} were not asked for.`);
  return left("filter", "The filters leave it out.");
}

async function findHidden(
  db: Connection,
  { terms }: EmbeddedQuestion,
  { scope }: VisibleMemories,
): Promise<{ readonly lexemes: readonly string[]; readonly hidden: readonly LeftOutMemory[] }> {
  const { ctes, owners } = seenOwners(db, scope);
  const rows = await db.query<{ lexemes: string[]; memory: MemoryJson | null; expired: boolean }>(sql`
    with ${ctes},
    asked as materialized (
      select tsvector_to_array(to_tsvector(${db.language}::regconfig, ${terms})) as lexemes
    ),
    hidden as (
      select m.ref, ${memoryJson(db)} as memory, m.state = 'active' as expired, cardinality(array(
        select unnest(a.lexemes) intersect select unnest(tsvector_to_array(to_tsvector(${db.language}::regconfig, m.content)))
      )) as shared
      from ${owners} s join ${db.schema}.memory m on m.owner_ref = s.id cross join asked a
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

async function findInvisible(
  db: Connection,
  search: VisibleMemories,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ id: string }>(sql`
    with ${wantedMemories(db, search)}
    select m.id from ${db.schema}.memory m cross join wanted w where m.id = any (${ids}::uuid[]) and not ${visible}`);
  return new Set(rows.map(({ id }) => id));
}
