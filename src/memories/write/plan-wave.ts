import { common, commonOrigin } from "../../conversation/find-messages.js";
import type { EventPlace } from "../../events/event-log.js";
import { consentRule } from "../guard/consent-policy.rule.js";
import { consentChange } from "../guard/consent-request.rule.js";
import { isApproved } from "../item/memory.js";
import { joinPlans, type NearMemory, type WritePlan } from "./apply-plan.js";
import { decideWrite, mergeThresholds, type SettledDecision, settleAsk } from "./decide-write.rule.js";
import { guardStatement } from "./guard-statement.js";
import { type MetStatement, type PlannedWrite, planStatement } from "./plan-statement.js";
import {
  type AlikePair,
  answerTo,
  type GatheredStatement,
  type KnownMemory,
  type Statement,
  toldTo,
  type WriteContext,
} from "./statement.js";
import type { WriteOrigin, WriteOutcome } from "./write-runtime.js";

export interface PlannedWave {
  readonly outcomes: ReadonlyMap<number, WriteOutcome>;
  readonly plan: WritePlan;
}

/**
 * Plans statements by `decideWrite` and `guardStatement`: the one way to add memories. A change belongs to
 * where the statement was said, whichever memory it is about.
 */
export function planWave(context: WriteContext, wave: readonly GatheredStatement[]): PlannedWave {
  const pairsOf = new Map<number, AlikePair[]>();
  for (const pair of context.alike) pairsOf.set(pair.later, [...(pairsOf.get(pair.later) ?? []), pair]);
  const made = new Map<number, string>();
  const writes = wave.map((gathered) => {
    const { statement } = gathered;
    const near = new Map<string, NearMemory>();
    for (const { earlier, similarity } of statement.said.flatMap(({ draft }) => pairsOf.get(draft) ?? [])) {
      const id = made.get(earlier);
      if (id !== undefined && !near.has(id)) near.set(id, { relation: "near", ref: null, id, similarity });
    }
    const planned = planGuarded(context, gathered, [...near.values()]);
    const [created] = planned.plan.created ?? [];
    if (created?.state === "active") for (const { draft } of statement.said) made.set(draft, created.id);
    return { statement, ...planned };
  });
  return joinWrites(writes, context.origin);
}

/** Each change gets the place of its statement; outcomes are by the drafts' places. */
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

export function commonPlace(origin: WriteOrigin, statements: readonly Statement[]): EventPlace {
  const places = statements.map((statement) => placeOf(origin, statement));
  return { threadId: common(places.map(({ threadId }) => threadId)), ...commonOrigin(places) };
}

function placeOf(origin: WriteOrigin, { memory }: Statement) {
  const threadId = memory.source?.threadId ?? origin.threadId;
  return { threadId, agentId: memory.agentId, runId: memory.runId };
}

function planGuarded(
  context: WriteContext,
  gathered: GatheredStatement,
  mates: readonly NearMemory[],
): PlannedWrite {
  const { owner, config, origin } = context;
  const { statement, known } = gathered;
  const { memory } = statement;
  const rule = consentRule(config.consent, memory);
  const given = rule ? origin.consent : undefined;
  const met = { known, mates, statement: toldTo(owner, given ? vouchedFor(statement) : statement) };
  const decision = decide(context, met);
  if (rule === null) return planStatement(context, met, decision);
  const { consents, ...verdict } = guardStatement(context, gathered, rule, decision);
  if ("consentId" in verdict) return { outcome: { ...verdict, id: null, problems: [] }, plan: consents };
  const isPast = verdict.outcome === "dropped" && decision.action === "insert_closed";
  const how = isPast ? ({ action: "keep", id: decision.id } as const) : decision;
  const { outcome, plan } = planStatement(context, met, how);
  const { id: memoryId } = outcome;
  const { approval } = verdict;
  const approved = approval && memoryId ? [consentChange({ ...memory, id: memoryId }, approval)] : [];
  const settled = consents.settled?.map((each) =>
    each.status === "approved" ? { ...each, memoryId } : each,
  );
  return {
    outcome,
    plan: { ...plan, ...consents, settled: settled ?? [], changes: [...(plan.changes ?? []), ...approved] },
  };
}

function decide(
  { config, answers }: WriteContext,
  { statement, known }: Pick<MetStatement, "statement" | "known">,
): SettledDecision {
  const { memory } = statement;
  const byId = (id: string) => known.find((other) => other.id === id) as KnownMemory;
  return settleAsk(
    decideWrite(memory, known, mergeThresholds(memory, config)),
    (id) => answerTo(answers, statement, byId(id)),
    (id) => byId(id).rank > memory.rank,
  );
}

/** The user's consent makes it the user's own word, at any confidence. */
function vouchedFor(statement: Statement): Statement {
  const { memory } = statement;
  const trust = isApproved(memory) ? "operator" : "user";
  return { ...statement, memory: { ...memory, trust, correction: true } };
}
