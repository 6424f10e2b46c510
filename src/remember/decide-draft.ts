import { decideWrite, settleAsk, type WriteDecision } from "../domain/write-decision.js";
import type { ResolvedConfig } from "../options.js";
import type { WriteCandidate, WriteProbe } from "../store/find-write-candidates.js";
import type { OwnerDraft } from "./draft-waves.js";
import type { PreparedMemory } from "./prepare-memory.js";

/** What a draft does to the stored memories that bear on it, every question answered. */
export type SettledDecision = ReturnType<typeof settleAsk>;

/** What `memory` does to the stored memories that bear on it, by the thresholds configured. */
export function decideDraft(
  memory: PreparedMemory,
  rivals: readonly WriteCandidate[],
  { turn, config }: { turn: number; config: ResolvedConfig },
): WriteDecision {
  const { mergeSimilarity, askSimilarity, reviewSimilarity } = config.memories;
  return decideWrite(
    {
      ...memory,
      key: memory.key ?? null,
      value: memory.value ?? null,
      turn,
      validFrom: memory.validFrom ?? null,
    },
    rivals,
    { merge: mergeSimilarity, ask: askSimilarity, review: reviewSimilarity },
  );
}

/** The same for a draft on its way to an owner, which knows how it stands to what is nearly equal. */
export function settleDraft(
  draft: OwnerDraft,
  rivals: readonly WriteCandidate[],
  context: { turn: number; config: ResolvedConfig },
): SettledDecision {
  return settleAsk(decideDraft(draft.memory, rivals, context), (id) =>
    draft.sameAs(rivals.find((rival) => rival.id === id) as WriteCandidate),
  );
}

/** What to ask the store about `memory` before it is decided. */
export function writeProbe(memory: PreparedMemory, vector: string | null): WriteProbe {
  return { ...memory, appId: memory.scope.appId ?? "", key: memory.key ?? null, vector };
}
