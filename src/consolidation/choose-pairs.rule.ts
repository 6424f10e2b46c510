import { createHash } from "node:crypto";
import { detailDifference } from "../memories/compare/detail-difference.js";
import { type CategoryPolicy, readableCategories } from "../memories/item/category.rule.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { normalValue } from "../text/normal-value.js";
import { isOtherThing, type ToldThing } from "./other-thing.rule.js";

export interface StoredMemory extends MemoryItem, ToldThing {
  readonly ref: number;
  /** See `sourceRank`. */
  readonly rank: number;
  readonly turn: number;
  readonly assertedAt: Date;
}

export interface StoredPair {
  readonly first: StoredMemory;
  readonly second: StoredMemory;
  readonly similarity: number;
}

interface PairRules {
  readonly policy: CategoryPolicy;
  /** Threshold of a pair, by each of its memories. */
  readonly leastSimilarity: (memory: StoredMemory) => number;
  readonly since: Date;
}

/** The pairs of `near` to ask a model about, each once, most similar first; in each the older memory is first. */
export function choosePairs(near: readonly StoredPair[], rules: PairRules): StoredPair[] {
  const pairs = new Map<string, StoredPair>();
  for (const each of near) {
    const pair = inOrder(each);
    const name = `${pair.first.id} ${pair.second.id}`;
    const known = pairs.get(name);
    if (known ? known.similarity >= pair.similarity : !isOpen(pair, rules)) continue;
    pairs.set(name, pair);
  }
  return [...pairs.values()].toSorted(
    (one, other) =>
      other.similarity - one.similarity ||
      one.first.ref - other.first.ref ||
      one.second.ref - other.second.ref,
  );
}

function inOrder({ first, second, similarity }: StoredPair): StoredPair {
  return first.ref <= second.ref
    ? { first, second, similarity }
    : { first: second, second: first, similarity };
}

function isOpen(pair: StoredPair, { policy, leastSimilarity, since }: PairRules): boolean {
  const { first, second, similarity } = pair;
  return (
    similarity >= leastSimilarity(first) &&
    similarity >= leastSimilarity(second) &&
    first.updatedAt >= since &&
    second.updatedAt >= since &&
    mayBeOne(first, second, policy)
  );
}

/**
 * Whether code allows two memories to be one: of one kind, app and state, with the same readers, of one slot family or
 * not both of a slot, by the same person, and without a number, date, name, negation or other detail that only one has,
 * nor about another thing in the same words. Checked before a model is asked, and again before its verdict is applied.
 */
export function mayBeOne(first: StoredMemory, second: StoredMemory, policy: CategoryPolicy): boolean {
  return (
    first.id !== second.id &&
    isCompared(first) &&
    isCompared(second) &&
    first.kind === second.kind &&
    ownerAndApp(first) === ownerAndApp(second) &&
    haveSameReaders(first.category, second.category, policy) &&
    haveSlotFamily(first, second) &&
    agree(first.actorId, second.actorId) &&
    // Only a model can judge the same words in another order.
    [null, "order"].includes(detailDifference(first.text, second.text)) &&
    haveSameValue(first.value, second.value) &&
    !isOtherThing(first, second)
  );
}

/** Statements. Episodes belong to their turns, steps were asked for, and notes are bounded by number. */
function isCompared({ kind, state }: StoredMemory): boolean {
  return state === "active" && (kind === "fact" || kind === "insight");
}

function ownerAndApp({ scope: { tenantId, userId, appId } }: StoredMemory): string {
  return JSON.stringify([tenantId, userId, appId]);
}

/** No agent may lose access to one of them when the other replaces both. */
function haveSameReaders(one: string, other: string, policy: CategoryPolicy): boolean {
  if (one === other) return true;
  return [...(policy.allowlists?.keys() ?? [])].every((agent) => {
    const readable = readableCategories(policy, agent);
    return readable.has(one) === readable.has(other);
  });
}

/** "dog_name" and "name_of_the_dog" are one family; a memory without a key is in none. */
function haveSlotFamily(first: StoredMemory, second: StoredMemory): boolean {
  if (first.key === null || second.key === null) return true;
  if (first.category !== second.category) return false;
  const [one, other] = [keyWords(first.key), keyWords(second.key)];
  const [fewer, more] = one.size <= other.size ? [one, other] : [other, one];
  return fewer.size > 0 && [...fewer].every((word) => more.has(word));
}

const keyFillers: ReadonlySet<string> = new Set(["of", "the", "a", "an", "is", "has", "user", "users", "my"]);

function keyWords(key: string): Set<string> {
  return new Set(key.split("_").filter((word) => word !== "" && !keyFillers.has(word)));
}

function agree(one: string | null, other: string | null): boolean {
  return one === null || other === null || one === other;
}

function haveSameValue(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return true;
  return normalValue(one) === normalValue(other) || detailDifference(one, other) === null;
}

/**
 * Identifies a compared pair by ids and prompt texts: a memory that was only repeated or used is not compared anew, one
 * with other words is.
 */
export function fingerprintOf({ first, second }: Pick<StoredPair, "first" | "second">): string {
  const sides = [first, second].map(({ id, category, key, value, text, validFrom }) =>
    JSON.stringify([id, category, key, value, text, validFrom]),
  );
  return createHash("sha256").update(sides.toSorted().join("\n")).digest("base64url");
}
