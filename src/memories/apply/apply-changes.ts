import sql from "sql-template-tag";
import { type EventOp, eventNode } from "../../observability/events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import { scopeColumns } from "../../scope/scope-predicates.js";
import { markInsights, markWork } from "../../work/work-table.js";
import type { MemoryChange } from "../audit/memory-change.js";
import { isGone, snapshot } from "../audit/snapshot.js";
import { applyConsentPlan } from "../consent/consent-statements.js";
import type { Changer, ChangeSet } from "./change-set.js";
import { markDoubts } from "./mark-doubts.js";
import { insertMemories, rewriteMemory } from "./memory-content.js";
import {
  deactivateMemories,
  joinMemories,
  linkMemories,
  moveIntervals,
  partSources,
  purgeMemories,
  splitIntervals,
  touchMemories,
} from "./memory-states.js";

/**
 * The only writer of memory rows, but for imports and erasing: applies a change set to a locked owner's memories and records it, in
 * the caller's transaction. One statement for each kind of change; rewrites and splits have one
 * each.
 */
export async function applyChanges(
  tx: Connection,
  by: Changer,
  set: Partial<ChangeSet>,
): Promise<void> {
  const { ownerRef, space = null } = by;
  const { created = [], rewrites = [], changes = [] } = set;
  const isNew = new Set(created.map(({ id }) => id));

  // Rows free a slot or a text before others take it.
  await deactivateMemories(tx, by, set.deactivated);
  await moveIntervals(tx, ownerRef, set.moves);
  await splitIntervals(tx, ownerRef, set.splits);
  for (const rewrite of rewrites) {
    if (!isNew.has(rewrite.id)) await rewriteMemory(tx, { ownerRef, rewrite, space });
  }

  // New rows, and what becomes due after them.
  await insertMemories(tx, { ownerRef, memories: created, space });
  await markDue(tx, by, set);

  // After the insert: these may be new rows.
  await touchMemories(tx, ownerRef, set.sightings);
  for (const rewrite of rewrites) {
    if (isNew.has(rewrite.id)) await rewriteMemory(tx, { ownerRef, rewrite, space });
  }

  // What rests on a memory that ended gets into doubt; what was said again does not stay there.
  const doubts = await markDoubts(tx, by, set);

  await joinMemories(tx, ownerRef, set.joined);
  await linkMemories(tx, set.links);
  await partSources(tx, by, set.parted);

  // The record reads the rows as the changes leave them, and rows that the purge deletes.
  const recorded = [...changes, ...doubts.changes, ...movedIntervals(set)];
  await recordChanges(tx, by, recorded);
  await purgeMemories(tx, ownerRef, set.purged);
  const events = (set.events ?? []).concat(doubts.events);
  await applyConsentPlan(tx, { ...set, events }, by);
}

/** Entries for values of a slot whose validity changes because of another value's change. */
function movedIntervals({
  changes = [],
  moves = [],
  splits = [],
}: Partial<ChangeSet>): RecordedChange[] {
  const recorded = new Set(changes.map(({ memoryId }) => memoryId));
  const moved = [
    ...moves.map(({ id, ...interval }) => ({ memoryId: id, new: interval })),
    ...splits.map(({ id, from }) => ({ memoryId: id, new: { validFrom: from } })),
  ];
  return moved
    .filter(({ memoryId }) => !recorded.has(memoryId))
    .map((entry) => ({ ...entry, event: "UPDATE" }));
}

/** The category is the row's, if none is given. */
type RecordedChange = Omit<MemoryChange, "category"> & { readonly category?: string };

/** Notes that become active may be too many; facts and episodes are evidence of insights. */
async function markDue(
  tx: Connection,
  { ownerRef, scope, insights }: Changer,
  { created = [], rewrites = [] }: Partial<ChangeSet>,
): Promise<void> {
  const added = [...created, ...rewrites.filter(({ revived }) => revived)];
  if (added.some(({ kind, state }) => kind === "note" && state === "active"))
    await markWork(tx, { kind: "compaction", of: "owner", ref: ownerRef });
  const isEvidence = [...created, ...rewrites].some(
    ({ kind, state }) => state === "active" && (kind === "fact" || kind === "episode"),
  );
  if (insights && isEvidence) await markInsights(tx, insights, { ownerRef, scope });
}

/**
 * Records audit trail, delta lines and events under the owner's lock. Each line has a revision of
 * the owner.
 */
async function recordChanges(
  tx: Connection,
  { ownerRef, scope, actor, step, search }: Changer,
  changes: readonly RecordedChange[],
): Promise<void> {
  if (changes.length === 0 && !search) return;
  const { schema } = tx;
  const { tenantId, userId, appId } = scopeColumns(scope);
  const { threadId = null, agentId = null, runId = null } = search?.place ?? {};
  const node = eventNode(step);
  const rows = changes.map((change, position) => ({ ...change, op: opOf(change), position }));
  await tx.query(
    sql`
    with input as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as i (
        position integer, "memoryId" uuid, event text, op text, old jsonb, new jsonb, delta json, category text,
        similarity real, "threadId" text, "agentId" text, "runId" text
      )
    ),
    -- One lookup each: a join with a list of unknown length may scan the whole table.
    existing as (
      select i.position, m.app_id, m.revision, m.category, case when not ${isGone} then ${snapshot} end as snapshot
      from input i cross join lateral (
        select * from ${schema}.memory where id = i."memoryId" limit 1
      ) m
    ),
    change as (
      select i.*, o.revision + count(i.delta) over (order by i.position) as rev, coalesce(m.app_id, ${appId}) as app,
        m.revision as memory_revision, m.snapshot, coalesce(i.category, m.category) as of_category
      from input i
      cross join (select revision from ${schema}.owner where id = ${ownerRef}) o
      left join existing m on m.position = i.position
    ),
    audit as (
      insert into ${schema}.history
        (owner_ref, app_id, memory_id, event, old, new, actor, rev, memory_revision, snapshot, created_at)
      select ${ownerRef}, app, "memoryId", event, old, new, ${actor}, rev, memory_revision, snapshot, ${tx.now()}
      from change order by position
    ),
    delta as (
      insert into ${schema}.change_log
        (owner_ref, app_id, rev, memory_id, event, category, line, importance, created_at)
      select ${ownerRef}, app, rev, "memoryId", delta ->> 'event', category, delta ->> 'line',
        (delta ->> 'importance')::real, ${tx.now()}
      from change where delta is not null
    ),
    event as (
      insert into ${schema}.event
        (tenant_id, user_id, app_id, thread_id, agent_id, run_id, node, step, op, status, memory_id, category,
          similarity, created_at)
      select ${tenantId}, ${userId}, ${appId}, "threadId", "agentId", "runId", ${node}, ${step}, op, 'ok', "memoryId",
        of_category, similarity, ${tx.now()}
      from change
      union all
      select ${tenantId}, ${userId}, ${appId}, ${threadId}::text, ${agentId}::text, ${runId}::text, ${node}, ${step},
        'search', 'ok', null, null, ${search?.similarity ?? null}::real, ${tx.now()}
      where ${search !== undefined}
    )
    update ${schema}.owner o set revision = o.revision + (select count(delta) from change)
    where o.id = ${ownerRef}`,
    { prepare: true },
  );
}

function opOf({ event, new: now }: RecordedChange): EventOp {
  const { state, decision } = (now ?? {}) as { state?: unknown; decision?: "approve" | "refuse" };
  if (event === "ADD") return state === "quarantined" ? "quarantine" : "create";
  if (event === "CONSENT") return decision as "approve" | "refuse";
  return event.toLowerCase() as Lowercase<typeof event>;
}
