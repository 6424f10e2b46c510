import { insertEvent } from "../events/event-log.js";
import {
  completeThreadTask,
  deferThreadTask,
  type TaskStatus,
  type ThreadTaskClaim,
} from "../jobs/thread-task.js";
import { withoutMemoryBlocks } from "../text/contained-text.js";
import { visibleText } from "../text/storable-text.js";
import { textPieces } from "../text/text-pieces.js";
import { factCategories } from "./choose-facts.js";
import { extractFacts } from "./extract-facts.js";
import type { FactCandidate, FactsRuntime } from "./fact-candidate.js";
import { type ExtractionWork, findExtractionWork } from "./find-extraction-work.js";

/** How the audit trail names who writes extracted facts. */
export const extractor = "worker:extract";

/** Messages worked on at once; after a failure one, so that a single bad message does not take others with it. */
const messagesAtOnce = 10;
/** Known slots shown to the model. A user has 10 to 50 lasting facts. */
const knownSlots = 50;

/**
 * What `claim` is about, or how it ended: nothing to extract, or the owner's daily cap reached, which defers the
 * work to the time when there is room again.
 */
export async function loadExtraction(
  deps: FactsRuntime,
  claim: ThreadTaskClaim,
): Promise<ExtractionWork | TaskStatus> {
  const work = await findExtractionWork(deps.db, claim, {
    messages: claim.attempt === 1 ? messagesAtOnce : 1,
    known: knownSlots,
    writesPerDay: deps.config.memories.writesPerDay,
    actor: extractor,
  });
  if (!work) return "lost";
  // What was remembered is not said anew where it was put into the user's message.
  const messages = work.messages.map((message) => ({
    ...message,
    text: withoutMemoryBlocks(visibleText(message.text)),
  }));
  const { scope, threadId, allowedAt } = work;
  if (!messages.some(({ text }) => /[\p{L}\p{N}]/u.test(text))) {
    const doneUntil = messages.at(-1)?.seq ?? claim.doneUntil;
    return (await completeThreadTask(deps.db, claim, { doneUntil, more: work.more })) ? "skipped" : "lost";
  }
  if (allowedAt === null) return { ...work, messages };
  if (!(await deferThreadTask(deps.db, claim, allowedAt))) return "lost";
  deps.logger.debug(
    `Extracting facts from ${threadId} waits for the daily cap until ${allowedAt.toISOString()}`,
  );
  await insertEvent(deps.db, {
    ...{ scope, threadId, step: "extract", op: "create", status: "skipped" },
    detail: "daily_cap",
  });
  return "deferred";
}

/**
 * What the model proposes to remember of `work`'s messages, which its evidence counts from 1.
 *
 * More than the model's budget is worked on in pieces; a long message becomes several, counted as one.
 *
 * @param betweenPieces called before each call after the first; its error ends the work.
 * @throws MemoryError `MODEL_OUTPUT_INVALID`, `MODEL_TIMEOUT`, `MODEL_FAILED`.
 */
export async function proposeFacts(
  deps: FactsRuntime,
  work: ExtractionWork,
  betweenPieces: () => Promise<void>,
): Promise<FactCandidate[]> {
  const { upkeep, memories, policy } = deps.config;
  const material = work.messages
    .map((message, index) => ({ ...message, number: index + 1 }))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  const candidates: FactCandidate[] = [];
  for (const [index, piece] of textPieces(material, upkeep.inputBudgetTokens).entries()) {
    if (index > 0) await betweenPieces();
    const { candidatesPerTurn } = memories;
    const proposed = await extractFacts(
      deps.model(),
      { messages: piece, known: work.known, categories: factCategories(policy), candidatesPerTurn },
      upkeep.timeoutMs,
    );
    candidates.push(
      ...proposed.map((candidate) => {
        const { message, quote } = candidate.evidence;
        // 0 is no message: a number out of range is no evidence.
        return { ...candidate, evidence: { message: piece[message - 1]?.number ?? 0, quote } };
      }),
    );
  }
  return candidates;
}
