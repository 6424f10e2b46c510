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

/**
 * How each of `met` stands to what is known, by the rules by which it would be written: what is told of a slot finds its
 * place in time, and of two that tell of the same time the one that is believed more holds it; what says the same becomes
 * one. Nobody is asked: what is only alike stays two. Nothing is lost: what gives way is kept, closed.
 */
export function planMerge(met: readonly MetMemory[]): MergePlan {
  const plan = {
    ...{ leaving: [] as Yielded[], staying: [] as Yielded[], again: [] as MergePlan["again"][number][] },
    ...{ moves: [] as MergePlan["moves"][number][], splits: [] as MergePlan["splits"][number][] },
  };
  const gone = new Set<string>();
  const yieldTo = (known: KnownMemory, { id, told }: MetMemory, state: Yielded["state"]) => {
    gone.add(known.id);
    const validTo = state === "superseded" ? told.validFrom : null;
    plan.staying.push({ ...partsOf(known), state, supersededBy: id, validTo });
    if (state !== "merged") return;
    const { seenCount: times, assertedAt } = known;
    plan.again.push({ id, times, by: known, assertedAt, noted: notedAgain(notesOf(told), known) });
  };
  for (const each of met) {
    const { id, told, thresholds } = each;
    const known = each.known.filter((other) => !gone.has(other.id));
    const byId = (of: string) => known.find((other) => other.id === of) as KnownMemory;
    const leave = (state: Yielded["state"], supersededBy: string, validTo: Date | null) =>
      plan.leaving.push({ ...partsOf({ ...told, id }), state, supersededBy, validTo });
    const move = (moves: readonly IntervalMove[] = [], next?: string) =>
      plan.moves.push(...moves.map((one) => ({ ...one, supersededBy: one.validTo && next })));
    const double = absorbed(known);
    const decision = decideWrite(told, known, thresholds);
    switch (decision.action) {
      case "ask":
        break;
      case "create":
        move(decision.moves, id);
        if (double) yieldTo(double, each, "merged");
        break;
      case "replace":
        yieldTo(byId(decision.id), each, "superseded");
        if (double) yieldTo(double, each, "merged");
        break;
      case "update":
        move(
          decision.moves?.filter((one) => one.id !== decision.id),
          id,
        );
        yieldTo(byId(decision.id), each, "merged");
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
  return plan;
}

function notesOf({ metadata, expiresAt }: ToldMemory): Noted {
  return { metadata, expiresAt: expiresAt ?? null };
}

function partsOf({ id, text, category }: Pick<Yielded, "id" | "text" | "category">) {
  return { id, text, category };
}
