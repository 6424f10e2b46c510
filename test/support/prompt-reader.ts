import type { MemoryItem } from "../../src/index.js";

/** What memory says in a prompt, in its order. */
export interface MemoryClaim {
  /** The heading that it stands under, or "changes" for a line of the delta header. */
  readonly under: string;
  readonly line: string;
  /** The words that hold, by this line. */
  readonly words: string;
  /** The words that no longer hold, by this line. */
  readonly ended: readonly string[];
}

export interface ReadPrompt {
  readonly claims: readonly MemoryClaim[];
  /** What a reader of the whole prompt believes in the end. */
  readonly believed: readonly string[];
  /** Whether the prompt says that there is more than it shows. */
  readonly saysMore: boolean;
}

/** Nothing under these is known: they ask, or tell what was said. */
const unknown = /^(?:## Waiting for |# Recent Conversation)/;

/**
 * Memory's own lines in the messages of a prompt, read as a model reads them: a later line that
 * names what it replaces ends an earlier one. Neither the conversation nor its summary counts.
 */
export function readPrompt(texts: readonly string[]): ReadPrompt {
  const blocks = texts.flatMap(memoryIn);
  const claims = blocks.flatMap(claimsIn);
  const believed: string[] = [];
  for (const { words, ended } of claims) {
    for (const gone of ended) {
      const at = believed.findIndex((earlier) => earlier.includes(gone));
      if (at >= 0) believed.splice(at, 1);
    }
    believed.push(words);
  }
  return {
    claims,
    believed,
    saysMore: blocks.some((block) => /more memor(?:y is|ies are) not shown/.test(block)),
  };
}

const shownWhole = ["profile", "preferences", "constraints", "instructions"];
const minSlotImportance = 2.5;

/** Whether prompts have it whatever is asked, by the default settings. */
export function isAlwaysShown({
  kind,
  state,
  category,
  key,
  importance,
  pinned,
}: Pick<MemoryItem, "kind" | "state" | "category" | "key" | "importance" | "pinned">): boolean {
  if (state !== "active") return false;
  const isSlot = key !== null && importance >= minSlotImportance;
  return pinned || kind === "note" || shownWhole.includes(category) || isSlot;
}

/** Whether a reader of the prompt believes what `memory` says: its text, or its key and value. */
export const believes = (
  { believed }: ReadPrompt,
  { text, key, value }: Pick<MemoryItem, "text" | "key" | "value">,
): boolean => believed.some((words) => words.includes(text) || words.includes(`${key}: ${value}`));

/** The parts of a message that memory wrote: a user's words may stand behind them. */
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
  const words = replaced ? item.slice(0, replaced.index) : item;
  return { under, line, words, ended: replaced?.[1] === undefined ? [] : [replaced[1]] };
}
