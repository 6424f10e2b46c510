import type { Connection } from "../database/connection.js";
import { type PieceBounds, withinBounds } from "../domain/text-pieces.js";
import type { Logger } from "../logger.js";
import type { ExtractionWork } from "../store/find-extraction-work.js";
import type { SummaryMessage, SummaryWork } from "../store/find-summary-work.js";
import { insertEvent, type MemoryEvent } from "../store/insert-event.js";

interface Deps {
  readonly db: Connection;
  readonly logger: Logger;
}

/**
 * What of `messages` one piece of work gives to the model. Where something is left out, the prompt, the log and an event
 * say so.
 *
 * @param beginsGroup where work may be parted. @default nowhere
 */
export async function limitMaterial<Message extends { text: string }>(
  { db, logger }: Deps,
  of: Pick<MemoryEvent, "scope" | "threadId" | "step">,
  messages: readonly Message[],
  bounds: PieceBounds,
  beginsGroup?: (message: Message) => boolean,
): Promise<{ readonly messages: Message[]; readonly taken: number }> {
  const { items, taken, isCut } = withinBounds(messages, bounds, beginsGroup);
  if (isCut) {
    logger.warn(
      `The middle of what was said in ${of.threadId} is left out, it is longer than ${bounds.mostPieces} calls of ` +
        `${bounds.inputBudgetTokens} tokens hold: raise mostPieces or inputBudgetTokens (${of.step}).`,
    );
    await insertEvent(db, { ...of, op: "create", status: "skipped", detail: "middle_left_out" });
  }
  return { messages: [...items], taken };
}

/** `work` as far as `bounds` reach: the messages after that are left to the next piece of work. */
export async function limitExtraction(
  deps: Deps,
  work: ExtractionWork,
  bounds: PieceBounds,
): Promise<ExtractionWork> {
  const { scope, threadId, messages: all } = work;
  const of = { scope, threadId, step: "extract" } as const;
  const { messages, taken } = await limitMaterial(deps, of, all, bounds, () => true);
  return { ...work, messages, more: work.more || taken < all.length };
}

/**
 * `work` as far as `bounds` reach: the rounds after that are left to the next summary, and its window ends before them.
 * A round is never parted.
 */
export async function limitSummary(deps: Deps, work: SummaryWork, bounds: PieceBounds): Promise<SummaryWork> {
  const { scope, threadId } = work;
  const beginsRound = ({ role }: SummaryMessage) => role === "user";
  const of = { scope, threadId, step: "summarize" } as const;
  const { messages: added, taken } = await limitMaterial(deps, of, work.added, bounds, beginsRound);
  const last = work.added[taken - 1];
  if (last === undefined || taken === work.added.length) return { ...work, added };
  const lastRound = work.added.slice(0, taken).findLast(beginsRound) ?? last;
  const startSeq = Math.min(work.startSeq, lastRound.seq);
  const dropped = work.dropped.filter(({ seq }) => seq < startSeq);
  return { ...work, added, dropped, startSeq, endSeq: last.seq };
}
