import { factCategories } from "../domain/choose-facts.js";
import type { FactCandidate } from "../domain/fact-candidate.js";
import { textPieces } from "../domain/text-pieces.js";
import { extractFacts } from "../llm/extract-facts.js";
import type { ExtractionWork } from "../store/find-extraction-work.js";
import type { UpkeepDeps } from "./upkeep-deps.js";

/**
 * What the model proposes to remember of `work`'s messages, which its evidence counts from 1.
 *
 * More than the model's budget is worked on in pieces; a long message becomes several, counted as one.
 *
 * @param betweenPieces called before each call after the first; its error ends the work.
 * @throws MemoryError `MODEL_OUTPUT_INVALID`, `MODEL_TIMEOUT`, `MODEL_FAILED`.
 */
export async function proposeFacts(
  deps: UpkeepDeps,
  work: ExtractionWork,
  betweenPieces: () => Promise<void>,
): Promise<FactCandidate[]> {
  const { upkeep, memories, policy } = deps.config;
  const material = work.messages
    .map((message, index) => ({ ...message, number: index + 1 }))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  const candidates: FactCandidate[] = [];
  for (const [index, piece] of textPieces(material, upkeep.inputBudgetTokens).entries()) {
    if (index > 0) await betweenPieces();
    const { candidatesPerTurn } = memories;
    const proposed = await extractFacts(
      deps.model(),
      { messages: piece, known: work.known, categories: factCategories(policy), candidatesPerTurn },
      upkeep.timeoutMs,
    );
    candidates.push(
      ...proposed.map((candidate) => {
        const { message, quote } = candidate.evidence;
        // 0 is no message: a number out of range is no evidence.
        return { ...candidate, evidence: { message: piece[message - 1]?.number ?? 0, quote } };
      }),
    );
  }
  return candidates;
}
