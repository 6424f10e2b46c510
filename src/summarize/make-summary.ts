import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { headOf } from "../domain/clip-text.js";
import { estimateTokens } from "../domain/estimate-tokens.js";
import { type SummaryText, summaryText } from "../domain/summary-text.js";
import { textPieces } from "../domain/text-pieces.js";
import { summarizeMessages } from "../llm/summarize-messages.js";
import type { SummaryOptions } from "../options.js";
import type { SummaryMessage, SummaryWork } from "../store/find-summary-work.js";

/** Characters shown of each message that leaves the window: enough to recognise it in the summary. */
const droppedCharacters = 300;

/**
 * The text of the summary that `work` asks for.
 *
 * More than the model's budget is folded in piece by piece, each into the summary of those before, so that
 * nothing is left out in the middle.
 *
 * @param betweenPieces called before each piece after the first; its error ends the work.
 * @returns the text, and how many sentences were left out of it and of the pieces before.
 * @throws MemoryError `MODEL_OUTPUT_INVALID` when the summary of any piece is empty, which would lose those
 *   before it; `MODEL_TIMEOUT`, `MODEL_FAILED`.
 */
export async function makeSummary(
  model: BaseChatModel,
  work: SummaryWork,
  options: SummaryOptions,
  betweenPieces: () => Promise<void>,
): Promise<SummaryText> {
  const dropped = shorten(work.dropped, options.inputBudgetTokens / 4);
  const pieces = textPieces(work.added, options.inputBudgetTokens);
  // Told with the last piece: what never reached a summary is folded in before it is let go.
  const hasEarlier = work.added.some(({ seq }) => seq < work.startSeq);
  let previous = work.base;
  let left = 0;
  for (const [index, added] of pieces.entries()) {
    if (index > 0) await betweenPieces();
    const text = await summarizeMessages(
      model,
      {
        previous,
        added,
        startSeq: work.startSeq,
        dropped: index === 0 ? dropped : [],
        hasEarlier: hasEarlier && index === pieces.length - 1,
        maxCharacters: options.maxCharacters,
      },
      options.timeoutMs,
    );
    const summary = summaryText(text, options.maxCharacters);
    left += summary.dropped;
    previous = {
      startSeq: work.startSeq,
      endSeq: added.at(-1)?.seq ?? work.endSeq,
      text: summary.text,
    };
  }
  return { text: previous?.text ?? "", dropped: left };
}

/** The latest messages that fit the budget, each cut short. */
function shorten(messages: readonly SummaryMessage[], budgetTokens: number): SummaryMessage[] {
  const short = messages.map((message) => ({
    ...message,
    text: headOf(message.text, droppedCharacters),
  }));
  let used = 0;
  const first = short.findLastIndex((message) => {
    used += estimateTokens(message.text);
    return used > budgetTokens;
  });
  return short.slice(first + 1);
}
