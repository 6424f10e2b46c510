import { contentHash } from "../../text/normal-value.js";
import { type ChangeEvent, changeLine } from "../changes/change-line.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { MemoryVersion } from "../item/memory.js";
import { contentOf, learnedFrom, versionNames } from "../item/memory-fields.js";
import { type Noted, notedAgain } from "../item/memory-metadata.rule.js";
import { conflictReason } from "../slot/slot-conflict.rule.js";
import { heldSince, type IntervalMove } from "../slot/slot-timeline.rule.js";
import { linkChanges, nearestLinks, newMemory, type WritePlan } from "./apply-plan.js";
import { absorbed, type WriteDecision } from "./decide-write.rule.js";
import type { Sighting } from "./memory-states.js";
import {
  type FoundStatement,
  type KnownMemory,
  type ToldMemory,
  type ToldStatement,
  toldTo,
  type WriteContext,
} from "./statement.js";
import type { WriteOutcome } from "./write-runtime.js";

export interface MetStatement {
  readonly statement: ToldStatement;
  readonly known: readonly KnownMemory[];
}

export interface PlannedWrite {
  readonly outcome: WriteOutcome;
  readonly plan: Partial<WritePlan>;
}

/** Does not ask for consent: see `decideDrafts`. */
export function planStatement(context: WriteContext, met: MetStatement, decision: WriteDecision): PlannedWrite {
  switch (decision.action) {
    case "create":
    case "replace":
      return planNew(context, met, decision);
    case "insert_closed":
      return planClosed(context, met, decision);
    case "touch":
      return planSighting(met, decision);
    case "update":
      return planUpdate(context, met, decision);
    case "keep":
      return planKept(met, decision);
  }
}

/** Stores text that reads as instructions where nothing finds it: no slot, no links, no news for prompts. */
export function planQuarantined(context: WriteContext, { statement, known }: FoundStatement): PlannedWrite {
  const outcome = (id: string) => ({ outcome: "quarantined", id, problems: ["instruction"] }) as const;
  const [seen] = known;
  if (seen) {
    const { id, seenCount, turn: assertedTurn } = seen;
    const again = change(seen, id, "MERGE", null, { seenCount: seenCount + 1 });
    const unchanged = { ...seen, times: 1, assertedTurn, assertedAt: null, origin: null, trust: null };
    return { outcome: outcome(id), plan: { sightings: [unchanged], changes: [again] } };
  }
  const told = toldTo(context.owner, statement);
  const memory = { ...newMemory(context, told, []), state: "quarantined" } as const;
  const { id, state } = memory;
  const added = change(memory, id, "ADD", null, { ...contentOf(memory), state });
  return { outcome: outcome(id), plan: { created: [memory], changes: [added] } };
}

type Decided<Action extends WriteDecision["action"]> = Extract<WriteDecision, { action: Action }>;

function planNew(
  context: WriteContext,
  { statement, known }: MetStatement,
  decision: Decided<"create"> | Decided<"replace">,
): PlannedWrite {
  const { memory } = statement;
  const old = decision.action === "replace" ? byId(known, decision.id) : undefined;
  const double = absorbed(known);
  const validFrom = heldSince(memory, old).toISOString();
  const near = known.filter(({ id }) => id !== old?.id && id !== double?.id);
  const created = { ...newMemory(context, statement, near), validFrom };
  const { id } = created;
  const gone = { supersededBy: id, purgeAfterMs: null };
  return {
    outcome: { outcome: old ? "replaced" : "created", id, problems: [] },
    plan: {
      deactivated: [
        ...(old ? [{ ...gone, id: old.id, state: "superseded" as const, validTo: validFrom }] : []),
        ...(double ? [mergedInto(id, double)] : []),
      ],
      moves: decision.action === "create" ? movesTo(decision.moves, id) : [],
      created: [created],
      changes: [
        ...(old ? [replacedBy(old, memory, id)] : []),
        ...(double ? [change(memory, double.id, "MERGE", { text: double.text }, { supersededBy: id })] : []),
        {
          ...change(memory, id, "ADD", null, { ...contentOf(created), ...learned(memory) }),
          news: newsOf(old ? "updated" : "created", memory, 1),
          similarity: known.find(({ relation }) => relation === "near")?.similarity ?? null,
        },
        ...linkChanges(created, created.links),
      ],
    },
  };
}

function planClosed(
  context: WriteContext,
  { statement }: MetStatement,
  { id: supersededBy, until, moves, split }: Decided<"insert_closed">,
): PlannedWrite {
  const { memory } = statement;
  const made = newMemory(context, statement, []);
  const { id } = made;
  const parts = split ? [{ ...split, copyId: context.newId(), supersededBy: id }] : [];
  return {
    outcome: { outcome: "closed", id, problems: [] },
    plan: {
      created: [{ ...made, state: "superseded", validTo: until.toISOString(), supersededBy }],
      moves: movesTo(moves, id),
      splits: parts,
      changes: [
        change(memory, id, "ADD", null, { ...contentOf(made), ...learned(memory) }),
        ...parts.map((part) => change(memory, part.copyId, "ADD", null, { copyOf: part.id, supersededBy: id })),
      ],
    },
  };
}

function planSighting({ statement, known }: MetStatement, { id, moves }: Decided<"touch" | "update">): PlannedWrite {
  const { memory } = statement;
  const seen = byId(known, id);
  const { text, seenCount } = seen;
  const times = seenCount + 1;
  // The same words again are no news; in another order they are two notes. In a slot only the value counts.
  const isNews = !seen.keyed && contentHash(text) !== contentHash(memory.text);
  const now = { text: memory.text, seenCount: times, ...learned(memory) };
  const merged = change(memory, id, "MERGE", { text, seenCount }, now);
  return {
    outcome: { outcome: "merged", id, problems: [] },
    plan: {
      moves: movesTo(moves, id),
      sightings: [sightingOf(statement, seen)],
      changes: [{ ...merged, similarity: 1, news: isNews ? newsOf("merged", { ...memory, text }, times) : null }],
    },
  };
}

function planUpdate(
  context: WriteContext,
  { statement, known }: MetStatement,
  { id, moves }: Decided<"touch" | "update">,
): PlannedWrite {
  const { memory, vector } = statement;
  const old = byId(known, id);
  const { category, pinned, tags, similarity, text, seenCount } = old;
  const double = absorbed(known);
  const neighbours = known.filter((each) => each.id !== id);
  const links = nearestLinks(neighbours, context.config);
  const times = seenCount + 1;
  const noted = notedOf(memory, old);
  const now = { text: memory.text, seenCount: times, ...learned(memory) };
  const updated = change(old, id, "UPDATE", { text, seenCount }, now);
  const importance = Math.max(old.importance, memory.importance);
  const rewrite = {
    ...memory,
    // A field that is not set now stays.
    ...(Object.fromEntries(versionNames.map((name) => [name, memory[name] ?? old[name]])) as MemoryVersion),
    category,
    pinned,
    tags,
    importance,
    confidence: Math.max(old.confidence, memory.confidence),
    metadata: noted.metadata,
    expiresAt: noted.expiresAt?.toISOString() ?? null,
    id,
    vector,
    links,
    state: "active" as const,
  };
  return {
    outcome: { outcome: "updated", id, problems: [] },
    plan: {
      deactivated: double ? [mergedInto(id, double)] : [],
      moves: movesTo(moves, null),
      sightings: [sightingOf(statement, old)],
      rewrites: [rewrite],
      changes: [
        ...(double ? [change(memory, double.id, "MERGE", { text: double.text }, { supersededBy: id })] : []),
        { ...updated, similarity, news: { ...newsOf("updated", { ...memory, category }, times), importance } },
        ...linkChanges(old, links),
      ],
    },
  };
}

function mergedInto(supersededBy: string, { id }: KnownMemory) {
  return { id, supersededBy, state: "merged" as const, validTo: null, purgeAfterMs: null };
}

/** Only the audit trail keeps a value that ranks lower. */
function planKept({ statement: { memory }, known }: MetStatement, { id }: Decided<"keep">): PlannedWrite {
  const { text: refused, confidence, origin } = memory;
  const reason = conflictReason(byId(known, id), memory);
  return {
    outcome: { outcome: "kept", id, problems: [] },
    plan: { changes: [change(memory, id, "UPDATE", null, { refused, confidence, origin, reason })] },
  };
}

/** An app's trail names no thread that may be a user's. */
function learned(memory: ToldMemory): object {
  return memory.scope.userId === undefined ? {} : learnedFrom(memory);
}

/** Decisions name only known memories. */
function byId(known: readonly KnownMemory[], id: string): KnownMemory {
  return known.find((memory) => memory.id === id) as KnownMemory;
}

/** `successor` follows a value that ends earlier. */
function movesTo(moves: readonly IntervalMove[] = [], successor: string | null): WritePlan["moves"] {
  const next = successor ?? undefined;
  return moves.map((move) => ({ ...move, supersededBy: move.validTo && next }));
}

/** A lower-ranking word makes a memory neither surer nor fresher. */
function sightingOf({ memory }: ToldStatement, known: KnownMemory): Sighting {
  const { importance, confidence, origin, trust, rank, turn } = memory;
  const assertedAt = heldSince(memory, known).toISOString();
  const vouchesNow = rank === known.rank && trust === "operator" && known.trust === "untrusted";
  return {
    id: known.id,
    times: 1,
    importance,
    rank,
    ...notedOf(memory, known),
    ...(rank < known.rank
      ? { confidence: known.confidence, assertedTurn: known.turn, assertedAt: null }
      : { confidence, assertedTurn: turn, assertedAt }),
    ...(rank > known.rank || vouchesNow ? { origin, trust } : { origin: null, trust: null }),
  };
}

function notedOf({ metadata, expiresAt }: ToldMemory, known: KnownMemory): Noted {
  return notedAgain(known, { metadata, expiresAt: expiresAt ?? null });
}

function replacedBy(old: KnownMemory, memory: ToldMemory, supersededBy: string): MemoryChange {
  const { id, text, confidence, origin } = old;
  const reason = conflictReason(old, memory);
  return change(memory, id, "UPDATE", { text, confidence, origin }, { supersededBy, reason });
}

function newsOf(event: ChangeEvent, memory: ToldMemory, seenCount: number): MemoryChange["news"] & object {
  return { event, line: changeLine(event, { ...memory, seenCount }), importance: memory.importance };
}

function change(
  { category }: { readonly category: string },
  memoryId: string,
  event: MemoryChange["event"],
  old: unknown,
  next: unknown,
): MemoryChange {
  return { memoryId, event, old, new: next, news: null, category, similarity: null };
}
