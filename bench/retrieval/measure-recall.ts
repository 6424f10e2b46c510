import { inTurn, type Timing, timing } from "../timing.js";
import type { RetrievalConversation } from "./retrieval-data.js";
import type { Search } from "./searches.js";

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

/**
 * Questions of these categories make the totals; adversarial ones (5) name the wrong speaker and
 * stand apart.
 */
export const totalled: ReadonlySet<number> = new Set([1, 2, 3, 4]);

/** Asks every search every question that has evidence, the searches in turns. */
export async function askAll(
  conversations: readonly RetrievalConversation[],
  searches: Readonly<Record<string, readonly [what: string, search: Search]>>,
): Promise<Readonly<Record<string, readonly Answered[]>>> {
  const runs = Object.entries(searches).map(([name, [, search]]) => ({
    name,
    search,
    answered: [] as Answered[],
  }));
  let round = 0;
  for (const conversation of conversations) {
    for (const { question, category, evidence } of conversation.questions) {
      if (evidence.length === 0) continue;
      for (const { search, answered } of inTurn(runs, round++)) {
        const startedAt = performance.now();
        const found = await search(conversation, question);
        const ms = performance.now() - startedAt;
        answered.push({ conversation: conversation.id, category, evidence, found, ms });
      }
    }
  }
  return Object.fromEntries(runs.map(({ name, answered }) => [name, answered]));
}

/**
 * Recall over `answered`, each question counting the same (the paper's definition): the share of
 * its evidence that the first k hits stand for.
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

/** How long one search took. The first ones, which warm caches and plans, do not count. */
export function timesOf(answered: readonly Answered[]): Timing {
  return timing(answered.slice(20).map(({ ms }) => ms));
}

function shareFound({ evidence, found }: Answered, k: number): number {
  const turns = new Set(found.slice(0, k).flat());
  return evidence.filter((id) => turns.has(id)).length / evidence.length;
}

function reciprocalRank({ evidence, found }: Answered): number {
  const index = found.findIndex((turns) => turns.some((id) => evidence.includes(id)));
  return index < 0 ? 0 : 1 / (index + 1);
}
