import type { QueryResultRow } from "pg";
import sql from "sql-template-tag";
import { type EmbeddingSpace, halfvecs } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import { readStatement } from "../compare/detail-difference.js";
import { comparison } from "../compare/merge-band.js";
import { type ConsentPolicy, consentRule } from "../guard/consent-policy.rule.js";
import { notedAgain } from "../item/memory-metadata.rule.js";
import { mergeThresholds } from "./decide-write.rule.js";
import type { PreparedMemory } from "./prepare-memory.js";
import { type AlikePair, type Answer, answerTo, type Statement } from "./statement.js";
import type { WriteConfig } from "./write-runtime.js";

export interface NearPair {
  readonly earlier: Statement;
  readonly later: Statement;
  /** "merge": nothing tells them apart. "ask": only a model can say whether they are one. */
  readonly band: "merge" | "ask";
}

export interface NearStatements {
  /** Merged or asked about, by the bands of `comparison`: facts and insights without a key. */
  readonly near: readonly NearPair[];
  /** Linked, if they become two memories. */
  readonly alike: readonly AlikePair[];
}

export async function findNearStatements(
  db: Connection,
  { config, space }: { readonly config: WriteConfig; readonly space: EmbeddingSpace | null },
  statements: readonly Statement[],
): Promise<NearStatements> {
  const { mergeSimilarity, askSimilarity, contextMergeSimilarity, contextAskSimilarity } = config.memories;
  const { links, linkSimilarity } = config.memories;
  const leastSame = Math.min(mergeSimilarity, askSimilarity, contextMergeSimilarity, contextAskSimilarity);
  const leastAlike = links > 0 ? linkSimilarity : Number.POSITIVE_INFINITY;
  const least = Math.min(leastSame, leastAlike);
  if (statements.length < 2) return { near: [], alike: [] };
  const search = { statements, least };
  const pairs = space ? await pairsByVector(db, search, space) : await pairsByTerms(db, search);
  const same = pairs.filter(({ mayBeOne, similarity }) => mayBeOne && similarity >= leastSame);
  const places = new Set(same.flatMap(({ first, second }) => [first, second]));
  const at = (place: number) => statements[place] as Statement;
  const read = new Map([...places].map((place) => [place, readStatement(at(place).memory.text)]));
  return {
    near: same.flatMap(({ first, second, similarity }): NearPair[] => {
      const [earlier, later] = [at(first), at(second)];
      const texts = [read.get(first) ?? "", read.get(second) ?? ""] as const;
      const band = comparison(similarity, texts, mergeThresholds(later.memory, config));
      return band === "merge" || band === "ask" ? [{ earlier, later, band }] : [];
    }),
    alike: pairs
      .filter(({ similarity }) => similarity >= leastAlike)
      .map(({ first, second, similarity }) => {
        return { earlier: at(first).said[0].draft, later: at(second).said[0].draft, similarity };
      }),
  };
}

/** A statement with a key is compared only with its slot. */
function isFree({ memory: { key, kind } }: Statement): boolean {
  return key === undefined && (kind === "fact" || kind === "insight");
}

/** By place, the earlier first. */
interface TextPair {
  readonly first: number;
  readonly second: number;
  readonly similarity: number;
  /** Both are free, and of one kind. */
  readonly mayBeOne: boolean;
}

interface PairSearch {
  readonly statements: readonly Statement[];
  readonly least: number;
}

/** Of each text and kind of pair, as in the store. */
const neighbours = 5;

/** The nearest pairs from the similarity `least` on, by the measure of `findWriteCandidates`. */
async function pairsByVector(
  db: Connection,
  { statements, least }: PairSearch,
  space: EmbeddingSpace,
): Promise<TextPair[]> {
  const apps = statements.map(({ memory }) => memory.scope.appId ?? "");
  // Null: not free.
  const kinds = statements.map((statement) => (isFree(statement) ? statement.memory.kind : null));
  const vectors = statements.map(({ vector }) => vector);
  return db.query<TextPair & QueryResultRow>(
    sql`
    with probe as materialized (
      select * from unnest(${apps}::text[], ${kinds}::text[], ${halfvecs(space, vectors)})
        with ordinality as p (app_id, kind, embedding, place)
    ),
    pair as (
      select one.place as first, other.place as second, coalesce(one.kind = other.kind, false) as "mayBeOne",
        least(1, -(one.embedding ${space.product} other.embedding)) as similarity
      from probe one join probe other on other.place > one.place and other.app_id = one.app_id
    ),
    near as (
      select p.*, row_number() over (partition by second, "mayBeOne" order by similarity desc, first) as nth
      from pair p where similarity >= ${least}
    )
    select first::int - 1 as first, second::int - 1 as second, similarity, "mayBeOne" from near
    where nth <= ${neighbours}
    order by second, similarity desc, first`,
    { prepare: true },
  );
}

/** The database splits the texts. Comparing them there would take a hundred times as long. */
async function pairsByTerms(db: Connection, { statements, least }: PairSearch): Promise<TextPair[]> {
  const memories = statements.map(({ memory }) => memory);
  const rows = JSON.stringify(memories.map(({ terms }, index) => ({ index, terms })));
  const said = await db.query<{ index: number; lexeme: string; frequency: number }>(
    sql`
    select p.index, v.lexeme, coalesce(cardinality(v.positions), 1) as frequency
    from json_to_recordset(${rows}::json) as p (index integer, terms text)
    cross join lateral unnest(to_tsvector(${db.language}::regconfig, p.terms)) v
    order by p.index`,
    { prepare: true },
  );
  const lengths = new Float64Array(memories.length);
  for (const { index, frequency } of said) lengths[index] = (lengths[index] ?? 0) + frequency;
  const shared = sharedTerms(said, memories.length);
  const free = statements.map(isFree);
  return memories.flatMap((memory, second) => {
    const earlier = memories.slice(0, second).map((other, first): TextPair => {
      const comparable = other.scope.appId === memory.scope.appId;
      const both = (lengths[first] ?? 0) + (lengths[second] ?? 0);
      const common = shared[second]?.[first] ?? 0;
      const mayBeOne = free[first] === true && free[second] === true && other.kind === memory.kind;
      return { first, second, mayBeOne, similarity: comparable && both > 0 ? (2 * common) / both : 0 };
    });
    const near = earlier
      .filter(({ similarity }) => similarity >= least)
      .toSorted((one, other) => other.similarity - one.similarity || one.first - other.first);
    const those = (mayBeOne: boolean) =>
      near.filter((pair) => pair.mayBeOne === mayBeOne).slice(0, neighbours);
    return [...those(true), ...those(false)];
  });
}

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

/**
 * `statements` in waves: within one, no two share a slot, say the same or may be merged, so each finds what
 * came before.
 *
 * Equal statements become one, unless their slot got another value in between, or the time or the speaker
 * differs.
 *
 * @param after which drafts come after which, by place: see `nearDoubles`.
 */
export function inWaves(
  statements: readonly Statement[],
  after: ReadonlyMap<number, readonly number[]> = new Map(),
): Statement[][] {
  const waves: Statement[][] = [];
  const lastWave = new Map<string, number>();
  const waveOf = new Map<number, number>();
  for (const statement of withoutDoubles(statements)) {
    const claims = claimsOf(statement);
    const near = statement.said.flatMap(({ draft }) => after.get(draft) ?? []);
    const met = [...claims.map((claim) => lastWave.get(claim)), ...near.map((draft) => waveOf.get(draft))];
    const at = Math.max(...met.map((wave) => (wave ?? -1) + 1));
    for (const { draft } of statement.said) waveOf.set(draft, at);
    waves[at] ??= [];
    waves[at].push(statement);
    for (const claim of claims) lastWave.set(claim, at);
  }
  return waves;
}

export function saidAgain(one: Statement, other: Statement): Statement {
  const { metadata, expiresAt } = notedAgain(
    { ...one.memory, expiresAt: one.memory.expiresAt ?? null },
    { ...other.memory, expiresAt: other.memory.expiresAt ?? null },
  );
  const memory = { ...one.memory, metadata, expiresAt: expiresAt ?? undefined };
  return { ...one, memory, said: [...one.said, ...other.said] };
}

/**
 * Which drafts may merge into which earlier ones, by place. A merged draft takes no others: the third is a
 * double of the first, or of none.
 */
export function nearDoubles(
  pairs: readonly NearPair[],
  { answers, consent }: { readonly answers: readonly Answer[]; readonly consent: ConsentPolicy },
): Map<number, number[]> {
  const doubles = new Map<number, number[]>();
  for (const { earlier, later, band } of pairs) {
    // A request has no id to ask about yet.
    const meets =
      band === "merge" ||
      consentRule(consent, later.memory) !== null ||
      answerTo(answers, later, { id: null, text: earlier.memory.text }) !== "different";
    const [first, second] = [earlier.said[0].draft, later.said[0].draft];
    if (!meets || doubles.has(first)) continue;
    doubles.set(second, [...(doubles.get(second) ?? []), first]);
  }
  return doubles;
}

function withoutDoubles(statements: readonly Statement[]): Statement[] {
  const found: Statement[] = [];
  const latest = new Map<string, number>();
  for (const statement of statements) {
    const claims = claimsOf(statement);
    const [place, ...others] = new Set(claims.map((claim) => latest.get(claim)));
    const known = place === undefined ? undefined : found[place];
    // All claims lead to one statement: it says the same, and nothing came in between.
    if (place !== undefined && known && others.length === 0 && isSame(known.memory, statement.memory)) {
      found[place] = saidAgain(known, statement);
      continue;
    }
    for (const claim of claims) latest.set(claim, found.length);
    found.push(statement);
  }
  return found;
}

/** No two statements of a wave share these. */
function claimsOf({ memory }: Statement): string[] {
  const { kind, contentHash, scope, category, key } = memory;
  const same = JSON.stringify(["same", scope.appId, kind, contentHash]);
  return key === undefined ? [same] : [same, JSON.stringify(["slot", scope.appId, category, key])];
}

function isSame(first: PreparedMemory, second: PreparedMemory): boolean {
  const word = ({ validFrom, origin, correction }: PreparedMemory) =>
    `${validFrom?.getTime()} ${origin} ${correction}`;
  return first.contentHash === second.contentHash && first.key === second.key && word(first) === word(second);
}
