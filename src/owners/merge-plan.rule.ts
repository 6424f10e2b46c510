import type { MergeThresholds } from "../memories/compare/merge-band.js";
import { type Noted, notedAgain } from "../memories/item/memory-metadata.rule.js";
import type { IntervalMove, IntervalSplit } from "../memories/slot/slot-timeline.rule.js";
import { absorbed, decideWrite } from "../memories/write/decide-write.rule.js";
import type { KnownMemory, ToldMemory } from "../memories/write/statement.js";

/** A memory of the one who goes, and what the one who stays has that bears on it. */
export interface MetMemory {
  readonly id: string;
  readonly seenCount: number;
  readonly told: ToldMemory & { readonly validFrom: Date };
  readonly known: readonly KnownMemory[];
  readonly thresholds: MergeThresholds;
}

/** A memory that gives way. */
export interface Yielded {
  readonly id: string;
  /** "merged": the other says the same. "superseded": the other holds the slot. */
  readonly state: "merged" | "superseded";
  readonly supersededBy: string;
  /** Until when it held; null where it held for no time of its own. */
  readonly validTo: Date | null;
  readonly text: string;
  readonly category: string;
}

/** A memory that the other one's says as well. */
export interface SaidAgain {
  readonly id: string;
  /** How many times. */
  readonly times: number;
  readonly by: Pick<KnownMemory, "importance" | "confidence" | "turn" | "rank">;
  /** When it was last said to hold. */
  readonly assertedAt: Date;
  /** What is noted of both. */
  readonly noted: Noted;
}

/** What becomes of two people's memories where they meet. All others are moved as they are. */
export interface MergePlan {
  /** Of the one who goes. */
  readonly leaving: readonly Yielded[];
  /** Of the one who stays. */
  readonly staying: readonly Yielded[];
  /** Said again: a memory, by what it was said with. */
  readonly again: readonly SaidAgain[];
  /** Of the one who stays. */
  readonly moves: readonly (IntervalMove & { readonly supersededBy?: string | undefined })[];
  readonly splits: readonly (IntervalSplit & { readonly supersededBy: string })[];
}

/** A plan in the making. */
interface OpenPlan {
  readonly plan: {
    readonly [Part in keyof MergePlan]: MergePlan[Part][number][];
  };
  /** Of the one who stays: what has given way. */
  readonly gone: Set<string>;
}

/**
 * How each of `met` stands to what is known, by the rules by which it would be written: what is told of a slot finds its
 * place in time, and of two that tell of the same time the one that is believed more holds it; what says the same becomes
 * one. Nobody is asked: what is only alike stays two. Nothing is lost: what gives way is kept, closed.
 *
 * What only says again what is known comes last. Then nothing becomes one with a memory that gives way to another one,
 * with whose slot it has nothing to do. The order of `met` does not matter.
 */
export function planMerge(met: readonly MetMemory[]): MergePlan {
  const open: OpenPlan = {
    plan: { leaving: [], staying: [], again: [], moves: [], splits: [] },
    gone: new Set(),
  };
  let waiting = met.toSorted(byTime);
  while (waiting.length > 0) {
    const placed = waiting.filter((each) => decide(each, open.gone).action !== "touch");
    const next = new Set(placed.length > 0 ? placed : waiting);
    for (const each of next) settle(open, each);
    waiting = waiting.filter((each) => !next.has(each));
  }
  return open.plan;
}

function byTime({ told, id }: MetMemory, other: MetMemory): number {
  return told.validFrom.getTime() - other.told.validFrom.getTime() || (id < other.id ? -1 : 1);
}

function decide({ told, known, thresholds }: MetMemory, gone: ReadonlySet<string>) {
  const standing = known.filter(({ id }) => !gone.has(id));
  return decideWrite(told, standing, thresholds);
}

/** Adds to the plan what becomes of `each`. */
function settle({ plan, gone }: OpenPlan, each: MetMemory): void {
  const { id, told } = each;
  const known = each.known.filter((other) => !gone.has(other.id));
  const byId = (of: string) => known.find((other) => other.id === of) as KnownMemory;
  const leave = (state: Yielded["state"], supersededBy: string, validTo: Date | null) =>
    plan.leaving.push({ ...partsOf({ ...told, id }), state, supersededBy, validTo });
  const yieldTo = (other: KnownMemory, state: Yielded["state"]) => {
    gone.add(other.id);
    const validTo = state === "superseded" ? told.validFrom : null;
    plan.staying.push({ ...partsOf(other), state, supersededBy: id, validTo });
    if (state !== "merged") return;
    const { seenCount: times, assertedAt } = other;
    plan.again.push({ id, times, by: other, assertedAt, noted: notedAgain(notesOf(told), other) });
  };
  const move = (moves: readonly IntervalMove[] = [], next?: string) =>
    plan.moves.push(...moves.map((one) => ({ ...one, supersededBy: one.validTo && next })));
  const double = absorbed(known);
  const decision = decide(each, gone);
  switch (decision.action) {
    case "ask":
      break;
    case "create":
      move(decision.moves, id);
      if (double) yieldTo(double, "merged");
      break;
    case "replace":
      yieldTo(byId(decision.id), "superseded");
      if (double) yieldTo(double, "merged");
      break;
    case "update":
      move(
        decision.moves?.filter((one) => one.id !== decision.id),
        id,
      );
      yieldTo(byId(decision.id), "merged");
      break;
    case "touch":
      move(decision.moves);
      leave("merged", decision.id, null);
      plan.again.push({
        ...{ id: decision.id, times: each.seenCount, by: told, assertedAt: told.validFrom },
        noted: notedAgain(byId(decision.id), notesOf(told)),
      });
      break;
    case "keep":
      leave("superseded", decision.id, told.now);
      break;
    case "insert_closed":
      move(decision.moves, id);
      if (decision.split) plan.splits.push({ ...decision.split, supersededBy: id });
      leave("superseded", decision.id, decision.until);
      break;
  }
}

function notesOf({ metadata, expiresAt }: ToldMemory): Noted {
  return { metadata, expiresAt: expiresAt ?? null };
}

function partsOf({ id, text, category }: Pick<Yielded, "id" | "text" | "category">) {
  return { id, text, category };
}
