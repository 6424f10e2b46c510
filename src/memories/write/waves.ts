import { type ConsentPolicy, consentRule } from "../guard/consent-policy.js";
import type { NearPair } from "./near-doubles.js";
import type { PreparedMemory } from "./prepare-memory.js";
import { type Answer, answerTo, type Statement } from "./statement.js";

/**
 * `statements` in groups that can be written at once: within a wave, no two share a slot, say the same or may be merged.
 * So each meets what came before it, as if it came alone.
 *
 * What says the same becomes one statement, unless its slot was given another value in between, or it is said of another
 * time or on another's word.
 *
 * @param after which drafts come after which, by their places: see `nearDoubles`.
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

/** `one`, said once more by `other`. */
export function saidAgain(one: Statement, other: Statement): Statement {
  return { ...one, said: [...one.said, ...other.said] };
}

/**
 * Which drafts may be merged into earlier ones, by their places. What others may be merged into never is itself: what
 * came third is the first's double, or nobody's.
 */
export function nearDoubles(
  pairs: readonly NearPair[],
  { answers, consent }: { readonly answers: readonly Answer[]; readonly consent: ConsentPolicy },
): Map<number, number[]> {
  const doubles = new Map<number, number[]>();
  for (const { earlier, later, band } of pairs) {
    // What waits for consent or a second signal has no id to ask about yet.
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

/** What no two statements of a wave may share: the words, and the slot. */
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
