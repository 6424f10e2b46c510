import { estimateTokens } from "../../src/text/estimate-tokens.js";
import type { Question } from "./retrieval-data.js";

/** A hit. */
export interface Line {
  readonly text: string;
  /** Ids of what it stands for. */
  readonly ids: readonly string[];
}

/** What one search found for a question. */
export interface Answer {
  readonly searched: string;
  readonly question: Question;
  readonly found: readonly Line[];
}

/** Means over questions, each of which counts the same. Shares are in percent. */
export function measure(answers: readonly Answer[]) {
  const mean = (value: (answer: Answer) => number) =>
    answers.reduce((sum, answer) => sum + value(answer), 0) / Math.max(1, answers.length);
  const share = (value: (answer: Answer) => number | boolean) =>
    100 * mean((answer) => Number(value(answer)));
  const lines = mean(({ found }) => found.length);
  return {
    questions: answers.length,
    /** Of the evidence, what the first five hits stand for, the first ten, and all. */
    "R@5": share((answer) => recallOf(answer, 5)),
    "R@10": share((answer) => recallOf(answer, 10)),
    "R of all": share((answer) => recallOf(answer)),
    "nDCG@10": share(ndcgAtTen),
    lines,
    tokens: mean(({ found }) => sumOf(found.map(({ text }) => estimateTokens(`- ${text}`)))),
    /** Of all lines, those with evidence. */
    "fitting %": (100 * mean(fittingLines)) / Math.max(lines, 1e-9),
    /** Nothing is found. */
    "silent %": share(({ found }) => found.length === 0),
    /** All evidence is found, and nothing else. */
    "exact %": share(
      (answer) => recallOf(answer) === 1 && fittingLines(answer) === answer.found.length,
    ),
    /** Evidence is found, and nothing outdated before it. */
    "newest first %": share(isNewestFirst),
  };
}

const isEvidence = ({ question }: Answer, { ids }: Line) =>
  ids.some((id) => question.evidence.includes(id));

const fittingLines = (answer: Answer) =>
  answer.found.filter((line) => isEvidence(answer, line)).length;

function recallOf({ question: { evidence }, found }: Answer, most?: number): number {
  const ids = new Set(found.slice(0, most).flatMap((line) => line.ids));
  return evidence.filter((id) => ids.has(id)).length / Math.max(1, evidence.length);
}

/** Evidence that an earlier hit stands for gains nothing again. */
function ndcgAtTen({ question: { evidence }, found }: Answer): number {
  const left = new Set(evidence);
  const discount = (index: number) => 1 / Math.log2(index + 2);
  const gains = found.slice(0, 10).map(({ ids }, index) => {
    return ids.filter((id) => left.delete(id)).length > 0 ? discount(index) : 0;
  });
  const ideal = evidence.slice(0, 10).map((_, index) => discount(index));
  return sumOf(gains) / Math.max(1, sumOf(ideal));
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

function isNewestFirst({ question: { evidence, outdated = [] }, found }: Answer): boolean {
  const placeOf = (ids: readonly string[]) =>
    found.findIndex((line) => line.ids.some((id) => ids.includes(id)));
  const [newest, old] = [placeOf(evidence), placeOf(outdated)];
  return newest >= 0 && (old < 0 || newest <= old);
}
