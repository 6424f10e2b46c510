import { type Question, type RetrievalConversation, readJson, total } from "./retrieval-data.js";

interface FactSet {
  /** A numbered fact a line; later ones contradict earlier ones. */
  context: string;
  questions: string[];
  answers: string[][];
  metadata: { qa_pair_ids: string[] };
}

/** Parts with questions of one step. */
const sizes = ["6k", "32k"];

/** FactConsolidation of MemoryAgentBench, each part as statements and as slots. */
export function readFactConsolidation(file: string): RetrievalConversation[] {
  const sets = readJson(file) as FactSet[];
  return sizes.flatMap((size) => {
    const set = sets.find(({ metadata }) => metadata.qa_pair_ids[0]?.includes(`sh_${size}_`));
    if (!set) throw new Error(`${file} has no part "sh_${size}".`);
    const facts = [...set.context.matchAll(/^\d+\. (.*)$/gm)].map(([, text = ""]) => text);
    return ["statements", "slots"].map((form) => ({
      id: `${size}, ${form}`,
      turns: [],
      observations: facts.map((text, place) => ({
        text,
        date: new Date(firstSaidAt + place * 60_000).toISOString().slice(0, 16),
        evidence: [text],
        draft: { category: "knowledge", ...(form === "slots" && slotOf(text)) },
      })),
      questions: questionsOf(set, facts, `${size}, ${form}`),
    }));
  });
}

const firstSaidAt = Date.UTC(2026, 0, 1);

/** Questions whose answer is the object of a fact. Facts are their own ids. */
function questionsOf(
  { questions, answers }: FactSet,
  facts: readonly string[],
  type: string,
): Question[] {
  const parsed = facts.map((fact) => ({ fact, ...slotOf(fact) }));
  return questions.flatMap((question, index) => {
    const asked = new Set(wordsOf(question));
    const shared = (fact: string) => wordsOf(fact).filter((word) => asked.has(word)).length;
    const isAnswer = (value: string) =>
      answers[index]?.some((answer) => value.toLowerCase().includes(answer.toLowerCase()));
    // The last one of equal fit.
    const [latest] = parsed
      .filter(({ value }) => isAnswer(value))
      .toReversed()
      .toSorted((first, second) => shared(second.fact) - shared(first.fact));
    if (!latest) return [];
    const outdated = parsed
      .slice(0, facts.lastIndexOf(latest.fact))
      .filter(({ fact, key }) => fact !== latest.fact && key === latest.key)
      .map(({ fact }) => fact);
    return { question, types: [total, type], evidence: [latest.fact], outdated };
  });
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

const links =
  "is|was|are|were|in|of|by|to|from|as|with|for|at|on|speaks|married|plays|died|born|founded|" +
  "created|developed|located|named|called|affiliated|associated";
const lastLinks = "is|was|are|were|in|of|by|to|from|as|with|for|at|on";
const fact = new RegExp(`^(.*?\\b(?:${links})\\b)(?!.*\\b(?:${lastLinks})\\b)\\s+(.*?)\\.?$`);

/** Two facts contradict each other when they differ only in the value, after the last link. */
function slotOf(text: string) {
  const [, subject = text, value = ""] = fact.exec(text) ?? [];
  return {
    key: subject
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_")
      .slice(-100),
    value,
  };
}
