import type { MemoryHit } from "../search/rank-memories.rule.js";
import type { TranscriptHit } from "../search/search-transcript.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withMemory, withScope } from "./flags.js";
import { aligned, print } from "./output.js";
import { useScope } from "./use-memory.js";

/** `mnemograph search`: memories, or messages, that fit a question, best first. */
export const searchCommand: CliCommand = {
  name: "search",
  description: "find memories, or messages, best first",
  examples: [
    ['search "favourite tea" --user ana', "what is known of a user"],
    ['search "" --user ana', "the most important of all that is known"],
    ["search tea --user ana --transcript", "what was said"],
  ],
  flags: (command) =>
    withMemory(withScope(command), "also search by meaning, with the embeddings a file or package exports")
      .argument("<query>", "what to look for")
      .option("--transcript", "search what was said instead of what is known")
      .option("--top <count>", "at most this many (default: 5 memories, 10 messages)", wholeNumber(200)),
  run: search,
};

async function search(
  query: string,
  flags: MemoryFlags & { readonly transcript?: true; readonly top?: number },
): Promise<void> {
  await useScope(flags, async (memory, scope) => {
    const asked = { scope, query, topK: flags.top };
    const [hits, rows] = flags.transcript
      ? await memory.transcript.search(asked).then((found) => [found, found.map(messageRow)] as const)
      : await memory.query(asked).then((found) => [found, found.map(memoryRow)] as const);
    print(flags, hits, () => (rows.length > 0 ? aligned(rows).join("\n") : "Nothing fits."));
  });
}

function memoryRow({ memory, score }: MemoryHit) {
  const { id, kind, category, key, text } = memory;
  return [score.toFixed(2), id, kind, key === null ? category : `${category}/${key}`, text];
}

function messageRow({ score, saidAt, threadId, seq, role, actor, text }: TranscriptHit) {
  return [score.toFixed(2), saidAt.toISOString(), `${threadId}#${seq}`, actor ?? role, text];
}
