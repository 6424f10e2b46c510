import type { Question } from "./retrieval-data.js";

/** What one search found for a question. */
export interface Found {
  /** Per hit, best first, the ids of what it stands for. */
  readonly hits: readonly (readonly string[])[];
  /** Of all hits, as they are shown. */
  readonly tokens: number;
}

export type Answer = Found & Pick<Question, "evidence" | "outdated">;

export type Measures = ReturnType<typeof measure>;

/** Means over questions, each of which counts the same. Shares are in percent. */
export function measure(answers: readonly Answer[]) {
  const mean = (value: (answer: Answer) => number) =>
    answers.reduce((sum, answer) => sum + value(answer), 0) / Math.max(1, answers.length);
  const lines = mean(({ hits }) => hits.length);
  const withEvidence = mean(({ hits, evidence }) => {
    return hits.filter((ids) => ids.some((id) => evidence.includes(id))).length;
  });
  return {
    questions: answers.length,
    /** Share of the evidence that the first five hits stand for. */
    r5: 100 * mean((answer) => shareFound(answer, 5)),
    r10: 100 * mean((answer) => shareFound(answer, 10)),
    /** Of all hits. */
    rAll: 100 * mean((answer) => shareFound(answer)),
    ndcg10: 100 * mean(ndcgAtTen),
    /** Evidence is found, and nothing outdated before it. */
    newestFirst: 100 * mean((answer) => Number(isNewestFirst(answer))),
    lines,
    tokens: mean(({ tokens }) => tokens),
    evidenceLines: (100 * withEvidence) / Math.max(lines, 1e-9),
    /** Questions without a hit. */
    silent: 100 * mean(({ hits }) => Number(hits.length === 0)),
  };
}

function shareFound({ evidence, hits }: Answer, most?: number): number {
  const found = new Set(hits.slice(0, most).flat());
  return evidence.filter((id) => found.has(id)).length / Math.max(1, evidence.length);
}

/** Evidence that an earlier hit stands for gains nothing again. */
function ndcgAtTen({ evidence, hits }: Answer): number {
  const left = new Set(evidence);
  let gain = 0;
  for (const [index, ids] of hits.slice(0, 10).entries())
    if (ids.filter((id) => left.delete(id)).length > 0) gain += discount(index);
  const ideal = evidence.slice(0, 10).reduce((sum, _, index) => sum + discount(index), 0);
  return ideal === 0 ? 0 : gain / ideal;
}

const discount = (index: number) => 1 / Math.log2(index + 2);

function isNewestFirst({ evidence, outdated, hits }: Answer): boolean {
  const first = hits.find((ids) =>
    ids.some((id) => [...evidence, ...(outdated ?? [])].includes(id)),
  );
  return first?.some((id) => evidence.includes(id)) ?? false;
}
