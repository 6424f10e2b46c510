import type { QueryResultRow } from "pg";
import sql from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import { type Statement, statementOf } from "../compare/detail-difference.js";
import { comparison } from "../compare/merge-band.js";
import { consentRule } from "../guard/consent-policy.js";
import { mergeThresholds, writeProbe } from "./decide-draft.js";
import type { OwnerDraft } from "./draft-waves.js";
import type { WriteProbe } from "./find-write-candidates.js";
import type { PreparedMemory } from "./prepare-memory.js";
import type { WriteConfig } from "./write-runtime.js";

/** Two texts that are about to be written, by their places, the earlier one first. */
interface NearPair {
  readonly first: number;
  readonly second: number;
  readonly similarity: number;
}

type Probe = Pick<WriteProbe, "appId" | "kind" | "terms" | "vector">;

interface PairSearch {
  readonly probes: readonly Probe[];
  readonly space: EmbeddingSpace | null;
  readonly least: number;
}

/** Pairs of one text: as many as are looked at in the store. */
const neighbours = 5;

/**
 * The pairs among `probes` that are at least as similar as `least`, the nearest of each, by the measure of
 * `findWriteCandidates`: for texts that are written together and do not meet in the store. One statement; each is
 * compared with each.
 */
async function findNearPairs(db: Connection, search: PairSearch): Promise<NearPair[]> {
  if (search.probes.length < 2) return [];
  const { space } = search;
  return space ? pairsByVector(db, { ...search, space }) : pairsByTerms(db, search);
}

async function pairsByVector(
  db: Connection,
  { probes, space, least }: PairSearch & { readonly space: EmbeddingSpace },
): Promise<NearPair[]> {
  const rows = JSON.stringify(
    probes.map(({ appId, kind, vector }, index) => ({ index, appId, kind, vector })),
  );
  return db.query<NearPair & QueryResultRow>(
    sql`
    with probe as materialized (
      select p.*, p.vector::${space.type} as embedding
      from json_to_recordset(${rows}::json) as p (index integer, "appId" text, kind text, vector text)
    ),
    pair as (
      select one.index as first, other.index as second,
        least(1, -(one.embedding ${space.product} other.embedding)) as similarity
      from probe one join probe other
        on other.index > one.index and other."appId" = one."appId" and other.kind = one.kind
    ),
    near as (
      select p.*, row_number() over (partition by second order by similarity desc, first) as place
      from pair p where similarity >= ${least}
    )
    select first, second, similarity from near where place <= ${neighbours} order by second, place`,
    { prepare: true },
  );
}

/** The database takes the texts apart; they are compared here, since its joins take a hundred times as long. */
async function pairsByTerms(db: Connection, { probes, least }: PairSearch): Promise<NearPair[]> {
  const rows = JSON.stringify(probes.map(({ terms }, index) => ({ index, terms })));
  const said = await db.query<{ index: number; lexeme: string; frequency: number }>(
    sql`
    select p.index, v.lexeme, coalesce(cardinality(v.positions), 1) as frequency
    from json_to_recordset(${rows}::json) as p (index integer, terms text)
    cross join lateral unnest(to_tsvector(${db.language}::regconfig, p.terms)) v
    order by p.index`,
    { prepare: true },
  );
  const lengths = new Float64Array(probes.length);
  for (const { index, frequency } of said) lengths[index] = (lengths[index] ?? 0) + frequency;
  const shared = sharedTerms(said, probes.length);
  return probes.flatMap((probe, second) => {
    const earlier = probes.slice(0, second).map((other, first): NearPair => {
      const comparable = other.kind === probe.kind && other.appId === probe.appId;
      const both = (lengths[first] ?? 0) + (lengths[second] ?? 0);
      const common = shared[second]?.[first] ?? 0;
      return { first, second, similarity: comparable && both > 0 ? (2 * common) / both : 0 };
    });
    return earlier
      .filter(({ similarity }) => similarity >= least)
      .toSorted((one, other) => other.similarity - one.similarity || one.first - other.first)
      .slice(0, neighbours);
  });
}

/** How many terms each text shares with each before it. */
function sharedTerms(
  said: readonly { index: number; lexeme: string; frequency: number }[],
  count: number,
): Float64Array[] {
  const shared = Array.from({ length: count }, (_, second) => new Float64Array(second));
  const before = new Map<string, { index: number; frequency: number }[]>();
  for (const { index, lexeme, frequency } of said) {
    const known = before.get(lexeme) ?? [];
    const row = shared[index] as Float64Array;
    for (const other of known) {
      row[other.index] = (row[other.index] ?? 0) + Math.min(frequency, other.frequency);
    }
    known.push({ index, frequency });
    before.set(lexeme, known);
  }
  return shared;
}

interface Context {
  readonly config: WriteConfig;
  readonly space: EmbeddingSpace | null;
}

/** Two statements of one batch that are near each other, the earlier one first. */
export interface NearDraft<Draft> {
  readonly earlier: Draft;
  readonly later: Draft;
  /** Whether the later one is the same as far as can be seen, or only somebody who understands both can say. */
  readonly band: "merge" | "ask";
}

/** The pairs of free statements among `drafts` that are merged, or asked about, by the bands that hold against the store. */
export async function nearDrafts<Draft extends Pick<OwnerDraft, "memory" | "vector">>(
  db: Connection,
  { config, space }: Context,
  drafts: readonly Draft[],
): Promise<NearDraft<Draft>[]> {
  const free = drafts.filter(({ memory }) => isFree(memory));
  const { mergeSimilarity, askSimilarity, contextMergeSimilarity, contextAskSimilarity } = config.memories;
  const pairs = await findNearPairs(db, {
    probes: free.map(({ memory, vector }) => writeProbe(memory, vector)),
    space,
    least: Math.min(mergeSimilarity, askSimilarity, contextMergeSimilarity, contextAskSimilarity),
  });
  const read = new Map<number, Statement>();
  const statement = (place: number) => {
    const known = read.get(place) ?? statementOf(free[place]?.memory.text ?? "");
    read.set(place, known);
    return known;
  };
  return pairs.flatMap(({ first, second, similarity }): NearDraft<Draft>[] => {
    const [earlier, later] = [free[first] as Draft, free[second] as Draft];
    const thresholds = mergeThresholds(later.memory, config);
    const band = comparison(similarity, [statement(first), statement(second)], thresholds);
    return band === "merge" || band === "ask" ? [{ earlier, later, band }] : [];
  });
}

/**
 * Which of `drafts` may be merged into earlier ones of them, by their indexes. Those into which others may be merged
 * never are themselves: what came third is the first's double, or nobody's.
 */
export async function nearDoubles(
  context: Context & { readonly tx: Connection },
  drafts: readonly OwnerDraft[],
): Promise<Map<number, number[]>> {
  const { consent } = context.config;
  const doubles = new Map<number, number[]>();
  for (const { earlier, later, band } of await nearDrafts(context.tx, context, drafts)) {
    // What waits for consent or a second signal has no id to ask about yet.
    const meets =
      band === "merge" ||
      consentRule(consent, later.memory) !== null ||
      later.sameAs({ id: null, text: earlier.memory.text }) !== "different";
    if (!meets || doubles.has(earlier.index)) continue;
    const known = doubles.get(later.index);
    if (known) known.push(earlier.index);
    else doubles.set(later.index, [earlier.index]);
  }
  return doubles;
}

function isFree({ kind, key }: PreparedMemory): boolean {
  return key === undefined && (kind === "fact" || kind === "insight");
}
