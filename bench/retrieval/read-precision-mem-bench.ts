import { join } from "node:path";
import { type Observation, type RetrievalConversation, readJson, total } from "./retrieval-data.js";

interface Belief {
  _id: string;
  user_id: string;
  type: string;
  canonical_name: string;
  aliases: string[];
  content: string;
  why_it_matters: string;
  scope: string[];
  pinned: boolean;
  created_at: string;
  superseded_by: string | null;
  /** Beliefs that a relation brings along. */
  participants?: string[];
}

interface Case {
  scope: string[];
  query: string;
  userId?: string;
  budget?: { maxBeliefs: number };
  expect: { relevantBeliefs?: { shouldOnlyInclude?: string[] } };
}

const topK = 20;

/**
 * PrecisionMemBench: are the wanted beliefs found, and no others? Active cases want some. Natively,
 * scopes are metadata and chains of beliefs slots; plainly, beliefs are what other systems get.
 * Cases without a question, or without a list of wanted beliefs, are left out.
 */
export function readPrecisionMemBench(folder: string): RetrievalConversation[] {
  const all = readJson(join(folder, "beliefs.seed.json")) as Belief[];
  const beliefs = all.filter((belief) => belief.user_id === "test-user");
  const cases = (readJson(join(folder, "retrieval.cases.json")) as Case[]).filter(
    ({ userId, query }) => userId === undefined && query.trim() !== "",
  );
  const asked = cases.flatMap((each) => questionOf(each, beliefs));
  return ["native", "plain"].map((form) => ({
    id: form,
    turns: [],
    observations: form === "native" ? natively(beliefs) : beliefs.map(plainly),
    questions: asked.map(({ scopes, ...question }) => ({
      ...question,
      types: [
        total,
        form,
        `${form}, ${question.evidence.length > 0 ? "active" : "nothing wanted"}`,
      ],
      ...(form === "native" && { filters: scopes.map((scope) => ({ metadata: { scope } })) }),
    })),
    topK,
  }));
}

const isOpen = ({ type }: Belief) => type === "open_question";

/** A belief as one sentence, so that it stays one memory. */
const observationOf = (belief: Belief, text: string): Observation => ({
  text: text.replace(/([.!?])\s+(?=\S)/g, "; "),
  date: belief.created_at.slice(0, 16),
  evidence: [belief._id, ...(belief.participants ?? [])],
});

const maxPlainCharacters = 400;

function plainly(belief: Belief): Observation {
  const { canonical_name: name, aliases, content, why_it_matters: why } = belief;
  const text = [name, ...aliases, content, why].join(" ");
  return observationOf(belief, text.slice(0, maxPlainCharacters));
}

/** Open questions are another list of the benchmark. */
function natively(beliefs: readonly Belief[]): Observation[] {
  const keyOf = ({ canonical_name: name, superseded_by: laterId }: Belief): string => {
    const later = beliefs.find(({ _id }) => _id === laterId);
    return later ? keyOf(later) : name;
  };
  return beliefs
    .filter((belief) => !isOpen(belief))
    .map((belief) => {
      const { canonical_name: name, aliases, content: value, scope } = belief;
      const metadata = { scope: scope[0] ?? "" };
      return {
        ...observationOf(belief, `${[name.replaceAll("_", " "), ...aliases].join(", ")}: ${value}`),
        draft: { category: "knowledge", key: keyOf(belief), value, metadata },
      };
    });
}

/** Pinned beliefs are always shown, and are not to be found. */
function questionOf(
  { query: question, scope: scopes, budget, expect }: Case,
  beliefs: readonly Belief[],
) {
  const pinned = beliefs
    .filter((belief) => belief.pinned && !isOpen(belief))
    .filter(({ scope }) => scope.some((each) => scopes.includes(each)));
  const counts = {
    without: pinned.map(({ _id }) => _id),
    most: Math.max(0, (budget?.maxBeliefs ?? topK) - pinned.length),
  };
  const evidence = expect.relevantBeliefs?.shouldOnlyInclude;
  return evidence ? [{ question, scopes, evidence, counts }] : [];
}
