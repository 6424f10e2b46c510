import {
  type CliCommand,
  type MemoryFlags,
  wholeNumber,
  withMemoryFlags,
  withScope,
} from "./flags.js";
import { aligned, print } from "./output.js";
import { useScope } from "./use-memory.js";

export const searchCommand: CliCommand = {
  name: "search",
  description: "find memories, or messages, best first",
  examples: [
    ['search "favourite tea" --user ana', "what is known of a user"],
    ['search "" --user ana', "the most important of all that is known"],
    ["search tea --user ana --transcript", "what was said"],
  ],
  flags: (command) =>
    withMemoryFlags(withScope(command))
      .argument("<query>", "what to look for")
      .option("--transcript", "search what was said instead of what is known")
      .option("--agent <name>", "as this agent: omit what it may not read")
      .option(
        "--top-k <count>",
        "at most this many (default: 5 memories, 10 messages)",
        wholeNumber(200),
      ),
  run: search,
};

type SearchFlags = MemoryFlags & { transcript?: true; agent?: string; topK?: number };

async function search(query: string, flags: SearchFlags): Promise<void> {
  const { agent, topK, transcript } = flags;
  await useScope(flags, async (memory, scope) => {
    const request = { scope, query, topK };
    const found = transcript
      ? (await memory.transcript.search(request)).map((hit) => {
          const { score, saidAt, threadId, seq, role, actor, text } = hit;
          return {
            hit,
            row: [score, saidAt.toISOString(), `${threadId}#${seq}`, actor ?? role, text],
          };
        })
      : (await memory.query({ ...request, agent })).map((hit) => {
          const { id, kind, category, key, text } = hit.memory;
          return {
            hit,
            row: [hit.score, id, kind, key === null ? category : `${category}/${key}`, text],
          };
        });
    const rows = found.map(({ row: [score, ...row] }) => [Number(score).toFixed(2), ...row]);
    const hits = found.map(({ hit }) => hit);
    print(flags, hits, () => aligned(rows).join("\n") || "Nothing fits.");
  });
}
