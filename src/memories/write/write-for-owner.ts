import type { EventPlace } from "../../events/event-log.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import type { LockedOwner } from "../../scope/lock-owner.js";
import type { Scope } from "../../scope/scope.js";
import { recordChanges } from "../changes/record-changes.js";
import { consentRule } from "../guard/consent-policy.js";
import type { StandingConsent } from "../guard/decide-proposal.js";
import { bestSimilarity } from "../item/memory.js";
import { moveIntervals, splitIntervals } from "../slot/slot-intervals.js";
import { applyConsentPlan, type ConsentPlan, emptyConsentPlan } from "./consent-plan.js";
import { writeProbe } from "./decide-draft.js";
import { draftWaves, type OwnerDraft } from "./draft-waves.js";
import { findWriteCandidates } from "./find-write-candidates.js";
import { insertMemories } from "./insert-memories.js";
import { deactivateMemories, touchMemories } from "./memory-states.js";
import { nearDoubles } from "./near-doubles.js";
import { commonPlace, placeOf } from "./new-memory.js";
import { emptyPlan, type WritePlan } from "./plan-draft.js";
import { planGuardedDraft } from "./plan-guarded-draft.js";
import { rewriteMemory } from "./rewrite-memory.js";
import { findStandingConsents } from "./standing-consents.js";
import type { WriteConfig, WriteOrigin, WriteOutcome } from "./write-runtime.js";

interface Context {
  readonly tx: Connection;
  readonly owner: LockedOwner;
  readonly scope: Scope;
  readonly config: WriteConfig;
  readonly space: EmbeddingSpace | null;
  readonly origin: WriteOrigin;
  readonly fresh: Set<string>;
}

/** Drafts that are compared with each other before they are written: some tens of thousands of comparisons. */
const mostAtOnce = 300;

/**
 * Writes an owner's drafts within the transaction that holds its lock, in their order: of two that say nearly the same
 * the later meets the earlier as if it came alone. Outcomes by the drafts' indexes.
 */
export async function writeForOwner(
  context: Context,
  drafts: readonly OwnerDraft[],
): Promise<Map<number, WriteOutcome>> {
  const outcomes = new Map<number, WriteOutcome>();
  for (let from = 0; from < drafts.length; from += mostAtOnce) {
    const some = drafts.slice(from, from + mostAtOnce);
    for (const wave of draftWaves(some, await nearDoubles(context, some))) {
      for (const [index, outcome] of await writeWave(context, wave)) outcomes.set(index, outcome);
    }
  }
  return outcomes;
}

async function writeWave(context: Context, wave: OwnerDraft[][]): Promise<Map<number, WriteOutcome>> {
  const outcomes = new Map<number, WriteOutcome>();
  const first = wave.map((doubles) => doubles[0] as OwnerDraft);
  const candidates = await findWriteCandidates(context.tx, {
    ownerRef: context.owner.ref,
    probes: first.map(({ memory, vector }) => writeProbe(memory, vector)),
    space: context.space,
  });
  const standing = await findStanding(context, first);
  const plan: WritePlan & { readonly consents: ConsentPlan } = {
    ...emptyPlan(),
    consents: emptyConsentPlan(),
  };
  for (const [probe, doubles] of wave.entries()) {
    const own: typeof plan = { ...plan, changes: [], consents: { ...plan.consents, events: [] } };
    const outcome = planGuardedDraft(context, own, {
      ...{ doubles, rivals: candidates[probe] ?? [], standing: standing[probe] ?? [] },
    });
    // What a draft changes belongs to where it was said, whichever memory it is about.
    const place = placeOf(context.origin, first[probe] as OwnerDraft);
    plan.changes.push(...own.changes.map((change) => ({ ...change, ...place })));
    plan.consents.events.push(...own.consents.events.map((event) => ({ ...event, ...place })));
    for (const { index } of doubles) outcomes.set(index, outcome);
  }
  await apply(context, plan, {
    searched: bestSimilarity(candidates.flat()),
    place: commonPlace(context.origin, first),
  });
  for (const { id } of plan.created) context.fresh.add(id);
  const { config, owner } = context;
  await applyConsentPlan(context.tx, plan.consents, {
    ...{ ownerRef: owner.ref, scope: context.scope, policy: config.consent },
  });
  return outcomes;
}

/** What stands for the slots of `drafts`; nothing is asked where none of them needs consent. */
async function findStanding(
  { tx, owner, config }: Context,
  drafts: readonly OwnerDraft[],
): Promise<StandingConsent[][]> {
  if (!drafts.some(({ memory }) => consentRule(config.consent, memory) !== null)) return [];
  return findStandingConsents(tx, {
    ownerRef: owner.ref,
    probes: drafts.map(({ memory: { scope, category, key = null } }) => {
      return { appId: scope.appId ?? "", category, key };
    }),
    refusedMs: config.consent.refusedMs,
  });
}

async function apply(
  { tx, owner, scope, space, origin }: Context,
  plan: WritePlan,
  search: { readonly searched: number | null; readonly place: EventPlace },
): Promise<void> {
  const ownerRef = owner.ref;
  await deactivateMemories(tx, { ownerRef, changes: plan.deactivated, vectors: space !== null });
  await moveIntervals(tx, { ownerRef, moves: plan.moves });
  await splitIntervals(tx, { ownerRef, splits: plan.splits });
  await insertMemories(tx, { ownerRef, memories: plan.created, space });
  await touchMemories(tx, { ownerRef, sightings: plan.sightings });
  for (const rewrite of plan.rewrites) {
    await rewriteMemory(tx, { ownerRef, rewrite, space });
  }
  await recordChanges(tx, {
    ownerRef,
    scope,
    actor: origin.actor,
    step: origin.step,
    ...search,
    changes: plan.changes,
  });
}
