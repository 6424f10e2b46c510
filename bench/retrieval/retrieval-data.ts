import { readFileSync } from "node:fs";
import type { MemoryDraft } from "../../src/index.js";

export interface Turn {
  readonly id: string;
  readonly threadId: string;
  readonly saidAt: Date;
  /** A person by name, or "user" or "assistant". */
  readonly speaker: string;
  readonly text: string;
}

/** What was learned, with the ids of what it stands for: turns, or itself. */
export interface Observation {
  readonly draft: MemoryDraft;
  readonly evidence: readonly string[];
}

export interface Question {
  readonly text: string;
  readonly type: string;
  /** It names the wrong speaker, and does not count in totals. */
  readonly isAdversarial?: boolean;
  /** Ids of what answers it. */
  readonly evidence: readonly string[];
  /** Ids of what answered it before, and contradicts the evidence. */
  readonly outdated?: readonly string[];
  /** The thread before which it is asked. @default after all */
  readonly before?: string;
}

/** What one user said, what was learned from it, and questions whose evidence is known. */
export interface RetrievalConversation {
  readonly id: string;
  readonly turns: readonly Turn[];
  readonly observations: readonly Observation[];
  readonly questions: readonly Question[];
  /** The evidence are threads. @default turns */
  readonly ranksThreads?: boolean;
}

/** The form of LoCoMo, REALTALK and BEAM. Dates are as "2023-05-08T13:56". */
interface ConversationsFile {
  readonly categories?: Readonly<Record<string, string>>;
  readonly conversations: readonly {
    readonly id: string;
    readonly turns: readonly {
      readonly id: string;
      readonly session: number;
      readonly date: string;
      readonly speaker: string;
      readonly text: string;
      /** Of a picture that is shared. */
      readonly caption?: string;
    }[];
    readonly observations: readonly {
      readonly date: string;
      readonly speaker: string;
      readonly text: string;
      readonly evidence: readonly string[];
    }[];
    readonly questions: readonly {
      readonly id: string;
      readonly question: string;
      readonly category: number;
      readonly evidence: readonly string[];
    }[];
  }[];
}

const adversarial = 5;

/** Questions without evidence are left out. */
export function readConversations([file = ""]: readonly string[]): RetrievalConversation[] {
  const { categories, conversations } = readJson(file) as ConversationsFile;
  return conversations.map(({ id: conversationId, turns, observations, questions }) => ({
    id: conversationId,
    turns: turns.map(({ id, session, date, speaker, text, caption }) => ({
      id,
      threadId: `${conversationId}/${session}`,
      saidAt: dateOf(date),
      speaker,
      text: caption === undefined ? text : `${text} [shares ${caption}]`,
    })),
    observations: observations.map(({ text, speaker, date, evidence }) => ({
      draft: { text, actorId: speaker, validFrom: dateOf(date) },
      evidence,
    })),
    questions: questions
      .filter(({ evidence }) => evidence.length > 0)
      .map(({ id, question, category, evidence }) => ({
        text: question,
        // BEAM's ids name it: "3/temporal_reasoning0".
        type: /[a-z]+_[a-z_]+(?=\d+$)/.exec(id)?.[0] ?? categories?.[category] ?? "questions",
        isAdversarial: category === adversarial,
        evidence,
      })),
  }));
}

export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** "2023-05-08T13:56", as UTC. */
export const dateOf = (minute: string): Date => new Date(`${minute}:00Z`);
