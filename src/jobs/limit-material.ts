import { insertEvent, type MemoryEvent } from "../events/event-log.js";
import type { Runtime } from "../runtime.js";
import { type PieceBounds, withinBounds } from "../text/text-pieces.js";

interface Material<Message> {
  readonly messages: Message[];
  /** How many from the first on it covers; the others are for further jobs. */
  readonly taken: number;
}

/**
 * Cuts `messages` to what one job gives the model. The prompt, the log and an event say where something is omitted.
 *
 * @param beginsGroup where work may be split. @default nowhere
 */
export async function limitMaterial<Message extends { text: string }>(
  { db, logger }: Pick<Runtime, "db" | "logger">,
  of: Pick<MemoryEvent, "scope" | "threadId" | "step">,
  messages: readonly Message[],
  bounds: PieceBounds,
  beginsGroup?: (message: Message) => boolean,
): Promise<Material<Message>> {
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
