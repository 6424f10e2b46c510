import type { PairVerdict } from "../../src/reflection/consolidation/pair-votes.rule.js";
import type { ScriptedReply } from "../../src/testing/index.js";
import { taskModel } from "./task-model.js";

/** Two memories that say the same. */
export const samePair = [
  { text: "The user enjoys hiking in the Alps every summer." },
  { text: "Every summer the user enjoys hikes across the Alps." },
] as const;

interface ShownTexts {
  readonly one: string;
  readonly other: string;
}

function pairsOf(prompt: string): ShownTexts[] {
  return [...prompt.matchAll(/<pair number="\d+">(.*?)<\/pair>/gs)].map(([, pair = ""]) => {
    const texts = [...pair.matchAll(/<memory[^>]*>(.*?)<\/memory>/gs)].map(([, text = ""]) => text);
    return { one: texts[0] ?? "", other: texts[1] ?? "" };
  });
}

/** A model whose verdict on each pair of memories is `judge`. */
export function judgingModel(judge: (pair: ShownTexts, call: number) => PairVerdict) {
  const reply = (prompt: string, call: number): ScriptedReply => ({
    structured: {
      verdicts: pairsOf(prompt).map((pair, index) => ({
        pair: index + 1,
        reason: `Because of pair ${index + 1}.`,
        verdict: judge(pair, call),
      })),
    },
  });
  return Object.assign(taskModel({ memory_pairs: reply }), { reply });
}
