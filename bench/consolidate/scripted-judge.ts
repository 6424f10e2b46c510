import { ScriptedChatModel } from "../../src/testing/index.js";
import { seeded } from "../data/sentences.js";
import type { PlantedMemory } from "./planted.js";

/** A judge, and how often it was asked about what. */
interface ScriptedJudge {
  readonly model: ScriptedChatModel;
  readonly asked: { doubles: number; strangers: number; wrong: number };
}

/**
 * A judge of pairs that is right with the chance `right`, each time anew, and wrong in the worst
 * way: then it says "same" of strangers, and "unrelated" of doubles.
 */
export function scriptedJudge(
  memories: readonly PlantedMemory[],
  { right, seed }: { readonly right: number; readonly seed: number },
): ScriptedJudge {
  const random = seeded(seed);
  const factOf = new Map(memories.map(({ text, fact }) => [text, fact]));
  const asked = { doubles: 0, strangers: 0, wrong: 0 };
  const verdictOn = (texts: readonly string[]) => {
    const [one, other] = texts.map((text) => factOf.get(text));
    const isDouble = one !== undefined && one === other;
    asked[isDouble ? "doubles" : "strangers"]++;
    const isRight = random() < right;
    if (!isRight) asked.wrong++;
    return isDouble === isRight ? "same" : "unrelated";
  };
  const model = new ScriptedChatModel({
    replies: (messages) => {
      const prompt = messages.find((message) => message.type === "human")?.text ?? "";
      const pairs = [...prompt.matchAll(/<pair number="(\d+)">(.*?)<\/pair>/gs)];
      const verdicts = pairs.map(([, number, pair = ""]) => {
        const texts = [...pair.matchAll(/<memory[^>]*>(.*?)<\/memory>/gs)].map(
          ([, text = ""]) => text,
        );
        return { pair: Number(number), reason: "As scripted.", verdict: verdictOn(texts) };
      });
      return { structured: { verdicts } };
    },
  });
  return { model, asked };
}
