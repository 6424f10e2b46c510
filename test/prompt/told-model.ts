import type { BaseMessage } from "@langchain/core/messages";
import { ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";
import { candidate } from "../support/task-model.js";
import type { Draft } from "./histories.js";

/** What the user said in one turn, and what an extracting model makes of it. */
export interface Told {
  /** Number of the thread. */
  readonly thread: number;
  /** Whether an extraction has read it. */
  isRead: boolean;
  readonly quote: string;
  readonly text: string;
  readonly draft: Draft;
  readonly value: string;
  /** A word of the memory that it ends. */
  readonly ends: string | null;
  extractionFails: boolean;
}

const tasks: Readonly<Record<string, (prompt: string, told: readonly Told[]) => ScriptedReply>> = {
  conversation_summary: () => ({ structured: { reasoning: "", summary: "They talked." } }),
  user_insights: () => ({ structured: { insights: [] } }),
  memory_pairs: () => ({ structured: { verdicts: [] } }),
  fact_extraction: extracted,
};

/** Answers an agent, and does memory's work: it learns what was `told`. */
export function toldModel(told: readonly Told[]): ScriptedChatModel {
  return new ScriptedChatModel({
    replies: (messages, index, { tools = [] }) => {
      const [task] = tools.flatMap((tool) => tasks[nameOf(tool)] ?? []);
      // Some answers are long, so that prompts are folded.
      if (!task) return `Answer ${index}.${" And so on.".repeat(index % 3 === 0 ? 20 : 0)}`;
      return task(textOf(messages), told);
    },
  });
}

const nameOf = (tool: object): string => {
  if ("name" in tool) return String(tool.name);
  return "function" in tool ? String((tool.function as { name: string }).name) : "";
};

const textOf = (messages: readonly BaseMessage[]) => messages.map(({ text }) => text).join("\n");

function extracted(prompt: string, told: readonly Told[]): ScriptedReply {
  const said = [...prompt.matchAll(/<message number="(\d+)"[^>]*>([^<]*)</g)];
  const known = [...prompt.matchAll(/<memory number="(\d+)"[^>]*>([^<]*)</g)];
  const read: Told[] = [];
  const facts = told.flatMap((fact) => {
    const number = said.find(([, , words = ""]) => words.includes(fact.quote))?.[1];
    if (number === undefined) return [];
    if (fact.extractionFails) {
      fact.extractionFails = false;
      // Extraction waits for an hour, and new prompts quote what nobody has read.
      const headers = { "retry-after": "3600" };
      throw Object.assign(new Error("Too many requests."), { status: 429, headers });
    }
    read.push(fact);
    const target = known.find(([, , words = ""]) => fact.ends && words.includes(fact.ends))?.[1];
    const { category, key, importance } = fact.draft;
    return candidate(fact.text, fact.quote, {
      category,
      key,
      importance,
      message: Number(number),
      value: key === null ? null : fact.value,
      ...(target !== undefined && { relation: "ends" as const, target: Number(target) }),
    });
  });
  for (const fact of read) fact.isRead = true;
  return { structured: { reasoning: "", facts } };
}
