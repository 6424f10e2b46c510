import { contentWords, shareOfCounts, type WordCounts } from "../text/shared-words.js";
import type { TimeSpan } from "./question-dates.rule.js";

/** With half of their words in common, statements may say different things of the same. */
const nearShare = 0.5;
/** What fits much better stays first, whenever it was said. */
const nearScore = 0.8;
/** Fewer are shown of nearly every search. */
const maxCompared = 20;

interface Statement {
  readonly memory: { readonly id: string; readonly text: string; readonly validFrom: Date };
  readonly score: number;
}

/**
 * Of nearly equal statements among the best of `ranked` the later comes first, unless the question
 * names a time: of that time, what was said later says nothing.
 */
export function laterFirst<Hit extends Statement>(
  ranked: readonly Hit[],
  spans: readonly TimeSpan[],
): Hit[] {
  if (spans.length > 0) return [...ranked];
  const ordered: { readonly hit: Hit; readonly words: WordCounts }[] = [];
  for (const hit of ranked.slice(0, maxCompared)) {
    const words = contentWords(hit.memory.text);
    const place = ordered.findIndex(
      (before) =>
        before.hit.memory.validFrom < hit.memory.validFrom &&
        hit.score >= nearScore * before.hit.score &&
        shareOfCounts(words, before.words) >= nearShare,
    );
    ordered.splice(place < 0 ? ordered.length : place, 0, { hit, words });
  }
  return [...ordered.map(({ hit }) => hit), ...ranked.slice(maxCompared)];
}

/** Ids of the statements that nearly equal another: their dates tell them apart. */
export function nearStatements(memories: readonly Statement["memory"][]): ReadonlySet<string> {
  const near = new Set<string>();
  const read = memories
    .slice(0, maxCompared)
    .map(({ id, text }) => ({ id, text, words: contentWords(text) }));
  for (const [index, { id, text, words }] of read.entries()) {
    for (const other of read.slice(0, index)) {
      // A user and the user within an app may have the same memory.
      if (other.text === text || shareOfCounts(words, other.words) < nearShare) continue;
      near.add(id).add(other.id);
    }
  }
  return near;
}
