import { consentRule } from "../guard/consent-policy.rule.js";
import { bestSimilarity } from "../item/memory.js";
import type { NearMemory, NewMemoryContext, PlanTarget } from "./apply-plan.js";
import { mergeThresholds } from "./decide-write.rule.js";
import { type GivenNeighbours, nearestCount } from "./held-neighbours.js";
import { planAlone, planInTurn } from "./plan-statement.js";
import { commonPlace, joinWrites, type PlannedWave } from "./plan-wave.js";
import { type Statement, toldTo, type WriteContext } from "./statement.js";
import type { WriteConfig } from "./write-runtime.js";

/** What is left to the database to say of a new memory, which decides nothing here. */
interface Addition {
  /** How many of the owner's turns ago it was said. */
  readonly turnsAgo: number;
  /** Since when it holds; null: from now on. */
  readonly heldSince: string | null;
  /** Similarity from which a memory that changed meanwhile would matter to it; null: none would. */
  readonly bar: number | null;
}

/** Statements that are all new, as far as is held of their owner, and what is written of them. */
export interface PlannedAdditions extends PlannedWave {
  /** Of each created memory of the plan, in their order. */
  readonly additions: readonly Addition[];
  /** Refs of the memories near them: none may have changed. */
  readonly near: readonly number[];
  readonly search: NonNullable<PlanTarget["search"]>;
}

/**
 * By how much similarities may differ that were computed here and in the database: both add single precision, in another
 * order.
 */
const noise = 1e-4;

/** The owner's turn and time, which are read when its row is locked. */
const unread = { turns: 0, now: new Date(0) };

/**
 * What a wave that `mayBeNew` writes where each of its statements is new whatever it meets but the same words or its slot:
 * nothing that is known is so near that it could be merged with it or asked about. Null where that is not certain: then
 * `planWave` decides.
 */
export function planAdditions(
  context: NewMemoryContext & Pick<WriteContext, "config" | "origin" | "alike">,
  wave: readonly Statement[],
  given: GivenNeighbours,
): PlannedAdditions | null {
  const { config, origin, alike } = context;
  const met = wave.map((statement) => ({ statement, near: nearOf(given, statement) }));
  const certain = met.every(({ statement, near }) => near !== null && isNew(config, statement, near));
  if (!certain) return null;
  const found = met.map(({ statement, near }) => ({ statement, near: near ?? [] }));
  const planned = joinWrites(
    planInTurn(found, alike, ({ statement, near }, mates) =>
      planAlone(context, toldTo(unread, statement), { near, mates }),
    ),
    origin,
  );
  const all = found.flatMap(({ near }) => near);
  return {
    ...planned,
    additions: wave.map((statement) => additionOf(config, statement)),
    near: [...new Set(all.flatMap(({ ref }) => ref ?? []))],
    search: { searched: bestSimilarity(all), place: commonPlace(origin, wave) },
  };
}

/**
 * Whether `planAdditions` may find all of a wave new, once it is known what is near: nobody has to be asked for consent, and
 * each has a vector by which its neighbours are found.
 */
export function mayBeNew({ consent }: Pick<WriteConfig, "consent">, wave: readonly Statement[]): boolean {
  return wave.every(({ memory, vector }) => vector !== null && consentRule(consent, memory) === null);
}

/** The nearest that are held; null where nobody looked. */
function nearOf({ near }: GivenNeighbours, { vector }: Statement): NearMemory[] | null {
  const held = vector === null ? undefined : near.get(vector);
  if (held === undefined) return null;
  return held.slice(0, nearestCount).map(({ ref, id, similarity }) => {
    return { relation: "near", ref, id, similarity: Math.min(1, similarity) };
  });
}

function isNew(config: WriteConfig, statement: Statement, near: readonly NearMemory[]): boolean {
  const { linkSimilarity } = config.memories;
  const [nearest] = near;
  return (
    (nearest === undefined || nearest.similarity < sameFrom(config, statement) - noise) &&
    // Whether those are linked, the database's own similarity says.
    near.every(({ similarity }) => Math.abs(similarity - linkSimilarity) > noise)
  );
}

/** Similarity from which a statement may be the same as a memory. What has a key meets its slot alone, and records nothing. */
function sameFrom(config: WriteConfig, { memory }: Statement): number {
  const meets = memory.key === undefined && (memory.kind === "fact" || memory.kind === "insight");
  if (!meets) return Number.POSITIVE_INFINITY;
  const { merge, ask } = mergeThresholds(memory, config);
  return Math.min(merge, ask);
}

function additionOf(config: WriteConfig, statement: Statement): Addition {
  const { links, linkSimilarity } = config.memories;
  const bar = Math.min(sameFrom(config, statement), links > 0 ? linkSimilarity : Number.POSITIVE_INFINITY);
  return {
    turnsAgo: statement.said[0].turnsAgo,
    heldSince: statement.memory.validFrom?.toISOString() ?? null,
    bar: Number.isFinite(bar) ? bar - noise : null,
  };
}
