import type { ChosenFact, RejectedFact } from "../domain/fact-candidate.js";
import type { MemoryDraft } from "../domain/memory.js";
import { MemoryError } from "../errors.js";
import { type WriteOutcome, writeMemories } from "../remember/write-memories.js";
import type { ThreadTaskClaim } from "../store/claim-thread-task.js";
import type { ExtractionMessage, ExtractionWork } from "../store/find-extraction-work.js";
import { insertEvents, type MemoryEvent } from "../store/insert-event.js";
import { completeThreadTask } from "../store/settle-thread-task.js";
import { classified } from "./classified.js";
import { compareFacts } from "./compare-facts.js";
import { embedOnce } from "./embed-once.js";
import { extractor } from "./load-extraction.js";
import { renewLease } from "./renew-lease.js";
import type { UpkeepDeps } from "./upkeep-deps.js";

/**
 * Writes the facts chosen of a claimed thread's messages and moves its cursor past them, together or not at all;
 * an event tells of each fact and of each that was rejected. Outcomes in the order of `chosen`.
 *
 * @throws MemoryError `LEASE_LOST` when another worker took the task over; nothing is written then.
 */
export async function saveFacts(
  deps: UpkeepDeps,
  input: {
    claim: ThreadTaskClaim;
    work: ExtractionWork;
    chosen: readonly ChosenFact[];
    rejected: readonly RejectedFact[];
  },
): Promise<WriteOutcome[]> {
  const { claim, work, chosen, rejected } = input;
  const { scope, ownerRef } = work;
  const drafts = chosen.map((fact) => toDraft(fact, work));
  const write = { ...deps, embedder: deps.embedder && embedOnce(deps.embedder) };
  const sameAs = await compareFacts(write, {
    ...{ scope, ownerRef, drafts },
    beforeCall: () => renewLease(deps, claim),
  });
  const saidIn = new Map(drafts.map((draft, index) => [draft, messageOf(chosen[index] as ChosenFact, work)]));
  return writeMemories(write, {
    scope,
    drafts,
    origin: {
      actor: extractor,
      step: "extract",
      sameAs,
      turnsAgo: (draft) => saidIn.get(draft)?.turnsAgo ?? 0,
    },
    alongside: async (tx, outcomes) => {
      const doneUntil = work.messages.at(-1)?.seq ?? claim.doneUntil;
      if (!(await completeThreadTask(tx, claim, { doneUntil, more: work.more }))) {
        throw new MemoryError("LEASE_LOST", "Another worker took this task over.");
      }
      await insertEvents(tx, [
        ...chosen.map((fact, index) => acceptedEvent(work, fact, outcomes[index] as WriteOutcome)),
        ...rejected.map((fact) => rejectedEvent(work, fact)),
      ]);
    },
  });
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
