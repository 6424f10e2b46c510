import { fitsDate, type NamedDate } from "./question-dates.js";
import { retrievalWeights as weights } from "./retrieval-weights.js";

/** A message as its final rank needs it. */
export interface RankedMessage {
  readonly actor: string | null;
  readonly text: string;
  readonly saidAt: Date;
  readonly score: number;
}

/**
 * `candidates` in their final order: what a named speaker said, or what was said at a named date, gains; what
 * only asks loses. Those below `floor` (a share of the best lexical match) are left out, so the answer may be empty.
 */
export function rankTranscript<Candidate extends RankedMessage>(
  candidates: readonly Candidate[],
  question: { readonly dates: readonly NamedDate[]; readonly names: (actor: string) => boolean },
  floor: number,
): (Candidate & { readonly named: boolean })[] {
  return candidates
    .map((candidate) => {
      const named = candidate.actor !== null && question.names(candidate.actor);
      const dated = question.dates.some((date) => fitsDate(candidate.saidAt, date)) ? weights.date : 0;
      const asks = candidate.text.trimEnd().endsWith("?") ? weights.question : 0;
      const score = candidate.score * (named ? 1 + weights.speaker : 1) + dated - asks;
      return { ...candidate, named, score };
    })
    .filter((candidate) => candidate.score >= floor)
    .toSorted((first, second) => second.score - first.score);
}
