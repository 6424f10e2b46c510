import type { BaseMessage } from "@langchain/core/messages";
import { firstSentence, isStopWord, sentencesOf, stem, unescapeEntities, wordsOf } from "./read-prompt.js";

/** How every chat answer of the offline model begins, so that nobody takes it for a model's. */
export const STAND_IN_MARK = "[offline stand-in] ";

interface Statement {
  source: "You said" | "I said" | "From memory" | "A tool said";
  text: string;
}

/**
 * An answer to the latest human message by rule: a question is answered with the sentence, among everything the model was
 * shown, that shares most words with it (the latest of equals); anything else, and a question without a match, is noted.
 */
export function answerFromMessages(messages: readonly BaseMessage[]): string {
  const asked = messages.findLast((message) => message.type === "human");
  if (asked === undefined) return "Noted: nothing was said.";
  const { spoken } = withoutContext(asked.text);
  const questions = sentencesOf(spoken).filter(isQuestion);
  const best =
    questions.length > 0 ? bestMatch(questions.join(" "), messages.flatMap(statementsOf)) : undefined;
  return best === undefined ? `Noted: ${firstSentence(spoken)}` : `${best.source}: ${best.text}`;
}

/** A message may begin with `[Previous context: …]`: what the memory says, in front of what the user says. */
export function withoutContext(text: string): { context: string; spoken: string } {
  const prefix =
    /^\[Previous context: ([\s\S]*?)\](?:\n\n|$)\s*/.exec(text) ??
    /^\[Previous context: ([\s\S]*?)\]\s*/.exec(text);
  return { context: prefix?.[1] ?? "", spoken: text.slice(prefix?.[0].length ?? 0) };
}

function isQuestion(sentence: string): boolean {
  return (
    /[?？]$/.test(sentence) ||
    /^(?:what|who|whose|whom|where|why|how|tell me|remind me|do you|can you|could you)\b/i.test(sentence)
  );
}

function statementsOf(message: BaseMessage): Statement[] {
  switch (message.type) {
    case "human": {
      const { context, spoken } = withoutContext(message.text);
      return [...statements("From memory", readable(context)), ...statements("You said", spoken)];
    }
    case "ai":
      // its own answers repeat what others said
      return message.text.startsWith(STAND_IN_MARK) ? [] : statements("I said", message.text);
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
    .filter((sentence) => !isQuestion(sentence) && !sentence.startsWith(STAND_IN_MARK))
    .map((sentence) => ({ source, text: sentence }));
}

/** The text of a memory block as sentences: no tags, no bullets, and each half of a summary's line on its own. */
function readable(memory: string): string {
  const lines = memory.replace(/<\/?[a-z][^<>]*>/gi, "\n").split(/\n| → /);
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
    // pairs keep stop words: "my name" is not "the file name"
    const score = shared + 0.25 * new Set(pairsOf(said).filter((pair) => pairs.has(pair))).size;
    if (best === undefined || score >= best.score) best = { statement, score };
  }
  return best?.statement;
}

function pairsOf(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `${words[index]} ${word}`);
}
