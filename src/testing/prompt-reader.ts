import type { MemoryItem } from "../memories/item/memory.js";

/** One line that memory wrote into a prompt. */
export interface MemoryClaim {
  /** The heading above it, or "changes" for a line of the delta header. */
  readonly under: string;
  readonly line: string;
  /** The words that hold, by this line. */
  readonly words: string;
  /** The words that this line replaces: they hold no longer. */
  readonly ended: readonly string[];
}

export interface ReadPrompt {
  /** Every line that memory wrote, in the prompt's order. */
  readonly claims: readonly MemoryClaim[];
  /** The words that a reader of the whole prompt believes in the end. */
  readonly believed: readonly string[];
  /** Whether the prompt says that there is more than it shows. */
  readonly saysMore: boolean;
}

/** The lines under these headings are no knowledge: they ask, or repeat what was said. */
const unknown = /^(?:## Waiting for |# Recent Conversation)/;

/**
 * Reads memory's own lines in the messages of a prompt as a model reads them: a later line that
 * names what it replaces ends an earlier one. Neither the conversation nor its summary counts.
 *
 * ```ts
 * const { messages } = await memory.promptFor({ scope, threadId: "t1", query: "Dinner?" });
 * const { believed } = readPrompt(messages.map(({ content }) => content));
 * ```
 *
 * @param texts of all messages, in their order.
 */
export function readPrompt(texts: readonly string[]): ReadPrompt {
  const blocks = texts.flatMap(memoryIn);
  const claims: MemoryClaim[] = [];
  const believed: string[] = [];
  for (const block of blocks) {
    const added = claimsIn(block);
    // No line of a block replaces another of it: "earlier" may name a value that the prompt lacks.
    for (const gone of added.flatMap(({ ended }) => ended)) {
      const line = replacedLine(believed, gone);
      if (line !== undefined) believed.splice(believed.indexOf(line), 1);
    }
    claims.push(...added);
    believed.push(...added.map(({ words }) => words));
  }
  return {
    claims,
    believed,
    saysMore: blocks.some((block) => /more memor(?:y is|ies are) not shown/.test(block)),
  };
}

/** The line that says `gone` and the least besides, if there is one. */
function replacedLine(believed: readonly string[], gone: string): string | undefined {
  // Long words are cut.
  const words = gone.replace(/…$/, "");
  const isApart = (line: string) => Number(spaced(line).includes(spaced(words)));
  return believed
    .filter((line) => line.includes(words))
    .toSorted((one, other) => isApart(other) - isApart(one) || one.length - other.length)[0];
}

/** So that "tea" is no part of "team". */
const spaced = (text: string): string => ` ${text.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")} `;

/** Whether a reader of the prompt believes what a memory says: its text, or its key and value. */
export const believes = (
  { believed }: ReadPrompt,
  { text, key, value }: Pick<MemoryItem, "text" | "key" | "value">,
): boolean => believed.some((words) => words.includes(text) || words.includes(`${key}: ${value}`));

/** The parts of a message that memory wrote: the user's own words may follow them. */
function memoryIn(text: string): string[] {
  const context = /^\[Previous context: [\s\S]*?\](?:\n\n|$)/.exec(text)?.[0] ?? "";
  const rest = text.slice(context.length);
  const blocks = rest.match(/<memory>\n[\s\S]*?\n<\/memory>/g) ?? [];
  return context === "" ? blocks : [context, ...blocks];
}

function claimsIn(block: string): MemoryClaim[] {
  const claims: MemoryClaim[] = [];
  let under = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("#")) under = line;
    else if (line.startsWith("Memory updates since rev ")) under = "changes";
    else if (line.startsWith("The following are ")) under = line;
    const item = /^(?:- |\d+\. \[Created: [^\]]*\] )(.*)$/.exec(line)?.[1];
    if (item !== undefined && !unknown.test(under)) claims.push(claimOf(under, line, item));
  }
  return claims;
}

/** "tea: black (since 1 May 2026, earlier: green)", "↑updated: [Profile] … (instead of: green)" */
function claimOf(under: string, line: string, item: string): MemoryClaim {
  const replaced = /\((?:since [^()]*, earlier|instead of): (.*)\)$/.exec(item);
  const words = replaced ? item.slice(0, replaced.index).trimEnd() : item;
  return { under, line, words, ended: replaced?.[1] === undefined ? [] : [replaced[1]] };
}
