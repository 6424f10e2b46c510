import { errorLine } from "../../logger.js";
import { asTenant } from "../../postgres/isolation.js";
import type { Runtime } from "../../runtime.js";
import { parseScope, type Scope } from "../../scope/scope.js";
import type { HeldOptions } from "../held-options.js";
import { type CorrectedWords, createCorrectedWords } from "./corrected-words.js";
import { neighboursIn, type OwnerNeighbours } from "./held-neighbours.js";
import { createHeldOwners, type HeldOwners } from "./held-owners.js";
import { createHeldReport } from "./held-processes.js";
import { createVectorStore } from "./held-vectors.js";
import { loadOwner, type OwnerCopy } from "./owner-copy.js";
import { ownerKey, ownerKeys, scopeOfKey } from "./owner-key.js";

/** What one memory holds of owners in this process. */
export interface Holding {
  readonly owners: Pick<HeldOwners<OwnerCopy>, "get" | "answered" | "drop" | "grown" | "status">;
  readonly words: CorrectedWords;
  /** What is held of the memories near a text of the owner of `scope`; null where that owner is not held. */
  neighbours(scope: Scope): OwnerNeighbours | null;
  /**
   * Notes a recall of `scope` that the statement answered: at the second within the time its owners are taken in. Where
   * there are embeddings that have given no vector yet, nobody is: it is not known in which space their vectors are.
   */
  missed(scope: Scope): void;
  /** Notes a write to the owner of `scope`, who is not held and is taken in after twenty. */
  written(scope: Scope): void;
  /**
   * `work`, after which nothing of `scopes` is held, however it ended: it deletes or moves what is kept of them. A dry
   * run does neither.
   */
  without<Result>(
    how: { readonly dryRun?: unknown } | undefined,
    scopes: readonly unknown[],
    work: () => Promise<Result>,
  ): Promise<Result>;
  /** Resolves when nobody is being taken in. */
  idle(): Promise<void>;
  /** Lets go of everybody; resolves within a few seconds. */
  close(): Promise<void>;
}

/** Nobody is held yet. */
export function createHolding({
  db,
  config,
  embedder,
  logger,
}: Runtime<{ readonly retrieval: { readonly held: HeldOptions } }>): Holding {
  const options = config.retrieval.held;
  const vectors = createVectorStore();
  const lastSpace = () => embedder?.lastSpace() ?? null;
  const owners = createHeldOwners<OwnerCopy>({
    options,
    load(key, signal) {
      const { tenantId } = scopeOfKey(key);
      return asTenant(tenantId, () => loadOwner({ db, vectors, space: lastSpace(), options }, key, signal));
    },
    nowMs: () => performance.timeOrigin + performance.now(),
    report: (error) =>
      logger.warn(
        `an owner could not be taken into this process, recalls read the tables meanwhile: ${errorLine(error)}`,
      ),
    changed: () => report.changed(),
  });
  const report = createHeldReport(db, owners.status);
  return {
    owners,
    words: createCorrectedWords(db),
    neighbours(scope) {
      const copy = owners.get(ownerKey(scope));
      return copy && neighboursIn(copy);
    },
    missed(scope) {
      owners.missed(...(embedder === null || lastSpace() ? ownerKeys(scope) : []));
    },
    written: (scope) => owners.written(ownerKey(scope)),
    async without(how, scopes, work) {
      try {
        return await work();
      } finally {
        const touched = how?.dryRun === true ? [] : scopes.filter(isScope);
        for (const scope of touched) owners.drop(ownerKey(scope));
      }
    },
    idle: owners.idle,
    async close() {
      await owners.close();
      await report.close();
    },
  };
}

/** What is no scope was refused by the call, which says why. */
function isScope(value: unknown): value is Scope {
  try {
    parseScope(value);
    return true;
  } catch {
    return false;
  }
}
