import { percentile } from "../timing.js";
import type { LocomoConversation } from "./locomo-data.js";

/** Searches a conversation; per hit, best first, the ids of the turns that it stands for. */
export type Search = (conversation: LocomoConversation, question: string) => Promise<(readonly string[])[]>;

/** Evidence recall of one group of questions, in percent; see `recallOf`. */
export interface Recall {
  readonly questions: number;
  readonly r5: number;
  readonly r10: number;
  readonly r25: number;
  readonly r50: number;
  /** Questions with at least one piece of evidence among the first ten hits. */
  readonly hit10: number;
  /** Mean of 1 ÷ rank of the first hit with evidence. */
  readonly mrr: number;
}

/** What was found for one question. */
export interface Answered {
  readonly conversation: string;
  readonly category: number;
  readonly evidence: readonly string[];
  readonly found: readonly (readonly string[])[];
  readonly ms: number;
}

/** Questions of these categories make the totals; adversarial ones (5) name the wrong speaker and stand apart. */
export const totalled: ReadonlySet<number> = new Set([1, 2, 3, 4]);

/** Asks every question that has evidence. */
export async function askAll(
  conversations: readonly LocomoConversation[],
  search: Search,
): Promise<Answered[]> {
  const answered: Answered[] = [];
  for (const conversation of conversations) {
    for (const { question, category, evidence } of conversation.questions) {
      if (evidence.length === 0) continue;
      const startedAt = performance.now();
      const found = await search(conversation, question);
      answered.push({
        conversation: conversation.id,
        category,
        evidence,
        found,
        ms: performance.now() - startedAt,
      });
    }
  }
  return answered;
}

/**
 * Recall over `answered`, each question counting the same (the paper's definition): the share of its evidence
 * that the first k hits stand for.
 */
export function recallOf(answered: readonly Answered[]): Recall {
  const mean = (value: (answer: Answered) => number) =>
    (100 * answered.reduce((sum, answer) => sum + value(answer), 0)) / Math.max(1, answered.length);
  return {
    questions: answered.length,
    r5: mean((answer) => shareFound(answer, 5)),
    r10: mean((answer) => shareFound(answer, 10)),
    r25: mean((answer) => shareFound(answer, 25)),
    r50: mean((answer) => shareFound(answer, 50)),
    hit10: mean((answer) => Number(shareFound(answer, 10) > 0)),
    mrr: mean(reciprocalRank),
  };
}

/** Median and 95th percentile of the time of one search. */
export function timesOf(answered: readonly Answered[]): { p50: number; p95: number } {
  const times = answered.map(({ ms }) => ms);
  return { p50: percentile(times, 0.5), p95: percentile(times, 0.95) };
}

function shareFound({ evidence, found }: Answered, k: number): number {
  const turns = new Set(found.slice(0, k).flat());
  return evidence.filter((id) => turns.has(id)).length / evidence.length;
}

function reciprocalRank({ evidence, found }: Answered): number {
  const index = found.findIndex((turns) => turns.some((id) => evidence.includes(id)));
  return index < 0 ? 0 : 1 / (index + 1);
}
