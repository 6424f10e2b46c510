import type { Question } from "./retrieval-data.js";

/** What one search found for a question. */
export interface Found {
  /** Per hit, best first, the ids of what it stands for. */
  readonly hits: readonly (readonly string[])[];
  /** Of all hits, as they are shown. */
  readonly tokens: number;
}

export interface Answer extends Found {
  readonly question: Question;
}

export type Measures = ReturnType<typeof measure>;

/** Means over questions, each of which counts the same. Shares are in percent. */
export function measure(answers: readonly Answer[]) {
  const mean = (value: (answer: Answer) => number, some = answers) =>
    some.reduce((sum, answer) => sum + value(answer), 0) / Math.max(1, some.length);
  const share = (value: (answer: Answer) => number, some = answers) => 100 * mean(value, some);
  const fitting = (answer: Answer) => answer.hits.filter((ids) => isEvidence(answer, ids)).length;
  const lines = mean(({ hits }) => hits.length);
  return {
    questions: answers.length,
    /** Evidence that the first five hits stand for, the first ten, and all. */
    "R@5": share((answer) => recallOf(answer, 5)),
    "R@10": share((answer) => recallOf(answer, 10)),
    "R of all": share((answer) => recallOf(answer)),
    "nDCG@10": share(ndcgAtTen),
    lines,
    tokens: mean(({ tokens }) => tokens),
    /** Of all lines, those with evidence. */
    "fitting %": (100 * mean(fitting)) / Math.max(lines, 1e-9),
    /** Questions without a hit. */
    "silent %": share(({ hits }) => Number(hits.length === 0)),
    /** All evidence is found and nothing else; the mean of that share of the hits. */
    "exact %": share((answer) => Number(recallOf(answer) === 1 && precisionOf(answer) === 1)),
    "precision %": share(
      precisionOf,
      answers.filter(({ question, hits }) => question.evidence.length + hits.length > 0),
    ),
    /** Evidence is found, and nothing outdated before it. */
    "newest first %": share((answer) => Number(isNewestFirst(answer))),
  };
}

const isEvidence = ({ question }: Answer, ids: readonly string[]) =>
  ids.some((id) => question.evidence.includes(id));

function recallOf({ question: { evidence }, hits }: Answer, most?: number): number {
  const found = new Set(hits.slice(0, most).flat());
  return evidence.filter((id) => found.has(id)).length / Math.max(1, evidence.length);
}

function precisionOf({ question, hits }: Answer): number {
  const found = [...new Set(hits.flat())];
  return found.filter((id) => question.evidence.includes(id)).length / Math.max(1, found.length);
}

/** Evidence that an earlier hit stands for gains nothing again. */
function ndcgAtTen({ question: { evidence }, hits }: Answer): number {
  const left = new Set(evidence);
  const discount = (index: number) => 1 / Math.log2(index + 2);
  let gain = 0;
  for (const [index, ids] of hits.slice(0, 10).entries())
    if (ids.filter((id) => left.delete(id)).length > 0) gain += discount(index);
  const ideal = evidence.slice(0, 10).reduce((sum, _, index) => sum + discount(index), 0);
  return gain / Math.max(1, ideal);
}

function isNewestFirst(answer: Answer): boolean {
  const { outdated = [] } = answer.question;
  const first = answer.hits.find(
    (ids) => isEvidence(answer, ids) || ids.some((id) => outdated.includes(id)),
  );
  return first !== undefined && isEvidence(answer, first);
}
