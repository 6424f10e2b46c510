import { randomUUID } from "node:crypto";
import type { MemoryEvent } from "../../events/event-log.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { lockOwner } from "../../scope/scope-predicates.js";
import { bestSimilarity, type MemoryDraft } from "../item/memory.js";
import { applyPlan, type PlanTarget } from "./apply-plan.js";
import { type GatheredDrafts, gatherDrafts, gatherWave, type OwnerStatements } from "./gather.js";
import { findGivenNeighbours, type GivenNeighbours } from "./held-neighbours.js";
import { lookUpNeighbours } from "./look-up-neighbours.js";
import { mayBeNew, planAdditions } from "./plan-additions.js";
import { commonPlace, joinWrites, type PlannedWave, planWave } from "./plan-wave.js";
import { planQuarantined, sightQuarantined, tellOfQuarantined } from "./quarantine-statements.js";
import type { Answer, Statement, WriteContext } from "./statement.js";
import { inWaves, nearDoubles } from "./waves.js";
import { writeAdditions } from "./write-additions.js";
import type { WriteOrigin, WriteOutcome, WriteRuntime } from "./write-runtime.js";

/** How gathered drafts are written. */
export interface Writing {
  readonly origin: WriteOrigin;
  /** Done in the same transaction after the writes; its error undoes them. */
  readonly alongside?: ((tx: Connection, outcomes: readonly WriteOutcome[]) => Promise<void>) | undefined;
}

/**
 * Writes `drafts`, each by the rules of `decideWrite`, in one transaction. Outcomes are in their order.
 *
 * Row, lexical index, vector, links, audit trail, revision and event are written together or not at all. The
 * owner's lock makes concurrent writers take turns, so equal drafts end in one memory.
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

/**
 * The same for drafts that were gathered before.
 *
 * @param input.answers what a model says of the pairs of `findOpenPairs`. @default all are different
 */
export async function writeGathered(
  runtime: Pick<WriteRuntime, "db" | "config" | "logger" | "neighbours" | "noteWrite">,
  input: Writing & { readonly gathered: GatheredDrafts; readonly answers?: readonly Answer[] | undefined },
): Promise<WriteOutcome[]> {
  const { db, config, logger } = runtime;
  const { gathered, origin, alongside, answers = [] } = input;
  const { owners, space } = gathered;
  const outcomes = [...gathered.outcomes];
  if (owners.length === 0 && !alongside) return outcomes;
  const common = { config, origin, answers, language: db.language, newId: randomUUID };
  const told = await withGiven(runtime, gathered);
  const [only, ...others] = told;
  if (only && others.length === 0 && !alongside) {
    const met = await withNeighbours(db, common, { space, told: only });
    const alike = only.batches.flatMap((batch) => batch.alike);
    const added = await addWhatIsNew(db, { ...common, alike }, { space, ...met });
    for (const [draft, outcome] of added ?? []) outcomes[draft] = outcome;
    if (added) return outcomes;
    told[0] = met.told;
  }
  const quarantined = await db.transaction(async (tx) => {
    const ids: string[] = [];
    for (const each of told) {
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

/** What one owner is told, and what this process holds of the memories near it. */
interface MetOwner extends OwnerStatements {
  readonly given: GivenNeighbours | null;
}

/** Looked up before any lock is taken. */
async function withGiven(
  { neighbours, noteWrite }: Pick<WriteRuntime, "neighbours" | "noteWrite">,
  { owners, space }: GatheredDrafts,
): Promise<MetOwner[]> {
  const met: MetOwner[] = [];
  for (const told of owners) {
    const sought = told.batches.flatMap(({ statements }) => statements);
    if (space !== null) await noteWrite?.(told.scope, sought.length);
    const given = await findGivenNeighbours(neighbours, { scope: told.scope, space }, sought);
    met.push({ ...told, given });
  }
  return met;
}

/** What may be added, if nothing stands against it. */
interface WhatIsNew {
  readonly told: MetOwner;
  /** The one wave in which it can be written; null where it takes several, or something is put in quarantine. */
  readonly wave: readonly Statement[] | null;
}

/**
 * `told` with what is near what may be new: looked up where the owner is not held, so that nobody waits for the owner's lock
 * meanwhile. Without a wave where it is known that not all of it is new.
 */
async function withNeighbours(
  db: Connection,
  context: Pick<WriteContext, "answers" | "config">,
  { space, told }: { readonly space: EmbeddingSpace | null; readonly told: MetOwner },
): Promise<WhatIsNew> {
  const { scope, given, quarantined } = told;
  const [wave = [], ...others] = wavesOf(context, told);
  const isOne = wave.length > 0 && others.length === 0 && quarantined.length === 0;
  if (space === null || !isOne || !mayBeNew(context.config, wave)) return { told, wave: null };
  if (given !== null) return { told, wave };
  // Who tells the value of a slot mostly tells another one than it has: to look before would be a round trip for nothing.
  if (wave.some(({ memory }) => memory.key !== undefined)) return { told, wave: null };
  const found = await lookUpNeighbours(db, { scope, space }, wave);
  return { told: { ...told, given: found }, wave: found?.isTaken ? null : wave };
}

/**
 * Writes what is plainly new in one statement, without a lock taken before: see `planAdditions`. Null where it is not, or is no
 * longer; then nothing was written.
 */
async function addWhatIsNew(
  db: Connection,
  context: Omit<WriteContext, "owner">,
  { space, told, wave }: WhatIsNew & { readonly space: EmbeddingSpace | null },
): Promise<PlannedWave["outcomes"] | null> {
  const { scope, given } = told;
  if (given === null || space === null || wave === null) return null;
  const planned = planAdditions(context, wave, given);
  if (planned === null) return null;
  const { origin } = context;
  return (await writeAdditions(db, { scope, space, origin, given }, planned)) ? planned.outcomes : null;
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

/**
 * Writes what one owner is told, in its order: wave by wave, so that of two that say nearly the same the later meets the
 * earlier as if it came alone. Last comes what is put in quarantine.
 */
async function writeForOwner(
  tx: Connection,
  { context: common, target }: { context: Omit<WriteContext, "alike">; target: PlanTarget },
  told: MetOwner,
): Promise<WrittenForOwner> {
  const { given, quarantined } = told;
  const context = { ...common, alike: told.batches.flatMap(({ alike }) => alike) };
  const { origin } = context;
  const { scope, space } = target;
  const outcomes: [number, WriteOutcome][] = [];
  for (const wave of wavesOf(context, told)) {
    const gathered = await gatherWave(tx, { ...context, scope, space, given }, wave);
    const { plan, outcomes: ofWave } = planWave(context, gathered);
    const searched = bestSimilarity(gathered.flatMap(({ known }) => known));
    await applyPlan(tx, { ...target, search: { searched, place: commonPlace(origin, wave) } }, plan);
    outcomes.push(...ofWave);
  }
  if (quarantined.length === 0) return { outcomes, quarantined: [] };
  const last = await quarantine(tx, context, target, quarantined);
  return { outcomes: [...outcomes, ...last.outcomes], quarantined: last.quarantined };
}

/** What became of what one owner was told. */
interface WrittenForOwner {
  readonly outcomes: Iterable<[draft: number, outcome: WriteOutcome]>;
  /** Ids of what is in quarantine since then. */
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

/** What the event of a model's proposal says about its outcome. */
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
