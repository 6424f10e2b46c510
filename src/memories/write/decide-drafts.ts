import { common, commonOrigin } from "../../conversation/find-messages.js";
import type { EventPlace } from "../../events/event-log.js";
import { consentRule } from "../guard/consent-policy.rule.js";
import { consentChange } from "../guard/consent-request.rule.js";
import type { EarlierRequest } from "../guard/decide-proposal.rule.js";
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
import type {
  ExistingMemory,
  FoundStatement,
  RankedStatement,
  Statement,
  WriteContext,
} from "./statement.js";
import type { WriteOrigin } from "./write-types.js";

/** Some tens of thousands of comparisons. */
const batchSize = 300;

/**
 * Splits `statements` into batches, each decided with one query. A second value of a slot starts a
 * new batch, since its place depends on the slot's history. So does the text of one slot in another
 * slot.
 */
export function inBatches(statements: readonly Statement[]): Statement[][] {
  const batches: Statement[][] = [];
  let batch: Statement[] = [];
  let slots = new Set<string>();
  let slotByText = new Map<string, string>();
  for (const statement of statements) {
    const { scope, kind, category, key, contentHash, quarantined } = statement.memory;
    const text = JSON.stringify([scope.appId, kind, contentHash, quarantined]);
    const slot =
      key === undefined || quarantined ? "" : JSON.stringify([scope.appId, category, key]);
    const isDependent = slots.has(slot) || (slotByText.get(text) ?? slot) !== slot;
    if (batch.length === 0 || batch.length === batchSize || isDependent) {
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
export function decideDrafts(context: WriteContext, found: readonly FoundStatement[]) {
  const overlay: Overlay = new Map();
  const requestsByField = new Map<string, readonly EarlierRequest[]>();
  const writes = found.map((stored) => {
    const { statement } = stored;
    const { scope, category, key, quarantined } = statement.memory;
    const field = JSON.stringify([scope.appId, category, key]);
    const requests = requestsByField.get(field) ?? stored.requests;
    const current = { statement, existing: withOverlay(overlay, stored), requests };
    const { outcome, plan } = quarantined
      ? planQuarantined(context, current)
      : planGuarded(context, current);
    updateOverlay(overlay, current, plan);
    requestsByField.set(field, requestsAfter(current, plan));
    const { changes = [], events = [] } = plan;
    const place = placeOf(context.origin, statement);
    const { messageHash } = context.origin;
    const placed: Partial<WritePlan> = {
      ...plan,
      changes: changes.map((change) => {
        return { ...change, ...place, new: { ...(change.new as object), messageHash } };
      }),
      events: events.map((event) => ({ ...event, ...place })),
    };
    return { outcome: [statement.draft, outcome] as const, plan: placed };
  });
  return {
    outcomes: writes.map(({ outcome }) => outcome),
    plan: joinPlans(writes.map(({ plan }) => plan)),
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

function withOverlay(
  overlay: Overlay,
  { statement, existing }: FoundStatement,
): readonly ExistingMemory[] {
  if (overlay.size === 0) return existing;
  const stored = existing.flatMap((memory): ExistingMemory[] => {
    const overlaid = overlay.get(memory.id);
    if (overlaid === undefined) return [memory];
    const { relation, similarity } = memory;
    return overlaid === null || overlaid.draft
      ? []
      : [{ ...overlaid.memory, relation, similarity }];
  });
  const drafted = [...overlay.values()].flatMap(
    (overlaid) => comparedDraft(statement, overlaid) ?? [],
  );
  return [...stored, ...drafted.toSorted(bySimilarity).slice(0, nearestCount)].toSorted(
    bySimilarity,
  );
}

function comparedDraft({ memory, measure }: Statement, overlaid: Overlaid): ExistingMemory | null {
  if (!overlaid?.draft) return null;
  const { scope, quarantined, contentHash } = overlaid.draft.memory;
  if (scope.appId !== memory.scope.appId || quarantined !== memory.quarantined) return null;
  if (overlaid.memory.kind === memory.kind && contentHash === memory.contentHash) {
    return { ...overlaid.memory, relation: "same", similarity: 1 };
  }
  const near = similarity(overlaid.draft.measure, measure);
  return near > 0 ? { ...overlaid.memory, relation: "near", similarity: near } : null;
}

function updateOverlay(
  overlay: Overlay,
  { statement, existing }: FoundStatement,
  { deactivated = [], created = [], sightings = [], rewrites = [] }: Partial<WritePlan>,
): void {
  for (const { id } of deactivated) overlay.set(id, null);
  for (const memory of created) {
    if (memory.state !== "superseded")
      overlay.set(memory.id, { memory: createdMemory(memory), draft: statement });
  }
  for (const sighting of sightings) {
    const seen = existing.find(({ id }) => id === sighting.id) as ExistingMemory;
    overlay.set(sighting.id, {
      memory: seenAgain(seen, sighting),
      draft: overlay.get(sighting.id)?.draft ?? null,
    });
  }
  for (const rewrite of rewrites) {
    const { memory } = overlay.get(rewrite.id) as { memory: ExistingMemory };
    const { expiresAt } = memory;
    overlay.set(rewrite.id, {
      memory: { ...memory, ...versionOf(rewrite), expiresAt },
      draft: statement,
    });
  }
}

function createdMemory(created: NewMemory): ExistingMemory {
  const { expiresAt, assertedTurn, key } = created;
  const validFrom = new Date(created.validFrom);
  return {
    ...created,
    ref: null,
    relation: "near",
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

/** The effect of `touchMemories`. */
function seenAgain(memory: ExistingMemory, sighting: Sighting): ExistingMemory {
  const { kind, assertedAt } = memory;
  const source = {
    kind,
    origin: sighting.origin ?? memory.origin,
    trust: sighting.trust ?? memory.trust,
  };
  const sightedAt = new Date(sighting.assertedAt ?? assertedAt);
  return {
    ...memory,
    ...source,
    rank: sourceRank(source),
    seenCount: memory.seenCount + sighting.times,
    confidence: Math.max(memory.confidence, sighting.confidence),
    importance: Math.max(memory.importance, sighting.importance),
    turn: Math.max(memory.turn, sighting.assertedTurn),
    assertedAt: sightedAt > assertedAt ? sightedAt : assertedAt,
    metadata: sighting.metadata,
    expiresAt: sighting.expiresAt,
  };
}

function requestsAfter(
  { statement: { memory }, requests }: FoundStatement,
  { settled = [], requests: created = [], repeats = [] }: Partial<WritePlan>,
): EarlierRequest[] {
  const added = created.map(({ draft: { text }, ...request }): EarlierRequest => {
    return {
      ...request,
      text,
      validFrom: memory.validFrom ?? null,
      status: "pending",
      expired: false,
    };
  });
  const open = requests.filter(({ id }) => !settled.some((each) => each.id === id));
  return [
    ...added,
    ...open.map((request) => ({ ...request, ...repeats.find(({ id }) => id === request.id) })),
  ];
}

export function commonPlace(origin: WriteOrigin, statements: readonly Statement[]): EventPlace {
  const places = statements.map((statement) => placeOf(origin, statement));
  return { threadId: common(places.map(({ threadId }) => threadId)), ...commonOrigin(places) };
}

function placeOf(origin: WriteOrigin, { memory: { source, agentId, runId } }: Statement) {
  return { threadId: source?.threadId ?? origin.threadId, agentId, runId };
}

function planGuarded(context: WriteContext, found: FoundStatement): PlannedWrite {
  const { config, origin } = context;
  const { statement, existing } = found;
  const { memory } = statement;
  const rule = consentRule(config.consent, memory);
  const consented =
    rule && origin.consent ? { ...found, statement: withConsent(statement) } : found;
  const decision = decideWrite(consented.statement.memory, existing, relationOf(context, found));
  if (rule === null) return planStatement(context, consented, decision);
  const { consents, ...verdict } = guardStatement(context, found, rule, decision);
  if ("consentId" in verdict)
    return { outcome: { ...verdict, id: null, problems: [] }, plan: consents };
  const isPast = verdict.outcome === "dropped" && decision.action === "insert_closed";
  const { outcome, plan } = planStatement(
    context,
    consented,
    isPast ? { action: "keep", id: decision.id } : decision,
  );
  const { id: memoryId } = outcome;
  const { approval } = verdict;
  const approved =
    approval && memoryId ? [consentChange({ ...memory, id: memoryId }, approval)] : [];
  const settled =
    consents.settled?.map((each) => (each.status === "approved" ? { ...each, memoryId } : each)) ??
    [];
  return {
    outcome,
    plan: { ...plan, ...consents, settled, changes: [...(plan.changes ?? []), ...approved] },
  };
}

/** Only the user's plain statement ends a memory that needs consent. */
function relationOf(
  { config, origin }: WriteContext,
  { statement: { draft }, existing }: FoundStatement,
) {
  const target = existing.find(({ relation }) => relation === "target");
  const isGuarded = target !== undefined && consentRule(config.consent, target) === "consent";
  return isGuarded && !origin.stated?.has(draft) ? undefined : origin.relations?.get(draft);
}

/** Consent makes a statement the user's own, at any confidence. */
function withConsent(statement: RankedStatement): RankedStatement {
  const { memory } = statement;
  const trusted = {
    ...memory,
    trust: isApproved(memory) ? "operator" : "user",
    correction: true,
  } as const;
  return { ...statement, memory: { ...trusted, rank: sourceRank(trusted) } };
}
