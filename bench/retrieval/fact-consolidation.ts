import { z } from "zod";
import type { MemoryDraft } from "../../src/index.js";
import { printTable } from "../report.js";
import { addDrafts, checkOutcomes, type OutcomeCounts } from "./load-conversations.js";
import type { RetrievalContext } from "./retrieval-context.js";
import { readJson } from "./retrieval-data.js";

const fileSchema = z.array(
  z.object({
    context: z.string(),
    questions: z.array(z.string()),
    answers: z.array(z.array(z.string())),
    metadata: z.object({ qa_pair_ids: z.array(z.string()) }),
  }),
);

type FactSet = z.output<typeof fileSchema>[number];

/** Parts with questions of one step. */
const sizes = ["6k", "32k"] as const;
const forms = ["statements", "slots"] as const;

interface Contest {
  readonly question: string;
  /** The latest fact that answers it, and the earlier ones that contradict this one. */
  readonly latest: string;
  readonly outdated: readonly string[];
}

/** How often the latest fact is found, before all outdated ones, and without any. */
interface Counts {
  readonly questions: number;
  readonly contested: number;
  readonly found: number;
  readonly newestFirst: number;
  readonly outdatedAbsent: number;
  readonly silent: number;
}

/**
 * FactConsolidation of MemoryAgentBench: facts of which later ones contradict earlier ones, as
 * statements and as slots. Prints a table, and returns figures for programs.
 */
export async function measureFactConsolidation(
  context: RetrievalContext,
  file: string,
): Promise<object> {
  const sets = fileSchema.parse(readJson(file));
  const figures: Record<string, Counts> = {};
  for (const size of sizes) {
    const set = sets.find(({ metadata }) => metadata.qa_pair_ids[0]?.includes(`sh_${size}_`));
    if (!set) throw new Error(`${file} has no part "sh_${size}".`);
    for (const form of forms) figures[`${size} ${form}`] = await ask(context, set, size, form);
  }
  printTable(
    "FactConsolidation: query, defaults, ten hits",
    Object.entries(figures).map(([facts, counts]) => ({ facts, ...counts })),
  );
  return figures;
}

async function ask(
  { memory, vacuum }: RetrievalContext,
  set: FactSet,
  size: string,
  form: (typeof forms)[number],
): Promise<Counts> {
  const facts = set.context.split("\n").flatMap((line) => /^\d+\. (.*)$/.exec(line)?.[1] ?? []);
  const scope = { tenantId: "FactConsolidation", userId: `${size} ${form}` };
  const yesterday = Date.now() - 86_400_000;
  const drafts = facts.map((text, index): MemoryDraft => {
    const { subject, object } = partsOf(text);
    const key = subject.replace(/[^a-z0-9]+/g, "_").slice(-100);
    const validFrom = new Date(yesterday + index * 1000);
    const draft = { text, category: "knowledge", validFrom };
    return form === "slots" ? { ...draft, key, value: object } : draft;
  });
  const outcomes: OutcomeCounts = {};
  await addDrafts(memory, drafts, scope, outcomes);
  checkOutcomes(`FactConsolidation ${size}, ${form}`, outcomes);
  await vacuum();
  const contests = contestsOf(set, facts);
  const counts = { found: 0, newestFirst: 0, outdatedAbsent: 0, silent: 0 };
  for (const { question, latest, outdated } of contests) {
    const hits = await memory.query({ scope, query: question, topK: 10 });
    const texts = hits.map((hit) => hit.memory.text);
    const place = texts.indexOf(latest);
    const oldPlaces = outdated.map((text) => texts.indexOf(text)).filter((at) => at >= 0);
    if (texts.length === 0) counts.silent++;
    if (place < 0) continue;
    counts.found++;
    if (oldPlaces.every((at) => place < at)) counts.newestFirst++;
    if (oldPlaces.length === 0) counts.outdatedAbsent++;
  }
  const contested = contests.filter(({ outdated }) => outdated.length > 0).length;
  return { questions: contests.length, contested, ...counts };
}

/** Questions whose answer is the object of a fact. */
function contestsOf({ questions, answers }: FactSet, facts: readonly string[]): Contest[] {
  const parsed = facts.map((text, place) => ({ text, place, ...partsOf(text) }));
  return questions.flatMap((question, index) => {
    const asked = new Set(wordsOf(question));
    const shared = (text: string) => wordsOf(text).filter((word) => asked.has(word)).length;
    const answering = parsed.filter(({ object }) =>
      answers[index]?.some((answer) => object.toLowerCase().includes(answer.toLowerCase())),
    );
    const [latest] = answering.toSorted(
      (first, second) => shared(second.text) - shared(first.text) || second.place - first.place,
    );
    if (!latest) return [];
    const outdated = parsed.filter(
      ({ text, subject, place }) =>
        text !== latest.text && subject === latest.subject && place < latest.place,
    );
    return { question, latest: latest.text, outdated: outdated.map(({ text }) => text) };
  });
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

const links =
  "is|was|are|were|in|of|by|to|from|as|with|for|at|on|speaks|married|plays|died|born|founded|" +
  "created|developed|located|named|called|affiliated|associated";
const laterLinks = "is|was|are|were|in|of|by|to|from|as|with|for|at|on";
const fact = new RegExp(`^(.*?\\b(?:${links})\\b)(?!.*\\b(?:${laterLinks})\\b)\\s+(.*?)\\.?$`);

/** Two facts contradict each other when they differ only in the object, after the last link. */
function partsOf(text: string): { readonly subject: string; readonly object: string } {
  const [, subject = text, object = ""] = fact.exec(text) ?? [];
  return { subject: subject.toLowerCase(), object };
}
