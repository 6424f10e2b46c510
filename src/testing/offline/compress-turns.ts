import { promptBlocks } from "./prompt-blocks.js";
import { firstSentence } from "./sentences.js";

/** Room for the frame sentence within an episode's 600 characters. */
const MOST_CHARACTERS = 540;

/**
 * The structured output `episode_summary`, by rule: the first sentence of each thing the user said, as many as an episode holds. A
 * stand-in: it cannot tell what mattered.
 */
export function compressTurns(prompt: string): Record<string, unknown> {
  const [earlier] = promptBlocks(prompt, "episode_so_far");
  const said = promptBlocks(prompt, "message")
    .filter(({ attributes }) => attributes.role === "user")
    .map(({ text }) => firstSentence(text, 100).replace(/[.!。！]$/u, ""));
  const subjects = [
    ...(earlier ? [earlier.text.replace(/^The user said: |\.$/g, "")] : []),
    ...new Set(said),
  ];
  let length = 0;
  const kept = subjects.filter((subject, index) => {
    length += subject.length + 2;
    return index === 0 || length <= MOST_CHARACTERS;
  });
  return {
    reasoning: "Made by rule, without a model: the first sentence of each user message.",
    summary: `The user said: ${kept.join("; ").slice(0, MOST_CHARACTERS)}.`,
  };
}
