import { randomUUID } from "node:crypto";
import sql, { type Sql } from "sql-template-tag";
import { dayMs } from "../../clock.js";
import { MemoryError } from "../../errors.js";
import { findOwned } from "../../memories/item/memory-row.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef, Scope } from "../../scope/scope.js";
import {
  ofTenant,
  ownerColumns,
  ownerIs,
  type ScopeRow,
  scopeOf,
  uuidOf,
} from "../../scope/scope-predicates.js";
import type { StoredMemory } from "./choose-pairs.rule.js";
import type { JudgedDoubt } from "./judge-doubts.js";
import type { PairVote } from "./pair-votes.rule.js";
import type { SettledPair } from "./settle-pairs.rule.js";

/** A run that waits for an operator lapses after this time. */
const waitsForMs = 14 * dayMs;
/** A run can be reverted for this time. */
const keptForMs = 30 * dayMs;

export const runStatuses = ["waiting", "applied", "dismissed", "reverted", "lapsed"] as const;

type Side = Pick<StoredMemory, "ref" | "id" | "revision">;

export interface PlannedPair {
  readonly first: Side;
  readonly second: Side;
  readonly similarity: number;
  /** Without its reason, which has words. */
  readonly vote: PairVote;
  readonly action: "merge" | "close" | "link";
  readonly kept: string | null;
  readonly gone: string | null;
  /** Whether the closed value lies within the time of the other, of which an earlier part is added. */
  readonly splits: boolean;
}

/** What a run changes, by ids and revisions: it holds no words. */
export interface ConsolidationPlan {
  readonly pairs: readonly PlannedPair[];
  readonly doubts: readonly JudgedDoubt[];
  /** Of an applied run: the revision of each memory after it. */
  readonly after?: Readonly<Record<string, number>>;
}

/** The pairs with an effect, and the doubts that two answers settle. */
export const planOf = (
  settled: readonly SettledPair[],
  doubts: readonly JudgedDoubt[],
): ConsolidationPlan => ({
  pairs: settled.flatMap((pair) => plannedPair(pair) ?? []),
  doubts: doubts.filter(({ verdict }) => verdict !== "unknown"),
});

/** Null for a pair without an effect. */
export function plannedPair(pair: SettledPair): PlannedPair | null {
  const { first, second, similarity, vote, effect } = pair;
  if (effect.action === "none") return null;
  const removal = "gone" in effect ? effect : null;
  return {
    first: sideOf(first),
    second: sideOf(second),
    similarity,
    vote: { verdict: vote.verdict, reason: "" },
    action: effect.action,
    kept: removal?.kept.id ?? null,
    gone: removal?.gone.id ?? null,
    splits: effect.action === "close" && effect.split !== null,
  };
}

const sideOf = ({ ref, id, revision }: Side): Side => ({ ref, id, revision });

export const isEmptyPlan = ({ pairs, doubts }: ConsolidationPlan) =>
  pairs.length + doubts.length === 0;

/** Ids of the memories that a plan closes. */
export function goneIn({ pairs, doubts }: ConsolidationPlan): ReadonlySet<string> {
  const ended = doubts.filter(({ verdict }) => verdict === "ended").map(({ id }) => id);
  return new Set(pairs.flatMap(({ gone }) => gone ?? []).concat(ended));
}

/** Ids of the memories of a plan. */
function idsIn({ pairs, doubts }: ConsolidationPlan): string[] {
  const ids = new Set(pairs.flatMap(({ first, second }) => [first.id, second.id]));
  for (const { id } of doubts) ids.add(id);
  return [...ids];
}

/** A plan that was applied, with the revisions of its memories. */
export async function appliedPlan(
  tx: Connection,
  ownerRef: OwnerRef,
  plan: ConsolidationPlan,
): Promise<ConsolidationPlan> {
  const now = await findOwned(tx, ownerRef, sql`m.id = any (${idsIn(plan)}::uuid[])`);
  return { ...plan, after: Object.fromEntries(now.map(({ id, revision }) => [id, revision])) };
}

/** A plan that closes as many, and more than a tenth of the owner's memories, waits for an operator. */
const minClosed = 5;

/** Whether a judge that errs could do much harm by this plan. */
export async function needsOperator(
  tx: Connection,
  ownerRef: OwnerRef,
  plan: ConsolidationPlan,
): Promise<boolean> {
  const closed = goneIn(plan).size;
  if (closed < minClosed) return false;
  const [owner] = await tx.query<{ count: number }>(
    sql`select memory_count::int as count from ${tx.schema}.owner where id = ${ownerRef}`,
  );
  return closed * 10 > (owner?.count ?? 0);
}

/** A memory of a run. */
interface ConsolidatedMemory {
  readonly id: string;
  /** Null once it was deleted for good. */
  readonly text: string | null;
}

interface ConsolidationMove extends ConsolidatedMemory {
  readonly verdict: string;
  /** The memory that stays; null where it only ends. */
  readonly kept: ConsolidatedMemory | null;
}

/** A run of consolidation: what it changes, or changed. */
export interface ConsolidationRun {
  readonly id: string;
  readonly scope: Scope;
  /** "waiting": for an operator; after 14 days it lapses. */
  readonly status: (typeof runStatuses)[number];
  /** Memories that are merged into `kept`. */
  readonly merged: readonly ConsolidationMove[];
  /** Memories that end: `kept` holds instead. */
  readonly closed: readonly ConsolidationMove[];
  /** Memories of which an earlier part is added, as a closed value. */
  readonly added: readonly ConsolidatedMemory[];
  /** What the last decision left as it was, since it had changed meanwhile. */
  readonly left: readonly ConsolidatedMemory[];
  readonly createdAt: Date;
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
}

/** A run as stored. */
export interface StoredRun
  extends ScopeRow,
    Pick<ConsolidationRun, "id" | "status" | "createdAt" | "decidedAt" | "decidedBy"> {
  readonly plan: ConsolidationPlan;
  readonly left: readonly string[];
  readonly texts: Readonly<Record<string, string>>;
}

export function runOf({ plan, texts, left, ...row }: StoredRun): ConsolidationRun {
  const { id, status, createdAt, decidedAt, decidedBy } = row;
  const memory = (of: string): ConsolidatedMemory => ({ id: of, text: texts[of] ?? null });
  const moved = { merge: [] as ConsolidationMove[], close: [] as ConsolidationMove[] };
  const added: ConsolidatedMemory[] = [];
  for (const { action, gone, kept, vote, splits } of plan.pairs) {
    if (action === "link" || gone === null || kept === null) continue;
    moved[action].push({ ...memory(gone), verdict: vote.verdict, kept: memory(kept) });
    if (splits) added.push(memory(kept));
  }
  for (const { id, verdict } of plan.doubts)
    if (verdict === "ended") moved.close.push({ ...memory(id), verdict, kept: null });
  return {
    id,
    scope: scopeOf(row),
    status,
    merged: moved.merge,
    closed: moved.close,
    added,
    left: left.map(memory),
    createdAt,
    decidedAt,
    decidedBy,
  };
}

/** A run that waits for too long has lapsed, before the sweep says so. */
const hasLapsed = (db: Connection): Sql =>
  sql`(c.status = 'waiting' and c.created_at <= ${db.now()} - ${waitsForMs}::float8 * interval '1 millisecond')`;

/** Runs of a scope, of a tenant, or of all, latest first. */
export function findRuns(
  db: Connection,
  { scope, tenantId, status, id, limit }: RunSelection,
): Promise<StoredRun[]> {
  const { schema } = db;
  const isOwners = scope ? ownerIs(ownerColumns(scope)) : ofTenant(sql`o.tenant_id`, tenantId);
  return db.query<StoredRun>(sql`
    select c.id, o.tenant_id, o.user_id, o.app_id, s.status, c.plan, c.left_ids as left, c.created_at as "createdAt",
      c.decided_at as "decidedAt", c.decided_by as "decidedBy", (
        select coalesce(json_object_agg(m.id, m.content), '{}') from ${schema}.memory m
        where m.owner_ref = c.owner_ref and m.id = any (c.memory_ids || c.left_ids)
      ) as texts
    from ${schema}.consolidation c join ${schema}.owner o on o.id = c.owner_ref
    cross join lateral (select case when ${hasLapsed(db)} then 'lapsed' else c.status end as status) s
    where ${isOwners} and (${id === undefined} or c.id = ${uuidOf(id ?? "")}::uuid)
      and (${status === undefined} or s.status = any (${status ?? []}::text[]))
    order by c.created_at desc, c.id limit ${limit}`);
}

interface RunSelection {
  readonly scope?: Scope | undefined;
  readonly tenantId?: string | undefined;
  /** @default any */
  readonly status?: readonly StoredRun["status"][] | undefined;
  readonly id?: string | undefined;
  readonly limit: number;
}

/** @throws MemoryError `NOT_FOUND`; `WRONG_STATE` unless it has `status` */
export async function requireRun(
  db: Connection,
  { scope, id }: { readonly scope: Scope; readonly id: string },
  status?: ConsolidationRun["status"],
): Promise<StoredRun> {
  const [run] = await findRuns(db, { scope, id, limit: 1 });
  if (!run) throw new MemoryError("NOT_FOUND", `There is no consolidation "${id}" in this scope.`);
  if (status === undefined || run.status === status) return run;
  const problem = `The consolidation ${id} is ${run.status}, not ${status}.`;
  throw new MemoryError("WRONG_STATE", problem, { details: { current: runOf(run) } });
}

/** Keeps a run of a locked owner. A waiting one takes the place of another that waits. */
export async function insertRun(
  tx: Connection,
  ownerRef: OwnerRef,
  { plan, status }: Pick<StoredRun, "plan"> & { readonly status: "waiting" | "applied" },
): Promise<string> {
  const { schema } = tx;
  if (status === "waiting")
    await tx.query(sql`
      update ${schema}.consolidation set status = 'lapsed', decided_at = ${tx.now()}
      where owner_ref = ${ownerRef} and status = 'waiting'`);
  const id = randomUUID();
  await tx.query(sql`
    insert into ${schema}.consolidation (id, owner_ref, status, plan, memory_ids, created_at, decided_at)
    values (${id}, ${ownerRef}, ${status}, ${JSON.stringify(plan)}::jsonb, ${idsIn(plan)}::uuid[], ${tx.now()},
      case when ${status === "applied"} then ${tx.now()} end)`);
  return id;
}

/** Records a decision on a run, and what it left. */
export async function settleRun(
  tx: Connection,
  run: Pick<StoredRun, "id" | "status" | "plan" | "left" | "decidedBy">,
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.consolidation
    set status = ${run.status}, plan = ${JSON.stringify(run.plan)}::jsonb, left_ids = ${run.left}::uuid[],
      decided_at = ${tx.now()}, decided_by = ${run.decidedBy}
    where id = ${run.id}`);
}

/** Marks runs that waited for too long, and deletes those that were decided long ago. */
export async function sweepRuns(db: Connection): Promise<void> {
  const { schema } = db;
  await db.query(sql`
    update ${schema}.consolidation c set status = 'lapsed', decided_at = ${db.now()}
    where ${hasLapsed(db)}`);
  await db.query(sql`
    delete from ${schema}.consolidation
    where decided_at <= ${db.now()} - ${keptForMs}::float8 * interval '1 millisecond'`);
}
