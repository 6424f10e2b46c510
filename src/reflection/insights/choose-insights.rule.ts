import {
  trimToLength,
  type WritingProblem,
  writingProblems,
} from "../../memories/write/writing-constraints.rule.js";
import { contentHash } from "../../text/normal-value.js";
import { onOneLine, storable, visibleText } from "../../text/storable-text.js";

/** A model's proposal, unchecked. */
export interface InsightCandidate {
  readonly summary: string;
  readonly tags: readonly string[];
  /** 1 to 5. */
  readonly importance: number;
  /** 0 to 1. */
  readonly confidence: number;
  /** Any other than those offered means the category of insights. */
  readonly category: string;
  /** Numbers of memories in the prompt, from 1. */
  readonly evidence: readonly number[];
}

export interface InsightSource {
  readonly id: string;
  readonly kind: "fact" | "episode";
  readonly category: string;
  readonly text: string;
  readonly saidAt: Date;
  readonly timeZone: string;
  readonly threadId: string | null;
}

export interface ChosenInsight
  extends Pick<InsightCandidate, "tags" | "importance" | "confidence"> {
  readonly text: string;
  /** Null: the category of insights. */
  readonly category: string | null;
  readonly evidence: readonly InsightSource[];
  readonly trimmed: boolean;
}

/** "known": an existing memory has the same text. */
export type InsightProblem =
  | WritingProblem
  | "out_of_range"
  | "no_evidence"
  | "known"
  | "duplicate"
  | "run_cap";

/** Chooses the insights to write, in order. Nonexistent evidence rejects an insight. */
export function chooseInsights(
  candidates: readonly InsightCandidate[],
  rules: { sources: readonly InsightSource[]; most: number; categories: readonly string[] },
): { chosen: ChosenInsight[]; rejected: InsightProblem[] } {
  const { sources, most, categories } = rules;
  const known = new Set(sources.map(({ text }) => contentHash(text)));
  const chosen = new Map<string, ChosenInsight>();
  const rejected: InsightProblem[] = [];
  for (const { category, ...candidate } of candidates) {
    const checked = checkInsight(candidate, sources);
    const hash = typeof checked === "string" ? "" : contentHash(checked.text);
    if (typeof checked === "string") rejected.push(checked);
    else if (known.has(hash)) rejected.push("known");
    else if (chosen.has(hash)) rejected.push("duplicate");
    else if (chosen.size >= most) rejected.push("run_cap");
    else
      chosen.set(hash, { ...checked, category: categories.includes(category) ? category : null });
  }
  return { chosen: [...chosen.values()], rejected };
}

function checkInsight(
  { summary, tags, importance, confidence, evidence }: Omit<InsightCandidate, "category">,
  sources: readonly InsightSource[],
): Omit<ChosenInsight, "category"> | InsightProblem {
  const numbers = [...new Set(evidence)];
  const cited = numbers.flatMap((number) => sources[number - 1] ?? []);
  if (cited.length === 0 || cited.length < numbers.length) return "no_evidence";
  if (!(importance >= 1 && importance <= 5 && confidence >= 0 && confidence <= 1))
    return "out_of_range";
  const fullText = onOneLine(visibleText(storable(summary)));
  const text = trimToLength("insight", fullText) ?? fullText;
  const [problem] = writingProblems("insight", text);
  if (problem !== undefined) return problem;
  const trimmed = text.length < fullText.length;
  return { text, tags: tagsOf(tags), importance, confidence, evidence: cited, trimmed };
}

const maxInsightTags = 5;
const maxInsightTagCharacters = 40;

function tagsOf(tags: readonly string[]): string[] {
  const plain = tags.map((tag) => onOneLine(visibleText(storable(tag))).trim());
  return [...new Set(plain)]
    .filter((tag) => tag !== "" && tag.length <= maxInsightTagCharacters)
    .slice(0, maxInsightTags);
}
