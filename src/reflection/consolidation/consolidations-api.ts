import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { pageRowsField, parseInput, storableText } from "../../input/parse-input.js";
import { expireMemories } from "../../memories/write/hide-memories.js";
import type { Connection } from "../../postgres/connection.js";
import { listed, requiredScope, type Scope, scopeField, tenantField } from "../../scope/scope.js";
import { findOwner, type LockedOwner, lockOwner, scopeOf } from "../../scope/scope-predicates.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import {
  type ConsolidationRun,
  findRuns,
  insertRun,
  isEmptyPlan,
  type PlannedPair,
  planOf,
  requireRun,
  revisionsNow,
  runOf,
  runStatuses,
  type StoredRun,
  settleRun,
} from "./consolidation-run.js";
import { findPairs, findStored } from "./find-pairs.js";
import { askDoubts, findDoubted } from "./judge-doubts.js";
import { askJudge } from "./judge-pairs.js";
import { tokensLeft, type VotedPair } from "./load-consolidation.js";
import { keepCompared } from "./pair-statements.js";
import { revertRun } from "./revert-run.js";
import { applyRun, decideEffects } from "./save-consolidation.js";
import type { SettledPair } from "./settle-pairs.rule.js";

const listSchema = z.strictObject({
  scope: scopeField,
  /** Without a scope: only this tenant. @default all tenants */
  tenantId: tenantField,
  /** @default any */
  status: z.array(z.enum(runStatuses)).readonly().optional(),
  /** Rows, 1 to 1,000. @default 100 */
  limit: pageRowsField,
});
const previewSchema = z.strictObject({ scope: requiredScope });
const runSchema = previewSchema.extend({
  id: z.string(),
  /** For the audit trail. @default "api" */
  actor: storableText.default("api"),
});
const decisionSchema = runSchema.extend({ decision: z.enum(["apply", "dismiss"]) });

interface ListRuns extends Omit<z.input<typeof listSchema>, "scope"> {
  /** Only those of this user or app. @default everybody's */
  readonly scope?: Scope | undefined;
}
interface RunOfScope extends Omit<z.input<typeof runSchema>, "scope"> {
  readonly scope: Scope;
}
interface RunDecision extends Omit<z.input<typeof decisionSchema>, "scope"> {
  readonly scope: Scope;
}

/**
 * Runs of consolidation, before and after they count. One that would close five memories or more, and
 * more than a tenth of its owner's, waits here. For operators.
 */
export interface ConsolidationsApi {
  /**
   * Asks the model what a run would merge and close now, and keeps that as a run that waits. Changes
   * no memory. Returns null if it would change nothing. Takes as long as the model: two calls and more.
   * @example
   * ```ts
   * const run = await memory.consolidations.preview({ scope: { userId: "ana" } });
   * for (const { text, kept } of run?.merged ?? []) console.log(text, "→", kept?.text);
   * ```
   * @throws MemoryError `MODEL_REQUIRED`, `MODEL_FAILED`, `MODEL_OUTPUT_INVALID`; `BUSY` when the
   * tokens of the day are used up
   */
  preview(input: { readonly scope: Scope }): Promise<ConsolidationRun | null>;
  /**
   * Lists runs of a scope or of everybody, latest first: those that wait, and for 30 days those that
   * were decided.
   * @example
   * ```ts
   * const waiting = await memory.consolidations.list({ status: ["waiting"] });
   * ```
   * @throws MemoryError `INVALID_INPUT`
   */
  list(listing?: ListRuns): Promise<ConsolidationRun[]>;
  /**
   * Applies a run that waits, or dismisses it. What changed since is not touched: `left` lists it.
   * @example
   * ```ts
   * const scope = { userId: "ana" };
   * const [run] = await memory.consolidations.list({ scope, status: ["waiting"] });
   * if (run) await memory.consolidations.decide({ scope, id: run.id, decision: "apply", actor: "admin" });
   * ```
   * @throws MemoryError `NOT_FOUND`, `WRONG_STATE`
   */
  decide(decision: RunDecision): Promise<ConsolidationRun>;
  /**
   * Undoes an applied run: what it closed is active again. What changed since stays: `left` lists it.
   * @example
   * ```ts
   * const scope = { userId: "ana" };
   * const [run] = await memory.consolidations.list({ scope, status: ["applied"] });
   * if (run) await memory.consolidations.revert({ scope, id: run.id, actor: "admin" });
   * ```
   * @throws MemoryError `NOT_FOUND`, `WRONG_STATE`
   */
  revert(input: RunOfScope): Promise<ConsolidationRun>;
}

export function createConsolidationsApi(deps: ConsolidationRuntime): ConsolidationsApi {
  const { db } = deps;
  return {
    preview: async (input) =>
      previewRun(deps, parseInput(previewSchema, input, "consolidation").scope),
    list: (listing) =>
      listed(listSchema, listing, "list of consolidations", async (which) => {
        const runs = await findRuns(db, { ...which, limit: which.limit ?? 100 });
        return runs.map(runOf);
      }),
    decide: async (input) => decideRun(deps, parseInput(decisionSchema, input, "decision")),
    revert: async (input) => {
      const { scope, id, actor } = parseInput(runSchema, input, "consolidation");
      await db.transaction(async (tx) => {
        const ofRun = scopeOf(await requireRun(tx, { scope, id }, "applied"));
        const owner = await lockOwner(tx, ofRun);
        // Read again: another may have reverted it before the lock.
        const run = await requireRun(tx, { scope, id }, "applied");
        const left = await revertRun(tx, deps, { plan: run.plan, owner, scope: ofRun, actor });
        await settleRun(tx, id, { ...run, status: "reverted", left, decidedBy: actor });
      });
      return runOf(await requireRun(db, { scope, id }));
    },
  };
}

/** The steps of a run without its end: find, ask, decide; then it waits. */
async function previewRun(
  deps: ConsolidationRuntime,
  scope: Scope,
): Promise<ConsolidationRun | null> {
  const { db, config } = deps;
  const model = deps.model();
  const ownerRef = await findOwner(db, scope);
  if (ownerRef === null) return null;
  const { budgetTokens, endsAt } = await tokensLeft(deps, scope);
  if (budgetTokens <= 0)
    throw new MemoryError(
      "BUSY",
      `No tokens are left for consolidation until ${endsAt.toISOString()}.`,
    );

  // Find what is similar, and what is in doubt.
  const found = await findPairs(deps, ownerRef);
  const pairs = found.pairs.map((pair): VotedPair => ({ ...pair, votes: [] }));
  const work = {
    ownerRef,
    pairs,
    more: found.more,
    budgetTokens,
    doubts: await findDoubted(db, ownerRef),
  };

  // Ask the model.
  const charge = deps.usage.charging({ scope, kind: "consolidation" });
  const asking = { model, timeoutMs: config.upkeep.timeoutMs, charge };
  const tools = { asking, renew: async () => {} };
  const doubts = await askDoubts(deps, work.doubts, tools);
  const { judged } = await askJudge(deps, { claim: null, work }, tools);

  // Decide as a run would, and keep that.
  const id = await db.transaction(async (tx) => {
    const owner = await lockOwner(tx, scope);
    const settled = await decideEffects(tx, deps, { ownerRef }, { pairs: judged, owner });
    const plan = planOf(settled, doubts);
    return isEmptyPlan(plan) ? null : insertRun(tx, ownerRef, { plan, status: "waiting" });
  });
  return id === null ? null : runOf(await requireRun(db, { scope, id }));
}

async function decideRun(
  deps: ConsolidationRuntime,
  { scope, id, decision, actor }: z.output<typeof decisionSchema>,
): Promise<ConsolidationRun> {
  const { db, config } = deps;
  await db.transaction(async (tx) => {
    const ofRun = scopeOf(await requireRun(tx, { scope, id }, "waiting"));
    const owner = await lockOwner(tx, ofRun);
    const by = { ownerRef: owner.ref, scope: ofRun, actor };
    if (decision === "apply") await expireMemories(tx, by, config.lifecycle);
    // Read again: another may have decided before the lock.
    const run = await requireRun(tx, { scope, id }, "waiting");
    const { settled, left } = await plannedEffects(tx, deps, run, owner);
    if (decision === "dismiss") {
      await keepCompared(tx, owner.ref, settled);
      return settleRun(tx, id, { ...run, status: "dismissed", decidedBy: actor });
    }
    const { doubts } = run.plan;
    const after = await applyRun(tx, by, { settled, doubts });
    await keepCompared(tx, owner.ref, settled);
    const plan = { ...run.plan, after };
    return settleRun(tx, id, { ...run, status: "applied", plan, left, decidedBy: actor });
  });
  return runOf(await requireRun(db, { scope, id }));
}

/** The effects of a plan on memories that are as they were; `left` are those of the others. */
async function plannedEffects(
  tx: Connection,
  deps: ConsolidationRuntime,
  { plan }: StoredRun,
  owner: LockedOwner,
): Promise<{ readonly settled: SettledPair[]; readonly left: string[] }> {
  const refs = plan.pairs.map(({ first, second }) => ({ first: first.ref, second: second.ref }));
  const stored = await findStored(tx, owner.ref, refs);
  const judged: VotedPair[] = [];
  const planned: PlannedPair[] = [];
  const left = new Set<string>();
  for (const pair of plan.pairs) {
    const { first, second, similarity, verdict } = pair;
    const [one, other] = [stored.get(first.ref), stored.get(second.ref)];
    const vote = { verdict, reason: "" };
    if (one?.revision === first.revision && other?.revision === second.revision) {
      judged.push({ first: one, second: other, similarity, votes: Array(5).fill(vote) });
      planned.push(pair);
    } else left.add(pair.gone ?? first.id);
  }
  const revisions = await revisionsNow(
    tx,
    owner.ref,
    plan.doubts.map(({ id }) => id),
  );
  for (const { id, revision } of plan.doubts) if (revisions[id] !== revision) left.add(id);

  const effects = await decideEffects(tx, deps, { ownerRef: owner.ref }, { pairs: judged, owner });
  const settled = effects.filter(({ effect }, at) => {
    const pair = planned[at] as PlannedPair;
    const gone = "gone" in effect ? effect.gone.id : null;
    const isSame = effect.action === pair.action && gone === pair.gone;
    if (!isSame) left.add(pair.gone ?? pair.first.id);
    return isSame;
  });
  return { settled, left: [...left] };
}
