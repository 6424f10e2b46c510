import { common, commonOrigin } from "../../conversation/find-messages.js";
import type { EventPlace } from "../../events/event-log.js";
import { consentRule } from "../guard/consent-policy.js";
import { type ConsentSignal, consentChange } from "../guard/consent-request.js";
import type { StandingConsent } from "../guard/decide-proposal.js";
import { guardWrite } from "../guard/guard.js";
import type { MemoryOrigin } from "../item/trust.js";
import { joinPlans, type WritePlan } from "./apply-plan.js";
import { decideWrite, mergeThresholds, type SettledDecision, settleAsk } from "./decide-write.js";
import { type MetStatement, type PlannedWrite, planStatement } from "./plan-statement.js";
import { draftOf } from "./prepare-memory.js";
import {
  answerTo,
  type KnownMemory,
  type Statement,
  toldTo,
  turnOf,
  type WriteContext,
} from "./statement.js";
import type { WriteOrigin, WriteOutcome } from "./write-runtime.js";

/** A statement and all that bears on it. */
export interface GatheredStatement extends MetStatement {
  /** What waits for its slot, or was refused there not long ago. Of a statement without a key: for its category. */
  readonly standing: readonly StandingConsent[];
}

/** What becomes of each draft, by its place, and all that is done for them. */
export interface PlannedWave {
  readonly outcomes: ReadonlyMap<number, WriteOutcome>;
  readonly plan: WritePlan;
}

/**
 * What a wave of statements does, each by the rules of `decideWrite` and `guardWrite`. Every way of adding memories comes
 * through here.
 *
 * What a statement changes belongs to where it was said, whichever memory it is about.
 */
export function planWave(context: WriteContext, wave: readonly GatheredStatement[]): PlannedWave {
  return joinWrites(
    wave.map((gathered) => ({ statement: gathered.statement, ...guarded(context, gathered) })),
    context.origin,
  );
}

/** The plans of `writes` as one, each change where its statement was said; the outcomes by the drafts' places. */
export function joinWrites(
  writes: readonly (PlannedWrite & { readonly statement: Statement })[],
  origin: WriteOrigin,
): PlannedWave {
  const placed = writes.map(({ statement, plan }): Partial<WritePlan> => {
    const place = placeOf(origin, statement);
    return {
      ...plan,
      changes: plan.changes?.map((change) => ({ ...change, ...place })) ?? [],
      events: plan.events?.map((event) => ({ ...event, ...place })) ?? [],
    };
  });
  const outcomes = writes.flatMap(({ statement, outcome }) =>
    statement.said.map(({ draft }) => [draft, outcome] as const),
  );
  return { outcomes: new Map(outcomes), plan: joinPlans(placed) };
}

/** What the places of `statements` have in common. */
export function commonPlace(origin: WriteOrigin, statements: readonly Statement[]): EventPlace {
  const places = statements.map((statement) => placeOf(origin, statement));
  return { threadId: common(places.map(({ threadId }) => threadId)), ...commonOrigin(places) };
}

function placeOf(origin: WriteOrigin, { memory }: Statement) {
  const threadId = memory.source?.threadId ?? origin.threadId;
  return { threadId, agentId: memory.agentId, runId: memory.runId };
}

/** A change of a field that a policy guards is written only where the guard lets it pass. */
function guarded(context: WriteContext, { standing, ...met }: GatheredStatement): PlannedWrite {
  const { config, origin, newId } = context;
  const { memory } = met.statement;
  const rule = consentRule(config.consent, memory);
  if (rule === null) return planStatement(context, met, decide(context, met));
  const given = origin.consent;
  const vouched = given ? { ...met, statement: vouchedFor(met.statement) } : met;
  const decision = decide(context, vouched);
  const verdict = guardWrite(
    {
      ...{ memory, rule, standing, given, actor: origin.actor, action: decision.action },
      draft: draftOf(memory),
      saysSlot: decision.action === "touch" && isSlot(met.known, decision.id),
      signals: signalsOf(context, met.statement),
    },
    { consent: config.consent, similarity: mergeThresholds(memory, config).ask, newId },
  );
  const { consents } = verdict;
  switch (verdict.outcome) {
    case "written": {
      const { outcome, plan } = planStatement(context, vouched, decision);
      const { id } = outcome;
      const { approval } = verdict;
      const changes = plan.changes ?? [];
      const settled = consents.settled?.map((each) =>
        each.status === "approved" ? { ...each, memoryId: id } : each,
      );
      const approved = approval && id !== null ? [consentChange({ ...memory, id }, approval)] : [];
      return {
        outcome,
        plan: { ...plan, ...consents, settled: settled ?? [], changes: [...changes, ...approved] },
      };
    }
    case "dropped":
      return planStatement(context, met, { action: "keep", id: "id" in decision ? decision.id : "" });
    default: {
      const { outcome, consentId } = verdict;
      return { outcome: { outcome, id: null, problems: [], consentId }, plan: consents };
    }
  }
}

/** What a statement does to what is known, every question answered. */
function decide(
  { owner, config, answers }: WriteContext,
  { statement, known }: MetStatement,
): SettledDecision {
  const told = toldTo(owner, statement);
  const byId = (id: string) => known.find((memory) => memory.id === id) as KnownMemory;
  return settleAsk(
    decideWrite(told, known, mergeThresholds(told, config)),
    (id) => answerTo(answers, statement, byId(id)),
    (id) => byId(id).rank > told.rank,
  );
}

/** What the user agreed to is the user's own word, whoever proposed it, and believed whatever the confidences. */
function vouchedFor(statement: Statement): Statement {
  const { memory } = statement;
  const trust = memory.trust === "operator" ? "operator" : "user";
  return { ...statement, memory: { ...memory, trust, correction: true } };
}

function isSlot(known: readonly KnownMemory[], id: string): boolean {
  return known.some((memory) => memory.relation === "slot" && memory.id === id);
}

/** Origins whose words a program brings anew with each call. An agent may say the same thing over and over. */
const ownWords: ReadonlySet<MemoryOrigin> = new Set(["user", "operator", "unknown"]);

function signalsOf({ owner, origin: { call } }: WriteContext, { memory, said }: Statement): ConsentSignal[] {
  return said.map(({ source, turnsAgo }) => {
    const seq = source?.seqs.at(-1);
    return {
      turn: turnOf(owner, turnsAgo),
      ...(call !== undefined && ownWords.has(memory.origin) && { call }),
      ...(source && seq !== undefined && { threadId: source.threadId, seq }),
    };
  });
}
