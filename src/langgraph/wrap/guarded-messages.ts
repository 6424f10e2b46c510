import type { BaseMessage } from "@langchain/core/messages";
import { MessagesValue, ReducedValue, StateSchema } from "@langchain/langgraph";
import { z } from "zod";

/** Each list of messages that the state has had, as its reducer made it. */
const asReduced = new WeakMap<readonly BaseMessage[], readonly BaseMessage[]>();

/** Clients know the state's messages by it. */
const described = z.any().meta({ ...MessagesValue.jsonSchemaExtra });

/**
 * The agent's `messages`, which other middleware cannot change for good by editing the list of a request in place, as
 * `contextEditingMiddleware` does: that list is the state's. A node before each model call would cost a checkpoint each.
 */
export const guardedMessages = new StateSchema({
  messages: new ReducedValue(described.default(() => []).meta({ ...MessagesValue.jsonSchemaExtra }), {
    inputSchema: described,
    reducer: (before: BaseMessage[], update: Parameters<typeof MessagesValue.reducer>[1]) => {
      const messages = MessagesValue.reducer(before, update);
      asReduced.set(messages, [...messages]);
      return messages;
    },
  }),
});

/** Undoes, in place, what others changed in a list of the state. */
export function restoreMessages(messages: BaseMessage[] | undefined): void {
  const whole = messages && asReduced.get(messages);
  if (whole) messages.splice(0, messages.length, ...whole);
}
