import { trimToLength, type WritingProblem, writingProblems } from "../memories/write/writing-constraints.rule.js";
import { contentHash } from "../text/normal-value.js";
import { onOneLine, storable, visibleText } from "../text/storable-text.js";

/** An insight that a model proposes. `chooseInsights` checks all of it. */
export interface InsightCandidate {
  readonly summary: string;
  readonly tags: readonly string[];
  /** 1 to 5. */
  readonly importance: number;
  /** 0 to 1. */
  readonly confidence: number;
  /** One of the categories that the model may choose; else the one of insights. */
  readonly category: string;
  /** Numbers of memories in the prompt, counted from 1. */
  readonly evidence: readonly number[];
}

export interface InsightSource {
  readonly id: string;
  readonly kind: "fact" | "episode";
  readonly category: string;
  readonly text: string;
  readonly saidAt: Date;
  readonly threadId: string | null;
}

export interface ChosenInsight extends Pick<InsightCandidate, "tags" | "importance" | "confidence"> {
  readonly text: string;
  /** Null: the category of insights. */
  readonly category: string | null;
  readonly evidence: readonly InsightSource[];
  readonly trimmed: boolean;
}

/** "known": a memory says it. */
export type InsightProblem = WritingProblem | "out_of_range" | "no_evidence" | "known" | "duplicate" | "run_cap";

/** The insights that may be written, in order, and why the others may not. Evidence that does not exist rejects one. */
export function chooseInsights(
  candidates: readonly InsightCandidate[],
  rules: { sources: readonly InsightSource[]; most: number; categories: readonly string[] },
): { chosen: ChosenInsight[]; rejected: InsightProblem[] } {
  const { sources, most, categories } = rules;
  const known = new Set(sources.map(({ text }) => contentHash(text)));
  const chosen: ChosenInsight[] = [];
  const rejected: InsightProblem[] = [];
  const said = new Set<string>();
  for (const candidate of candidates) {
    const checked = checkInsight(candidate, sources);
    const hash = typeof checked === "string" ? "" : contentHash(checked.text);
    if (typeof checked === "string") rejected.push(checked);
    else if (known.has(hash)) rejected.push("known");
    else if (said.has(hash)) rejected.push("duplicate");
    else if (chosen.length >= most) rejected.push("run_cap");
    else {
      const { category } = candidate;
      chosen.push({ ...checked, category: categories.includes(category) ? category : null });
      said.add(hash);
    }
  }
  return { chosen, rejected };
}

function checkInsight(
  { summary, tags, importance, confidence, evidence }: InsightCandidate,
  sources: readonly InsightSource[],
): Omit<ChosenInsight, "category"> | InsightProblem {
  const numbers = [...new Set(evidence)];
  const cited = numbers.flatMap((number) => sources[number - 1] ?? []);
  if (cited.length === 0 || cited.length < numbers.length) return "no_evidence";
  if (!(importance >= 1 && importance <= 5 && confidence >= 0 && confidence <= 1)) return "out_of_range";
  const said = onOneLine(visibleText(storable(summary)));
  const text = trimToLength("insight", said) ?? said;
  const [problem] = writingProblems("insight", text);
  if (problem !== undefined) return problem;
  const trimmed = text.length < said.length;
  return { text, tags: tagsOf(tags), importance, confidence, evidence: cited, trimmed };
}

/** A model that gives more splits hairs. */
const mostTags = 5;
const mostTagCharacters = 40;

function tagsOf(tags: readonly string[]): string[] {
  const plain = tags.map((tag) => onOneLine(visibleText(storable(tag))).trim());
  return [...new Set(plain)].filter((tag) => tag !== "" && tag.length <= mostTagCharacters).slice(0, mostTags);
}
