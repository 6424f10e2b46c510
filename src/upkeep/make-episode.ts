import { episodeText } from "../domain/episode-text.js";
import { textPieces } from "../domain/text-pieces.js";
import { maxCharacters } from "../domain/writing-constraints.js";
import { compressTurns } from "../llm/compress-turns.js";
import type { EpisodeWork } from "./load-compression.js";
import type { UpkeepDeps } from "./upkeep-deps.js";

/**
 * The episode of `work`'s turns, as the model wrote it.
 *
 * More than the model's budget is folded in piece by piece, each into the episode of those before, so that
 * nothing is left out in the middle.
 *
 * @param betweenPieces called before each call after the first; its error ends the work.
 * @throws MemoryError `MODEL_OUTPUT_INVALID` also when the episode of a piece would lose those before it;
 *   `MODEL_TIMEOUT`, `MODEL_FAILED`.
 */
export async function makeEpisode(
  deps: UpkeepDeps,
  { turns, messages }: EpisodeWork,
  betweenPieces: () => Promise<void>,
): Promise<string> {
  const { inputBudgetTokens, timeoutMs } = deps.config.upkeep;
  let previous: string | null = null;
  let text = "";
  for (const piece of textPieces(messages, inputBudgetTokens)) {
    if (previous !== null) await betweenPieces();
    const input = { turns, previous, messages: piece, maxCharacters: maxCharacters.episode };
    text = await compressTurns(deps.model(), input, timeoutMs);
    previous = episodeText(text);
  }
  return text;
}
