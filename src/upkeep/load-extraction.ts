import { withoutMemoryBlocks } from "../domain/contained-text.js";
import { visibleText } from "../domain/storable-text.js";
import type { ThreadTaskClaim } from "../store/claim-thread-task.js";
import { type ExtractionWork, findExtractionWork } from "../store/find-extraction-work.js";
import { insertEvent } from "../store/insert-event.js";
import { completeThreadTask, deferThreadTask } from "../store/settle-thread-task.js";
import type { TaskStatus } from "./task-status.js";
import type { UpkeepDeps } from "./upkeep-deps.js";

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
  deps: UpkeepDeps,
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
