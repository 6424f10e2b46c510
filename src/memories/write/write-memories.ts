import { randomUUID } from "node:crypto";
import type { MemoryEvent } from "../../events/event-log.js";
import type { Logger } from "../../logger.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { lockOwner } from "../../scope/scope-predicates.js";
import { consentRule } from "../guard/consent-policy.rule.js";
import { findStandingConsents, type NewConsent } from "../guard/consent-statements.js";
import { bestSimilarity, type MemoryDraft } from "../item/memory.js";
import { applyPlan } from "./apply-plan.js";
import { commonPlace, decideDrafts, inBatches } from "./decide-drafts.js";
import { expireMemories } from "./expire-memories.js";
import { findCandidates } from "./find-candidates.js";
import { requireBudget } from "./message-budget.js";
import { type PreparedDrafts, prepareDrafts } from "./prepare-drafts.js";
import {
  type FoundStatement,
  rankStatement,
  type Statement,
  type WriteContext,
} from "./statement.js";
import type { WriteOrigin, WriteOutcome, WriteRuntime } from "./write-types.js";

export interface Writing {
  readonly origin: WriteOrigin;
  /** Runs after the writes in their transaction; its error rolls them back. */
  readonly alongside?:
    | ((tx: Connection, outcomes: readonly WriteOutcome[]) => Promise<void>)
    | undefined;
}

/**
 * Writes `drafts` in one transaction; outcomes are in their order. The owner's lock serializes
 * writers, so equal drafts become one memory.
 * @throws MemoryError `INVALID_INPUT`, also for more than 5,000 drafts; `SCOPE_REQUIRED`,
 * `REDACTION_FAILED`
 */
export async function writeMemories(
  runtime: WriteRuntime,
  input: Writing & {
    readonly scope: Scope;
    readonly drafts: readonly MemoryDraft[];
    readonly anyLength?: boolean | undefined;
  },
): Promise<WriteOutcome[]> {
  return writePrepared(runtime, { ...input, prepared: await prepareDrafts(runtime, input) });
}

export async function writePrepared(
  runtime: Pick<WriteRuntime, "db" | "config" | "logger" | "consent">,
  input: Writing & { readonly prepared: PreparedDrafts },
): Promise<WriteOutcome[]> {
  const { db, config, logger } = runtime;
  const { prepared, origin, alongside } = input;
  const { owners, space, comparedIn } = prepared;
  const outcomes = [...prepared.outcomes];
  if (owners.length === 0 && !alongside) return outcomes;
  const { quarantined, pending } = await db.transaction(async (tx) => {
    const [quarantined, pending]: [string[], NewConsent[]] = [[], []];
    for (const statements of owners) {
      const { scope } = (statements[0] as Statement).memory;
      const owner = await lockOwner(tx, scope);
      const context = { owner, config, origin, newId: randomUUID, space: comparedIn };
      for (const batch of inBatches(statements)) {
        const found = await findForBatch(tx, { ...context, scope }, batch);
        const { outcomes: decided, plan } = decideDrafts(context, found);
        const searched = bestSimilarity(found.flatMap(({ existing }) => existing));
        const search = { searched, place: commonPlace(origin, batch) };
        await applyPlan(
          tx,
          { owner, scope, space, origin, insights: config.insights, search },
          plan,
        );
        for (const [draft, outcome] of decided)
          outcomes[draft] = { ...outcomes[draft], ...outcome };
        quarantined.push(
          ...plan.created.filter(({ state }) => state === "quarantined").map(({ id }) => id),
        );
        pending.push(
          ...plan.requests.filter((request) => !plan.settled.some(({ id }) => id === request.id)),
        );
      }
      await requireBudget(tx, owner.ref, origin.messageHash, config.memories);
    }
    await alongside?.(tx, outcomes);
    return { quarantined, pending };
  });
  reportQuarantined(logger, { ...origin, memoryIds: quarantined });
  reportPending(runtime, origin.step, pending);
  return outcomes;
}

async function findForBatch(
  tx: Connection,
  context: WriteContext & { readonly scope: Scope },
  batch: readonly Statement[],
): Promise<FoundStatement[]> {
  const { owner, scope, config, space, origin } = context;
  const ownerRef = owner.ref;
  const sought = batch.map((each) => ({
    ...each,
    target: origin.relations?.get(each.draft)?.target,
  }));
  const find = () => findCandidates(tx, { ownerRef, space, sought });
  let existing = await find();
  if (existing.flat().some(({ expired }) => expired)) {
    const { purgeAfterMs } = config.lifecycle;
    await expireMemories(tx, { owner, scope, purgeAfterMs, vectors: space !== null });
    existing = await find();
  }
  const isGuarded = batch.some(({ memory }) => consentRule(config.consent, memory) !== null);
  const probes = batch.map(({ memory: { scope, category, key = null } }) => {
    return { appId: scope.appId ?? "", category, key };
  });
  const requests = isGuarded ? await findStandingConsents(tx, { ownerRef, probes }) : [];
  return batch.map((statement, at) => {
    return {
      statement: rankStatement(owner, statement),
      existing: existing[at] ?? [],
      requests: requests[at] ?? [],
    };
  });
}

export function reportQuarantined(
  logger: Logger,
  {
    step,
    threadId,
    memoryIds,
  }: Pick<WriteOrigin, "step" | "threadId"> & { memoryIds: readonly string[] },
): void {
  if (memoryIds.length === 0) return;
  const texts = memoryIds.length === 1 ? "1 text reads" : `${memoryIds.length} texts read`;
  logger.warn(
    `${texts} as instructions to a model, kept for you to look at: memory.memories.list({ states: ["quarantined"] })`,
    { ...(threadId !== undefined && { threadId }), step, memoryIds },
  );
}

/** A bound, since models choose keys. */
const mostReported = 1_000;

const alternatives = {
  said: ', or consent.ask "tool" with consentTool(memory), or "interrupt" with withMemory(agent, memory)',
  queue: "",
  tool: ", or consentTool(memory) among the agent's tools",
  interrupt: ", or withMemory(agent, memory), or consentNode(memory) in your graph",
} as const;

/** Reports each field with a pending change once, unless this process asks the user. */
function reportPending(
  {
    logger,
    config,
    consent: { ways, reported },
  }: Pick<WriteRuntime, "logger" | "config" | "consent">,
  step: string,
  requests: readonly NewConsent[],
): void {
  const { ask } = config.consent;
  const asksHere = ways.has("interrupt") || (ask === "tool" && ways.has(ask));
  for (const { rule, category, key } of requests) {
    const field = key === null ? category : `${category}/${key}`;
    if ((rule === "consent" && asksHere) || reported.has(field) || reported.size === mostReported)
      continue;
    reported.add(field);
    const [what, how] =
      rule === "consent"
        ? ["the user's consent, and nothing in this process asks for it", alternatives[ask]]
        : ["a second signal", ""];
    logger.warn(
      `A change of ${field} waits for ${what}. What decides it: memory.consents.decide${how}.`,
      { step },
    );
  }
}

/**
 * Of the event of a proposal. `detail` begins with the outcome, then ", " before each remark:
 * `stats` counts by that.
 */
export function classified(
  outcome: WriteOutcome | undefined,
  trimmed: boolean,
  remark?: string,
): Pick<MemoryEvent, "status" | "detail"> {
  if (outcome?.outcome === "rejected" || outcome?.outcome === "quarantined") {
    return { status: "skipped", detail: outcome.problems[0] };
  }
  const remarks = [outcome?.outcome, remark, trimmed ? "trimmed" : undefined].filter(Boolean);
  return { status: "ok", ...(remarks.length > 0 && { detail: remarks.join(", ") }) };
}
