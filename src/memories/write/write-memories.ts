import sql from "sql-template-tag";
import { MemoryError } from "../../errors.js";
import type { Logger } from "../../logger.js";
import type { MemoryEvent } from "../../observability/events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef, Scope } from "../../scope/scope.js";
import { lockOwner } from "../../scope/scope-predicates.js";
import { contentHash } from "../../text/normal-value.js";
import { applyChanges } from "../apply/apply-changes.js";
import { type ChangeSet, joinChanges } from "../apply/change-set.js";
import { consentRule } from "../consent/consent-policy.rule.js";
import { findStandingConsents, type NewConsent } from "../consent/consent-statements.js";
import type { MemoriesSettings } from "../item/memories-settings.js";
import { bestSimilarity, type MemoryDraft } from "../item/memory.js";
import { sourceRank } from "../slot/slot-timeline.rule.js";
import { batchesOf, commonPlace, decideDrafts } from "./decide-drafts.js";
import { type FoundStatement, findExisting } from "./find-existing.js";
import { expireMemories } from "./hide-memories.js";
import { type DraftGrounds, prepareDrafts, type Statement } from "./prepare-drafts.js";
import type { WriteContext, WriteOrigin, WriteOutcome, WriteRuntime } from "./write-types.js";

/**
 * Writes `drafts` in one transaction; outcomes are in their order. The owner's lock serializes
 * writers, so equal drafts become one memory.
 * @throws MemoryError `INVALID_INPUT`, also for more than 5,000 drafts; `SCOPE_REQUIRED`,
 * `REDACTION_FAILED`
 */
export async function writeMemories(
  runtime: WriteRuntime,
  input: {
    readonly scope: Scope;
    readonly drafts: readonly MemoryDraft[];
    /** Of the drafts, in their order. @default nothing is known */
    readonly grounds?: readonly DraftGrounds[];
    readonly anyLength?: boolean;
    readonly origin: WriteOrigin;
    /** Runs after the writes in their transaction; its error rolls them back. */
    readonly finish?: (tx: Connection, outcomes: readonly WriteOutcome[]) => Promise<void>;
  },
): Promise<WriteOutcome[]> {
  const { db, config, logger } = runtime;
  const { origin, finish } = input;
  const { actor, step } = origin;

  // Redacts, checks, screens and embeds, before any lock is taken.
  const prepared = await prepareDrafts(runtime, input);
  const { byOwner, space } = prepared;
  if (byOwner.length === 0 && !finish) return [...prepared.outcomes];

  const { outcomes, sets } = await db.transaction(async (tx) => {
    const outcomes = [...prepared.outcomes];
    const sets: Partial<ChangeSet>[] = [];
    for (const statements of byOwner) {
      const { scope } = statements[0] as Statement;
      const owner = await lockOwner(tx, scope);
      const context = { owner, config, origin, comparedIn: prepared.comparedIn };
      for (const drafts of batchesOf(statements)) {
        const batch = drafts.map((draft) => relatedToWritten(draft, outcomes));
        // Finds what is near each statement, and what its slot has.
        const found = await findForBatch(tx, scope, context, batch);

        // Decides them, one after the other, as one set of changes.
        const decided = await decideDrafts(context, found);
        // What preparing found (`trimmed`) stays in the outcome.
        for (const [at, { index }] of batch.entries())
          outcomes[index] = { ...outcomes[index], ...(decided.outcomes[at] as WriteOutcome) };
        sets.push(decided.set);

        // Applies and records the changes, with the search that they rest on.
        const similarity = bestSimilarity(found.flatMap(({ existing }) => existing));
        const search = { similarity, place: commonPlace(origin, batch) };
        const by = { ownerRef: owner.ref, scope, actor, step, space, search };
        await applyChanges(tx, { ...by, insights: config.insights }, decided.set);
      }
      // Only for tools: facts have caps of their own.
      await requireBudget(tx, owner.ref, origin.messageHash, config.memories);
    }
    await finish?.(tx, outcomes);
    return { outcomes, sets };
  });

  // Reports what waits for somebody.
  const { created = [], requests = [], settled = [] } = joinChanges(sets);
  const quarantined = created.filter(({ state }) => state === "quarantined");
  reportQuarantined(logger, { ...origin, memoryIds: quarantined.map(({ id }) => id) });
  const answered = new Set(settled.map(({ id }) => id));
  const pending = requests.filter(({ id }) => !answered.has(id));
  reportPending(runtime, step, pending);
  return outcomes;
}

/** `draft`, related to the memory that became of an earlier draft; to none that was there before. */
function relatedToWritten(draft: Statement, outcomes: readonly WriteOutcome[]): Statement {
  const { relation } = draft;
  if (typeof relation?.target !== "number") return draft;
  const { id = null, outcome } = outcomes[relation.target] ?? {};
  const isWritten = id !== null && outcome !== "kept";
  return { ...draft, relation: isWritten ? { ...relation, target: id } : null };
}

async function findForBatch(
  tx: Connection,
  scope: Scope,
  { owner, config, comparedIn }: WriteContext,
  statements: readonly Statement[],
): Promise<FoundStatement[]> {
  const { ref: ownerRef, turns, now } = owner;
  const find = () => findExisting(tx, { ownerRef, space: comparedIn, statements });
  let existing = await find();
  if (existing.flat().some(({ expired }) => expired)) {
    await expireMemories(tx, { ownerRef, scope }, config.lifecycle);
    existing = await find();
  }
  const isGuarded = statements.some((each) => consentRule(config.consent, each) !== null);
  const requests = isGuarded ? await findStandingConsents(tx, ownerRef, statements) : [];
  return statements.map((statement, at) => ({
    ...statement,
    rank: sourceRank(statement),
    turn: Math.max(0, turns - (statement.turnsAgo ?? 0)),
    now,
    existing: existing[at] ?? [],
    requests: requests[at] ?? [],
  }));
}

export function reportQuarantined(
  logger: Logger,
  {
    step,
    threadId,
    memoryIds,
  }: Pick<WriteOrigin, "step" | "threadId"> & { memoryIds: readonly string[] },
): void {
  if (memoryIds.length === 0) return;
  const texts = memoryIds.length === 1 ? "1 text reads" : `${memoryIds.length} texts read`;
  logger.warn(
    `${texts} as instructions to a model, kept for you to look at: memory.memories.list({ states: ["quarantined"] })`,
    { ...(threadId !== undefined && { threadId }), step, memoryIds },
  );
}

/** A bound, since models choose keys. */
const maxReportedFields = 1_000;

const otherConsentModes = {
  said: ', or consent.ask "tool" with consentTool(memory), or "interrupt" with withMemory(agent, memory)',
  queue: "",
  tool: ", or consentTool(memory) among the agent's tools",
  interrupt: ", or withMemory(agent, memory), or consentNode(memory) in your graph",
} as const;

/** Reports each field with a pending change once, unless this process asks the user. */
function reportPending(
  {
    logger,
    config,
    consent: { ways, reported },
  }: Pick<WriteRuntime, "logger" | "config" | "consent">,
  step: string,
  requests: readonly NewConsent[],
): void {
  const { ask } = config.consent;
  const asksHere = ways.has("interrupt") || (ask === "tool" && ways.has(ask));
  for (const { rule, category, key } of requests) {
    const field = key === null ? category : `${category}/${key}`;
    if (
      (rule === "consent" && asksHere) ||
      reported.has(field) ||
      reported.size === maxReportedFields
    )
      continue;
    reported.add(field);
    const [what, how] =
      rule === "consent"
        ? ["the user's consent, and nothing in this process asks for it", otherConsentModes[ask]]
        : ["a second signal", ""];
    logger.warn(
      `A change of ${field} waits for ${what}. What decides it: memory.consents.decide${how}.`,
      { step },
    );
  }
}

/** Of the event of a proposal. `stats` counts by the outcome, with which `detail` begins. */
export function classified(
  outcome: WriteOutcome | undefined,
  trimmed: boolean,
): Pick<MemoryEvent, "status" | "detail"> {
  if (outcome?.outcome === "rejected" || outcome?.outcome === "quarantined") {
    return { status: "skipped", detail: outcome.problems[0] };
  }
  const remarks = [outcome?.outcome, trimmed ? "trimmed" : undefined].filter(Boolean);
  return { status: "ok", ...(remarks.length > 0 && { detail: remarks.join(", ") }) };
}

/**
 * Identifies the user's message that a tool answers, in audit entries and signals: a digest, which
 * outlives a deleted thread without naming it.
 */
export function hashOfMessage(message: {
  readonly threadId?: string | undefined;
  readonly messageId?: string | undefined;
}): string | undefined {
  const { threadId = null, messageId } = message;
  return messageId === undefined ? undefined : contentHash(JSON.stringify([threadId, messageId]));
}

/**
 * Limits what a misled model can do with one message of the user: memories that it changes and
 * adds, also those that wait for consent, and what such tools add in a day. Counts the audit trail
 * after the writes, in their transaction and under the owner's lock, so that its error undoes them.
 * @throws MemoryError `CONFLICT`
 */
export async function requireBudget(
  tx: Connection,
  ownerRef: OwnerRef,
  messageHash: string | undefined,
  { writesPerTurn, writesPerDay }: MemoriesSettings,
): Promise<void> {
  if (messageHash === undefined) return;
  const { schema } = tx;
  const dayAgo = sql`${tx.now()} - interval '1 day'`;
  const signal = JSON.stringify([{ messageHash }]);
  const [counts] = await tx.query<{ changed: number; added: number; today: number }>(sql`
    with entry as (
      select h.new ->> 'messageHash' = ${messageHash} as is_own, h.event in ('ADD', 'MERGE') as adds
      from ${schema}.history h
      where h.owner_ref = ${ownerRef} and h.created_at > ${dayAgo} and h.new ? 'messageHash'
        and h.event in ('ADD', 'MERGE', 'UPDATE', 'DELETE') and not h.new ? 'refused'
        -- What absorbed a duplicate has an entry of its own.
        and not (h.event = 'MERGE' and h.new ? 'supersededBy')
    )
    select count(*) filter (where is_own and not adds)::int as changed,
      count(*) filter (where is_own and adds)::int + (
        select count(*)::int from ${schema}.consent_request c
        where c.owner_ref = ${ownerRef} and c.created_at > ${dayAgo} and c.signals @> ${signal}::jsonb
      ) as added,
      count(*) filter (where adds)::int as today
    from entry`);
  const { changed = 0, added = 0, today = 0 } = counts ?? {};
  if (changed > writesPerTurn)
    throw exceeded(
      `One message of the user may change, replace or forget ${writesPerTurn} memories, and this one has. Ask the user which ` +
        "others to change: the next message may change as many. The app forgets all of a user's memories with memory.forget.",
    );
  if (added > writesPerTurn)
    throw exceeded(
      `One message of the user may add ${writesPerTurn} memories, and this one has. Ask the user what else to remember: the ` +
        "next message may add as many.",
    );
  if (today > writesPerDay)
    throw exceeded(
      `Tools may add ${writesPerDay} memories of one user in 24 hours (memories.writesPerDay), and they have. Tell the user ` +
        "what is not remembered, and try again tomorrow.",
    );
}

const exceeded = (message: string) => new MemoryError("CONFLICT", message);
