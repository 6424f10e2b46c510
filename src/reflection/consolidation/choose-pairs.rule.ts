import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type CategoryPolicy, readableCategories } from "../../memories/item/category.rule.js";
import type { MemoryItem } from "../../memories/item/memory.js";
import { haveSameFigures } from "../../text/figures.js";
import type { PairVote } from "./pair-votes.rule.js";

export interface StoredMemory extends MemoryItem {
  readonly ref: number;
  readonly rank: number;
  readonly turn: number;
  readonly assertedAt: Date;
  /** Where it was said; null if no message says. */
  readonly timeZone: string | null;
}

export interface StoredPair {
  readonly first: StoredMemory;
  readonly second: StoredMemory;
  readonly similarity: number;
}

export interface VotedPair extends StoredPair {
  readonly votes: readonly PairVote[];
}

type Named<Key> = { readonly first: Key; readonly second: Key };

export const refsOf = (pairs: readonly Named<Pick<StoredMemory, "ref">>[]): Named<number>[] =>
  pairs.map(({ first, second }) => ({ first: first.ref, second: second.ref }));

interface PairRules {
  readonly policy: CategoryPolicy;
  readonly minSimilarity: (memory: StoredMemory) => number;
  readonly since: Date;
}

/**
 * Chooses the pairs for the model, each once, most similar first; the older memory of a pair is
 * first.
 */
export function choosePairs(near: readonly StoredPair[], rules: PairRules): StoredPair[] {
  const pairs = new Map<string, StoredPair>();
  for (const each of near) {
    const pair = inRefOrder(each);
    const name = `${pair.first.id} ${pair.second.id}`;
    const existing = pairs.get(name);
    if (existing ? existing.similarity >= pair.similarity : !mayBeJudged(pair, rules)) continue;
    pairs.set(name, pair);
  }
  return [...pairs.values()].toSorted(
    (one, other) =>
      other.similarity - one.similarity ||
      one.first.ref - other.first.ref ||
      one.second.ref - other.second.ref,
  );
}

function inRefOrder({ first, second, similarity }: StoredPair): StoredPair {
  return first.ref <= second.ref
    ? { first, second, similarity }
    : { first: second, second: first, similarity };
}

function mayBeJudged(pair: StoredPair, { policy, minSimilarity, since }: PairRules): boolean {
  const { first, second, similarity } = pair;
  return (
    similarity >= minSimilarity(first) &&
    similarity >= minSimilarity(second) &&
    first.updatedAt >= since &&
    second.updatedAt >= since &&
    mayBeOne(first, second, policy)
  );
}

/**
 * Whether two memories may be about one thing. Checked before the model call, and before its
 * verdict is applied.
 */
export function mayBeOne(
  first: StoredMemory,
  second: StoredMemory,
  policy: CategoryPolicy,
): boolean {
  return (
    first.id !== second.id &&
    isCompared(first) &&
    isCompared(second) &&
    first.kind === second.kind &&
    isDeepStrictEqual(first.scope, second.scope) &&
    haveSameReaders(first.category, second.category, policy) &&
    haveSlotFamily(first, second) &&
    (first.actorId === null || second.actorId === null || first.actorId === second.actorId)
  );
}

/** Whether figures permit a merge: no verdict merges "8,000 euros" and "9,500 euros". */
export function mayMerge(first: StoredMemory, second: StoredMemory): boolean {
  const [one, other] = [first.value, second.value];
  return (
    haveSameFigures(first.text, second.text) &&
    (one === null || other === null || haveSameFigures(one, other))
  );
}

/**
 * Only statements: episodes belong to their turns, users ask for procedures, and notes have a
 * limit.
 */
function isCompared({ kind, state }: StoredMemory): boolean {
  return state === "active" && (kind === "fact" || kind === "insight");
}

/** No agent may lose access by a merge. */
function haveSameReaders(one: string, other: string, policy: CategoryPolicy): boolean {
  return [...(policy.allowlists?.keys() ?? [])].every((agent) => {
    const readable = readableCategories(policy, agent);
    return readable.has(one) === readable.has(other);
  });
}

/** "dog_name" and "name_of_the_dog" are one family. A memory without a key fits any. */
function haveSlotFamily(first: StoredMemory, second: StoredMemory): boolean {
  if (first.key === null || second.key === null) return true;
  if (first.category !== second.category) return false;
  const [one, other] = [first.key.split("_"), second.key.split("_")];
  return one.every((word) => other.includes(word)) || other.every((word) => one.includes(word));
}

/** Identifies a compared pair by ids and prompt texts: a changed memory is compared again. */
export function fingerprintOf({ first, second }: Pick<StoredPair, "first" | "second">): string {
  const sides = [first, second].map(({ id, category, key, value, text, validFrom }) =>
    JSON.stringify([id, category, key, value, text, validFrom]),
  );
  return createHash("sha256").update(sides.toSorted().join("\n")).digest("base64url");
}
