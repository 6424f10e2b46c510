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
import { type PreparedDrafts, prepareDrafts } from "./prepare-drafts.js";
import type { FoundStatement, Statement, WriteContext } from "./statement.js";
import type { WriteOrigin, WriteOutcome, WriteRuntime } from "./write-runtime.js";

export interface Writing {
  readonly origin: WriteOrigin;
  /** Done in the same transaction after the writes; its error undoes them. */
  readonly alongside?: ((tx: Connection, outcomes: readonly WriteOutcome[]) => Promise<void>) | undefined;
}

/**
 * Writes `drafts` in one transaction; outcomes are in their order. The owner's lock lets writers take turns, so equal
 * drafts end in one memory. @throws MemoryError `INVALID_INPUT`, also for more than 5,000 drafts; `SCOPE_REQUIRED`,
 * `EMBEDDING_FAILED`, `DIMENSION_MISMATCH`, `REDACTION_FAILED`.
 */
export async function writeMemories(
  runtime: WriteRuntime,
  input: Writing & { readonly scope: Scope; readonly drafts: readonly MemoryDraft[] },
): Promise<WriteOutcome[]> {
  return writePrepared(runtime, { ...input, prepared: await prepareDrafts(runtime, input) });
}

export async function writePrepared(
  runtime: Pick<WriteRuntime, "db" | "config" | "logger" | "consent">,
  input: Writing & { readonly prepared: PreparedDrafts },
): Promise<WriteOutcome[]> {
  const { db, config, logger } = runtime;
  const { prepared, origin, alongside } = input;
  const { owners, space } = prepared;
  const outcomes = [...prepared.outcomes];
  if (owners.length === 0 && !alongside) return outcomes;
  const { quarantined, waiting } = await db.transaction(async (tx) => {
    const [quarantined, waiting]: [string[], NewConsent[]] = [[], []];
    for (const statements of owners) {
      const { scope } = (statements[0] as Statement).memory;
      const owner = await lockOwner(tx, scope);
      const context = { owner, config, origin, newId: randomUUID };
      for (const batch of inBatches(statements)) {
        const found = await findForBatch(tx, { ...context, scope, space }, batch);
        const decided = decideDrafts(context, found);
        const searched = bestSimilarity(found.flatMap(({ known }) => known));
        const search = { searched, place: commonPlace(origin, batch) };
        const { insights } = config;
        await applyPlan(tx, { owner, scope, space, origin, insights, search }, decided.plan);
        for (const [draft, outcome] of decided.outcomes) outcomes[draft] = { ...outcomes[draft], ...outcome };
        const hidden = decided.plan.created.filter(({ state }) => state === "quarantined");
        quarantined.push(...hidden.map(({ id }) => id));
        const { requests, settled } = decided.plan;
        waiting.push(...requests.filter((each) => !settled.some(({ id }) => id === each.id)));
      }
    }
    await alongside?.(tx, outcomes);
    return { quarantined, waiting };
  });
  reportQuarantined(logger, { ...origin, memoryIds: quarantined });
  reportWaiting(runtime, origin.step, waiting);
  return outcomes;
}

/** Candidates and consent requests for each of `batch`. */
async function findForBatch(
  tx: Connection,
  context: WriteContext & Pick<PreparedDrafts, "space"> & { readonly scope: Scope },
  batch: readonly Statement[],
): Promise<FoundStatement[]> {
  const { owner, scope, config, space, origin } = context;
  const ownerRef = owner.ref;
  const sought = batch.map((each) => ({ ...each, target: origin.relations?.get(each.draft)?.target }));
  const find = () => findCandidates(tx, { ownerRef, space, sought });
  let known = await find();
  if (known.flat().some(({ expired }) => expired)) {
    const { purgeAfterMs } = config.lifecycle;
    await expireMemories(tx, { owner, scope, purgeAfterMs, vectors: space !== null });
    known = await find();
  }
  const isGuarded = batch.some(({ memory }) => consentRule(config.consent, memory) !== null);
  const probes = batch.map(({ memory: { scope, category, key = null } }) => {
    return { appId: scope.appId ?? "", category, key };
  });
  const standing = isGuarded ? await findStandingConsents(tx, { ownerRef, probes }) : [];
  return batch.map((statement, at) => {
    return { statement, known: known[at] ?? [], standing: standing[at] ?? [] };
  });
}

/** The same words again are not reported. */
export function reportQuarantined(
  logger: Logger,
  { step, threadId, memoryIds }: Pick<WriteOrigin, "step" | "threadId"> & { memoryIds: readonly string[] },
): void {
  if (memoryIds.length === 0) return;
  const [one, several] = ["1 text reads", `${memoryIds.length} texts read`];
  logger.warn(
    `${memoryIds.length === 1 ? one : several} as instructions to a model, kept for you to look at: ` +
      'memory.memories.list({ states: ["quarantined"] })',
    { ...(threadId !== undefined && { threadId }), step, memoryIds },
  );
}

/** Keys may be a model's, without end. */
const mostReported = 1_000;

const elsewise = {
  said: ', or consent.ask "tool" with consentTool(memory), or "interrupt" with withMemory(agent, memory)',
  queue: "",
  tool: ", or consentTool(memory) among the agent's tools",
  interrupt: ", or withMemory(agent, memory), or consentNode(memory) in your graph",
} as const;

/** Nothing waits in silence: each field is reported once, unless something in this process asks the user. */
function reportWaiting(
  { logger, config, consent: { ways, reported } }: Pick<WriteRuntime, "logger" | "config" | "consent">,
  step: string,
  requests: readonly NewConsent[],
): void {
  const { ask } = config.consent;
  const asksHere = ways.has("interrupt") || (ask === "tool" && ways.has(ask));
  for (const { rule, category, key } of requests) {
    const field = key === null ? category : `${category}/${key}`;
    if ((rule === "consent" && asksHere) || reported.has(field) || reported.size === mostReported) continue;
    reported.add(field);
    const isSensitive = rule === "consent";
    const what = isSensitive ? "the user's consent, and nothing in this process asks for it" : "a second signal";
    const how = `memory.consents.decide${isSensitive ? elsewise[ask] : ""}`;
    logger.warn(`A change of ${field} waits for ${what}. What decides it: ${how}.`, { step });
  }
}

/** For the event of a model's proposal. */
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
