import type { BaseMessage } from "@langchain/core/messages";
import { MessagesValue, ReducedValue, StateSchema } from "@langchain/langgraph";
import { z } from "zod";

/** A copy of each list that the reducer returned. */
const asReduced = new WeakMap<readonly BaseMessage[], readonly BaseMessage[]>();

/** Clients recognise the state's messages by it. */
const described = z.any().meta({ ...MessagesValue.jsonSchemaExtra });

/**
 * The agent's `messages`; `restoreMessages` undoes in-place edits, as of
 * `contextEditingMiddleware`.
 */
export const guardedMessages = new StateSchema({
  messages: new ReducedValue(
    described.default(() => []).meta({ ...MessagesValue.jsonSchemaExtra }),
    {
      inputSchema: described,
      reducer: (before: BaseMessage[], update: Parameters<typeof MessagesValue.reducer>[1]) => {
        const messages = MessagesValue.reducer(before, update);
        asReduced.set(messages, [...messages]);
        return messages;
      },
    },
  ),
});

/** Undoes in-place changes of a list of the state. */
export function restoreMessages(messages: BaseMessage[] | undefined): void {
  const whole = messages && asReduced.get(messages);
  if (whole) messages.splice(0, messages.length, ...whole);
}
