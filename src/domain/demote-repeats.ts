import type { MemoryItem } from "./memory.js";
import { retrievalWeights as weights } from "./retrieval-weights.js";

/**
 * `hits` (best first) in the order that says most: a free statement that was learned only from turns that better hits
 * of its kind were learned from too loses in score, since they have mostly said it already. A slot's value is said by
 * no other memory, and an episode does not say all that its turns do.
 */
export function demoteRepeats<Hit extends { readonly memory: MemoryItem; readonly score: number }>(
  hits: readonly Hit[],
): Hit[] {
  const told = new Set<string>();
  const ordered: Hit[] = [];
  // In order of their scores, since those were in order before: only the first needs to be looked at.
  const repeats: Hit[] = [];
  let next = 0;
  const takeAbove = (score: number) => {
    for (let repeat = repeats[next]; repeat && repeat.score > score; repeat = repeats[++next]) {
      ordered.push(repeat);
    }
  };
  for (const hit of hits) {
    const turns = turnsOf(hit.memory);
    if (turns.length > 0 && turns.every((turn) => told.has(turn))) {
      repeats.push({ ...hit, score: hit.score * (1 - weights.repeated) });
      continue;
    }
    takeAbove(hit.score);
    ordered.push(hit);
    for (const turn of turns) told.add(turn);
  }
  takeAbove(Number.NEGATIVE_INFINITY);
  return ordered;
}

function turnsOf({ kind, key, source }: MemoryItem): string[] {
  if (source === null || key !== null) return [];
  return source.seqs.map((seq) => JSON.stringify([kind, source.threadId, seq]));
}
