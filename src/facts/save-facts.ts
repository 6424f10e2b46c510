import { tally } from "../logger.js";
import type { MemoryDraft, MemoryOrigin } from "../memories/item/memory.js";
import { removeSaid } from "../memories/write/hide-memories.js";
import { classified, writeMemories } from "../memories/write/write-memories.js";
import type { WriteOutcome } from "../memories/write/write-types.js";
import { insertEvents, type MemoryEvent } from "../observability/events/event-log.js";
import { headOf } from "../text/storable-text.js";
import { startOfDay, zoneClock } from "../text/time-zone.js";
import type { Taken } from "../work/work-definition.js";
import { completeWork } from "../work/work-table.js";
import {
  type ChosenFact,
  type FactCandidate,
  type FactsRuntime,
  factsActor,
  type RejectedFact,
} from "./choose-facts.rule.js";
import type { ChosenRemoval, RemovalCandidate, RemovalProblem } from "./choose-removals.rule.js";
import type { ExtractionMessage, ExtractionWork } from "./load-extraction.js";
import { originOfWords } from "./words-source.rule.js";

/** What the steps make: proposals, what is chosen of them, and what became of that. */
export interface Extracted {
  candidates: FactCandidate[];
  removals: RemovalCandidate[];
  chosen: ChosenFact[];
  rejected: RejectedFact[];
  removing: ChosenRemoval[];
  kept: RemovalProblem[];
  outcomes: WriteOutcome[];
}

/**
 * Writes the chosen facts, an event for each fact and rejection, and the thread's cursor in one
 * transaction. Outcomes are in the order of `chosen`.
 * @throws LeaseLost
 */
export async function saveFacts(
  deps: FactsRuntime,
  input: Taken<ExtractionWork, Extracted>,
): Promise<WriteOutcome[]> {
  const { claim, work, removing } = input;
  const chosen = input.chosen.map((fact) => {
    const { origin } = originOfWords(fact, { ...work, ...messageOfFact(fact, work) });
    return { ...fact, origin, statedByUser: fact.statedByUser && origin === "user" };
  });
  const outcomes = await writeMemories(deps, {
    scope: work.scope,
    drafts: chosen.map((fact) => draftOfFact(fact, work)),
    grounds: chosen.map((fact) => {
      const { statedByUser: stated, relation, personal } = fact;
      const { turnsAgo } = messageOfFact(fact, work);
      return { stated, relation, personal, turnsAgo, holdsSince: holdsSince(fact, work) };
    }),
    origin: { actor: factsActor, step: "facts" },
    finish: async (tx, outcomes) => {
      // After the writes, so that no write undoes a removal.
      await removeSaid(tx, {
        scope: work.scope,
        actor: factsActor,
        step: "facts",
        removals: removing.map((removal) => ({ ...removal, ...sourceOfRemoval(removal, work) })),
        purgeAfterMs: deps.config.lifecycle.purgeAfterMs,
      });
      await completeWork(tx, claim, work);
      await insertEvents(tx, factEvents(input, outcomes));
    },
  });
  logOutcomes(deps, work, outcomes);
  logDropped(deps, work, input.rejected);
  return outcomes;
}

/** Logs ids: texts stay in the tables. */
function logOutcomes(
  { logger }: FactsRuntime,
  { threadId, messages }: ExtractionWork,
  written: readonly WriteOutcome[],
): void {
  if (written.length === 0) return;
  const { outcomes, inWords } = tally(written.map(({ outcome }) => outcome));
  const memoryIds = written.flatMap(({ id }) => (id === null ? [] : [id]));
  const [startSeq = 0, endSeq = startSeq] = [messages[0]?.seq, messages.at(-1)?.seq];
  logger.info(`Facts of messages ${startSeq}-${endSeq} for ${threadId}: ${inWords}`, {
    threadId,
    step: "facts",
    startSeq,
    endSeq,
    outcomes,
    memoryIds,
  });
}

/** What could not be read or proven is the model's fault; what a cap drops is the setting's. */
function logDropped(
  { logger, config }: FactsRuntime,
  { threadId }: ExtractionWork,
  rejected: readonly RejectedFact[],
): void {
  const { factsPerMessage, writesPerDay } = config.memories;
  const caps = {
    turn_cap: `one message teaches ${factsPerMessage}`,
    daily_cap: `a day has ${writesPerDay} (memories.writesPerDay)`,
  };
  for (const [cap, reason] of Object.entries(caps)) {
    const dropped = rejected.filter(({ problem }) => problem === cap).length;
    if (dropped > 0)
      logger.warn(`${dropped} facts of ${threadId} are dropped: ${reason}, the most important.`);
  }
}

function sourceOfRemoval(removal: ChosenRemoval, work: ExtractionWork) {
  const { seq, agentId, runId } = messageOfFact(removal, work);
  return { seq, agentId, runId, threadId: work.threadId };
}

function messageOfFact(
  { message }: Pick<ChosenFact, "message">,
  { messages }: ExtractionWork,
): ExtractionMessage {
  return messages[message] as ExtractionMessage;
}

/** The first moment of the day that was said, in the user's zone; none for a later one. */
function holdsSince(fact: ChosenFact, work: ExtractionWork): Date | undefined {
  const { saidAt, timeZone } = messageOfFact(fact, work);
  const since = fact.since && startOfDay(fact.since.getTime(), zoneClock(timeZone));
  return since && since < saidAt ? since : undefined;
}

function draftOfFact(
  fact: ChosenFact & { readonly origin: MemoryOrigin },
  work: ExtractionWork,
): MemoryDraft {
  const { seq, actor, agentId, runId, saidAt } = messageOfFact(fact, work);
  const {
    text,
    category,
    key,
    value,
    importance,
    confidence,
    relation,
    statedByUser,
    quote,
    origin,
  } = fact;
  return {
    text,
    category,
    importance,
    confidence,
    correction: relation?.relation === "updates" && statedByUser,
    key: key ?? undefined,
    value: value ?? undefined,
    actorId: actor === null ? undefined : headOf(actor, 1_000),
    agentId: agentId ?? undefined,
    runId: runId ?? undefined,
    role: "user",
    origin,
    source: { threadId: work.threadId, seqs: [seq], quote },
    // Values of a slot compete by when they were said.
    validFrom: (key === null && holdsSince(fact, work)) || saidAt,
  };
}

function factEvents(
  { work, chosen, rejected, kept }: Taken<ExtractionWork, Extracted>,
  outcomes: readonly WriteOutcome[],
): MemoryEvent[] {
  const { scope, threadId } = work;
  const event = { scope, threadId, step: "facts", op: "classify" } as const;
  return [
    ...chosen.map((fact, index) => {
      const { agentId, runId } = messageOfFact(fact, work);
      const { category, trimmed } = fact;
      return { ...event, agentId, runId, category, ...classified(outcomes[index], trimmed) };
    }),
    ...rejected.map(({ problem: detail, category }) => ({
      ...event,
      status: "skipped" as const,
      detail,
      category: category ?? undefined,
    })),
    ...kept.map((detail) => ({
      ...event,
      op: "delete" as const,
      status: "skipped" as const,
      detail,
    })),
  ];
}
