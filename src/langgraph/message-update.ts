import { type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import { Overwrite } from "@langchain/langgraph";
import { isMemoryBlock, isRecalled } from "../recall/recalled-mark.js";
import { encodePlain, plainMessage } from "../store/message-codec.js";

/** What an agent did to the messages of the graph around it. */
export interface MessageUpdate {
  readonly messages: BaseMessage[] | Overwrite<BaseMessage[]>;
  /** Ids of the messages it was shown and removed. */
  readonly removed: string[];
}

/**
 * The messages an agent added, changed and removed, without what was recalled.
 *
 * @param state the messages in the graph's state.
 * @param view what the agent was shown in their place. In a resumed run it may be another one than `output`
 *   began with, so only what it shows is known to be removed.
 * @param output the agent's messages afterwards.
 */
export function messageUpdate(
  state: readonly BaseMessage[],
  view: readonly BaseMessage[],
  output: readonly BaseMessage[],
): MessageUpdate {
  const own = new Map(state.map((message) => [message.id, message]));
  const outputIds = idsOf(output);
  const removed = view.flatMap((message) =>
    message.id === undefined || isMemoryBlock(message) || outputIds.has(message.id) ? [] : [message.id],
  );
  const recalled = idsOf(view.filter((message) => message.id !== undefined && isRecalled(message)));
  // The current message with memory in front of it stands for the one in the state, also where the agent changed it.
  const said = output.flatMap((message) =>
    isRecalled(message) || recalled.has(message.id) ? (own.get(message.id) ?? []) : message,
  );

  const gone = new Set(removed);
  const kept = state.filter((message) => !gone.has(message.id ?? ""));
  const added = said.filter((message) => !own.has(message.id));
  const saidIds = idsOf(said);
  const merged = [...kept.filter((message) => saidIds.has(message.id)), ...added];
  if (sameOrder(merged, said)) {
    const removals = removed.filter((id) => own.has(id)).map((id) => new RemoveMessage({ id }));
    const changed = said.filter((message) => !isSame(own.get(message.id), message));
    return { messages: [...removals, ...changed], removed };
  }
  // Merging by id appends what is new; an agent that put something in between means it there.
  const hidden = kept.filter((message) => !saidIds.has(message.id));
  return { messages: new Overwrite([...hidden, ...said]), removed };
}

function idsOf(messages: readonly BaseMessage[]): ReadonlySet<string | undefined> {
  return new Set(messages.map((message) => message.id));
}

/** System messages are shown first wherever they are, so their place says nothing. */
function sameOrder(left: readonly BaseMessage[], right: readonly BaseMessage[]): boolean {
  const talk = (messages: readonly BaseMessage[]) =>
    messages.filter((message) => message.getType() !== "system").map((message) => message.id);
  const other = talk(right);
  return talk(left).every((id, index) => id === other[index]);
}

/** Also after a checkpoint, where an unchanged message comes back as another object. */
function isSame(before: BaseMessage | undefined, after: BaseMessage): boolean {
  return (
    before === after ||
    (before !== undefined && encodePlain(plainMessage(before)) === encodePlain(plainMessage(after)))
  );
}
