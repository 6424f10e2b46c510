import type { ScriptedCall } from "../../src/testing/index.js";

/** The parts of a prompt for a summary. */
export interface SummaryPrompt {
  readonly previous: { readonly covers: string; readonly text: string } | null;
  readonly added: number[];
  readonly dropped: number[];
  readonly dropBefore: number | null;
  readonly text: string;
}

export function summaryPrompt(call: ScriptedCall | undefined): SummaryPrompt {
  const text = call?.messages.find((message) => message.getType() === "human")?.text ?? "";
  const previous = /<previous_summary covers="([^"]*)">\n([\s\S]*?)\n<\/previous_summary>/.exec(
    text,
  );
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
