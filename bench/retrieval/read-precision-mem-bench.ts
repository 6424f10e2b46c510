import {
  type Observation,
  type Question,
  type RetrievalConversation,
  readJson,
} from "./retrieval-data.js";

interface Belief {
  readonly _id: string;
  readonly user_id: string;
  readonly type: string;
  readonly canonical_name: string;
  readonly aliases: readonly string[];
  readonly content: string;
  readonly why_it_matters: string;
  readonly scope: readonly string[];
  readonly pinned: boolean;
  readonly resolved_at: string | null;
  readonly superseded_by: string | null;
  /** Beliefs that a relation brings along. */
  readonly participants?: readonly string[];
}

interface Case {
  readonly scope: readonly string[];
  readonly query: string;
  readonly userId?: string;
  readonly budget?: { readonly maxBeliefs: number };
  readonly expect: { readonly relevantBeliefs?: { readonly shouldOnlyInclude?: string[] } };
}

/** "native": scopes as metadata, chains of beliefs as slots. "plain": what other systems get. */
const forms = ["native", "plain"] as const;
type Form = (typeof forms)[number];

const topK = 20;

/**
 * PrecisionMemBench: are the wanted beliefs found, and no others? Active cases want some. The three
 * cases without a question, or without wanted beliefs, are left out.
 */
export function readPrecisionMemBench(files: readonly string[]): RetrievalConversation[] {
  const [beliefs = [], cases = []] = files.map(readJson) as [Belief[]?, Case[]?];
  const users = [...new Set(beliefs.map((belief) => belief.user_id))];
  return forms.flatMap((form) =>
    users.map((user) => {
      const own = beliefs.filter((belief) => belief.user_id === user);
      return {
        id: `${form} ${user}`,
        turns: [],
        observations: form === "plain" ? own.map(plainly) : natively(own),
        questions: cases
          .filter(({ userId = "test-user" }) => userId === user)
          .flatMap((asked) => questionsOf(asked, own, form)),
        topK,
      };
    }),
  );
}

const isOpen = ({ type, resolved_at: resolvedAt }: Belief) =>
  type === "open_question" || resolvedAt !== null;

/** A belief as one sentence, so that it stays one memory. */
const observationOf = (belief: Belief, text: string): Observation => ({
  text: text.replace(/([.!?])\s+(?=\S)/g, "; "),
  date: "2026-10-01T09:00",
  evidence: [belief._id, ...(belief.participants ?? [])],
});

const mostPlainCharacters = 400;

function plainly(belief: Belief): Observation {
  const { canonical_name: name, aliases, content, why_it_matters: why } = belief;
  return observationOf(
    belief,
    [name, ...aliases, content, why].join(" ").slice(0, mostPlainCharacters),
  );
}

/** Open questions are another list of the benchmark. Superseded beliefs come first. */
function natively(beliefs: readonly Belief[]): Observation[] {
  const chainOf = (belief: Belief): Belief[] => {
    const later = beliefs.find(({ _id }) => _id === belief.superseded_by);
    return [belief, ...(later ? chainOf(later) : [])];
  };
  return beliefs
    .filter((belief) => !isOpen(belief))
    .toSorted((first, second) => chainOf(second).length - chainOf(first).length)
    .map((belief) => {
      const { canonical_name: name, aliases, content: value, scope } = belief;
      const key = chainOf(belief).at(-1)?.canonical_name;
      const metadata = { scope: scope[0] ?? "" };
      return {
        ...observationOf(belief, `${[name.replaceAll("_", " "), ...aliases].join(", ")}: ${value}`),
        draft: { category: "knowledge", key, value, metadata },
      };
    });
}

/** Pinned beliefs are always shown, and are not to be found. */
function questionsOf(
  { query: question, scope: scopes, budget, expect }: Case,
  beliefs: readonly Belief[],
  form: Form,
): Question[] {
  const evidence = expect.relevantBeliefs?.shouldOnlyInclude;
  if (evidence === undefined || question.trim() === "") return [];
  const inScope = beliefs.filter(({ scope }) => scope.some((each) => scopes.includes(each)));
  const pinned = inScope.filter(
    (belief) => belief.pinned && !isOpen(belief) && belief.superseded_by === null,
  );
  return [
    {
      question,
      type: `${form}, ${evidence.length > 0 ? "active" : "nothing wanted"}`,
      evidence,
      ...(form === "native" && { filters: scopes.map((scope) => ({ metadata: { scope } })) }),
      found: {
        without: new Set(pinned.map(({ _id }) => _id)),
        most: Math.max(0, (budget?.maxBeliefs ?? topK) - pinned.length),
      },
    },
  ];
}
