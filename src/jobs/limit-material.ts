import { insertEvent, type MemoryEvent } from "../events/event-log.js";
import type { Logger } from "../logger.js";
import type { Connection } from "../postgres/connection.js";
import { type PieceBounds, withinBounds } from "../text/text-pieces.js";

export interface Deps {
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
