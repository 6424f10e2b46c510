import type { BaseMessage } from "@langchain/core/messages";
import { answeredCalls } from "../../conversation/answered-calls.js";
import { parseInput } from "../../text/parse-input.js";
import type { Recalled } from "../../turns/recalled.js";
import { type InjectAs, turnMessages } from "../../turns/turn-messages.js";
import { injectAsSchema } from "../run/node-options.js";
import { fromState } from "../run/state-fields.js";

/**
 * The messages that an agent sees: one system message with the graph's own and the memory block,
 * then the epoch's messages, with each turn's additions before its user's message.
 * A call of an earlier turn that never got its result is followed by one that says so.
 * @param recalled from the recall node; without it, returns `state`
 * @param injectAs "user": puts the block before the user's message that opened the epoch.
 * @default "system"
 */
export function modelView(
  state: readonly BaseMessage[],
  recalled: Recalled | null | undefined,
  injectAs: InjectAs = "system",
): BaseMessage[] {
  parseInput(injectAsSchema, injectAs, "`injectAs`");
  const found = fromState(recalled);
  return found ? turnMessages(state, found, injectAs) : [...answeredCalls(state)];
}
