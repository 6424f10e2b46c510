import { MemoryError } from "../errors.js";
import { withoutHeadings } from "../text/contained-text.js";
import { readsAsInstruction } from "../text/reads-as-instruction.js";
import { hasWords, headOf } from "../text/storable-text.js";

/** A summary as it may be stored. */
export interface SummaryText {
  readonly text: string;
  /** How many of its sentences were left out since they read as instructions to a model. */
  readonly dropped: number;
}

/**
 * A model's summary as it may be stored: trimmed, nothing hidden, no headings, no sentence that reads as instructions to
 * a model, at most `maxCharacters` long (cut after the last sentence that fits). A summary stands in later prompts, and
 * may be made of what a tool returned.
 *
 * @throws MemoryError `MODEL_OUTPUT_INVALID` when nothing is left.
 */
export function summaryText(text: string, maxCharacters: number): SummaryText {
  // What will be cut off need not be looked at, but for what takes the place of sentences left out.
  const head = text.trimStart().slice(0, 4 * maxCharacters);
  const { text: innocent, dropped } = withoutInstructions(withoutHeadings(head).trim());
  const trimmed = innocent.trim();
  if (!hasWords(trimmed)) {
    throw new MemoryError(
      "MODEL_OUTPUT_INVALID",
      dropped > 0
        ? "The model's summary was nothing but what reads as instructions to a model."
        : "The model returned an empty summary.",
    );
  }
  return { text: cutAtSentence(trimmed, maxCharacters), dropped };
}

/** Sentence by sentence, and by twos, since an order can be cut in half. */
function withoutInstructions(text: string): SummaryText {
  if (!readsAsInstruction(text)) return { text, dropped: 0 };
  const sentences = text.split(/(?<=[.!?]\s|[。！？\n])/u);
  const bad = sentences.map((sentence) => readsAsInstruction(sentence));
  for (let index = 1; index < sentences.length; index++) {
    if (bad[index - 1] || bad[index]) continue;
    if (!readsAsInstruction(`${sentences[index - 1]}${sentences[index]}`)) continue;
    bad[index - 1] = true;
    bad[index] = true;
  }
  return {
    text: sentences.filter((_, index) => !bad[index]).join(""),
    dropped: bad.filter(Boolean).length,
  };
}

function cutAtSentence(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const head = headOf(text, maxCharacters);
  const sentenceEnd = Math.max(...[". ", "! ", "? ", "\n", "。"].map((end) => head.lastIndexOf(end)));
  return (sentenceEnd > maxCharacters / 2 ? head.slice(0, sentenceEnd + 1) : head).trim();
}
