import type { Question } from "./retrieval-data.js";

/** What one search found for a question. */
export interface Answer {
  readonly searched: string;
  readonly question: Question;
  /** Per hit, best first, the ids of what it stands for. */
  readonly hits: readonly (readonly string[])[];
  /** Of all hits, as they are shown. */
  readonly tokens: number;
}

/** Means over questions, each of which counts the same. Shares are in percent. */
export function measure(answers: readonly Answer[]) {
  const mean = (value: (answer: Answer) => number) =>
    answers.reduce((sum, answer) => sum + value(answer), 0) / Math.max(1, answers.length);
  const share = (value: (answer: Answer) => number | boolean) =>
    100 * mean((answer) => Number(value(answer)));
  const lines = mean(({ hits }) => hits.length);
  return {
    questions: answers.length,
    /** Of the evidence, what the first five hits stand for, the first ten, and all. */
    "R@5": share((answer) => recallOf(answer, 5)),
    "R@10": share((answer) => recallOf(answer, 10)),
    "R of all": share((answer) => recallOf(answer)),
    "nDCG@10": share(ndcgAtTen),
    lines,
    tokens: mean(({ tokens }) => tokens),
    /** Of all lines, those with evidence. */
    "fitting %": (100 * mean(fittingLines)) / Math.max(lines, 1e-9),
    /** Nothing is found. */
    "silent %": share(({ hits }) => hits.length === 0),
    /** All evidence is found, and nothing else. */
    "exact %": share(
      (answer) => recallOf(answer) === 1 && fittingLines(answer) === answer.hits.length,
    ),
    /** Evidence is found, and nothing outdated before it. */
    "newest first %": share(isNewestFirst),
  };
}

const isEvidence = ({ question }: Answer, ids: readonly string[]) =>
  ids.some((id) => question.evidence.includes(id));

const fittingLines = (answer: Answer) =>
  answer.hits.filter((ids) => isEvidence(answer, ids)).length;

function recallOf({ question: { evidence }, hits }: Answer, most?: number): number {
  const found = new Set(hits.slice(0, most).flat());
  return evidence.filter((id) => found.has(id)).length / Math.max(1, evidence.length);
}

/** Evidence that an earlier hit stands for gains nothing again. */
function ndcgAtTen({ question: { evidence }, hits }: Answer): number {
  const left = new Set(evidence);
  const discount = (index: number) => 1 / Math.log2(index + 2);
  const gains = hits.slice(0, 10).map((ids, index) => {
    return ids.filter((id) => left.delete(id)).length > 0 ? discount(index) : 0;
  });
  const ideal = evidence.slice(0, 10).map((_, index) => discount(index));
  return sumOf(gains) / Math.max(1, sumOf(ideal));
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

function isNewestFirst(answer: Answer): boolean {
  const { outdated = [] } = answer.question;
  const first = answer.hits.find(
    (ids) => isEvidence(answer, ids) || ids.some((id) => outdated.includes(id)),
  );
  return first !== undefined && isEvidence(answer, first);
}
