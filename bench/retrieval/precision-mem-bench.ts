import { z } from "zod";
import type { MemoryDraft, MemoryHit } from "../../src/index.js";
import { printTable } from "../report.js";
import { addDrafts, type OutcomeCounts } from "./load-conversations.js";
import type { RetrievalContext } from "./retrieval-context.js";
import { readJson } from "./retrieval-data.js";

const beliefSchema = z.object({
  _id: z.string(),
  user_id: z.string(),
  type: z.string(),
  canonical_name: z.string(),
  aliases: z.array(z.string()),
  content: z.string(),
  why_it_matters: z.string().nullish(),
  scope: z.array(z.string()),
  pinned: z.boolean(),
  resolved_at: z.string().nullable(),
  superseded_by: z.string().nullable(),
  participants: z.array(z.string()).default([]),
});

const caseSchema = z.object({
  caseId: z.string(),
  scope: z.array(z.string()),
  query: z.string(),
  userId: z.string().default("test-user"),
  budget: z.object({ maxBeliefs: z.int() }).default({ maxBeliefs: 20 }),
  expect: z.object({
    relevantBeliefs: z
      .object({
        shouldOnlyInclude: z.array(z.string()).optional(),
        mustExclude: z.array(z.string()).default([]),
      })
      .default({ mustExclude: [] }),
  }),
});

type Belief = z.output<typeof beliefSchema>;
type Case = z.output<typeof caseSchema>;

/** "native": scopes as metadata, chains of beliefs as slots. "plain": what other systems get. */
const forms = ["native", "plain"] as const;
type Form = (typeof forms)[number];

/**
 * PrecisionMemBench: are the wanted beliefs found, and no others? Active cases want some. Prints a
 * table, and returns figures for programs.
 */
export async function measurePrecision(
  context: RetrievalContext,
  files: { readonly beliefs: string; readonly cases: string },
): Promise<object> {
  const beliefs = z.array(beliefSchema).parse(readJson(files.beliefs));
  const cases = z.array(caseSchema).parse(readJson(files.cases));
  const figures: Record<string, ReturnType<typeof judge>> = {};
  for (const form of forms) {
    const ids = await load(context, beliefs, form);
    const judged: Judged[] = [];
    for (const each of cases) judged.push(await ask(context, each, beliefs, ids, form));
    figures[form] = judge(judged);
  }
  printTable(
    "PrecisionMemBench: query, defaults, twenty hits",
    Object.entries(figures).map(([form, figure]) => ({ form, ...figure })),
  );
  return figures;
}

const scopeOf = (userId: string, form: Form) => ({
  tenantId: `PrecisionMemBench ${form}`,
  userId,
});

/** Memory id → id of its belief. */
type BeliefIds = ReadonlyMap<string, string>;

async function load(
  { memory, vacuum }: RetrievalContext,
  beliefs: readonly Belief[],
  form: Form,
): Promise<BeliefIds> {
  const ids = new Map<string, string>();
  const counts: OutcomeCounts = {};
  const byId = new Map(beliefs.map((belief) => [belief._id, belief]));
  /** The belief and those that superseded it, one after the other. */
  const chainOf = (belief: Belief): Belief[] => {
    const later = byId.get(belief.superseded_by ?? "");
    return [belief, ...(later ? chainOf(later) : [])];
  };
  // Open questions are another list of the benchmark.
  const written =
    form === "plain"
      ? beliefs
      : beliefs
          .filter((belief) => belief.resolved_at === null && belief.type !== "open_question")
          .toSorted((first, second) => chainOf(second).length - chainOf(first).length);
  for (const belief of written) {
    const key = chainOf(belief).at(-1)?.canonical_name;
    const draft = { ...draftOf(belief, form), ...(form === "native" && { key }) };
    const scope = scopeOf(belief.user_id, form);
    const [outcome] = await addDrafts(memory, [draft], scope, counts);
    if (outcome?.id) ids.set(outcome.id, belief._id);
  }
  console.log(`PrecisionMemBench, ${form}: memories ${JSON.stringify(counts)}`);
  if (ids.size < written.length * 0.8) throw new Error("Too few beliefs were stored.");
  await vacuum();
  return ids;
}

const mostPlainCharacters = 400;

function draftOf(belief: Belief, form: Form): MemoryDraft {
  const { canonical_name: name, aliases, content, why_it_matters: why, scope } = belief;
  const named = [name.replaceAll("_", " "), ...aliases].join(", ");
  const text =
    form === "native"
      ? `${named}: ${content}`
      : [name, ...aliases, content, why].join(" ").slice(0, mostPlainCharacters);
  return {
    category: "knowledge",
    // One sentence each, so that a belief stays one memory.
    text: text.replace(/([.!?])\s+(?=\S)/g, "; "),
    metadata: { scope: scope[0] ?? "" },
    tags: scope,
    ...(form === "native" && { value: content }),
  };
}

interface Judged {
  readonly expected: readonly string[];
  readonly relevant: readonly string[];
  readonly passes: boolean;
}

async function ask(
  context: RetrievalContext,
  asked: Case,
  beliefs: readonly Belief[],
  ids: BeliefIds,
  form: Form,
): Promise<Judged> {
  const isInScope = ({ scope }: Belief) => scope.some((each) => asked.scope.includes(each));
  // The caller always shows these.
  const pinned = new Set(
    beliefs
      .filter((belief) => belief.user_id === asked.userId && belief.pinned && isInScope(belief))
      .filter(({ type, superseded_by: later, resolved_at: resolved }) => {
        return type !== "open_question" && later === null && resolved === null;
      })
      .map(({ _id }) => _id),
  );
  const most = asked.budget.maxBeliefs;
  const hits = asked.query.trim() === "" || most === 0 ? [] : await search(context, asked, form);
  const found = hits
    .map((hit) => ids.get(hit.memory.id) ?? "")
    .filter((id) => id !== "" && !pinned.has(id));
  const participants = beliefs
    .filter(({ _id, type }) => type === "relation" && found.includes(_id))
    .flatMap((relation) => relation.participants)
    .filter((id) => beliefs.some((belief) => belief._id === id && isInScope(belief)))
    .filter((id) => !pinned.has(id));
  const room = Math.max(0, most - pinned.size);
  const relevant = [...new Set([...found, ...participants])].slice(0, room);
  const { shouldOnlyInclude, mustExclude } = asked.expect.relevantBeliefs;
  const expected = shouldOnlyInclude ?? [];
  return {
    expected,
    relevant,
    passes:
      expected.every((id) => relevant.includes(id)) &&
      (shouldOnlyInclude === undefined || relevant.every((id) => expected.includes(id))) &&
      !mustExclude.some((id) => relevant.includes(id) || pinned.has(id)),
  };
}

async function search(
  { memory }: RetrievalContext,
  { userId, scope: scopes, query }: Case,
  form: Form,
): Promise<MemoryHit[]> {
  const request = { scope: scopeOf(userId, form), query, topK: 20 };
  if (form === "plain") return memory.query(request);
  const hits: MemoryHit[] = [];
  for (const scope of scopes)
    hits.push(...(await memory.query({ ...request, filters: { metadata: { scope } } })));
  return hits.toSorted((first, second) => second.score - first.score);
}

/** Means over the cases that want beliefs or found some. */
function judge(judged: readonly Judged[]) {
  const active = judged.filter(({ expected }) => expected.length > 0);
  const answered = judged.filter(({ expected, relevant }) => expected.length + relevant.length > 0);
  const mean = (cases: readonly Judged[], share: (each: Judged) => number) =>
    cases.reduce((sum, each) => sum + share(each), 0) / Math.max(1, cases.length);
  const correct = ({ expected, relevant }: Judged) =>
    expected.filter((id) => relevant.includes(id)).length;
  return {
    activePasses: active.filter(({ passes }) => passes).length,
    active: active.length,
    passes: judged.filter(({ passes }) => passes).length,
    cases: judged.length,
    precision: mean(answered, (each) => correct(each) / Math.max(1, each.relevant.length)),
    recall: mean(active, (each) => correct(each) / each.expected.length),
  };
}
