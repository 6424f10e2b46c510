import type { MemoryHit } from "../search/rank-memories.js";
import type { TranscriptHit } from "../search/search-transcript.js";
import { type MemoryFlags, type ScopeFlags, scopeOf, useMemory } from "./memory-flags.js";
import { aligned } from "./output.js";

/** `mnemograph search`: memories, or messages, that fit a question, best first. */
export async function searchCommand(
  query: string,
  flags: MemoryFlags & ScopeFlags & { readonly transcript?: true; readonly top?: number },
): Promise<void> {
  const asked = { scope: scopeOf(flags), query, topK: flags.top };
  await useMemory(flags, async (memory) => {
    const [hits, rows] = flags.transcript
      ? await memory.transcript.search(asked).then((found) => [found, found.map(messageRow)] as const)
      : await memory.query(asked).then((found) => [found, found.map(memoryRow)] as const);
    if (flags.json) console.log(JSON.stringify(hits));
    else console.log(rows.length > 0 ? aligned(rows).join("\n") : "Nothing fits.");
  });
}

function memoryRow({ memory, score }: MemoryHit) {
  const { id, kind, category, key, text } = memory;
  return [score.toFixed(2), id, kind, key === null ? category : `${category}/${key}`, text];
}

function messageRow({ score, saidAt, threadId, seq, role, actor, text }: TranscriptHit) {
  return [score.toFixed(2), saidAt.toISOString(), `${threadId}#${seq}`, actor ?? role, text];
}
