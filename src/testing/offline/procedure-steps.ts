import { promptBlocks } from "./prompt-blocks.js";
import { firstSentence, sentencesOf } from "./sentences.js";

/**
 * The structured output `procedure_steps`, by rule: the numbered lines of what the assistant said, or else the first sentence of each
 * thing the user asked for. A stand-in: it cannot tell which of them led to the result.
 */
export function procedureSteps(prompt: string): Record<string, unknown> {
  const [goal] = promptBlocks(prompt, "goal");
  const messages = promptBlocks(prompt, "message");
  const said = (role: string) => messages.filter(({ attributes }) => attributes.role === role);
  const numbered = said("assistant").flatMap(({ text }) =>
    [...text.matchAll(/^\s*\d{1,2}[.)]\s+(.+)$/gm)].map(([, step = ""]) => step.trim()),
  );
  const asked = said("user")
    .map(({ text }) => sentencesOf(text).find((sentence) => !/[?？]$/.test(sentence)) ?? "")
    .filter((sentence) => sentence !== "");
  const earlier = promptBlocks(prompt, "step").map(({ text }) => text);
  return {
    reasoning: "Made by rule, without a model: numbered lines, or what was asked for.",
    title: goal?.text ?? firstSentence(asked[0] ?? "", 60).replace(/[.!]$/, ""),
    steps: [...earlier, ...(numbered.length > 0 ? numbered : asked)],
  };
}
