import type { Connection } from "../database/connection.js";
import { consentRule } from "../domain/consent-policy.js";
import { comparison } from "../domain/merge-band.js";
import { type Statement, statementOf } from "../domain/read-statement.js";
import type { ResolvedConfig } from "../options.js";
import type { EmbeddingSpace } from "../store/embedding-space.js";
import { findNearPairs } from "../store/find-near-pairs.js";
import { mergeThresholds, writeProbe } from "./decide-draft.js";
import type { OwnerDraft } from "./draft-waves.js";
import type { PreparedMemory } from "./prepare-memory.js";

interface Context {
  readonly config: ResolvedConfig;
  readonly space: EmbeddingSpace | null;
}

/** Two statements of one batch that are near each other, the earlier one first. */
export interface NearDraft<Draft> {
  readonly earlier: Draft;
  readonly later: Draft;
  /** Whether the later one is the same as far as can be seen, or only somebody who understands both can say. */
  readonly band: "merge" | "ask";
}

/** The pairs of free statements among `drafts` that are merged, or asked about, by the bands that hold against the store. */
export async function nearDrafts<Draft extends Pick<OwnerDraft, "memory" | "vector">>(
  db: Connection,
  { config, space }: Context,
  drafts: readonly Draft[],
): Promise<NearDraft<Draft>[]> {
  const free = drafts.filter(({ memory }) => isFree(memory));
  const { mergeSimilarity, askSimilarity, contextMergeSimilarity, contextAskSimilarity } = config.memories;
  const pairs = await findNearPairs(db, {
    probes: free.map(({ memory, vector }) => writeProbe(memory, vector)),
    language: config.retrieval.language,
    space,
    least: Math.min(mergeSimilarity, askSimilarity, contextMergeSimilarity, contextAskSimilarity),
  });
  const read = new Map<number, Statement>();
  const statement = (place: number) => {
    const known = read.get(place) ?? statementOf(free[place]?.memory.text ?? "");
    read.set(place, known);
    return known;
  };
  return pairs.flatMap(({ first, second, similarity }): NearDraft<Draft>[] => {
    const [earlier, later] = [free[first] as Draft, free[second] as Draft];
    const thresholds = mergeThresholds(later.memory, config);
    const band = comparison(similarity, [statement(first), statement(second)], thresholds);
    return band === "merge" || band === "ask" ? [{ earlier, later, band }] : [];
  });
}

/**
 * Which of `drafts` may be merged into earlier ones of them, by their indexes. Those into which others may be merged
 * never are themselves: what came third is the first's double, or nobody's.
 */
export async function nearDoubles(
  context: Context & { readonly tx: Connection },
  drafts: readonly OwnerDraft[],
): Promise<Map<number, number[]>> {
  const { consent } = context.config;
  const doubles = new Map<number, number[]>();
  for (const { earlier, later, band } of await nearDrafts(context.tx, context, drafts)) {
    // What waits for consent or a second signal has no id to ask about yet.
    const meets =
      band === "merge" ||
      consentRule(consent, later.memory) !== null ||
      later.sameAs({ id: null, text: earlier.memory.text }) !== "different";
    if (!meets || doubles.has(earlier.index)) continue;
    const known = doubles.get(later.index);
    if (known) known.push(earlier.index);
    else doubles.set(later.index, [earlier.index]);
  }
  return doubles;
}

function isFree({ kind, key }: PreparedMemory): boolean {
  return key === undefined && (kind === "fact" || kind === "insight");
}
