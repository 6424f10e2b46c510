import type { MemoryItem } from "./memory.js";

/** Related memories told with hits: one or two say what else is about it, more would crowd out what was asked for. */
const mostRelated = 2;

/**
 * For each of `hits`, best first, the memories of `links` (by id; strongest first) that are told beside it: two in all,
 * each once, none that is among `hits` or `known`.
 */
export function relatedTo<Hit extends { readonly memory: MemoryItem }>(
  hits: readonly Hit[],
  links: ReadonlyMap<string, readonly MemoryItem[]>,
  known: readonly MemoryItem[] = [],
): { readonly hit: Hit; readonly memories: readonly MemoryItem[] }[] {
  const told = new Set([...hits.map(({ memory }) => memory), ...known].map(({ id }) => id));
  let left = mostRelated;
  return hits.map((hit) => {
    const news = (links.get(hit.memory.id) ?? []).filter(({ id }) => !told.has(id)).slice(0, left);
    for (const { id } of news) told.add(id);
    left -= news.length;
    return { hit, memories: news };
  });
}
