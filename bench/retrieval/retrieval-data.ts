import { readFileSync } from "node:fs";
import { z } from "zod";

const said = {
  id: z.string(),
  session: z.int(),
  date: z.string(),
  text: z.string(),
};

const dataSchema = z.object({
  categories: z.record(z.string(), z.string()).optional(),
  conversations: z.array(
    z.object({
      id: z.string(),
      speakers: z.array(z.string()).length(2),
      turns: z.array(z.object({ ...said, speaker: z.string(), caption: z.string().optional() })),
      observations: z.array(
        z.object({ ...said, speaker: z.string(), evidence: z.array(z.string()) }),
      ),
      questions: z.array(
        z.object({
          id: z.string(),
          question: z.string(),
          category: z.int(),
          evidence: z.array(z.string()),
        }),
      ),
    }),
  ),
});

export interface Turn {
  readonly id: string;
  readonly session: number;
  /** As "2023-05-08T13:56". */
  readonly date: string;
  /** A person by name, or "user" or "assistant". */
  readonly speaker: string;
  readonly text: string;
  /** Of a picture that is shared. */
  readonly caption?: string | undefined;
}

export interface Observation {
  readonly id: string;
  readonly date: string;
  readonly speaker?: string | undefined;
  readonly text: string;
  /** Ids of what it stands for: turns, or itself. */
  readonly evidence: readonly string[];
}

export interface Question {
  readonly question: string;
  readonly type: string;
  /** Adversarial questions name the wrong speaker, and do not count in totals. */
  readonly isTotalled: boolean;
  /** Ids of turns, or of observations that stand for themselves. */
  readonly evidence: readonly string[];
}

/** What one user said, what was learned from it, and questions whose evidence is known. */
export interface RetrievalConversation {
  readonly id: string;
  readonly speakers: readonly string[];
  readonly turns: readonly Turn[];
  readonly observations: readonly Observation[];
  readonly questions: readonly Question[];
}

const adversarial = 5;

/** LoCoMo, REALTALK and BEAM in one form. Questions without evidence are left out. */
export function readConversations(file: string): RetrievalConversation[] {
  const { categories, conversations } = dataSchema.parse(readJson(file));
  return conversations.map(({ questions, ...conversation }) => ({
    ...conversation,
    questions: questions
      .filter(({ evidence }) => evidence.length > 0)
      .map(({ id, question, category, evidence }) => ({
        question,
        // BEAM's ids name it: "3/temporal_reasoning0".
        type:
          /\/([a-z]+_[a-z_]+)\d+$/.exec(id)?.[1] ??
          categories?.[category] ??
          `category ${category}`,
        isTotalled: category !== adversarial,
        evidence,
      })),
  }));
}

export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
