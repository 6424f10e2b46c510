/** Who speaks in a message, in the words of chat APIs. */
export type MessageRole = "user" | "assistant" | "system" | "tool" | "other";

/** One entry of a thread's transcript. */
export interface TranscriptMessage {
  /** 0, 1, 2… in its thread, without gaps. */
  readonly seq: number;
  readonly messageId: string;
  readonly role: MessageRole;
  /** The speaker's name, where the message carries one (an agent, a person in a group). */
  readonly actor: string | null;
  /** What was said, as plain text. */
  readonly text: string;
  /** The whole message as LangChain writes it. */
  readonly serialised: string;
}
