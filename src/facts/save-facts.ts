import { MemoryError } from "../errors.js";
import { insertEvents, type MemoryEvent } from "../events/event-log.js";
import { completeTask, type TaskClaim } from "../jobs/thread-task.js";
import { errorLine } from "../logger.js";
import type { MemoryDraft } from "../memories/item/memory.js";
import { findOpenPairs, gatherDrafts, type OpenPair } from "../memories/write/gather.js";
import type { Answer } from "../memories/write/statement.js";
import { classified, writeGathered } from "../memories/write/write-memories.js";
import type { WriteOutcome } from "../memories/write/write-runtime.js";
import { type ChosenFact, extractor, type FactsRuntime, type RejectedFact } from "./fact-candidate.js";
import { judgeSameFact } from "./judge-same-fact.js";
import type { ExtractionMessage, ExtractionWork } from "./load-extraction.js";

/**
 * Writes the facts chosen of a claimed thread's messages and moves its cursor past them, together or not at all;
 * an event tells of each fact and of each that was rejected. Outcomes in the order of `chosen`.
 *
 * @param beforeCall called before the model is asked to compare; its error ends the work.
 * @throws MemoryError `LEASE_LOST` when another worker took the task over; nothing is written then. `EMBEDDING_FAILED`,
 *   `DIMENSION_MISMATCH`
 */
export async function saveFacts(
  deps: FactsRuntime,
  input: {
    claim: TaskClaim;
    work: ExtractionWork;
    chosen: readonly ChosenFact[];
    rejected: readonly RejectedFact[];
  },
  beforeCall: () => Promise<void>,
): Promise<WriteOutcome[]> {
  const { claim, work, chosen, rejected } = input;
  const gathered = await gatherDrafts(deps, {
    scope: work.scope,
    drafts: chosen.map((fact) => toDraft(fact, work)),
    turnsAgo: chosen.map((fact) => messageOf(fact, work).turnsAgo),
  });
  const pairs = await findOpenPairs(deps, work.ownerRef, gathered);
  if (pairs.length > 0) await beforeCall();
  return writeGathered(deps, {
    gathered,
    answers: await answersTo(deps, pairs),
    origin: { actor: extractor, step: "extract" },
    alongside: async (tx, outcomes) => {
      await completeTask(tx, claim, work);
      await insertEvents(tx, [
        ...chosen.map((fact, index) => acceptedEvent(work, fact, outcomes[index] as WriteOutcome)),
        ...rejected.map((fact) => rejectedEvent(work, fact)),
      ]);
    },
  });
}

/**
 * A model's answers on drafts that nearly say what is known, or what an earlier one says: one call for all, before the
 * transaction. When the model fails there are none, and nothing is the same.
 */
async function answersTo(deps: FactsRuntime, pairs: readonly OpenPair[]): Promise<Answer[]> {
  if (pairs.length === 0) return [];
  try {
    const asked = pairs.map(({ said, known }) => ({ said, known: known.text }));
    const verdicts = await judgeSameFact(deps.model(), asked, deps.config.upkeep.timeoutMs);
    return pairs.map((pair, at) => ({ ...pair, verdict: verdicts[at] ?? "different" }));
  } catch (error) {
    if (!MemoryError.is(error)) throw error;
    deps.logger.warn(
      `Statements that are nearly equal stay apart, they could not be compared: ${errorLine(error)}`,
    );
    return [];
  }
}

function messageOf({ message }: ChosenFact, { messages }: ExtractionWork): ExtractionMessage {
  return messages[message] as ExtractionMessage;
}

function toDraft(fact: ChosenFact, work: ExtractionWork): MemoryDraft {
  const { seq, actor, agentId, runId, saidAt } = messageOf(fact, work);
  const { text, category, key, value, importance, confidence, correction, quote } = fact;
  return {
    ...{ text, category, importance, confidence, correction },
    ...(key !== null && { key }),
    ...(value !== null && { value }),
    ...(actor !== null && { actorId: actor }),
    ...{ agentId: agentId ?? undefined, runId: runId ?? undefined },
    role: "user",
    origin: "user",
    source: { threadId: work.threadId, seqs: [seq], quote },
    validFrom: saidAt,
  };
}

function acceptedEvent(work: ExtractionWork, fact: ChosenFact, outcome: WriteOutcome): MemoryEvent {
  const { scope, threadId } = work;
  const { category, trimmed } = fact;
  const { agentId, runId } = messageOf(fact, work);
  const event = { scope, threadId, agentId, runId, step: "extract", op: "classify", category } as const;
  return { ...event, ...classified(outcome, trimmed) };
}

function rejectedEvent(
  { scope, threadId }: ExtractionWork,
  { problem, category }: RejectedFact,
): MemoryEvent {
  return {
    ...{ scope, threadId, step: "extract", op: "classify", status: "skipped", detail: problem },
    ...(category !== null && { category }),
  };
}
