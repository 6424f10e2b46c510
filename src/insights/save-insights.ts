import sql from "sql-template-tag";
import { insertEvents, type MemoryEvent } from "../events/event-log.js";
import { type Claim, completeWork } from "../jobs/work-table.js";
import { recordChanges } from "../memories/changes/record-changes.js";
import type { MemoryDraft } from "../memories/item/memory.js";
import { evidenceLink } from "../memories/write/remove-resting.js";
import { classified, writeMemories } from "../memories/write/write-memories.js";
import type { WriteOutcome } from "../memories/write/write-types.js";
import type { Connection } from "../postgres/connection.js";
import type { ChosenInsight, InsightProblem } from "./choose-insights.rule.js";
import type { InsightsRuntime, InsightsWork } from "./load-insights.js";

const analyst = "worker:insights";
/** As weak as the weakest link by similarity: evidence need not be similar. */
const evidenceStrength = 0.6;

/**
 * Writes the chosen insights and completes the task in one transaction. Outcomes are in the order
 * of `chosen`.
 * @throws LeaseLost
 */
export async function saveInsights(
  deps: InsightsRuntime,
  input: {
    readonly claim: Claim;
    readonly work: InsightsWork;
    readonly chosen: readonly ChosenInsight[];
    readonly rejected: readonly InsightProblem[];
  },
): Promise<WriteOutcome[]> {
  const { claim, work, chosen, rejected } = input;
  const outcomes = await writeMemories(deps, {
    scope: work.scope,
    drafts: chosen.map((insight) => toDraft(insight, work)),
    origin: { actor: analyst, step: "insights" },
    alongside: async (tx, outcomes) => {
      await linkEvidence(tx, work, chosen, outcomes);
      await completeWork(tx, claim, { doneUntil: work.doneUntil, at: work.at });
      await insertEvents(tx, eventsOf(input, outcomes));
    },
  });
  const memoryIds = outcomes.flatMap(({ id }) => (id === null ? [] : [id]));
  deps.logger.info(
    `Insights of owner ${claim.ref}: ${memoryIds.length} kept, ${rejected.length} rejected`,
    {
      step: "insights",
      memoryIds,
    },
  );
  return outcomes;
}

function toDraft(insight: ChosenInsight, { recentThreadId }: InsightsWork): MemoryDraft {
  const { text, tags, importance, confidence, category, evidence } = insight;
  const threads = new Set(evidence.map(({ threadId }) => threadId));
  if (recentThreadId !== null) threads.add(recentThreadId);
  const [threadId = null, ...others] = threads;
  return {
    kind: "insight",
    origin: "worker",
    text,
    tags,
    importance,
    confidence,
    ...(category !== null && { category }),
    metadata: { evidence: evidence.map(({ id }) => id) },
    // An insight of one conversation is deleted with it.
    ...(threadId !== null && others.length === 0 && { source: { threadId, seqs: [] } }),
  };
}

/** Links insights to existing evidence, and replaces links by similarity between the two. */
async function linkEvidence(
  tx: Connection,
  { ownerRef, scope }: InsightsWork,
  chosen: readonly ChosenInsight[],
  outcomes: readonly WriteOutcome[],
): Promise<void> {
  const insights = chosen.flatMap(({ evidence }, index) => {
    const { id, outcome } = outcomes[index] as WriteOutcome;
    return outcome === "quarantined" || id === null
      ? []
      : { id, evidence: evidence.map((each) => each.id) };
  });
  if (insights.length === 0) return;
  const { schema } = tx;
  const linked = await tx.query<{ id: string; category: string; evidence: string[] }>(sql`
    with pair as materialized (
      select i.ref as insight, i.id, i.category, m.ref as source, m.id as source_id
      from json_to_recordset(${JSON.stringify(insights)}::json) as p (id uuid, evidence json)
      join ${schema}.memory i on i.id = p.id and i.owner_ref = ${ownerRef}
      cross join lateral json_array_elements_text(p.evidence) as e (id)
      join ${schema}.memory m on m.id = e.id::uuid and m.owner_ref = ${ownerRef} and m.state = 'active'
    ),
    replaced as (
      delete from ${schema}.relation r using pair p
      where r.from_ref = p.insight and r.to_ref = p.source and r.relation_type <> ${evidenceLink}
    ),
    added as (
      insert into ${schema}.relation (from_ref, to_ref, relation_type, strength)
      select distinct insight, source, ${evidenceLink}, ${evidenceStrength}::real from pair
      on conflict do nothing
    )
    select id, category, json_agg(source_id order by source) as evidence from pair group by 1, 2`);
  const changes = linked.map(({ id, category, evidence }) => ({
    memoryId: id,
    event: "LINK" as const,
    old: null,
    new: { evidence },
    delta: null,
    category,
    similarity: null,
  }));
  await recordChanges(tx, { ownerRef, scope, actor: analyst, step: "insights", changes });
}

function eventsOf(
  { work, chosen, rejected }: Parameters<typeof saveInsights>[1],
  outcomes: readonly WriteOutcome[],
): MemoryEvent[] {
  const event = { scope: work.scope, step: "insights", op: "classify" } as const;
  const skipped = chosen.length + rejected.length === 0 ? ["none"] : rejected;
  return [
    ...chosen.map(({ trimmed }, index) => ({ ...event, ...classified(outcomes[index], trimmed) })),
    ...skipped.map((detail) => ({ ...event, status: "skipped" as const, detail })),
  ];
}
