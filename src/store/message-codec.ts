import { type BaseMessage, isBaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { MemoryError } from "../errors.js";

/** The serializer of LangGraph's checkpoints, so that a transcript keeps exactly what a checkpoint keeps. */
const { serde } = new MemorySaver();

/** `message` as text that `decodeMessage` turns back into the same LangChain message. */
export async function encodeMessage(message: BaseMessage): Promise<string> {
  const [, bytes] = await serde.dumpsTyped(message);
  return new TextDecoder().decode(bytes);
}

/** The message that `serialised` was made from. */
export async function decodeMessage(serialised: string): Promise<BaseMessage> {
  const message: unknown = await serde.loadsTyped("json", serialised);
  if (isBaseMessage(message)) return message;
  throw new MemoryError(
    "DATABASE_ERROR",
    "A message of the transcript cannot be read: its content was altered.",
  );
}
