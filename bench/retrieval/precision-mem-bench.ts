import type { MemoryDraft, MemoryHit } from "../../src/index.js";
import { printTable } from "../report.js";
import type { RetrievalContext } from "./retrieval-context.js";
import { readJson } from "./retrieval-data.js";

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
  readonly expect: {
    readonly relevantBeliefs?: {
      readonly shouldOnlyInclude?: readonly string[];
      readonly mustExclude?: readonly string[];
    };
  };
}

/** "native": scopes as metadata, chains of beliefs as slots. "plain": what other systems get. */
type Form = "native" | "plain";

interface Judged {
  readonly expected: readonly string[];
  readonly relevant: readonly string[];
  readonly passes: boolean;
}

/**
 * PrecisionMemBench: are the wanted beliefs found, and no others? Active cases want some. Prints a
 * table, and returns figures for programs.
 */
export async function measurePrecision(
  context: RetrievalContext,
  [beliefsFile = "", casesFile = ""]: readonly string[],
): Promise<object> {
  const beliefs = readJson(beliefsFile) as Belief[];
  const cases = readJson(casesFile) as Case[];
  const figures: Record<string, ReturnType<typeof judge>> = {};
  for (const form of ["native", "plain"] as const) {
    const ids = await load(context, beliefs, form);
    const judged: Judged[] = [];
    for (const asked of cases) {
      const hits = asked.query.trim() === "" ? [] : await search(context, asked, form);
      const found = hits.flatMap((hit) => ids.get(hit.memory.id) ?? []);
      judged.push(compare(asked, found, beliefs));
    }
    figures[form] = judge(judged);
  }
  printTable(
    "PrecisionMemBench: query, defaults, twenty hits",
    Object.entries(figures).map(([form, figure]) => ({ form, ...figure })),
  );
  return figures;
}

const userId = "test-user";
const mostBeliefs = 20;

const isOpenQuestion = ({ type, resolved_at: resolvedAt }: Belief) =>
  type === "open_question" || resolvedAt !== null;

/** Returns which belief each memory is. */
async function load(
  { memory, vacuum }: RetrievalContext,
  beliefs: readonly Belief[],
  form: Form,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  /** The belief and those that superseded it, one after the other. */
  const chainOf = (belief: Belief): Belief[] => {
    const later = beliefs.find(({ _id }) => _id === belief.superseded_by);
    return [belief, ...(later ? chainOf(later) : [])];
  };
  // Open questions are another list of the benchmark.
  const written =
    form === "plain"
      ? beliefs
      : beliefs
          .filter((belief) => !isOpenQuestion(belief))
          .toSorted((first, second) => chainOf(second).length - chainOf(first).length);
  for (const belief of written) {
    const slot = { key: chainOf(belief).at(-1)?.canonical_name, value: belief.content };
    const draft = { ...draftOf(belief, form), ...(form === "native" && slot) };
    const scope = { tenantId: form, userId: belief.user_id };
    const [outcome] = await memory.memories.add([draft], { scope });
    if (outcome?.id) ids.set(outcome.id, belief._id);
  }
  console.log(`\nPrecisionMemBench, ${form}: ${ids.size} of ${written.length} beliefs were stored`);
  if (ids.size < 0.8 * written.length) throw new Error("Too few beliefs were stored.");
  await vacuum();
  return ids;
}

const mostPlainCharacters = 400;

function draftOf(belief: Belief, form: Form): MemoryDraft {
  const { canonical_name: name, aliases, content, why_it_matters: why, scope } = belief;
  const text =
    form === "native"
      ? `${[name.replaceAll("_", " "), ...aliases].join(", ")}: ${content}`
      : [name, ...aliases, content, why].join(" ").slice(0, mostPlainCharacters);
  return {
    category: "knowledge",
    // One sentence, so that a belief stays one memory.
    text: text.replace(/([.!?])\s+(?=\S)/g, "; "),
    metadata: { scope: scope[0] ?? "" },
    tags: scope,
  };
}

async function search(
  { memory }: RetrievalContext,
  { query, scope: scopes, ...asked }: Case,
  form: Form,
): Promise<MemoryHit[]> {
  const scope = { tenantId: form, userId: asked.userId ?? userId };
  const request = { scope, query, topK: mostBeliefs };
  if (form === "plain") return memory.query(request);
  const hits = await Promise.all(
    scopes.map((each) => memory.query({ ...request, filters: { metadata: { scope: each } } })),
  );
  return hits.flat().toSorted((first, second) => second.score - first.score);
}

/** As the benchmark does it. Pinned beliefs are always shown, and are not to be found. */
function compare(asked: Case, found: readonly string[], beliefs: readonly Belief[]): Judged {
  const inScope = beliefs.filter(({ scope }) => scope.some((each) => asked.scope.includes(each)));
  const pinned = new Set(
    inScope
      .filter((belief) => belief.pinned && belief.user_id === (asked.userId ?? userId))
      .filter((belief) => !isOpenQuestion(belief) && belief.superseded_by === null)
      .map(({ _id }) => _id),
  );
  const related = beliefs
    .filter(({ _id, type }) => type === "relation" && found.includes(_id))
    .flatMap(({ participants = [] }) => participants)
    .filter((id) => inScope.some(({ _id }) => _id === id));
  const room = Math.max(0, (asked.budget?.maxBeliefs ?? mostBeliefs) - pinned.size);
  const relevant = [...new Set([...found, ...related])]
    .filter((id) => !pinned.has(id))
    .slice(0, room);
  const { shouldOnlyInclude, mustExclude = [] } = asked.expect.relevantBeliefs ?? {};
  const expected = shouldOnlyInclude ?? [];
  return {
    expected,
    relevant,
    passes:
      expected.every((id) => relevant.includes(id)) &&
      (!shouldOnlyInclude || relevant.length === expected.length) &&
      !mustExclude.some((id) => relevant.includes(id) || pinned.has(id)),
  };
}

/** Precision is a mean over the cases that want beliefs or find some. */
function judge(judged: readonly Judged[]) {
  const active = judged.filter(({ expected }) => expected.length > 0);
  const answered = judged.filter(({ expected, relevant }) => expected.length + relevant.length > 0);
  const correct = ({ expected, relevant }: Judged) =>
    expected.filter((id) => relevant.includes(id)).length;
  const mean = (cases: readonly Judged[], share: (each: Judged) => number) =>
    cases.reduce((sum, each) => sum + share(each), 0) / cases.length;
  return {
    activePasses: active.filter(({ passes }) => passes).length,
    active: active.length,
    passes: judged.filter(({ passes }) => passes).length,
    cases: judged.length,
    precision: mean(answered, (each) => correct(each) / Math.max(1, each.relevant.length)),
    recall: mean(active, (each) => correct(each) / each.expected.length),
  };
}
