import { contentHash } from "../../text/normal-value.js";
import { searchName } from "../../text/search-text.js";
import { changeLine } from "../changes/change-line.js";
import type { MemoryChange } from "../changes/record-changes.js";
import { conflictReason } from "../slot/slot-conflict.js";
import { heldSince, type IntervalMove } from "../slot/slot-timeline.js";
import type { WritePlan } from "./apply-plan.js";
import { absorbed, type SettledDecision } from "./decide-write.js";
import type { Sighting } from "./memory-states.js";
import { contentOf, linkChanges, nearestLinks, newMemory } from "./new-memory.js";
import { type KnownMemory, type Statement, toldTo, type WriteContext } from "./statement.js";
import type { WriteOutcome } from "./write-runtime.js";

/** A statement, and the stored memories that bear on it. */
export interface MetStatement {
  readonly statement: Statement;
  readonly known: readonly KnownMemory[];
}

/** What becomes of a statement, and all that is done for it. */
export interface PlannedWrite {
  readonly outcome: WriteOutcome;
  readonly plan: Partial<WritePlan>;
}

/** What `decision` makes of a statement. Whether it may be made is not asked here: see `planWave`. */
export function planStatement(
  context: WriteContext,
  met: MetStatement,
  decision: SettledDecision,
): PlannedWrite {
  switch (decision.action) {
    case "create":
    case "replace":
      return planNew(context, met, decision);
    case "insert_closed":
      return planClosed(context, met, decision);
    case "touch":
      return planSighting(context, met, decision);
    case "update":
      return planUpdate(context, met, decision);
    case "keep":
      return planKept(context, met, decision);
  }
}

type Decided<Action extends SettledDecision["action"]> = Extract<SettledDecision, { action: Action }>;

/** A new memory, in the place of `decision.id` where there is one. */
function planNew(
  context: WriteContext,
  { statement, known }: MetStatement,
  decision: Decided<"create"> | Decided<"replace">,
): PlannedWrite {
  const { memory } = statement;
  const old = decision.action === "replace" ? byId(known, decision.id) : undefined;
  const double = absorbed(known);
  const made = newMemory(context, statement, others(context, known, double?.id));
  const { id } = made;
  const since = sinceWhen(context, statement, old);
  const created = { ...made, validFrom: since };
  const event = old ? "updated" : "created";
  const line = changeLine(event, { ...memory, seenCount: made.seenCount });
  const gone = { supersededBy: id, purgeAfterMs: null } as const;
  return {
    outcome: { outcome: old ? "replaced" : "created", id, problems: [] },
    plan: {
      deactivated: [
        ...(old ? [{ ...gone, id: old.id, state: "superseded", validTo: since } as const] : []),
        ...(double ? [{ ...gone, id: double.id, state: "merged", validTo: null } as const] : []),
      ],
      moves: decision.action === "create" ? movesTo(decision.moves, id) : [],
      created: [created],
      changes: [
        ...(old ? [replacedBy(context, statement, old, id)] : []),
        ...(double ? [change(memory, double.id, "MERGE", { text: double.text }, { supersededBy: id })] : []),
        {
          ...change(memory, id, "ADD", null, contentOf(created)),
          news: { event, line, importance: memory.importance },
          similarity: known.find(({ relation }) => relation === "near")?.similarity ?? null,
        },
        ...linkChanges(created, created.links, known),
      ],
    },
  };
}

/** A value of the past, stored between the others of its slot. */
function planClosed(
  context: WriteContext,
  { statement }: MetStatement,
  { id: supersededBy, until, moves, split }: Decided<"insert_closed">,
): PlannedWrite {
  const { memory } = statement;
  const made = newMemory(context, statement, []);
  const { id } = made;
  const copyId = split && context.newId();
  const copy = { copyOf: split?.id, supersededBy: id };
  return {
    outcome: { outcome: "closed", id, problems: [] },
    plan: {
      created: [{ ...made, state: "superseded", validTo: until.toISOString(), supersededBy }],
      moves: movesTo(moves, id),
      splits: split && copyId ? [{ ...split, copyId, supersededBy: id }] : [],
      changes: [
        change(memory, id, "ADD", null, contentOf(made)),
        ...(copyId ? [change(memory, copyId, "ADD", null, copy)] : []),
      ],
    },
  };
}

/** What is known was said again. */
function planSighting(
  context: WriteContext,
  { statement, known }: MetStatement,
  { id, similarity, moves }: Decided<"touch" | "update">,
): PlannedWrite {
  const { memory, said } = statement;
  const seen = byId(known, id);
  const seenCount = seen.seenCount + said.length;
  const line = changeLine("merged", { ...memory, text: seen.text, seenCount });
  // The same words again are no news, in another order they are two notes; of a slot only its value counts.
  const isNews = similarity < 1 || (!seen.keyed && contentHash(seen.text) !== contentHash(memory.text));
  const old = { text: seen.text, seenCount: seen.seenCount };
  return {
    outcome: { outcome: "merged", id, problems: [] },
    plan: {
      moves: movesTo(moves, id),
      sightings: [sightingOf(context, statement, seen)],
      changes: [
        {
          ...change(memory, id, "MERGE", old, { text: memory.text, seenCount }),
          news: isNews ? { event: "merged", line, importance: memory.importance } : null,
          similarity,
        },
      ],
    },
  };
}

/** What is known is said better: it gets the new words. */
function planUpdate(
  context: WriteContext,
  { statement, known }: MetStatement,
  { id, moves }: Decided<"touch" | "update">,
): PlannedWrite {
  const { memory, vector, said } = statement;
  const old = byId(known, id);
  const { category, pinned, tags, actorId, similarity } = old;
  const neighbours = others(context, known, id);
  const links = nearestLinks(neighbours, context.config);
  const importance = Math.max(old.importance, memory.importance);
  const confidence = Math.max(old.confidence, memory.confidence);
  const seenCount = old.seenCount + said.length;
  const [was, is] = [
    { text: old.text, seenCount: old.seenCount },
    { text: memory.text, seenCount },
  ];
  return {
    outcome: { outcome: "updated", id, problems: [] },
    plan: {
      moves: movesTo(moves, null),
      sightings: [sightingOf(context, statement, old)],
      rewrites: [
        {
          ...memory,
          ...{ id, category, pinned, tags, importance, confidence, vector, links },
          state: "active",
          value: memory.value ?? old.value,
          actorTerms: searchName(actorId ?? "", context.language),
        },
      ],
      changes: [
        {
          ...change(memory, id, "UPDATE", was, is),
          news: {
            event: "updated",
            line: changeLine("updated", { ...memory, category, seenCount }),
            importance,
          },
          category,
          similarity,
        },
        ...linkChanges(old, links, neighbours),
      ],
    },
  };
}

/** What holds the slot is believed more: the trail alone keeps what was said. */
function planKept(
  context: WriteContext,
  { statement, known }: MetStatement,
  { id }: Decided<"keep">,
): PlannedWrite {
  const { text, confidence, origin } = statement.memory;
  const reason = conflictReason(byId(known, id), toldTo(context.owner, statement));
  const refused = { refused: text, confidence, origin, reason };
  return {
    outcome: { outcome: "kept", id, problems: [] },
    plan: { changes: [change(statement.memory, id, "UPDATE", null, refused)] },
  };
}

/** Those of `known` that a memory may be linked to: neither itself nor what was made together with it. */
function others(
  { fresh }: WriteContext,
  known: readonly KnownMemory[],
  itself: string | undefined,
): KnownMemory[] {
  return known.filter(({ id }) => id !== itself && !fresh.has(id));
}

/** Decisions name only memories that they were given. */
function byId(known: readonly KnownMemory[], id: string): KnownMemory {
  return known.find((memory) => memory.id === id) as KnownMemory;
}

/** `moves` with what comes after a value that ends earlier: `successor`, where there is one. */
function movesTo(moves: readonly IntervalMove[] = [], successor: string | null): WritePlan["moves"] {
  return moves.map((move) => ({
    ...move,
    supersededBy: move.validTo && successor !== null ? successor : undefined,
  }));
}

/** Since when a statement holds that takes the place of `known`, or says the same. */
function sinceWhen({ owner }: WriteContext, { memory }: Statement, known: KnownMemory | undefined): string {
  return heldSince({ validFrom: memory.validFrom, now: owner.now }, known).toISOString();
}

/** `known`, said again: the word of whoever is believed less makes it neither surer nor fresher. */
function sightingOf(context: WriteContext, statement: Statement, known: KnownMemory): Sighting {
  const { importance, confidence, origin, trust, rank, turn } = toldTo(context.owner, statement);
  return {
    ...{ id: known.id, times: statement.said.length, importance, rank },
    ...(rank < known.rank
      ? { confidence: known.confidence, assertedTurn: known.turn, assertedAt: null }
      : { confidence, assertedTurn: turn, assertedAt: sinceWhen(context, statement, known) }),
    ...(rank > known.rank ? { origin, trust } : { origin: null, trust: null }),
  };
}

function replacedBy(context: WriteContext, statement: Statement, old: KnownMemory, id: string): MemoryChange {
  const { text, confidence, origin } = old;
  const reason = conflictReason(old, toldTo(context.owner, statement));
  return change(
    statement.memory,
    old.id,
    "UPDATE",
    { text, confidence, origin },
    { supersededBy: id, reason },
  );
}

function change(
  { category }: { readonly category: string },
  memoryId: string,
  event: MemoryChange["event"],
  old: unknown,
  next: unknown,
): MemoryChange {
  return { memoryId, event, old: old ?? null, new: next, news: null, category, similarity: null };
}
