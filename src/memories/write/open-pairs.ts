import { comparison } from "../compare/merge-band.js";
import { decideWrite, mergeThresholds } from "./decide-write.rule.js";
import { similarity } from "./draft-similarity.js";
import { findCandidates } from "./find-candidates.js";
import type { PreparedDrafts } from "./prepare-drafts.js";
import { type SaidBefore, type Statement, toldTo } from "./statement.js";
import type { WriteConfig, WriteRuntime } from "./write-runtime.js";

/** A draft that nearly says what is known, or what an earlier draft says. */
export interface OpenPair {
  readonly draft: number;
  readonly said: string;
  readonly known: SaidBefore;
}

/** Pairs that only a model can tell apart: see `Answer`. */
export async function findOpenPairs(
  { db, config }: Pick<WriteRuntime, "db" | "config">,
  ownerRef: number,
  { owners, space }: PreparedDrafts,
): Promise<OpenPair[]> {
  const sought = owners.flat().filter(({ memory }) => !memory.quarantined);
  const found = await findCandidates(db, { ownerRef, space, sought });
  return sought.flatMap((statement, at) => {
    const known = found[at] ?? [];
    // Turn and time matter only for slots, which are never compared.
    const { memory, draft } = toldTo({ turns: 0, now: new Date(0) }, statement);
    const decision = decideWrite(memory, known, mergeThresholds(memory, config));
    const stored = known.filter(({ id }) => decision.action === "ask" && id === decision.id).slice(0, 1);
    const before = sought.slice(0, at).filter((earlier) => isOpen(config, earlier, statement));
    const among = before.map((earlier): SaidBefore => ({ id: null, text: earlier.memory.text }));
    return [...stored, ...among].map(({ id, text }) => ({ draft, said: memory.text, known: { id, text } }));
  });
}

function isOpen(config: WriteConfig, earlier: Statement, { memory, measure }: Statement): boolean {
  const { kind, key, scope, text } = earlier.memory;
  const mayBeOne = kind === "fact" || kind === "insight";
  if (!mayBeOne || key !== undefined || memory.key !== undefined || memory.kind !== kind) return false;
  if (memory.scope.appId !== scope.appId || memory.contentHash === earlier.memory.contentHash) return false;
  const near = similarity(earlier.measure, measure);
  return comparison(near, [text, memory.text], mergeThresholds(memory, config)) === "ask";
}
