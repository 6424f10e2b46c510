import { createHash } from "node:crypto";
import { detailDifference } from "../memories/compare/detail-difference.js";
import { type CategoryPolicy, readableCategories } from "../memories/item/category.rule.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { personalKey } from "../memories/item/personal-fields.rule.js";
import { normalValue } from "../text/normal-value.js";
import { isOtherThing, type ToldThing } from "./other-thing.rule.js";

/** A stored memory, with what decides between it and another. */
export interface StoredMemory extends MemoryItem, ToldThing {
  readonly ref: number;
  /** Whose word it is: see `sourceRank`. */
  readonly rank: number;
  /** The owner's turn at which it was last said. */
  readonly turn: number;
  /** When it was last said to hold. */
  readonly assertedAt: Date;
}

/** Two memories that are near each other. */
export interface StoredPair {
  readonly first: StoredMemory;
  readonly second: StoredMemory;
  readonly similarity: number;
}

/** By what pairs are chosen. */
interface PairRules {
  readonly policy: CategoryPolicy;
  /** How alike two memories must be, by the first of them. */
  readonly leastSimilarity: (memory: StoredMemory) => number;
  /** Memories that did not change since then are left alone. */
  readonly since: Date;
}

/**
 * The pairs of `near` that a model is worth asking about, each once, the most alike first: see `isOpen`. In each, the first
 * memory is the older one.
 */
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

/** Alike enough, of late, and nothing that code can see keeps them apart. */
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
 * Whether two memories may be one, as far as code can tell: of one kind, app and state, seen by the same agents, of one slot
 * family or not both of a slot, said by the same person, and without a number, date, name, negation or other detail that
 * one of them has alone, nor about another thing in the same words.
 *
 * It is asked before a model is, and again before its word is acted on.
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
    // What the same words in another order tell, only who understands them can say.
    [null, "order"].includes(detailDifference(first.text, second.text)) &&
    haveSameValue(first.value, second.value) &&
    !isOtherThing(first, second)
  );
}

/** Statements. Episodes tell of their turns, steps are asked for, and notes are bounded by their number. */
function isCompared({ kind, state }: StoredMemory): boolean {
  return state === "active" && (kind === "fact" || kind === "insight");
}

function ownerAndApp({ scope: { tenantId, userId, appId } }: StoredMemory): string {
  return JSON.stringify([tenantId, userId, appId]);
}

/** Whether no agent loses sight of one of them when the other stands for both. */
function haveSameReaders(one: string, other: string, policy: CategoryPolicy): boolean {
  if (one === other) return true;
  return [...(policy.allowlists?.keys() ?? [])].every((agent) => {
    const readable = readableCategories(policy, agent);
    return readable.has(one) === readable.has(other);
  });
}

/** Whether two keys name one thing in other words: "dog_name" and "name_of_the_dog". What has no key is of no slot. */
function haveSlotFamily(first: StoredMemory, second: StoredMemory): boolean {
  if (first.key === null || second.key === null) return true;
  if (first.category !== second.category) return false;
  const field = personalKey(first.key);
  if (field !== null && field === personalKey(second.key)) return true;
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
 * What a compared pair is known by: both ids, and what a model is shown of them. So a memory that was merely said or used
 * again is not compared anew, and one with other words is.
 */
export function fingerprintOf({ first, second }: Pick<StoredPair, "first" | "second">): string {
  const sides = [first, second].map(({ id, category, key, value, text, validFrom }) =>
    JSON.stringify([id, category, key, value, text, validFrom]),
  );
  return createHash("sha256").update(sides.toSorted().join("\n")).digest("base64url");
}
