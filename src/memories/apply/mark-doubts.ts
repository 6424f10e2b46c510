import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { changeOf, type MemoryChange, settledDoubt } from "../audit/memory-change.js";
import { maxDoubted } from "../item/doubt.rule.js";
import { type MemoryJson, memoryJson, memoryOf } from "../item/memory-row.js";
import { type Changer, type ChangeSet, evidenceLink } from "./change-set.js";

/**
 * Marks what rests on memories that this set ends: insights by their evidence, also by what was
 * merged into it, and episodes by the messages that a fact was learned from. One hop. Ends the doubts
 * that it settles. Returns the records of both.
 */
export async function markDoubts(
  tx: Connection,
  { ownerRef, step }: Pick<Changer, "ownerRef" | "step">,
  set: Partial<ChangeSet>,
): Promise<Pick<ChangeSet, "changes" | "events">> {
  const ended = endedIn(set);
  const { settledDoubts: settled = [] } = set;
  if (ended.length + settled.length === 0) return { changes: [], events: [] };
  const { schema } = tx;
  const rows = await tx.query<{ memory: MemoryJson; doubtedAt: Date | null; more: number }>(
    sql`
    with recursive ended as (
      select m.ref, m.id, m.kind, m.id as cause
      from unnest(${ended}::uuid[]) e (id)
      cross join lateral (select * from ${schema}.memory where id = e.id limit 1) m
      where m.owner_ref = ${ownerRef}
      union
      select m.ref, m.id, m.kind, e.cause
      from ended e
      cross join lateral (select * from ${schema}.memory where superseded_by = e.id and state = 'merged' offset 0) m
      where m.owner_ref = ${ownerRef}
    ),
    resting as (
      select e.cause, r.from_ref as ref
      from ended e join ${schema}.relation r on r.to_ref = e.ref and r.relation_type = ${evidenceLink}
      union
      select e.cause, p.ref
      from ended e
      join ${schema}.memory_source s on s.memory_ref = e.ref
      join ${schema}.memory p on p.thread_ref = s.thread_ref and p.kind = 'episode' and p.state = 'active'
      where e.kind = 'fact' and (
        select count(*) from ${schema}.message u where u.thread_ref = s.thread_ref and u.role = 'user' and u.seq <= s.seq
      ) between p.turn_start and p.turn_end
    ),
    placed as materialized (
      select m.ref, row_number() over (
        partition by r.cause order by m.importance desc, m.pinned desc, m.updated_at desc, m.ref
      ) as place
      from resting r cross join lateral (select * from ${schema}.memory where ref = r.ref limit 1) m
      where m.owner_ref = ${ownerRef} and m.state = 'active' and m.doubted_at is null
        and m.id <> all (${ended}::uuid[]) and m.id <> all (${settled}::uuid[])
    ),
    unsettled as materialized (
      select m.ref
      from unnest(${settled}::uuid[]) s (id)
      cross join lateral (select * from ${schema}.memory where id = s.id limit 1) m
      where m.owner_ref = ${ownerRef} and m.doubted_at is not null
    ),
    doubted as (
      update ${schema}.memory m set doubted_at = ${tx.now()}
      where m.ref in (select ref from placed where place <= ${maxDoubted})
      returning m.ref, m.doubted_at
    ),
    settled as (
      update ${schema}.memory m set doubted_at = null
      where m.ref in (select ref from unsettled)
      returning m.ref, m.doubted_at
    ),
    marked as (select * from doubted union all select * from settled)
    -- As they were: a statement does not see its own changes.
    select ${memoryJson(tx)} as memory, k.doubted_at as "doubtedAt", (
      select count(distinct ref) from placed where ref not in (select ref from doubted)
    )::int as more
    from marked k cross join lateral (select * from ${schema}.memory where ref = k.ref limit 1) m
    order by m.importance desc, m.ref`,
    { prepare: true },
  );
  const explained = new Set(
    set.changes?.filter(({ event }) => event === "SETTLE").map(({ memoryId }) => memoryId),
  );
  const changes: MemoryChange[] = [];
  for (const { memory: json, doubtedAt } of rows) {
    const memory = memoryOf(json);
    if (doubtedAt !== null)
      changes.push(changeOf(memory, "DOUBT", { new: { doubtedAt }, as: "doubted" }));
    else if (!explained.has(memory.id)) changes.push(settledDoubt(memory, { saidAgain: true }));
  }
  return { changes, events: uncounted(step, rows[0]?.more ?? 0) };
}

/** The event of those beyond the most important. */
const uncounted = (step: Changer["step"], more: number): ChangeSet["events"] =>
  more > 0 ? [{ step, op: "doubt", status: "skipped", detail: `${more} more` }] : [];

/** What was merged still holds, in the words of another. */
function endedIn({ deactivated = [], ended = [] }: Partial<ChangeSet>): string[] {
  const gone = deactivated.filter(({ state, mayHold }) => state !== "merged" && !mayHold);
  return gone.map(({ id }) => id).concat(ended);
}
