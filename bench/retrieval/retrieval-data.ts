import { readFileSync } from "node:fs";
import type { MemoryDraft, MemoryFilter } from "../../src/index.js";

export interface Turn {
  readonly id: string;
  /** Its thread. */
  readonly session: string;
  /** As "2023-05-08T13:56". */
  readonly date: string;
  /** A person by name, or "user" or "assistant". */
  readonly speaker: string;
  readonly text: string;
}

/** Whether a speaker is a person by name. */
export const isPerson = (speaker: string): boolean => speaker !== "user" && speaker !== "assistant";

/** What was learned. */
export interface Observation {
  readonly text: string;
  readonly date: string;
  readonly speaker?: string;
  /** Ids of what it stands for: turns, or itself. */
  readonly evidence: readonly string[];
  /** What else the memory is given. */
  readonly draft?: Partial<MemoryDraft>;
}

export interface Question {
  readonly question: string;
  /** Groups in which it counts. */
  readonly types: readonly string[];
  /** Ids of what answers it. */
  readonly evidence: readonly string[];
  /** Ids of what answered it before, and contradicts the evidence. */
  readonly outdated?: readonly string[];
  /** The session before which it is asked. @default after all */
  readonly before?: string;
  /** Memories are searched with each, and all hits count. @default with none */
  readonly filters?: readonly MemoryFilter[];
  /** Ids that do not count as found, and how many others do. */
  readonly counts?: { readonly without: readonly string[]; readonly most: number };
}

/** The type of questions that count in the totals. */
export const total = "all questions";

/** What one user said, what was learned from it, and questions whose evidence is known. */
export interface RetrievalConversation {
  readonly id: string;
  readonly turns: readonly Turn[];
  readonly observations: readonly Observation[];
  readonly questions: readonly Question[];
  /** Hits that are asked for. @default 10 */
  readonly topK?: number;
  /** The evidence are sessions, which rank where their best messages do. @default turns */
  readonly ranksSessions?: boolean;
}

/** The form of LoCoMo, REALTALK and BEAM. */
interface ConversationsFile {
  readonly categories?: Readonly<Record<string, string>>;
  readonly conversations: readonly (Omit<RetrievalConversation, "turns" | "questions"> & {
    /** With the caption of a picture that is shared. */
    readonly turns: readonly (Turn & { readonly caption?: string })[];
    readonly questions: readonly (Question & { readonly id: string; readonly category: number })[];
  })[];
}

/** The category of questions that name the wrong speaker: they do not count in the totals. */
const adversarial = 5;

/** Questions without evidence are left out. */
export function readConversations(file: string): RetrievalConversation[] {
  const { categories, conversations } = readJson(file) as ConversationsFile;
  return conversations.map(({ id: conversationId, turns, observations, questions }) => ({
    id: conversationId,
    // Threads of one name would be one thread.
    turns: turns.map(({ caption, ...turn }) => ({
      ...turn,
      text: caption === undefined ? turn.text : `${turn.text} [shares ${caption}]`,
      session: `${conversationId}/${turn.session}`,
    })),
    observations,
    questions: questions
      .filter(({ evidence }) => evidence.length > 0)
      .map(({ id, category, ...question }) => {
        // BEAM's ids name it: "3/temporal_reasoning0".
        const type = /[a-z]+_[a-z_]+(?=\d+$)/.exec(id)?.[0] ?? categories?.[category] ?? "others";
        return { ...question, types: category === adversarial ? [type] : [total, type] };
      }),
  }));
}

export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** "2023-05-08T13:56", as UTC. */
export const utc = (date: string): Date => new Date(`${date}:00Z`);
