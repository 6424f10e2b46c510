import sql from "sql-template-tag";
import type { KnownThen } from "../memories/audit/as-of.js";
import { readableCategories } from "../memories/item/category.rule.js";
import { type MemoryItem, memoryKinds } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import { keepsVectors } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import { seenOwners } from "../scope/scope-predicates.js";
import {
  type AnswerShape,
  bulletsOf,
  hitsWithinBudget,
  type MemoryBullet,
} from "./answer-query.js";
import { matchedWords } from "./matched-words.js";
import { noFilter } from "./memory-filter.rule.js";
import {
  findHits,
  type MemoryQuery,
  type RankedThen,
  type ReadQuery,
  readQuery,
} from "./query-memories.js";
import {
  type MemoryHit,
  type RankedHit,
  type WeighedMemory,
  withRelated,
} from "./rank-memories.rule.js";
import { type EmbeddedQuestion, embedQuestion } from "./read-question.js";
import { floors, type SearchRuntime } from "./retrieval-options.js";
import type { SearchConditions } from "./search-memories.js";

type OmissionReason =
  /** Below the floor or the requested `threshold`. */
  | "floor"
  /** Ranked below `topK` others. */
  | "limit"
  | "budget"
  | "allowlist"
  | "category"
  | "kind"
  | "filter"
  /** Removed, replaced, merged, or in quarantine. */
  | "state"
  | "expired";

interface OmittedMemory {
  readonly memory: MemoryItem;
  readonly reason: OmissionReason;
  /** The reason as a sentence, with its figures. */
  readonly detail: string;
  /** Null for inactive memories. */
  readonly score: number | null;
}

export interface Explanation {
  readonly question: {
    readonly text: string;
    readonly lexemes: readonly string[];
    readonly embedded: boolean;
    /**
     * Whether meaning is not searched although the database has vectors: this memory has no
     * `embeddings`.
     */
    readonly lacksEmbeddings: boolean;
    /** Whether it asks for everything: see `MemoryQuery.query`. */
    readonly broad: boolean;
  };
  /** Least fit of a hit: the `threshold`, or the floor of each and of the best. */
  readonly floor: number | { readonly best: number; readonly each: number };
  readonly budgetTokens: number | null;
  /** Ranks count from 1. */
  readonly hits: readonly (RankedHit & {
    readonly rank: number;
    /** Words of its text that match the question, as it spells them. */
    readonly matched: readonly string[];
  })[];
  /** Best first; at most 50, then 20 inactive ones. Of a past time: only what was active then. */
  readonly omitted: readonly OmittedMemory[];
  /** Only with `asOf`. */
  readonly past?: (KnownThen & RankedThen) | undefined;
}

const maxOmitted = 50;
const maxInactive = 20;
const maxInactiveRead = 300;

/**
 * Explains what `queryMemories` finds and omits, with the parts of each score. Several round
 * trips: not for turns.
 */
export async function explainQuery(deps: SearchRuntime, input: MemoryQuery): Promise<Explanation> {
  // The same search, of more than were asked for.
  const query = readQuery(deps, input);
  const { search, threshold, shape } = query;
  const question = await embedQuestion(deps, query);
  const more = { ...query, search: { ...search, maxHits: search.maxHits + maxOmitted } };
  const { ordered, candidates, weighed, isBroad, past } = await findHits(deps, more, question);
  // What is shown of the best, and what of them is over the budget.
  const best = withRelated(ordered.slice(0, search.maxHits), candidates);
  const shown = fitting(best, shape);
  const isShown = (hit: Scored) => shown.has(idOf(hit));
  const omitted = best
    .filter((hit) => !isShown(hit))
    .map((hit) => omission(hit, "budget", `It does not fit into ${shape.budgetTokens} tokens.`));
  // What was found, and is too far down.
  for (const [index, hit] of ordered.slice(search.maxHits).entries()) {
    const place = search.maxHits + index + 1;
    omitted.push(
      omission(hit, "limit", `It is number ${place}; ${search.maxHits} were asked for.`),
    );
  }
  // What was found, and says too little.
  const ids = new Set(ordered.map(idOf));
  for (const each of weighed)
    if (!ids.has(idOf(each.hit))) omitted.push(omission(each.hit, "floor", belowFloorText(each)));
  // What would fit, but for the allowlist, categories, kinds and filters.
  const visible = new Set([...ordered, ...weighed.map(({ hit }) => hit)].map(idOf));
  if (!past)
    for (const each of await findFitting(deps, question, more))
      if (!visible.has(idOf(each))) omitted.push(notSelected(each, query, deps));
  // What has its words, and is active no more.
  const { lexemes, inactive } = await findInactive(deps.db, question, search);
  const hits = best.filter(isShown);
  const texts = [...hits, ...inactive].map(({ memory }) => memory.text);
  const matched = await matchedWords(deps.db, search.scope, { question: query.text, texts });
  const matchedInactive = inactive
    .map((each, index) => ({ each, shared: matched[hits.length + index]?.question.length ?? 0 }))
    .filter(({ shared }) => shared > 0)
    .toSorted((first, second) => second.shared - first.shared)
    .slice(0, maxInactive);
  const bestOmitted = omitted.toSorted((first, second) => second.score - first.score);
  const floor = question.vector ? floors.besideVector : floors.byWords;
  const embedded = question.vector !== null;
  const lacksEmbeddings = !deps.embedder && (await keepsVectors(deps.db));
  return {
    question: { text: query.text, lexemes, embedded, lacksEmbeddings, broad: isBroad },
    floor: threshold ?? { best: floor.best, each: floor.each },
    budgetTokens: shape.budgetTokens,
    hits: hits.map((hit, index) => {
      return { ...hit, rank: index + 1, matched: matched[index]?.question ?? [] };
    }),
    omitted: [
      ...bestOmitted.slice(0, maxOmitted),
      ...(past ? [] : matchedInactive.map(({ each }) => each)),
    ],
    ...(past && { past }),
  };
}

function belowFloorText({ fit, proves, hit }: WeighedMemory): string {
  return !proves
    ? `It is hardly alike: ${fit.toFixed(3)}.`
    : `It has much less than the best hit: ${hit.score.toFixed(3)}.`;
}

function fitting(hits: readonly MemoryHit[], { form, ...shape }: AnswerShape): ReadonlySet<string> {
  const shown: readonly Pick<MemoryBullet, "id">[] =
    form === null
      ? hitsWithinBudget(hits, shape.budgetTokens).map(({ memory }) => memory)
      : bulletsOf(hits, form, shape);
  // The first hit may be cut to its text alone.
  return new Set(shown.flatMap(({ id }) => id ?? hits[0]?.memory.id ?? []));
}

type Scored = Pick<MemoryHit, "memory" | "score">;
const idOf = ({ memory }: Scored) => memory.id;
type Omitted = OmittedMemory & { readonly score: number };

function omission({ memory, score }: Scored, reason: OmissionReason, detail: string): Omitted {
  return { memory, score, reason, detail };
}

function notSelected(
  scored: Scored,
  { agent, search }: ReadQuery,
  { config: { policy } }: SearchRuntime,
): Omitted {
  const { category, kind } = scored.memory;
  if (!readableCategories(policy, agent).has(category))
    return omission(scored, "allowlist", `The agent "${agent}" may not read ${category}.`);
  if (!search.categories.includes(category))
    return omission(scored, "category", `${category} was not asked for.`);
  if (!search.kinds.includes(kind))
    return omission(scored, "kind", `Memories of the kind ${kind} were not asked for.`);
  return omission(scored, "filter", "The filters or `minTrust` leave it out.");
}

/** Active memories that fit the question, of any category and kind, without filters. */
async function findFitting(
  deps: SearchRuntime,
  question: EmbeddedQuestion,
  query: ReadQuery,
): Promise<readonly Scored[]> {
  const readable = [...readableCategories(deps.config.policy, null)];
  const all = { ...query.search, kinds: memoryKinds, filter: noFilter, categories: readable };
  // Their order says nothing, so no reranker is asked.
  const unordered = { ...question, text: "" };
  const { isBroad, ordered, weighed } = await findHits(deps, { ...query, search: all }, unordered);
  return isBroad ? ordered : weighed.map(({ hit }) => hit);
}

/** The words of the question, and inactive memories, the latest first. */
async function findInactive(
  db: Connection,
  { terms }: EmbeddedQuestion,
  { scope }: SearchConditions,
): Promise<{ readonly lexemes: readonly string[]; readonly inactive: readonly OmittedMemory[] }> {
  const rows = await db.query<{
    lexemes: string[];
    memory: MemoryJson | null;
    expired: boolean;
  }>(sql`
    with hidden as (
      select m.ref, ${memoryJson(db)} as memory, m.state = 'active' as expired
      from (${seenOwners(db, scope)}) o join ${db.schema}.memory m on m.owner_ref = o.id
      where (m.state <> 'active' or m.expires_at <= ${db.now()}) and m.app_id in ('', ${scope.appId ?? ""})
      order by m.ref desc limit ${maxInactiveRead}
    )
    select array(select lexeme from ${lexemes(db, terms)}) as lexemes, h.memory, h.expired
    from (select) s left join hidden h on true
    order by h.ref desc`);
  return {
    lexemes: rows[0]?.lexemes ?? [],
    inactive: rows.flatMap(({ memory: row, expired }): OmittedMemory[] => {
      if (!row) return [];
      const memory = memoryOf(row);
      const detail = expired
        ? `It expired at ${memory.expiresAt?.toISOString()}.`
        : `Its state is ${memory.state}.`;
      return [{ memory, score: null, reason: expired ? "expired" : "state", detail }];
    }),
  };
}
