import { type Memory, MemoryError, type MemoryItem, type Scope } from "../../src/index.js";
import type { Deed, Draft } from "./histories.js";

export const wordsIn = (text: string): string[] => text.match(/\bx\d+q\b/g) ?? [];

/** The one word of a text that no other text has. */
export const wordIn = (text: string) => wordsIn(text)[0] ?? "";

export const textOf = ({ key }: Draft, word: string) =>
  key === null ? `The user cares for ${word}.` : `The user's ${key} is ${word}.`;

/** The `nth` fact in a state, newest first, round and round. */
export async function pickFact(
  memory: Memory,
  scope: Scope,
  state: MemoryItem["state"],
  nth: number,
): Promise<MemoryItem | undefined> {
  const facts = await memory.memories.list({
    scope,
    states: [state],
    kinds: ["fact"],
    limit: 1_000,
  });
  return facts[nth % Math.max(1, facts.length)];
}

interface Place {
  readonly memory: Memory;
  readonly scope: { readonly userId: string; readonly appId: string };
  readonly now: number;
  /** For what the deed writes. */
  readonly word: string;
  /** A thread of the same user with a prompt. */
  readonly other: { readonly scope: Scope; readonly threadId: string } | undefined;
}

/** Does `deed`, unless there is nothing to do it to, or memory refuses it. */
export async function does(deed: Deed, place: Place): Promise<void> {
  const work = {
    add: () => add(deed as Deed & { does: "add" }, place),
    decide: () => decide(deed as Deed & { does: "decide" }, place),
    note: () => note(place),
    propose: () => propose(place),
    learn: () => place.memory.upkeep(),
    "forget thread": () => forgetOther(place),
    "forget in app": () => place.memory.forget({ scope: place.scope }),
  };
  try {
    await ("nth" in deed && deed.does !== "decide"
      ? edit(deed, place)
      : work[deed.does as keyof typeof work]());
  } catch (error) {
    // Its slot may have been taken since.
    if (!MemoryError.is(error, "CONFLICT")) throw error;
  }
}

const add = ({ draft }: { draft: Draft }, { memory, scope, word }: Place) =>
  memory.memories.add({
    scope,
    memories: {
      text: textOf(draft, word),
      category: draft.category,
      importance: draft.importance,
      ...(draft.key !== null && { key: draft.key, value: word }),
    },
  });

const note = ({ memory, scope: { appId }, word }: Place) =>
  memory.memories.add({
    scope: { appId },
    memories: { kind: "note", text: `Guests ask for ${word}.` },
  });

const propose = ({ memory, scope, word }: Place) =>
  memory.memories.add({
    scope,
    memories: { category: "profile", key: "city", value: word, text: `The user lives in ${word}.` },
  });

async function decide(
  { nth, decision }: { nth: number; decision: "approve" | "refuse" },
  { memory, scope }: Place,
): Promise<void> {
  const waiting = await memory.consents.list({ scope });
  const request = waiting[nth % Math.max(1, waiting.length)];
  if (request) await memory.consents.decide({ scope, id: request.id, decision, actor: "test" });
}

async function forgetOther({ memory, other }: Place): Promise<void> {
  if (!other) return;
  const { scope, threadId } = other;
  await memory.threads.delete({ scope, threadId, memories: "remove" });
}

async function edit(
  { does: what, nth }: { does: string; nth: number },
  { memory, scope, now, word }: Place,
): Promise<void> {
  const isHidden = what === "restore";
  const found = await pickFact(memory, scope, isHidden ? "soft_deleted" : "active", nth);
  if (!found) return;
  const access = { scope, consent: "given" as const };
  if (what === "remove") await memory.memories.remove({ ...access, id: found.id });
  else if (isHidden) await memory.memories.restore({ ...access, id: found.id });
  else
    await memory.memories.update({
      ...access,
      id: found.id,
      ...patchOf(what, found, { now, word }),
    });
}

function patchOf(
  what: string,
  { pinned, key, text }: MemoryItem,
  { now, word }: Pick<Place, "now" | "word">,
) {
  if (what === "pin") return { pinned: !pinned };
  if (what === "expire") return { expiresAt: new Date(now + 150_000) };
  const next = text.replace(wordIn(text), word);
  return key === null ? { text: next } : { text: next, value: word };
}
