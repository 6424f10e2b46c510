import { firstSentence, unescapeEntities } from "./read-prompt.js";

interface Round {
  seq: number;
  said: string;
  answered: string;
}

/**
 * A summary made by rule from a summarisation prompt: one line for each round, `Round of seq 6: <what was said> → <what was answered>`,
 * the first sentence of each.
 *
 * Reads the blocks `<previous_summary covers="0-5">`, `<new_messages>` with `<message seq role>`, and `<drop before="2">`. Lines of earlier summaries stay, in order, unless their round began before the drop; a line that is not
 * this function's counts as the last round its summary covers.
 */
export function summarizeRounds(prompt: string): string {
  const drop = Number(/<drop\s[^>]*before="(\d+)"/.exec(prompt)?.[1] ?? 0);
  const earlier = [...blocks(prompt, "previous_summary")].flatMap(({ attributes, body }) => {
    const coversTo = Number(/covers="\d+-(\d+)"/.exec(attributes)?.[1] ?? Number.POSITIVE_INFINITY);
    return linesOf(body).filter((line) => (seqOf(line) ?? coversTo) >= drop);
  });
  return [...earlier, ...roundsOf(prompt).map(lineOf)].join("\n");
}

function* blocks(prompt: string, name: string): Generator<{ attributes: string; body: string }> {
  for (const [, attributes = "", body = ""] of prompt.matchAll(
    new RegExp(`<${name}(\\s[^>]*)?>([\\s\\S]*?)</${name}>`, "g"),
  ))
    yield { attributes, body: unescapeEntities(body) };
}

function linesOf(summary: string): string[] {
  return summary
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function seqOf(line: string): number | undefined {
  const seq = /^Round of seq (\d+): /.exec(line)?.[1];
  return seq === undefined ? undefined : Number(seq);
}

function roundsOf(prompt: string): Round[] {
  const rounds: Round[] = [];
  const [, added = ""] = /<new_messages>([\s\S]*?)<\/new_messages>/.exec(prompt) ?? [];
  for (const { attributes, body } of blocks(added, "message")) {
    const seq = Number(/seq="(\d+)"/.exec(attributes)?.[1] ?? 0);
    const role = /role="([^"]*)"/.exec(attributes)?.[1];
    const sentence = firstSentence(body, 100);
    if (role === "user" || rounds.length === 0)
      rounds.push({ seq, said: role === "user" ? sentence : "", answered: "" });
    const round = rounds.at(-1);
    // the last one with text: what comes before it in a round only calls tools
    if (round && role === "assistant" && sentence !== "") round.answered = sentence;
  }
  return rounds;
}

function lineOf({ seq, said, answered }: Round): string {
  return `Round of seq ${seq}: ${said || "(nothing)"} → ${answered || "(no answer)"}`;
}
