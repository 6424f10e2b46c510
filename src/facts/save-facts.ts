import { MemoryError } from "../errors.js";
import { insertEvents, type MemoryEvent } from "../events/event-log.js";
import { completeTask, type TaskClaim } from "../jobs/thread-task.js";
import { errorLine } from "../logger.js";
import type { SameFact } from "../memories/compare/merge-band.js";
import type { MemoryDraft } from "../memories/item/memory.js";
import { decideDraft, writeProbe } from "../memories/write/decide-draft.js";
import { findWriteCandidates } from "../memories/write/find-write-candidates.js";
import { nearDrafts } from "../memories/write/near-doubles.js";
import { prepareMemory } from "../memories/write/prepare-memory.js";
import { classified, writeMemories } from "../memories/write/write-memories.js";
import type { WriteOutcome } from "../memories/write/write-runtime.js";
import type { Embedded, Embedder } from "../models/embedder.js";
import type { Scope } from "../scope/scope.js";
import { type ChosenFact, extractor, type FactsRuntime, type RejectedFact } from "./fact-candidate.js";
import { judgeSameFact } from "./judge-same-fact.js";
import type { ExtractionMessage, ExtractionWork } from "./load-extraction.js";

/** `embedder`, which is asked once for the same texts in a row. */
function embedOnce(embedder: Embedder): Embedder {
  let last: { readonly texts: string; readonly embedded: Embedded } | undefined;
  return {
    query: embedder.query,
    async documents(texts) {
      const key = JSON.stringify(texts);
      if (last?.texts !== key) last = { texts: key, embedded: await embedder.documents(texts) };
      return last.embedded;
    },
  };
}

/** How a draft stands to a stored statement or an earlier draft, as `WriteOrigin.sameAs` takes it. */
type Comparison = (draft: MemoryDraft, known: { id: string | null; text: string }) => SameFact;

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
async function compareFacts(
  deps: FactsRuntime,
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
  { db, config, embedder }: FactsRuntime,
  { scope, ownerRef, drafts }: { scope: Scope; ownerRef: number; drafts: readonly MemoryDraft[] },
): Promise<Pair[]> {
  const prepared = drafts.flatMap((draft) => {
    const memory = prepareMemory(draft, scope, { policy: config.policy, language: db.language });
    return "problems" in memory || memory.quarantined ? [] : [{ draft, memory }];
  });
  if (prepared.length === 0) return [];
  const embedded = await embedder?.documents(prepared.map(({ memory }) => memory.text));
  const candidates = await findWriteCandidates(db, {
    ownerRef,
    probes: prepared.map(({ memory }, index) => writeProbe(memory, embedded?.vectors[index] ?? null)),
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

/**
 * Writes the facts chosen of a claimed thread's messages and moves its cursor past them, together or not at all;
 * an event tells of each fact and of each that was rejected. Outcomes in the order of `chosen`.
 *
 * @param beforeCall called before the model is asked to compare; its error ends the work.
 * @throws MemoryError `LEASE_LOST` when another worker took the task over; nothing is written then.
 */
export async function saveFacts(
  deps: FactsRuntime,
  input: {
    claim: TaskClaim;
    work: ExtractionWork;
    chosen: readonly ChosenFact[];
    rejected: readonly RejectedFact[];
  },
  beforeCall: () => Promise<void>,
): Promise<WriteOutcome[]> {
  const { claim, work, chosen, rejected } = input;
  const { scope, ownerRef } = work;
  const drafts = chosen.map((fact) => toDraft(fact, work));
  const write = { ...deps, embedder: deps.embedder && embedOnce(deps.embedder) };
  const sameAs = await compareFacts(write, { scope, ownerRef, drafts, beforeCall });
  const saidIn = new Map(drafts.map((draft, index) => [draft, messageOf(chosen[index] as ChosenFact, work)]));
  return writeMemories(write, {
    scope,
    drafts,
    origin: {
      actor: extractor,
      step: "extract",
      sameAs,
      turnsAgo: (draft) => saidIn.get(draft)?.turnsAgo ?? 0,
    },
    alongside: async (tx, outcomes) => {
      await completeTask(tx, claim, work);
      await insertEvents(tx, [
        ...chosen.map((fact, index) => acceptedEvent(work, fact, outcomes[index] as WriteOutcome)),
        ...rejected.map((fact) => rejectedEvent(work, fact)),
      ]);
    },
  });
}

function messageOf({ message }: ChosenFact, { messages }: ExtractionWork): ExtractionMessage {
  return messages[message] as ExtractionMessage;
}

function toDraft(fact: ChosenFact, work: ExtractionWork): MemoryDraft {
  const { seq, actor, agentId, runId, saidAt } = messageOf(fact, work);
  const { text, category, key, value, importance, confidence, correction, quote } = fact;
  return {
    ...{ text, category, importance, confidence, correction },
    ...(key !== null && { key }),
    ...(value !== null && { value }),
    ...(actor !== null && { actorId: actor }),
    ...{ agentId: agentId ?? undefined, runId: runId ?? undefined },
    role: "user",
    origin: "user",
    source: { threadId: work.threadId, seqs: [seq], quote },
    validFrom: saidAt,
  };
}

function acceptedEvent(work: ExtractionWork, fact: ChosenFact, outcome: WriteOutcome): MemoryEvent {
  const { scope, threadId } = work;
  const { category, trimmed } = fact;
  const { agentId, runId } = messageOf(fact, work);
  const event = { scope, threadId, agentId, runId, step: "extract", op: "classify", category } as const;
  return { ...event, ...classified(outcome, trimmed) };
}

function rejectedEvent(
  { scope, threadId }: ExtractionWork,
  { problem, category }: RejectedFact,
): MemoryEvent {
  return {
    ...{ scope, threadId, step: "extract", op: "classify", status: "skipped", detail: problem },
    ...(category !== null && { category }),
  };
}
