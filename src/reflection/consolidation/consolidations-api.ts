import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { pageRowsField, parseInput, storableText } from "../../input/parse-input.js";
import { expireMemories } from "../../memories/write/hide-memories.js";
import type { Connection } from "../../postgres/connection.js";
import { listed, requiredScope, type Scope, scopeField, tenantField } from "../../scope/scope.js";
import { findOwner, lockOwner, scopeOf } from "../../scope/scope-predicates.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import {
  type ConsolidationRun,
  findRuns,
  insertRun,
  isEmptyPlan,
  plannedPair,
  planOf,
  requireRun,
  runOf,
  runStatuses,
  type StoredRun,
  settleRun,
} from "./consolidation-run.js";
import { findPairs, findUnchanged } from "./find-pairs.js";
import { askDoubts, findDoubted, findStillDoubted } from "./judge-doubts.js";
import { askJudge } from "./judge-pairs.js";
import { tokensLeft } from "./load-consolidation.js";
import { keepCompared } from "./pair-statements.js";
import { type Deciding, revertRun } from "./revert-run.js";
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
interface RunOfScope extends z.input<typeof runSchema> {}
interface RunDecision extends z.input<typeof decisionSchema> {}

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
    decide: async (input) => {
      const { decision, ...which } = parseInput(decisionSchema, input, "decision");
      return decideRun(deps, which, "waiting", (tx, deciding) =>
        decision === "apply" ? applyPlan(tx, deps, deciding) : dismissPlan(tx, deps, deciding),
      );
    },
    revert: async (input) =>
      decideRun(
        deps,
        parseInput(runSchema, input, "consolidation"),
        "applied",
        async (tx, deciding) => {
          return { status: "reverted", left: await revertRun(tx, deps, deciding) };
        },
      ),
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
  const { pairs } = await findPairs(deps, ownerRef);
  const doubted = await findDoubted(db, ownerRef);

  // Ask the model.
  const charge = deps.usage.charging({ scope, kind: "consolidation" });
  const asking = { model, timeoutMs: config.upkeep.timeoutMs, charge };
  const nothing = async () => {};
  const tools = { asking, renew: nothing };
  const doubts = await askDoubts(deps, doubted, tools);
  const { judged } = await askJudge(deps, { pairs, budgetTokens }, tools, nothing);

  // Decide as a run would, and keep that.
  const id = await db.transaction(async (tx) => {
    const owner = await lockOwner(tx, scope);
    const plan = planOf(await decideEffects(tx, deps, { pairs: judged, owner }), doubts);
    return isEmptyPlan(plan) ? null : insertRun(tx, ownerRef, { plan, status: "waiting" });
  });
  return id === null ? null : runOf(await requireRun(db, { scope, id }));
}

type Decision = Pick<StoredRun, "status"> & Partial<Pick<StoredRun, "plan" | "left">>;

/** Decides a run of the state `from`, under its owner's lock. */
async function decideRun(
  { db }: ConsolidationRuntime,
  { scope, id, actor }: z.output<typeof runSchema>,
  from: StoredRun["status"],
  decide: (tx: Connection, deciding: Deciding) => Promise<Decision>,
): Promise<ConsolidationRun> {
  await db.transaction(async (tx) => {
    const owner = await lockOwner(tx, scope);
    const run = await requireRun(tx, { scope, id }, from);
    const by = { ownerRef: owner.ref, scope: scopeOf(run), actor, step: "consolidation" } as const;
    const decided = await decide(tx, { plan: run.plan, owner, by });
    await settleRun(tx, { ...run, ...decided, decidedBy: actor });
  });
  return runOf(await requireRun(db, { scope, id }));
}

async function applyPlan(
  tx: Connection,
  deps: ConsolidationRuntime,
  deciding: Deciding,
): Promise<Decision> {
  const { plan, owner, by } = deciding;
  await expireMemories(tx, by, deps.config.lifecycle);
  const { settled, left } = await plannedEffects(tx, deps, deciding);
  await keepCompared(tx, owner.ref, settled);
  return { status: "applied", left, plan: await applyRun(tx, by, settled, plan) };
}

/** The pairs are not asked about again. */
async function dismissPlan(
  tx: Connection,
  deps: ConsolidationRuntime,
  deciding: Deciding,
): Promise<Decision> {
  const { settled } = await plannedEffects(tx, deps, deciding);
  await keepCompared(tx, deciding.owner.ref, settled);
  return { status: "dismissed" };
}

/** The effects of a plan on memories that are as they were; `left` are those of the others. */
async function plannedEffects(
  tx: Connection,
  deps: ConsolidationRuntime,
  { plan, owner }: Deciding,
): Promise<{ readonly settled: SettledPair[]; readonly left: string[] }> {
  const pairs = await findUnchanged(tx, owner.ref, plan.pairs);
  const effects = await decideEffects(tx, deps, { pairs, owner });
  const settled: SettledPair[] = [];
  const left = new Set<string>();
  for (const planned of plan.pairs) {
    const same = effects.find((pair) => isDeepStrictEqual(plannedPair(pair), planned));
    if (same) settled.push(same);
    else left.add(planned.gone ?? planned.first.id);
  }
  const doubted = await findStillDoubted(tx, owner.ref, plan.doubts);
  for (const { id } of plan.doubts) if (!doubted.some((now) => now.id === id)) left.add(id);
  return { settled, left: [...left] };
}
