import { randomUUID } from "node:crypto";
import type { MemoryEvent } from "../../events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { lockOwner } from "../../scope/scope-predicates.js";
import { bestSimilarity, type MemoryDraft } from "../item/memory.js";
import { applyPlan, type PlanTarget } from "./apply-plan.js";
import { type GatheredDrafts, gatherDrafts, gatherWave, type OwnerStatements } from "./gather.js";
import { commonPlace, joinWrites, planWave } from "./plan-wave.js";
import { planQuarantined, sightQuarantined, tellOfQuarantined } from "./quarantine-statements.js";
import type { Answer, WriteContext } from "./statement.js";
import { inWaves, nearDoubles } from "./waves.js";
import type { WriteOrigin, WriteOutcome, WriteRuntime } from "./write-runtime.js";

export interface Writing {
  readonly origin: WriteOrigin;
  /** Done in the same transaction after the writes; its error undoes them. */
  readonly alongside?: ((tx: Connection, outcomes: readonly WriteOutcome[]) => Promise<void>) | undefined;
}

/**
 * Writes `drafts` in one transaction; outcomes are in their order. Rows, indexes, links, audit trail and
 * revision are written together. The owner's lock lets writers take turns, so equal drafts end in one memory.
 *
 * @throws MemoryError `INVALID_INPUT`, also for more than 5,000 drafts; `SCOPE_REQUIRED`, `EMBEDDING_FAILED`,
 *   `DIMENSION_MISMATCH`, `REDACTION_FAILED`.
 */
export async function writeMemories(
  runtime: WriteRuntime,
  input: Writing & { readonly scope: Scope; readonly drafts: readonly MemoryDraft[] },
): Promise<WriteOutcome[]> {
  const gathered = await gatherDrafts(runtime, input);
  const outcomes = await writeGathered(runtime, { ...input, gathered });
  return outcomes.map((outcome, draft) => {
    const trimmed = gathered.trimmed[draft] ?? "";
    return trimmed === "" ? outcome : { ...outcome, trimmed };
  });
}

/** @param input.answers a model's word on the pairs of `findOpenPairs`. @default all are different */
export async function writeGathered(
  runtime: Pick<WriteRuntime, "db" | "config" | "logger">,
  input: Writing & { readonly gathered: GatheredDrafts; readonly answers?: readonly Answer[] | undefined },
): Promise<WriteOutcome[]> {
  const { db, config, logger } = runtime;
  const { gathered, origin, alongside, answers = [] } = input;
  const { owners, space } = gathered;
  const outcomes = [...gathered.outcomes];
  if (owners.length === 0 && !alongside) return outcomes;
  const common = { config, origin, answers, language: db.language, newId: randomUUID };
  const quarantined = await db.transaction(async (tx) => {
    const ids: string[] = [];
    for (const each of owners) {
      const owner = await lockOwner(tx, each.scope);
      const target = { owner, scope: each.scope, space, origin, insights: config.insights };
      const written = await writeForOwner(tx, { context: { ...common, owner }, target }, each);
      for (const [draft, outcome] of written.outcomes) outcomes[draft] = outcome;
      ids.push(...written.quarantined);
    }
    await alongside?.(tx, outcomes);
    return ids;
  });
  tellOfQuarantined(logger, { ...origin, memoryIds: quarantined });
  return outcomes;
}

/** Wave by wave, so that of two near statements the later finds the earlier. Quarantine comes last. */
async function writeForOwner(
  tx: Connection,
  { context: common, target }: { context: Omit<WriteContext, "alike">; target: PlanTarget },
  { batches, quarantined }: OwnerStatements,
): Promise<{ outcomes: Iterable<[draft: number, outcome: WriteOutcome]>; quarantined: string[] }> {
  const context = { ...common, alike: batches.flatMap(({ alike }) => alike) };
  const { origin, answers, config } = context;
  const { scope, space } = target;
  const outcomes: [number, WriteOutcome][] = [];
  const waves = batches.flatMap(({ statements, near }) =>
    inWaves(statements, nearDoubles(near, { answers, consent: config.consent })),
  );
  for (const wave of waves) {
    const gathered = await gatherWave(tx, { ...context, scope, space }, wave);
    const { plan, outcomes: ofWave } = planWave(context, gathered);
    const searched = bestSimilarity(gathered.flatMap(({ known }) => known));
    await applyPlan(tx, { ...target, search: { searched, place: commonPlace(origin, wave) } }, plan);
    outcomes.push(...ofWave);
  }
  if (quarantined.length === 0) return { outcomes, quarantined: [] };
  const found = await sightQuarantined(tx, context, quarantined);
  const writes = found.map(({ statement, sighted }) => {
    return { statement, ...planQuarantined(context, statement, sighted) };
  });
  const last = joinWrites(writes, origin);
  await applyPlan(tx, { ...target, space: null }, last.plan);
  return { outcomes: [...outcomes, ...last.outcomes], quarantined: last.plan.created.map(({ id }) => id) };
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
