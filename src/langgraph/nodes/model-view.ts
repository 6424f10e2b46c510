import type { BaseMessage } from "@langchain/core/messages";
import { parseInput } from "../../input/parse-input.js";
import { answeredCalls } from "../../messages/answered-calls.js";
import type { Recalled } from "../../prompt/recalled.js";
import { type InjectAs, injectAsSchema, turnMessages } from "../../prompt/turn-messages.js";
import { fromState } from "../run/state-fields.js";

/**
 * The messages that an agent sees: the graph's own system messages as one, then the epoch's
 * messages. Memory is messages of its own: the block before the user's message that opened the
 * epoch, and what each turn adds before its own. The last message is what the user said. A call of
 * an earlier turn that never got its result is followed by one that says so.
 * @param recalled from the recall node; without it, returns `state`
 * @param injectAs "system": the block ends the system message. "text": memory begins the user's
 * text.
 * @default "message"
 */
export function modelView(
  state: readonly BaseMessage[],
  recalled: Recalled | null | undefined,
  injectAs: InjectAs = "message",
): BaseMessage[] {
  parseInput(injectAsSchema, injectAs, "`injectAs`");
  const found = fromState(recalled);
  return found
    ? turnMessages(state, found, injectAs)
    : [...answeredCalls(state, injectAs === "text")];
}
