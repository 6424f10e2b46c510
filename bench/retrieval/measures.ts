/** What one search found for a question. */
export interface Found {
  /** Per hit, best first, the ids of what it stands for. */
  readonly hits: readonly (readonly string[])[];
  /** Of all hits, as they are shown. */
  readonly tokens: number;
}

/** A question with what was found for it. */
export interface Answer extends Found {
  /** Ids of what answers it; empty if nothing does. */
  readonly evidence: readonly string[];
}

/** Means over questions, each of which counts the same. Shares in percent. */
export interface Measures {
  readonly questions: number;
  /** Share of the evidence that the first five hits stand for. */
  readonly r5: number;
  readonly r10: number;
  /** The same of all hits. */
  readonly rAll: number;
  readonly ndcg10: number;
  /** Hits, and their tokens. */
  readonly lines: number;
  readonly tokens: number;
  /** Share of all lines that stand for evidence. */
  readonly evidenceLines: number;
  /** Share of questions without a hit. */
  readonly silent: number;
}

export function measure(answers: readonly Answer[]): Measures {
  const mean = (value: (answer: Answer) => number) =>
    answers.reduce((sum, answer) => sum + value(answer), 0) / Math.max(1, answers.length);
  const lines = mean(({ hits }) => hits.length);
  const withEvidence = mean(
    ({ hits, evidence }) => hits.filter((ids) => ids.some((id) => evidence.includes(id))).length,
  );
  return {
    questions: answers.length,
    r5: 100 * mean((answer) => shareFound(answer, 5)),
    r10: 100 * mean((answer) => shareFound(answer, 10)),
    rAll: 100 * mean((answer) => shareFound(answer, answer.hits.length)),
    ndcg10: 100 * mean(ndcgAtTen),
    lines,
    tokens: mean(({ tokens }) => tokens),
    evidenceLines: lines === 0 ? 0 : (100 * withEvidence) / lines,
    silent: 100 * mean(({ hits }) => Number(hits.length === 0)),
  };
}

/** The columns of a table. */
export const recallColumns = ({ questions, r5, r10, ndcg10 }: Measures) => ({
  questions,
  "R@5": r5,
  "R@10": r10,
  "nDCG@10": ndcg10,
});

export const shownColumns = ({ rAll, lines, tokens, evidenceLines, silent }: Measures) => ({
  "R of all": rAll,
  lines,
  tokens,
  "evidence % of lines": evidenceLines,
  "silent %": silent,
});

function shareFound({ evidence, hits }: Answer, most: number): number {
  if (evidence.length === 0) return 0;
  const found = new Set(hits.slice(0, most).flat());
  return evidence.filter((id) => found.has(id)).length / evidence.length;
}

/** Evidence that an earlier hit stands for gains nothing again. */
function ndcgAtTen({ evidence, hits }: Answer): number {
  const left = new Set(evidence);
  let gain = 0;
  for (const [index, ids] of hits.slice(0, 10).entries()) {
    const found = ids.filter((id) => left.delete(id));
    if (found.length > 0) gain += discount(index);
  }
  const ideal = evidence.slice(0, 10).reduce((sum, _, index) => sum + discount(index), 0);
  return ideal === 0 ? 0 : gain / ideal;
}

const discount = (index: number) => 1 / Math.log2(index + 2);
