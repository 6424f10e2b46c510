import { promptBlocks } from "./prompt-blocks.js";
import { isStopWord, stem, wordsOf } from "./words.js";

/**
 * The structured output `same_fact`, by rule: statements with the same words are the same, one with more words says more, all others
 * differ. A stand-in: it knows no synonyms.
 */
export function compareFacts(prompt: string): Record<string, unknown> {
  const verdicts = promptBlocks(prompt, "pair").map(({ text }, index) => {
    // the pair's own text was unescaped with it
    const known = subjects(/<remembered>([\s\S]*?)<\/remembered>/.exec(text)?.[1] ?? "");
    const said = subjects(/<said>([\s\S]*?)<\/said>/.exec(text)?.[1] ?? "");
    return { pair: index + 1, verdict: compare(known, said) };
  });
  return { reasoning: "Made by rule, without a model: the words they share.", verdicts };
}

function compare(known: ReadonlySet<string>, said: ReadonlySet<string>): "different" | "same" | "says_more" {
  const shared = [...known].filter((word) => said.has(word)).length;
  if (shared === 0 || shared < known.size) return "different";
  return said.size === known.size ? "same" : "says_more";
}

function subjects(text: string): ReadonlySet<string> {
  return new Set(
    wordsOf(text)
      .filter((word) => !isStopWord(word))
      .map(stem),
  );
}
