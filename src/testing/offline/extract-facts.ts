import { factsOf } from "./fact-rules.js";
import { promptBlocks } from "./prompt-blocks.js";
import { sentencesOf } from "./sentences.js";

/** How a sentence begins that corrects what was known. */
const CORRECTION = /^(?:no\b|sorry\b|actually\b|correction\b)|\b(?:just )?moved to\b/i;

/**
 * The structured output `fact_extraction`, by rule: what a few English sentence patterns say of the speaker ("My name is …",
 * "I live in …", "I am allergic to …", "I prefer …", "Always …"). Questions hold no facts. A stand-in: it understands nothing else.
 */
export function extractFacts(prompt: string): Record<string, unknown> {
  const known = promptBlocks(prompt, "fact");
  const facts = promptBlocks(prompt, "message").flatMap(({ attributes, text }) =>
    sentencesOf(text)
      .filter((sentence) => !/[?？]$/.test(sentence))
      .flatMap((sentence) =>
        factsOf(sentence).map(({ fact, quote }) => {
          const slot = known.findIndex(
            (other) =>
              fact.key !== null &&
              other.attributes.key === fact.key &&
              other.attributes.category === fact.category,
          );
          return {
            ...fact,
            evidence: { message: Number(attributes.number), quote },
            correction: CORRECTION.test(sentence),
            updates: slot < 0 ? null : slot + 1,
          };
        }),
      ),
  );
  return { reasoning: "Made by rule, without a model: sentences of a known pattern.", facts };
}
