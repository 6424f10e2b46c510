import sql from "sql-template-tag";
import { applyChanges } from "../../memories/apply/apply-changes.js";
import { evidenceLink, type StoredLink } from "../../memories/apply/change-set.js";
import type { MemoryChange } from "../../memories/audit/memory-change.js";
import type { MemoryDraft } from "../../memories/item/memory.js";
import { classified, writeMemories } from "../../memories/write/write-memories.js";
import type { WriteOutcome } from "../../memories/write/write-types.js";
import { insertEvents, type MemoryEvent } from "../../observability/events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { Taken } from "../../work/work-definition.js";
import { completeWork } from "../../work/work-table.js";
import type { ChosenInsight, InsightCandidate, InsightProblem } from "./choose-insights.rule.js";
import type { InsightsRuntime, InsightsWork } from "./load-insights.js";

const analyst = "worker:insights";
/** As weak as the weakest link by similarity: evidence need not be similar. */
const evidenceStrength = 0.6;

/** What the steps make: proposals, what is chosen of them, and what became of that. */
export interface Understood {
  candidates: InsightCandidate[];
  chosen: ChosenInsight[];
  rejected: InsightProblem[];
  outcomes: WriteOutcome[];
}

/**
 * Writes the chosen insights and completes the task in one transaction. Outcomes are in the order
 * of `chosen`.
 * @throws LeaseLost
 */
export async function saveInsights(
  deps: InsightsRuntime,
  input: Taken<InsightsWork, Understood>,
): Promise<WriteOutcome[]> {
  const { claim, work, chosen, rejected } = input;
  const outcomes = await writeMemories(deps, {
    scope: work.scope,
    drafts: chosen.map((insight) => draftOfInsight(insight, work)),
    origin: { actor: analyst, step: "insights" },
    finish: async (tx, outcomes) => {
      await linkEvidence(tx, work, chosen, outcomes);
      await completeWork(tx, claim, { doneUntil: work.doneUntil, at: work.at });
      await insertEvents(tx, insightEvents(input, outcomes));
    },
  });
  const memoryIds = outcomes.flatMap(({ id }) => id ?? []);
  const message = `Insights of owner ${claim.ref}: ${memoryIds.length} kept, ${rejected.length} rejected`;
  deps.logger.info(message, { step: "insights", memoryIds });
  return outcomes;
}

function draftOfInsight(insight: ChosenInsight, { recentThreadId }: InsightsWork): MemoryDraft {
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
    category: category ?? undefined,
    metadata: { evidence: evidence.map(({ id }) => id) },
    // An insight of one conversation is deleted with it.
    source: threadId !== null && others.length === 0 ? { threadId, seqs: [] } : undefined,
  };
}

/**
 * Links the written insights to their evidence that is still active, and replaces links by
 * similarity between the two.
 */
async function linkEvidence(
  tx: Connection,
  { ownerRef, scope }: InsightsWork,
  chosen: readonly ChosenInsight[],
  outcomes: readonly WriteOutcome[],
): Promise<void> {
  if (chosen.length === 0) return;
  const evident = outcomes.map(({ id, outcome }, at) => ({
    id: outcome === "quarantined" ? null : id,
    evidence: chosen[at]?.evidence.map((source) => source.id),
  }));
  const { schema } = tx;
  const found = await tx.query<{
    id: string;
    ref: number;
    category: string;
    evidence: string[];
    sources: number[];
  }>(sql`
    select i.id, i.ref::float8 as ref, i.category, json_agg(m.id order by m.ref) as evidence,
      json_agg(m.ref order by m.ref) as sources
    from json_to_recordset(${JSON.stringify(evident)}::json) as p (id uuid, evidence json)
    join ${schema}.memory i on i.id = p.id and i.owner_ref = ${ownerRef}
    cross join lateral json_array_elements_text(p.evidence) as e (id)
    join ${schema}.memory m on m.id = e.id::uuid and m.owner_ref = ${ownerRef} and m.state = 'active'
    group by i.ref, i.id, i.category`);
  if (found.length === 0) return;
  const links: StoredLink[] = [];
  const changes: MemoryChange[] = [];
  for (const { id: memoryId, ref, category, evidence, sources } of found) {
    for (const to of sources)
      links.push({ from: ref, to, strength: evidenceStrength, type: evidenceLink });
    changes.push({ memoryId, event: "LINK", new: { evidence }, category });
  }
  await applyChanges(tx, { ownerRef, scope, actor: analyst, step: "insights" }, { links, changes });
}

function insightEvents(
  { work, chosen, rejected }: Taken<InsightsWork, Understood>,
  outcomes: readonly WriteOutcome[],
): MemoryEvent[] {
  const event = { scope: work.scope, step: "insights", op: "classify" } as const;
  const skipped = chosen.length + rejected.length === 0 ? ["none"] : rejected;
  return [
    ...chosen.map(({ trimmed }, index) => ({ ...event, ...classified(outcomes[index], trimmed) })),
    ...skipped.map((detail) => ({ ...event, status: "skipped" as const, detail })),
  ];
}
