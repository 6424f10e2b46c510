import { Option } from "commander";
import type { ExplainedHit, Explanation } from "../search/explain-query.js";
import type { MemoryHit } from "../search/rank-memories.rule.js";
import type { TranscriptHit } from "../search/search-transcript.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withMemory, withScope } from "./flags.js";
import { aligned, oneLine, print } from "./output.js";
import { useScope } from "./use-memory.js";

/** `mnemograph search`: memories, or messages, that fit a question, best first. */
export const searchCommand: CliCommand = {
  name: "search",
  description: "find memories, or messages, best first",
  examples: [
    ['search "favourite tea" --user ana', "what is known of a user"],
    ['search "" --user ana', "the most important of all that is known"],
    ["search tea --user ana --transcript", "what was said"],
    ["search tea --user ana --explain", "why each was found, and what was left out"],
  ],
  flags: (command) =>
    withMemory(withScope(command), "also search by meaning, with the embeddings a file or package exports")
      .argument("<query>", "what to look for")
      .addOption(
        new Option("--transcript", "search what was said instead of what is known").conflicts("explain"),
      )
      .option("--explain", "take scores apart, and say what was left out and why")
      .option("--agent <name>", "as this agent: what it may not read is left out")
      .option("--top <count>", "at most this many (default: 5 memories, 10 messages)", wholeNumber(200)),
  run: search,
};

interface SearchFlags extends MemoryFlags {
  readonly transcript?: true;
  readonly explain?: true;
  readonly agent?: string;
  readonly top?: number;
}

async function search(query: string, flags: SearchFlags): Promise<void> {
  await useScope(flags, async (memory, scope) => {
    const { agent, top: topK } = flags;
    const asked = { scope, query, topK };
    if (flags.explain) {
      const found = await memory.query({ ...asked, agent, explain: true });
      return print(flags, found, () => explained(found));
    }
    const [hits, rows] = flags.transcript
      ? await memory.transcript.search(asked).then((found) => [found, found.map(messageRow)] as const)
      : await memory.query({ ...asked, agent }).then((found) => [found, found.map(memoryRow)] as const);
    print(flags, hits, () => (rows.length > 0 ? aligned(rows).join("\n") : "Nothing fits."));
  });
}

function explained({ question, floor, hits, leftOut }: Explanation): string {
  const least =
    typeof floor === "number" ? `similarity ${floor}` : `evidence ${floor.each}, of the best ${floor.best}`;
  const words = question.lexemes.join(" ") || "none";
  const lines = [
    `Looked for: ${words}${question.embedded ? ", and by meaning" : ""}. Least ${least}.`,
    ...(hits.length > 0 ? [] : ["Nothing fits."]),
  ];
  for (const hit of hits) {
    lines.push(...aligned([memoryRow(hit)]), `      ${partsOf(hit)}`);
  }
  if (leftOut.length > 0) lines.push("", "Left out:");
  const rows = leftOut.map(({ memory, score, reason, detail }) => {
    return [score?.toFixed(2) ?? "-", memory.id, reason, oneLine(memory.text), detail];
  });
  return [...lines, ...aligned(rows)].join("\n");
}

function partsOf({ parts }: ExplainedHit): string {
  const told = Object.entries(parts).filter(([, value]) => Math.abs(value) >= 0.005);
  return (
    told
      .map(([name, value]) => `${name} ${value.toFixed(2)}`)
      .join(" + ")
      .replaceAll("+ -", "- ") || "none"
  );
}

function memoryRow({ memory, score }: MemoryHit) {
  const { id, kind, category, key, text } = memory;
  return [score.toFixed(2), id, kind, key === null ? category : `${category}/${key}`, text];
}

function messageRow({ score, saidAt, threadId, seq, role, actor, text }: TranscriptHit) {
  return [score.toFixed(2), saidAt.toISOString(), `${threadId}#${seq}`, actor ?? role, text];
}
