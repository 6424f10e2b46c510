import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { firstSentence, isStopWord, sentencesOf, stem, unescapeEntities, wordsOf } from "./read-prompt.js";

/** How every chat answer of the offline model begins, so that nobody takes it for a model's. */
export const standInMark = "[offline stand-in] ";

interface Statement {
  readonly source: "You said" | "I said" | "From memory" | "A tool said";
  readonly text: string;
}

/**
 * An answer to the latest human message, by rule. "What do you know about me?" is answered with what memory shows. Any
 * other question is answered with the sentence that shares most words with it, among everything the model was shown (the
 * latest of equals). Anything else is noted.
 */
export function answerFromMessages(messages: readonly BaseMessage[]): string {
  const asked = messages.findLast((message) => message.type === "human");
  if (asked === undefined) return "Noted: nothing was said.";
  const { spoken } = withoutContext(asked.text);
  const questions = sentencesOf(spoken).filter(isQuestion);
  if (questions.some(asksForAll)) {
    return allThatIsKnown(messages);
  }
  const best =
    questions.length > 0 ? bestMatch(questions.join(" "), messages.flatMap(statementsOf)) : undefined;
  return best === undefined ? `Noted: ${firstSentence(spoken)}` : `${best.source}: ${best.text}`;
}

function isQuestion(sentence: string): boolean {
  return (
    /[?？]$/.test(sentence) ||
    /^(?:what|who|whose|whom|where|why|how|tell me|remind me|do you|can you|could you)\b/i.test(sentence)
  );
}

/** Whether a question is about everything that is known of the user. */
function asksForAll(question: string): boolean {
  return (
    /\b(?:know|remember|recall|learn(?:ed|t)?)\b.{0,20}\b(?:about|of) me\b(?! and\b| or\b)/i.test(question) ||
    /\b(?:everything|all|what) (?:that )?you (?:know|remember)\W*$/i.test(question) ||
    /^what do you (?:know|remember)\W*$/i.test(question) ||
    /^who am i\b/i.test(question)
  );
}

/** What memory shows of the user; where it shows nothing, what the user said. */
function allThatIsKnown(messages: readonly BaseMessage[]): string {
  const known = messages.flatMap(rememberedItems);
  if (known.length > 0) return `From memory: ${known.join("; ")}.`;
  const said = messages.flatMap(statementsOf).filter(({ source }) => source === "You said");
  if (said.length === 0) return "Nothing yet.";
  return `You said: ${said.map(({ text }) => text).join(" ")}`;
}

/** Headings in a memory block under which memories are listed; under others stands what changed or what waits. */
const listsMemories = /^(?:## (?:User Profile|Unverified|Recent Context)|\(memories for app: )/;
const otherHeading = /^(?:#|\[|Memory updates )/;

/** What a memory block lists as remembered, item by item. */
function rememberedItems(message: BaseMessage): string[] {
  const isSystem = message.type === "system";
  const block = isSystem
    ? message.text
    : message.type === "human"
      ? withoutContext(message.text).context
      : "";
  let listing = false;
  return block.split("\n").flatMap((line) => {
    if (listsMemories.test(line)) listing = true;
    else if (otherHeading.test(line)) listing = false;
    const [, item] = /^(?:[-*•]|\d+\.) (?:\[[^\]]*\] )?(.+?)[.!]?$/.exec(line) ?? [];
    return listing && item !== undefined ? [unescapeEntities(item)] : [];
  });
}

function statementsOf(message: BaseMessage): Statement[] {
  switch (message.type) {
    case "human": {
      const { context, spoken } = withoutContext(message.text);
      return [...statements("From memory", readable(context)), ...statements("You said", spoken)];
    }
    case "ai":
      // Its own answers repeat what others said.
      return message.text.startsWith(standInMark) ? [] : statements("I said", message.text);
    case "system":
      return statements("From memory", readable(message.text));
    case "tool":
      return statements("A tool said", message.text);
    default:
      return [];
  }
}

function statements(source: Statement["source"], text: string): Statement[] {
  return sentencesOf(text)
    .filter((sentence) => !isQuestion(sentence) && !sentence.startsWith(standInMark))
    .map((sentence) => ({ source, text: sentence }));
}

/** What waits for the user's consent is not known yet. */
const waiting = /^## Waiting for the User's Consent\n(?:(?!#).*\n)*/m;

/** The text of a memory block as sentences: no tags, no bullets, and each half of a summary's line on its own. */
function readable(memory: string): string {
  const known = memory.replace(waiting, "");
  const lines = known.replace(/<\/?[a-z][^<>]*>/gi, "\n").split(/\n| → /);
  return unescapeEntities(
    lines.map((line) => line.replace(/^\s*(?:[-*•]\s+|Round of seq \d+: )+/, "")).join("\n"),
  );
}

function bestMatch(question: string, candidates: readonly Statement[]): Statement | undefined {
  const words = wordsOf(question);
  const subjects = new Set(words.filter((word) => !isStopWord(word)).map(stem));
  const pairs = new Set(pairsOf(words));
  let best: { statement: Statement; score: number } | undefined;
  for (const statement of candidates) {
    const said = wordsOf(statement.text);
    const shared = new Set(said.map(stem).filter((word) => subjects.has(word))).size;
    if (shared === 0) continue;
    // Pairs keep stop words: "my name" is not "the file name".
    const score = shared + 0.25 * new Set(pairsOf(said).filter((pair) => pairs.has(pair))).size;
    if (best === undefined || score >= best.score) best = { statement, score };
  }
  return best?.statement;
}

function pairsOf(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `${words[index]} ${word}`);
}

/** First match decides, so that "plan how to build it" is planned before it is built. */
const subagents = [
  { name: "planner", asks: /\b(?:plan|design|how should)\b/i },
  { name: "executor", asks: /\b(?:build|create|run|write|implement|deploy)\b/i },
];

/**
 * The subagent's tool that the latest message asks for, and the task to give it. Undefined when the latest message is
 * not a human one (its round has been handed over already), asks for neither, or the tool is not bound.
 */
export function chooseSubagent(
  messages: readonly BaseMessage[],
  toolNames: readonly string[],
): { tool: string; task: string } | undefined {
  const latest = messages.findLast((message) => message.type !== "system");
  if (latest?.type !== "human") return undefined;
  const task = withoutContext(latest.text).spoken;
  for (const { name, asks } of subagents) {
    const tool = toolNames.find((bound) => bound === name || bound === `transfer_to_${name}`);
    if (tool !== undefined && asks.test(task)) return { tool, task };
  }
  return undefined;
}

/**
 * What came back in this round: the text of the last tool result, or of the last message of a subagent, since the
 * latest human message. Undefined when nothing came back yet.
 */
export function subagentResult(
  messages: readonly BaseMessage[],
  toolNames: readonly string[],
): string | undefined {
  const names = [...subagents, ...toolNames.map((tool) => ({ name: tool.replace(/^transfer_to_/, "") }))];
  const workers = new Set(names.map(({ name }) => name));
  for (const message of messages.toReversed()) {
    if (message.type === "human") return undefined;
    const isResult = message.type === "tool" ? !announcesTransfer(message) : isWordOf(message, workers);
    if (isResult) return message.text.replace(standInMark, "");
  }
  return undefined;
}

/** LangGraph's supervisor announces every hand-over, both ways, in a tool message that holds no result. */
function announcesTransfer({ name, text }: BaseMessage): boolean {
  return /^transfer_(?:back_)?to_/.test(name ?? "") && text.startsWith("Successfully transferred");
}

function isWordOf(message: BaseMessage, workers: ReadonlySet<string>): boolean {
  if (!AIMessage.isInstance(message) || message.tool_calls?.length) return false;
  return message.name !== undefined && workers.has(message.name) && message.text !== "";
}

/** A message may begin with `[Previous context: …]`: what the memory says, in front of what the user says. */
function withoutContext(text: string): { context: string; spoken: string } {
  const prefix =
    /^\[Previous context: ([\s\S]*?)\](?:\n\n|$)\s*/.exec(text) ??
    /^\[Previous context: ([\s\S]*?)\]\s*/.exec(text);
  return { context: prefix?.[1] ?? "", spoken: text.slice(prefix?.[0].length ?? 0) };
}
