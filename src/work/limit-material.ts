import { insertEvent, type MemoryEvent } from "../observability/events/event-log.js";
import type { Runtime } from "../runtime.js";
import { withoutMemoryBlocks } from "../screening/contained-text.js";
import { block, element } from "../text/prompt-text.js";
import { type PieceBounds, withinBounds } from "../text/text-pieces.js";
import { momentIn } from "../text/time-zone.js";
import type { TurnMessage } from "../transcript/find-messages.js";
import type { TaskRuntime } from "./jobs-options.js";
import type { ThreadWork } from "./work-definition.js";

/**
 * Cuts `messages` to one job, and reports the cut in the prompt, the log and an event. `taken`: how
 * many are covered.
 */
export async function limitMaterial<Message extends { text: string }>(
  { db, logger }: Pick<Runtime, "db" | "logger">,
  of: Pick<MemoryEvent, "scope" | "threadId" | "step">,
  messages: readonly Message[],
  bounds: PieceBounds,
  beginsGroup?: (message: Message) => boolean,
): Promise<{ readonly messages: Message[]; readonly taken: number }> {
  const { items, taken, isCut } = withinBounds(messages, bounds, beginsGroup);
  if (isCut) {
    logger.warn(
      `The middle of the conversation ${of.threadId} is omitted, since it is longer than ${bounds.maxPieces} calls of ` +
        `${bounds.inputBudgetTokens} tokens: raise maxPieces or inputBudgetTokens (${of.step}).`,
    );
    await insertEvent(db, { ...of, op: "create", status: "skipped", detail: "middle_omitted" });
  }
  return { messages: [...items], taken };
}

export async function limitThread<
  Found extends ThreadWork & { readonly messages: readonly TurnMessage[] },
>(deps: TaskRuntime, step: MemoryEvent["step"], work: Found): Promise<Found> {
  const { scope, threadId } = work;
  const { messages } = await limitMaterial(
    deps,
    { scope, threadId, step },
    work.messages,
    deps.config.upkeep,
  );
  return { ...work, messages };
}

export function conversationBlock(
  tag: string,
  messages: readonly TurnMessage[],
  attributes?: Parameters<typeof block>[2],
): string {
  const lines = messages.map(({ role, actor, saidAt, timeZone, text }) => {
    const attributes = { role, name: actor, date: momentIn(saidAt, timeZone) };
    return element("message", attributes, withoutMemoryBlocks(text));
  });
  return block(tag, lines, attributes);
}
