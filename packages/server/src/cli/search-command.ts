import { Option } from "commander";
import type { MemoryHit, TranscriptHit } from "mnemograph";
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
    ["search tea --user ana --as-of 2026-03-01", "what was known at that time"],
  ],
  flags: (command) =>
    withMemoryFlags(withScope(command))
      .argument("<query>", "what to look for")
      .option("--transcript", "search what was said instead of what is known")
      .addOption(
        new Option(
          "--as-of <time>",
          "what was known at a past time: a day, or ISO 8601 with an offset",
        ).conflicts("transcript"),
      )
      .option("--agent <name>", "as this agent: omit what it may not read")
      .option(
        "--top-k <count>",
        "at most this many (default: 5 memories, 10 messages)",
        wholeNumber(200),
      ),
  run: search,
};

type SearchFlags = MemoryFlags & {
  transcript?: true;
  agent?: string;
  topK?: number;
  asOf?: string;
};

async function search(query: string, flags: SearchFlags): Promise<void> {
  const { agent, topK, transcript, asOf } = flags;
  await useScope(flags, async (memory, scope) => {
    const request = { scope, query, topK };
    if (asOf !== undefined) {
      const found = await memory.query({ ...request, agent, asOf });
      const rows = aligned(found.hits.map(hitRow)).join("\n");
      const missing = found.missing.map(({ detail }) => `Not complete: ${detail}`);
      return print(flags, found, () => [rows || "Nothing fitted then.", ...missing].join("\n"));
    }
    const printRows = (hits: readonly object[], rows: readonly string[][]) =>
      print(flags, hits, () => aligned(rows).join("\n") || "Nothing fits.");
    if (transcript) {
      const said = await memory.transcript.search(request);
      return printRows(said, said.map(messageRow));
    }
    const hits = await memory.query({ ...request, agent });
    printRows(hits, hits.map(hitRow));
  });
}

function messageRow({ score, saidAt, threadId, seq, role, actor, text }: TranscriptHit): string[] {
  return [score.toFixed(2), saidAt.toISOString(), `${threadId}#${seq}`, actor ?? role, text];
}

function hitRow({ score, memory }: MemoryHit): string[] {
  const { id, kind, category, key, text } = memory;
  return [score.toFixed(2), id, kind, key === null ? category : `${category}/${key}`, text];
}
