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
import type { Answer, Statement, WriteContext } from "./statement.js";
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
      const target = { owner, scope: each.scope, space, origin, config };
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

function wavesOf(
  { answers, config }: Pick<WriteContext, "answers" | "config">,
  { batches }: OwnerStatements,
): Statement[][] {
  const { consent } = config;
  return batches.flatMap(({ statements, near }) =>
    inWaves(statements, nearDoubles(near, { answers, consent })),
  );
}

/** Wave by wave, so that of two near statements the later finds the earlier. Quarantine comes last. */
async function writeForOwner(
  tx: Connection,
  { context: common, target }: { context: Omit<WriteContext, "alike">; target: PlanTarget },
  told: OwnerStatements,
): Promise<WrittenForOwner> {
  const { quarantined } = told;
  const context = { ...common, alike: told.batches.flatMap(({ alike }) => alike) };
  const { origin } = context;
  const { scope, space } = target;
  const outcomes: [number, WriteOutcome][] = [];
  for (const wave of wavesOf(context, told)) {
    const gathered = await gatherWave(tx, { ...context, scope, space }, wave);
    const { plan, outcomes: ofWave } = planWave(context, gathered);
    const searched = bestSimilarity(gathered.flatMap(({ known }) => known));
    await applyPlan(tx, { ...target, search: { searched, place: commonPlace(origin, wave) } }, plan);
    outcomes.push(...ofWave);
  }
  if (quarantined.length === 0) return { outcomes, quarantined: [] };
  const last = await quarantine(tx, context, target, quarantined);
  return { outcomes: [...outcomes, ...last.outcomes], quarantined: last.quarantined };
}

interface WrittenForOwner {
  readonly outcomes: Iterable<[draft: number, outcome: WriteOutcome]>;
  /** Ids of memories newly in quarantine. */
  readonly quarantined: readonly string[];
}

async function quarantine(
  tx: Connection,
  context: WriteContext,
  target: PlanTarget,
  statements: readonly Statement[],
): Promise<WrittenForOwner> {
  const found = await sightQuarantined(tx, context, statements);
  const writes = found.map(({ statement, sighted }) => ({
    statement,
    ...planQuarantined(context, statement, sighted),
  }));
  const { plan, outcomes } = joinWrites(writes, context.origin);
  await applyPlan(tx, { ...target, space: null }, plan);
  return { outcomes, quarantined: plan.created.map(({ id }) => id) };
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
