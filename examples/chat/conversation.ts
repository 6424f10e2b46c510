import type { Memory } from "mnemograph";
import type { Terminal } from "./terminal.js";

/** What the chat's parts work on. */
export interface Conversation {
  readonly memory: Memory;
  readonly scope: { readonly userId: string };
  readonly threadId: string;
  readonly terminal: Terminal;
}
