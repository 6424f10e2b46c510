import type { EventPlace } from "../../observability/events/event-log.js";
import { createPauses } from "../../pauses.js";
import { commonOrigin, sharedValue } from "../../transcript/find-messages.js";
import { type ChangeSet, joinChanges, type NewMemory } from "../apply/change-set.js";
import { consentRule } from "../consent/consent-policy.rule.js";
import { consentChange, type EarlierRequest } from "../consent/consent-request.rule.js";
import { isApproved } from "../item/memory.js";
import { versionOf } from "../item/memory-fields.js";
import { sourceRank } from "../slot/slot-timeline.rule.js";
import { decideWrite } from "./decide-write.rule.js";
import { type ExistingMemory, type FoundStatement, nearestCount } from "./find-existing.js";
import { guardStatement } from "./guard-statement.js";
import { type PlannedWrite, planQuarantined, planStatement } from "./plan-statement.js";
import { type Statement, similarity } from "./prepare-drafts.js";
import type { WriteContext, WriteOrigin, WriteOutcome } from "./write-types.js";

/** Some tens of thousands of comparisons. */
const comparisonsPerBatch = 300;

/**
 * Splits `statements` into batches, each searched before any of it is written. A second value of a slot starts a
 * new batch, since its place depends on the slot's history. So does the text of one slot in another
 * slot, and what relates to an earlier draft.
 */
export function batchesOf(statements: readonly Statement[]): Statement[][] {
  const batches: Statement[][] = [];
  let batch: Statement[] = [];
  let slots = new Set<string>();
  let slotByText = new Map<string, string>();
  for (const statement of statements) {
    const { scope, kind, category, key, contentHash, quarantined, relation } = statement;
    const text = JSON.stringify([scope.appId, kind, contentHash, quarantined]);
    const slot =
      key === undefined || quarantined ? "" : JSON.stringify([scope.appId, category, key]);
    const isDependent =
      slots.has(slot) ||
      (slotByText.get(text) ?? slot) !== slot ||
      typeof relation?.target === "number";
    if (batch.length === 0 || batch.length === comparisonsPerBatch || isDependent) {
      batch = [];
      batches.push(batch);
      [slots, slotByText] = [new Set(), new Map()];
    }
    batch.push(statement);
    if (slot !== "") slots.add(slot);
    slotByText.set(text, slot);
  }
  return batches;
}

/** Decides the drafts of a batch in order: each sees the effects of the earlier ones. */
export async function decideDrafts(context: WriteContext, batch: readonly FoundStatement[]) {
  const overlay: Overlay = new Map();
  const requestsByField = new Map<string, readonly EarlierRequest[]>();
  const outcomes: WriteOutcome[] = [];
  const sets: Partial<ChangeSet>[] = [];
  const pause = createPauses();
  for (const stored of batch) {
    await pause();
    // What the earlier drafts left of what was found.
    const { scope, category, key } = stored;
    const field = JSON.stringify([scope.appId, category, key]);
    const requests = requestsByField.get(field) ?? stored.requests;
    const found = { ...stored, existing: withOverlay(overlay, stored), requests };

    const { outcome, set } = found.quarantined
      ? planQuarantined(context, found)
      : planGuarded(context, found);

    updateOverlay(overlay, found, set);
    requestsByField.set(field, requestsAfter(found, set));
    outcomes.push(outcome);
    sets.push(placedIn(context.origin, found, set));
  }
  return { outcomes, set: joinChanges(sets) };
}

/** `set` with the conversation and the reason that it comes from, in its changes and events. */
function placedIn(
  origin: WriteOrigin,
  statement: Statement,
  { changes = [], events = [], ...set }: Partial<ChangeSet>,
): Partial<ChangeSet> {
  const { reason, messageHash } = origin;
  const place = sourcePlace(origin, statement);
  return {
    ...set,
    changes: changes.map((change) => {
      return { ...change, ...place, new: { reason, ...(change.new as object), messageHash } };
    }),
    events: events.map((event) => ({ ...event, ...place })),
  };
}

/**
 * A memory after the earlier drafts of a batch; null: no longer active. `draft` has its text; null:
 * the text is stored.
 */
type Overlaid = { readonly memory: ExistingMemory; readonly draft: Statement | null } | null;

type Overlay = Map<string, Overlaid>;

const bySimilarity = (one: ExistingMemory, other: ExistingMemory) =>
  other.similarity - one.similarity;

/** What a statement meets: stored memories after the earlier drafts, and the nearest of these. */
function withOverlay(overlay: Overlay, found: FoundStatement): readonly ExistingMemory[] {
  if (overlay.size === 0) return found.existing;
  const existing: ExistingMemory[] = [];
  for (const memory of found.existing) {
    const overlaid = overlay.get(memory.id);
    const { foundAs, similarity } = memory;
    if (overlaid === undefined) existing.push(memory);
    else if (overlaid && !overlaid.draft)
      existing.push({ ...overlaid.memory, foundAs, similarity });
  }
  const drafted: ExistingMemory[] = [];
  for (const overlaid of overlay.values()) {
    const near = overlaid?.draft ? nearDraft(overlaid.memory, overlaid.draft, found) : null;
    if (near) drafted.push(near);
  }
  const nearest = drafted.toSorted(bySimilarity).slice(0, nearestCount);
  return [...existing, ...nearest].toSorted(bySimilarity);
}

/** An earlier draft's memory as one that the statement meets; null: they have nothing in common. */
function nearDraft(
  memory: ExistingMemory,
  draft: Statement,
  found: FoundStatement,
): ExistingMemory | null {
  if (draft.scope.appId !== found.scope.appId) return null;
  if (draft.quarantined !== found.quarantined) return null;
  if (memory.kind === found.kind && draft.contentHash === found.contentHash)
    return { ...memory, foundAs: "same", similarity: 1 };
  const near = similarity(draft.measure, found.measure);
  return near > 0 ? { ...memory, foundAs: "near", similarity: near } : null;
}

function updateOverlay(
  overlay: Overlay,
  found: FoundStatement,
  { deactivated = [], created = [], sightings = [], rewrites = [] }: Partial<ChangeSet>,
): void {
  for (const { id } of deactivated) overlay.set(id, null);
  for (const memory of created) {
    if (memory.state !== "superseded")
      overlay.set(memory.id, { memory: createdMemory(memory), draft: found });
  }
  for (const sighting of sightings) {
    const known = found.existing.find(({ id }) => id === sighting.id);
    const seen = known ?? (overlay.get(sighting.id)?.memory as ExistingMemory);
    const { turn = seen.turn, assertedAt = seen.assertedAt } = sighting;
    const memory = { ...seen, ...sighting, turn, assertedAt };
    overlay.set(sighting.id, {
      memory: { ...memory, rank: sourceRank(memory) },
      draft: overlay.get(sighting.id)?.draft ?? null,
    });
  }
  for (const rewrite of rewrites) {
    const { memory } = overlay.get(rewrite.id) as { memory: ExistingMemory };
    const { expiresAt } = memory;
    overlay.set(rewrite.id, {
      memory: { ...memory, ...versionOf(rewrite), expiresAt },
      draft: found,
    });
  }
}

function createdMemory(created: NewMemory): ExistingMemory {
  const { expiresAt, assertedTurn, key } = created;
  const validFrom = new Date(created.validFrom);
  return {
    ...created,
    ref: null,
    doubtedAt: null,
    foundAs: "near",
    similarity: 1,
    keyed: key !== null,
    rank: sourceRank(created),
    turn: assertedTurn,
    validFrom,
    validTo: null,
    assertedAt: validFrom,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
    expired: false,
  };
}

function requestsAfter(
  { validFrom, requests }: FoundStatement,
  { settled = [], requests: created = [], repeats = [] }: Partial<ChangeSet>,
): EarlierRequest[] {
  const added = created.map((request): EarlierRequest => {
    return { ...request, validFrom: validFrom ?? null, status: "pending", expired: false };
  });
  const open = requests.filter(({ id }) => !settled.some((each) => each.id === id));
  return [
    ...added,
    ...open.map((request) => ({ ...request, ...repeats.find(({ id }) => id === request.id) })),
  ];
}

export function commonPlace(origin: WriteOrigin, statements: readonly Statement[]): EventPlace {
  const places = statements.map((statement) => sourcePlace(origin, statement));
  return { threadId: sharedValue(places.map(({ threadId }) => threadId)), ...commonOrigin(places) };
}

function sourcePlace(origin: WriteOrigin, { source, agentId, runId }: Statement) {
  return { threadId: source?.threadId ?? origin.threadId, agentId, runId };
}

/** `decideWrite` decides, the guard may hold that back, `planStatement` makes the changes. */
function planGuarded(context: WriteContext, found: FoundStatement): PlannedWrite {
  const { config, origin } = context;
  const rule = consentRule(config.consent, found);
  const consented = rule && origin.consent ? withConsent(found) : found;

  // Only the user's plain statement ends a memory that needs consent.
  const target = found.existing.find(({ foundAs }) => foundAs === "target");
  const isGuarded = target !== undefined && consentRule(config.consent, target) === "consent";
  const decision = decideWrite(consented, isGuarded && !found.stated ? null : found.relation);
  if (rule === null) return planStatement(context, consented, decision);

  const verdict = guardStatement(context, found, rule, decision);
  const { request, isDropped, approval, consents } = verdict;
  if (request) return { outcome: { ...request, id: null, problems: [] }, set: consents };

  const isPast = isDropped && decision.action === "insert_closed";
  const allowed = isPast ? ({ action: "keep", id: decision.id } as const) : decision;
  const { outcome, set } = planStatement(context, consented, allowed);
  const { id } = outcome;
  const settled = (consents.settled ?? []).map((each) => {
    return each.status === "approved" ? { ...each, memoryId: id } : each;
  });
  const changes = [...(set.changes ?? [])];
  if (approval && id) changes.push(consentChange({ ...found, id }, approval));
  return { outcome, set: { ...set, ...consents, settled, changes } };
}

/** Consent makes a statement the user's own, at any confidence. */
function withConsent(found: FoundStatement): FoundStatement {
  const trust = isApproved(found) ? "operator" : "user";
  return { ...found, trust, correction: true, rank: sourceRank({ ...found, trust }) };
}
