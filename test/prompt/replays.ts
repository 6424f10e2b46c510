import type { BaseMessage } from "@langchain/core/messages";
import { expect } from "vitest";
import type { Memory, ReplayedTurn, Scope } from "../../src/index.js";
import { type HandedMessage, handedForm } from "../../src/prompt/shown-by.js";
import { wordsIn } from "./deeds.js";

/** What a model was given in a turn's first call, without the app's own instructions. */
export function handedIn(messages: readonly BaseMessage[]): HandedMessage[] {
  return messages.flatMap((message) => {
    if (message.getType() !== "system") return handedForm(message);
    const at = message.text.indexOf("<memory>\n");
    return at < 0 ? [] : { role: "system" as const, content: message.text.slice(at) };
  });
}

/** The turns of a history, as they were handed on. */
export interface Handed {
  readonly scope: Scope;
  readonly threadId: string;
  readonly turn: number;
  readonly seq: number;
  readonly prompt: readonly HandedMessage[];
}

const asText = (messages: readonly HandedMessage[]) => JSON.stringify(messages, null, 1);

/** How many turns were replayed at once, how many are left at the end, and how many of these whole. */
export interface Replays {
  turns: number;
  left: number;
  whole: number;
  readonly gaps: Record<string, number>;
}

/** Replays a turn: it is what was handed on, byte for byte, or says what it lacks. */
export async function replayed(memory: Memory, handed: Handed): Promise<ReplayedTurn> {
  const { prompt, ...turn } = handed;
  const found = await memory.threads.replay(turn);
  const [was, is] = [asText(prompt), asText(found.messages)];
  if (found.complete) {
    if (was !== is) throw new Error(`Turn ${turn.turn} was\n${was}\nand is\n${is}`);
    return found;
  }
  expect(found.gaps).not.toEqual([]);
  // What is there stands as it stood.
  expect(found.messages.length, JSON.stringify(found.gaps)).toBe(prompt.length);
  expect(wordsIn(is).filter((word) => !was.includes(word))).toEqual([]);
  return found;
}
