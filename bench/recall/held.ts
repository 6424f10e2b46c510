import type { HeldOwner, Memory, RecalledMemories } from "../../src/index.js";
import { hold, openBenchMemory } from "../bench-memory.js";
import type { Owner } from "../data/corpus.js";

/** A memory that holds owners, as memories do unless told otherwise. */
export function openHolding(options: Parameters<typeof openBenchMemory>[0]): Promise<Memory> {
  return openBenchMemory(options, { retrieval: { held: { enabled: true } } });
}

/** Has `memory` hold `owner`, as its second recall does, and throws unless all memories and messages are held. */
export async function takeIn(memory: Memory, owner: Owner, messages: number): Promise<HeldOwner> {
  const { userId, texts } = owner;
  await hold(memory, { userId }, texts.slice(0, 2));
  return checkHeld(memory, owner, messages);
}

/** What is held of `owner`. Throws unless that is all of its memories, and so many messages. */
export function checkHeld(memory: Memory, { userId, texts }: Owner, messages: number): HeldOwner {
  const held = findHeld(memory, userId);
  if (held?.memories === texts.length && held.messages === messages) return held;
  const found = held ? `${held.memories} memories and ${held.messages} messages` : "nothing";
  throw new Error(`${found} of ${userId} are held, not ${texts.length} and ${messages}.`);
}

function findHeld(memory: Memory, userId: string): HeldOwner | undefined {
  return memory.held().list.find(({ scope }) => scope.userId === userId);
}

/**
 * Counts the recalls that `memory` serves.
 *
 * @returns throws unless `recalls` more were served since it was called last, each of them held.
 */
export function countServed(memory: Memory): (recalls: number) => void {
  let before = { ...memory.held().served };
  return (recalls) => {
    const { held, statement } = memory.held().served;
    const served = { held: held - before.held, statement: statement - before.statement };
    before = { held, statement };
    if (served.held === recalls && served.statement === 0) return;
    throw new Error(`Of ${recalls} recalls, ${served.held} were served held, ${served.statement} were not.`);
  };
}

/** Throws when `memory`, which is to be cold, has served a recall of an owner who is held. */
export function checkCold(memory: Memory): void {
  const { list, served } = memory.held();
  if (served.held === 0 && list.length === 0) return;
  throw new Error(`${served.held} recalls were served held, of ${list.length} owners, and none should be.`);
}

/**
 * Compares what several memories recall in the same round.
 *
 * @returns takes the answer of one; throws when another gave other memories in that round, or in another order.
 */
export function compareAnswers(): (memories: RecalledMemories, round: number) => void {
  const first = new Map<number, RecalledMemories>();
  return (memories, round) => {
    const other = first.get(round);
    if (other === undefined) return void first.set(round, memories);
    const difference = differenceOf(other, memories);
    if (difference) throw new Error(`In round ${round}, held and cold recall differ: ${difference}`);
  };
}

/** Scores that differ by less are the same: sums in another order, products of rounded vectors. */
const noise = 1e-6;

function differenceOf(first: RecalledMemories, second: RecalledMemories): string | null {
  for (const part of ["relevant", "episodes"] as const) {
    const [hits, others] = [first[part], second[part]];
    const same = hits.every(
      ({ memory, score }, index) =>
        memory.id === others[index]?.memory.id || Math.abs(score - (others[index]?.score ?? 0)) < noise,
    );
    if (hits.length !== others.length || !same) return `${part} ${scored(hits)} and ${scored(others)}.`;
    // What is told beside them depends on which of two that count the same is among the best.
    if (hits.some(({ memory }, index) => memory.id !== others[index]?.memory.id)) return null;
  }
  for (const part of ["profile", "related", "rest", "notes"] as const) {
    const [ids, others] = [first, second].map((each) => each[part].map(({ id }) => id).join());
    if (ids !== others) return `${part} ${ids} and ${others}.`;
  }
  return first.leftOut === second.leftOut ? null : `${first.leftOut} and ${second.leftOut} left out.`;
}

function scored(hits: RecalledMemories["relevant"]): string {
  return JSON.stringify(hits.map(({ memory, score }) => [memory.id, score]));
}
