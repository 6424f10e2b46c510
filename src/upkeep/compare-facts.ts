import type { MemoryDraft } from "../domain/memory.js";
import type { SameFact } from "../domain/same-fact.js";
import type { Scope } from "../domain/scope.js";
import { MemoryError } from "../errors.js";
import { judgeSameFact } from "../llm/judge-same-fact.js";
import { errorLine } from "../logger.js";
import { decideDraft, writeProbe } from "../remember/decide-draft.js";
import { nearDrafts } from "../remember/near-doubles.js";
import { prepareMemory } from "../remember/prepare-memory.js";
import { findWriteCandidates } from "../store/find-write-candidates.js";
import type { UpkeepDeps } from "./upkeep-deps.js";

/** How a draft stands to a stored statement or an earlier draft, as `WriteOrigin.sameAs` takes it. */
export type Comparison = (draft: MemoryDraft, known: { id: string | null; text: string }) => SameFact;

interface Pair {
  readonly draft: MemoryDraft;
  readonly said: string;
  /** Null: an earlier draft. */
  readonly id: string | null;
  readonly known: string;
}

const allDifferent: Comparison = () => "different";

/**
 * A model's verdicts on the drafts that are nearly equal to a stored statement or to one another: one call for all,
 * before the transaction. When the model fails, and for statements that changed since, nothing is the same.
 *
 * @param input.beforeCall called before the model is; its error ends the work.
 * @throws MemoryError `EMBEDDING_FAILED`, `DIMENSION_MISMATCH`
 */
export async function compareFacts(
  deps: UpkeepDeps,
  input: {
    scope: Scope;
    ownerRef: number;
    drafts: readonly MemoryDraft[];
    beforeCall: () => Promise<void>;
  },
): Promise<Comparison> {
  const pairs = await nearPairs(deps, input);
  if (pairs.length === 0) return allDifferent;
  await input.beforeCall();
  try {
    const verdicts = await judgeSameFact(deps.model(), pairs, deps.config.upkeep.timeoutMs);
    return (draft, { id, text }) =>
      // An earlier draft is asked about before it has an id, and after.
      verdicts[
        pairs.findIndex((pair) => pair.draft === draft && (pair.id ?? id) === id && pair.known === text)
      ] ?? "different";
  } catch (error) {
    if (!MemoryError.is(error)) throw error;
    deps.logger.warn(
      `Statements that are nearly equal stay apart, they could not be compared: ${errorLine(error)}`,
    );
    return allDifferent;
  }
}

async function nearPairs(
  { db, config, embedder }: UpkeepDeps,
  { scope, ownerRef, drafts }: { scope: Scope; ownerRef: number; drafts: readonly MemoryDraft[] },
): Promise<Pair[]> {
  const prepared = drafts.flatMap((draft) => {
    const memory = prepareMemory(draft, scope, config);
    return "problems" in memory || memory.quarantined ? [] : [{ draft, memory }];
  });
  if (prepared.length === 0) return [];
  const embedded = await embedder?.documents(prepared.map(({ memory }) => memory.text));
  const candidates = await findWriteCandidates(db, {
    ownerRef,
    probes: prepared.map(({ memory }, index) => writeProbe(memory, embedded?.vectors[index] ?? null)),
    language: config.retrieval.language,
    space: embedded?.space ?? null,
  });
  const vectors = prepared.map((each, index) => ({ ...each, vector: embedded?.vectors[index] ?? null }));
  const near = await nearDrafts(db, { config, space: embedded?.space ?? null }, vectors);
  const among = near.flatMap(({ earlier, later, band }): Pair[] =>
    band === "ask"
      ? [{ draft: later.draft, said: later.memory.text, id: null, known: earlier.memory.text }]
      : [],
  );
  const stored = prepared.flatMap(({ draft, memory }, index): Pair[] => {
    const rivals = candidates[index] ?? [];
    // Turn and time matter for slots only, and slots are never compared.
    const decision = decideDraft(memory, rivals, { turn: 0, now: new Date(0), config });
    const known = rivals.find(({ id }) => decision.action === "ask" && id === decision.id);
    return known ? [{ draft, said: memory.text, id: known.id, known: known.text }] : [];
  });
  return [...stored, ...among];
}
