import type { BaseMessage } from "@langchain/core/messages";
import { firstSentence, promptSentences, unescapeEntities } from "./read-prompt.js";
import { isStopWord, plainWordsOf, stem } from "./words.js";

/** Begins every chat answer, so that readers do not take it for a model's. */
export const standInMark = "[offline stand-in] ";

interface SourcedSentence {
  readonly source: "You said" | "I said" | "From memory" | "A tool said";
  readonly text: string;
}

/**
 * "What do you know about me?" gets all memories, another question the latest sentence that shares
 * most words.
 */
export function answerFromMessages(messages: readonly BaseMessage[]): string {
  const asked = messages.findLast((message) => message.type === "human");
  if (asked === undefined) return "Noted: nothing was said.";
  const { spoken } = splitContext(asked.text);
  const questions = promptSentences(spoken).filter(isQuestion);
  if (questions.some((question) => broadQuestion.test(question))) return allMemories(messages);
  const best =
    questions.length > 0
      ? bestMatch(questions.join(" "), messages.flatMap(statementsIn))
      : undefined;
  return best === undefined ? `Noted: ${firstSentence(spoken)}` : `${best.source}: ${best.text}`;
}

function isQuestion(sentence: string): boolean {
  return /[?？]$|^(?:what|who|whose|whom|where|why|how|tell me|remind me|do you|can you|could you)\b/i.test(
    sentence,
  );
}

const broadQuestion =
  /\b(?:know|remember|recall|learn(?:ed|t)?)\b.{0,20}\b(?:about|of) me\b(?! and\b| or\b)|\byou (?:know|remember)\W*$|^who am i\b/i;

function allMemories(messages: readonly BaseMessage[]): string {
  const items = messages.flatMap(rememberedItems);
  if (items.length > 0) return `From memory: ${items.join("; ")}.`;
  const own = messages.flatMap(statementsIn).filter(({ source }) => source === "You said");
  return own.length === 0 ? "Nothing yet." : `You said: ${own.map(({ text }) => text).join(" ")}`;
}

const listsMemories =
  /^(?:## (?:User Profile|Unverified|Relevant to This Message|Recent Context|Also Known)|\(memories for app: )/;
const otherHeading = /^(?:#|\[|Memory updates )/;

function rememberedItems(message: BaseMessage): string[] {
  let listing = false;
  return blockOf(message)
    .split("\n")
    .flatMap((line) => {
      if (listsMemories.test(line)) listing = true;
      else if (otherHeading.test(line)) listing = false;
      const [, item] = /^(?:[-*•]|\d+\.) (?:\[[^\]]*\] )?(.+?)[.!]?$/.exec(line) ?? [];
      return listing && item !== undefined ? [unescapeEntities(item)] : [];
    });
}

/** The part of a message that may be the memory block. */
function blockOf(message: BaseMessage): string {
  if (message.type === "system") return message.text;
  return message.type === "human" ? splitContext(message.text).context : "";
}

function statementsIn(message: BaseMessage): SourcedSentence[] {
  const remembered = statementsFrom("From memory", readableLines(blockOf(message)));
  if (message.type === "human")
    return [...remembered, ...statementsFrom("You said", splitContext(message.text).spoken)];
  if (message.type === "tool") return statementsFrom("A tool said", message.text);
  // Its own answers repeat others.
  if (message.type !== "ai" || message.text.startsWith(standInMark)) return remembered;
  return statementsFrom("I said", message.text);
}

function statementsFrom(source: SourcedSentence["source"], text: string): SourcedSentence[] {
  return promptSentences(text)
    .filter((sentence) => !isQuestion(sentence) && !sentence.startsWith(standInMark))
    .map((sentence) => ({ source, text: sentence }));
}

/** Proposals count as memories only after the user's consent. */
const awaitingConsent = /^## Waiting for the User's Consent\n(?:(?!#).*\n)*/m;

function readableLines(memory: string): string {
  const lines = memory
    .replace(awaitingConsent, "")
    .replace(/<\/?[a-z][^<>]*>/gi, "\n")
    .split(/\n| → /);
  return unescapeEntities(
    lines.map((line) => line.replace(/^\s*(?:[-*•]\s+|Round of seq \d+: )+/, "")).join("\n"),
  );
}

function bestMatch(
  question: string,
  candidates: readonly SourcedSentence[],
): SourcedSentence | undefined {
  const words = plainWordsOf(question);
  const subjects = new Set(words.filter((word) => !isStopWord(word)).map(stem));
  const pairs = new Set(wordPairs(words));
  let best: { statement: SourcedSentence; score: number } | undefined;
  for (const statement of candidates) {
    const candidateWords = plainWordsOf(statement.text);
    const shared = new Set(candidateWords.map(stem).filter((word) => subjects.has(word))).size;
    if (shared === 0) continue;
    // Pairs include stop words: "my name" is not "the file name".
    const score =
      shared + 0.25 * new Set(wordPairs(candidateWords).filter((pair) => pairs.has(pair))).size;
    if (best === undefined || score >= best.score) best = { statement, score };
  }
  return best?.statement;
}

function wordPairs(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `${words[index]} ${word}`);
}

/** The first match wins: "plan how to build it" plans. */
const subagents = [
  { tool: "planner", asks: /\b(?:plan|design|how should)\b/i },
  { tool: "executor", asks: /\b(?:build|create|run|write|implement|deploy)\b/i },
];

/**
 * The subagent's tool for the latest message, and its task; undefined if it is not bound or has
 * answered.
 */
export function chooseSubagent(messages: readonly BaseMessage[], toolNames: readonly string[]) {
  const latest = messages.findLast((message) => message.type !== "system");
  if (latest?.type !== "human") return undefined;
  const task = splitContext(latest.text).spoken;
  const chosen = subagents.find(({ tool, asks }) => toolNames.includes(tool) && asks.test(task));
  return chosen && { tool: chosen.tool, task };
}

export function subagentResult(messages: readonly BaseMessage[]): string | undefined {
  const latest = messages.findLast(
    (message) => message.type === "human" || message.type === "tool",
  );
  return latest?.type === "tool" ? latest.text.replace(standInMark, "") : undefined;
}

/** Splits off the context that memory puts before a message. */
function splitContext(text: string): { context: string; spoken: string } {
  const prefix =
    /^\[Previous context: ([\s\S]*?)\](?:\n\n|$)\s*/.exec(text) ??
    /^\[Previous context: ([\s\S]*?)\]\s*/.exec(text) ??
    /^<memory>\n([\s\S]*?)\n<\/memory>\s*/.exec(text);
  if (!prefix) return { context: "", spoken: text };
  const { context, spoken } = splitContext(text.slice(prefix[0].length));
  return { context: `${prefix[1]}\n${context}`, spoken };
}
