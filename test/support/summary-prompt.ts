import type { ScriptedCall } from "../../src/testing/index.js";

/** What one call of the summarizing model was given. */
export interface SummaryPrompt {
  /** The previous summary and the seqs it covers; null without one. */
  readonly previous: { readonly covers: string; readonly text: string } | null;
  /** Seqs of the new messages. */
  readonly added: number[];
  /** Seqs of the messages to drop, and before which seq. */
  readonly dropped: number[];
  readonly dropBefore: number | null;
  readonly text: string;
}

/** The parts of the prompt of `call`. */
export function summaryPrompt(call: ScriptedCall | undefined): SummaryPrompt {
  const text = call?.messages.find((message) => message.getType() === "human")?.text ?? "";
  const previous = /<previous_summary covers="([^"]*)">\n([\s\S]*?)\n<\/previous_summary>/.exec(text);
  const drop = /<drop before="(\d+)">([\s\S]*?)<\/drop>/.exec(text);
  return {
    previous: previous ? { covers: previous[1] ?? "", text: previous[2] ?? "" } : null,
    added: seqs(/<new_messages>([\s\S]*?)<\/new_messages>/.exec(text)?.[1]),
    dropped: seqs(drop?.[2]),
    dropBefore: drop ? Number(drop[1]) : null,
    text,
  };
}

function seqs(block: string | undefined): number[] {
  return [...(block ?? "").matchAll(/<message seq="(\d+)"/g)].map((match) => Number(match[1]));
}
