import { common, commonOrigin } from "../../conversation/find-messages.js";
import type { EventPlace } from "../../events/event-log.js";
import { consentRule } from "../guard/consent-policy.rule.js";
import { consentChange } from "../guard/consent-request.rule.js";
import type { StandingConsent } from "../guard/decide-proposal.rule.js";
import { isApproved } from "../item/memory.js";
import { versionOf } from "../item/memory-fields.js";
import { sourceRank } from "../slot/slot-conflict.rule.js";
import { joinPlans, type WritePlan } from "./apply-plan.js";
import { decideWrite } from "./decide-write.rule.js";
import { similarity } from "./draft-similarity.js";
import { nearestCount } from "./find-candidates.js";
import { guardStatement } from "./guard-statement.js";
import type { NewMemory } from "./insert-memories.js";
import type { Sighting } from "./memory-states.js";
import { type PlannedWrite, planQuarantined, planStatement } from "./plan-statement.js";
import { type FoundStatement, type KnownMemory, type Statement, toldTo, type WriteContext } from "./statement.js";
import type { WriteOrigin, WriteOutcome } from "./write-runtime.js";

export interface DecidedDrafts {
  readonly outcomes: readonly (readonly [draft: number, outcome: WriteOutcome])[];
  readonly plan: WritePlan;
}

/** Some tens of thousands of comparisons. */
const mostInBatch = 300;

/**
 * Runs of `statements` that one look at the database decides. The second value of a slot begins a new one, since its
 * place depends on all of the slot's history; so do the words of one slot in another.
 */
export function inBatches(statements: readonly Statement[]): Statement[][] {
  const batches: Statement[][] = [];
  let batch: Statement[] = [];
  let slots = new Set<string>();
  let slotOfWords = new Map<string, string>();
  for (const statement of statements) {
    const { scope, kind, category, key, contentHash, quarantined } = statement.memory;
    const words = JSON.stringify([scope.appId, kind, contentHash, quarantined]);
    const slot = key === undefined || quarantined ? "" : JSON.stringify([scope.appId, category, key]);
    const isApart = slots.has(slot) || (slotOfWords.get(words) ?? slot) !== slot;
    if (batch.length === 0 || batch.length === mostInBatch || isApart) {
      batch = [];
      batches.push(batch);
      [slots, slotOfWords] = [new Set(), new Map()];
    }
    batch.push(statement);
    if (slot !== "") slots.add(slot);
    slotOfWords.set(words, slot);
  }
  return batches;
}

/** Decides one draft after the other: the one way to add memories. Each sees what the earlier ones leave behind. */
export function decideDrafts(context: WriteContext, found: readonly FoundStatement[]): DecidedDrafts {
  const made: MadeMemories = new Map();
  const standing = new Map<string, readonly StandingConsent[]>();
  const writes = found.map((each) => {
    const { statement } = each;
    const { scope, category, key } = statement.memory;
    const field = JSON.stringify([scope.appId, category, key]);
    const known = knownNow(made, each);
    const now = { statement, known, standing: standing.get(field) ?? each.standing };
    const planned = statement.memory.quarantined ? planQuarantined(context, now) : planGuarded(context, now);
    noteMemories(made, now, planned.plan);
    standing.set(field, standingAfter(now, planned.plan));
    return { statement, ...planned };
  });
  const placed = writes.map(({ statement, plan }): Partial<WritePlan> => {
    const place = placeOf(context.origin, statement);
    return {
      ...plan,
      // A change belongs to where the statement was said, whichever memory it is about.
      changes: plan.changes?.map((change) => ({ ...change, ...place })) ?? [],
      events: plan.events?.map((event) => ({ ...event, ...place })) ?? [],
    };
  });
  return {
    outcomes: writes.map(({ statement, outcome }) => [statement.draft, outcome]),
    plan: joinPlans(placed),
  };
}

/** A memory as the earlier drafts of a batch leave it; null: not active any more. */
type MadeMemory = {
  readonly memory: KnownMemory;
  /** The draft that it has its words from; null for those it had. */
  readonly words: Statement | null;
} | null;

type MadeMemories = Map<string, MadeMemory>;

function knownNow(memories: MadeMemories, { statement, known }: FoundStatement): readonly KnownMemory[] {
  if (memories.size === 0) return known;
  const stored = known.flatMap((memory): KnownMemory[] => {
    const now = memories.get(memory.id);
    if (now === undefined) return [memory];
    const { relation, similarity } = memory;
    return now === null || now.words ? [] : [{ ...now.memory, relation, similarity }];
  });
  const met = [...memories.values()].flatMap((now) => meeting(statement, now) ?? []);
  const nearest = met.toSorted((one, other) => other.similarity - one.similarity).slice(0, nearestCount);
  const said = nearest.map(({ memory, ...how }): KnownMemory => ({ ...memory, ...how }));
  return [...stored, ...said].toSorted((one, other) => other.similarity - one.similarity);
}

function meeting({ memory: told, measure }: Statement, now: MadeMemory) {
  if (!now?.words) return null;
  const { memory, words } = now;
  const { scope, quarantined, contentHash } = words.memory;
  if (scope.appId !== told.scope.appId || quarantined !== told.quarantined) return null;
  if (memory.kind === told.kind && contentHash === told.contentHash) {
    return { memory, relation: "same", similarity: 1 } as const;
  }
  const near = similarity(words.measure, measure);
  return near > 0 ? ({ memory, relation: "near", similarity: near } as const) : null;
}

function noteMemories(
  memories: MadeMemories,
  { statement, known }: FoundStatement,
  { deactivated = [], created = [], sightings = [], rewrites = [] }: Partial<WritePlan>,
): void {
  for (const { id } of deactivated) memories.set(id, null);
  for (const memory of created) {
    if (memory.state !== "superseded") memories.set(memory.id, { memory: madeNow(memory), words: statement });
  }
  for (const sighting of sightings) {
    const memory = seenNow(known.find(({ id }) => id === sighting.id) as KnownMemory, sighting);
    memories.set(sighting.id, { memory, words: memories.get(sighting.id)?.words ?? null });
  }
  for (const rewrite of rewrites) {
    const { memory } = memories.get(rewrite.id) as { memory: KnownMemory };
    const { expiresAt } = memory;
    memories.set(rewrite.id, { memory: { ...memory, ...versionOf(rewrite), expiresAt }, words: statement });
  }
}

function madeNow(made: NewMemory): KnownMemory {
  const { expiresAt, validFrom, assertedTurn, key } = made;
  const since = new Date(validFrom);
  return {
    ...made,
    ref: null,
    relation: "near",
    similarity: 1,
    keyed: key !== null,
    rank: sourceRank(made),
    turn: assertedTurn,
    validFrom: since,
    validTo: null,
    assertedAt: since,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
    expired: false,
  };
}

/** As `touchMemories` does. */
function seenNow(known: KnownMemory, seen: Sighting): KnownMemory {
  const { kind, origin, trust, assertedAt } = known;
  const word = { kind, origin: seen.origin ?? origin, trust: seen.trust ?? trust };
  const saidAt = new Date(seen.assertedAt ?? assertedAt);
  return {
    ...known,
    ...word,
    rank: sourceRank(word),
    seenCount: known.seenCount + seen.times,
    confidence: Math.max(known.confidence, seen.confidence),
    importance: Math.max(known.importance, seen.importance),
    turn: Math.max(known.turn, seen.assertedTurn),
    assertedAt: saidAt > assertedAt ? saidAt : assertedAt,
    metadata: seen.metadata,
    expiresAt: seen.expiresAt,
  };
}

function standingAfter(
  { statement: { memory }, standing }: FoundStatement,
  { settled = [], requests = [], repeats = [] }: Partial<WritePlan>,
): StandingConsent[] {
  const asked = requests.map(({ draft: { text }, ...request }): StandingConsent => {
    return { ...request, text, validFrom: memory.validFrom ?? null, status: "pending", expired: false };
  });
  const left = standing.filter(({ id }) => !settled.some((each) => each.id === id));
  return [...asked, ...left.map((each) => ({ ...each, ...repeats.find(({ id }) => id === each.id) }))];
}

export function commonPlace(origin: WriteOrigin, statements: readonly Statement[]): EventPlace {
  const places = statements.map((statement) => placeOf(origin, statement));
  return { threadId: common(places.map(({ threadId }) => threadId)), ...commonOrigin(places) };
}

function placeOf(origin: WriteOrigin, { memory }: Statement) {
  const threadId = memory.source?.threadId ?? origin.threadId;
  return { threadId, agentId: memory.agentId, runId: memory.runId };
}

function planGuarded(context: WriteContext, found: FoundStatement): PlannedWrite {
  const { owner, config, origin } = context;
  const { statement, known } = found;
  const { memory } = statement;
  const rule = consentRule(config.consent, memory);
  const given = rule ? origin.consent : undefined;
  const met = { known, statement: toldTo(owner, given ? vouchedFor(statement) : statement) };
  const decision = decideWrite(met.statement.memory, known, relationOf(context, found));
  if (rule === null) return planStatement(context, met, decision);
  const { consents, ...verdict } = guardStatement(context, found, rule, decision);
  if ("consentId" in verdict) return { outcome: { ...verdict, id: null, problems: [] }, plan: consents };
  const isPast = verdict.outcome === "dropped" && decision.action === "insert_closed";
  const how = isPast ? ({ action: "keep", id: decision.id } as const) : decision;
  const { outcome, plan } = planStatement(context, met, how);
  const { id: memoryId } = outcome;
  const { approval } = verdict;
  const approved = approval && memoryId ? [consentChange({ ...memory, id: memoryId }, approval)] : [];
  const settled = consents.settled?.map((each) => (each.status === "approved" ? { ...each, memoryId } : each));
  return {
    outcome,
    plan: { ...plan, ...consents, settled: settled ?? [], changes: [...(plan.changes ?? []), ...approved] },
  };
}

/** What needs consent is ended by the user's plain words alone. */
function relationOf({ config, origin }: WriteContext, { statement: { draft }, known }: FoundStatement) {
  const target = known.find(({ relation }) => relation === "target");
  const isGuarded = target !== undefined && consentRule(config.consent, target) === "consent";
  return isGuarded && !origin.stated?.has(draft) ? undefined : origin.relations?.get(draft);
}

/** The user's consent makes it the user's own word, at any confidence. */
function vouchedFor(statement: Statement): Statement {
  const { memory } = statement;
  const trust = isApproved(memory) ? "operator" : "user";
  return { ...statement, memory: { ...memory, trust, correction: true } };
}
