import type { Connection } from "../database/connection.js";
import { firstWithinBounds, type PieceBounds, withinBounds } from "../domain/text-pieces.js";
import type { ExtractionWork } from "../store/find-extraction-work.js";
import type { SummaryWork } from "../store/find-summary-work.js";
import { insertEvent, type MemoryEvent } from "../store/insert-event.js";

/**
 * `messages` cut to what `bounds` let one piece of work give to the model; an event tells when something was left out.
 */
export async function limitMaterial<Message extends { text: string }>(
  db: Connection,
  of: Pick<MemoryEvent, "scope" | "threadId" | "step">,
  messages: readonly Message[],
  bounds: PieceBounds,
): Promise<Message[]> {
  const limited = withinBounds(messages, bounds);
  if (limited !== messages) {
    await insertEvent(db, { ...of, op: "create", status: "skipped", detail: "middle_left_out" });
  }
  return [...limited];
}

/** `work` as far as `bounds` reach: the messages after that are left to the next piece of work. */
export async function limitExtraction(
  db: Connection,
  work: ExtractionWork,
  bounds: PieceBounds,
): Promise<ExtractionWork> {
  const { scope, threadId } = work;
  const first = firstWithinBounds(work.messages, bounds);
  const messages = await limitMaterial(db, { scope, threadId, step: "extract" }, first, bounds);
  return { ...work, messages, more: work.more || messages.length < work.messages.length };
}

/**
 * `work` as far as `bounds` reach: the rounds after that are left to the next summary, and its window ends before them.
 * A round is never parted.
 */
export async function limitSummary(
  db: Connection,
  work: SummaryWork,
  bounds: PieceBounds,
): Promise<SummaryWork> {
  const { scope, threadId } = work;
  const first = firstWithinBounds(work.added, bounds, ({ role }) => role === "user");
  const added = await limitMaterial(db, { scope, threadId, step: "summarize" }, first, bounds);
  const last = first.at(-1);
  if (last === undefined || first.length === work.added.length) return { ...work, added };
  const lastRound = first.findLast(({ role }) => role === "user") ?? last;
  const startSeq = Math.min(work.startSeq, lastRound.seq);
  return {
    ...{ ...work, added, startSeq, endSeq: last.seq },
    dropped: work.dropped.filter(({ seq }) => seq < startSeq),
  };
}
