import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory } from "../../src/index.js";
import { addMemories } from "../bench-memory.js";
import { fixedName, sentences } from "../data/corpus.js";
import { question, seeded } from "../data/sentences.js";

/** Owners that are written through the library's calls, and copied. */
export const sampleSize = 100;

const roundsOfTalk = 5;

export const userOf = (index: number): string => fixedName("owner", index);

/** The thread of each owner; a copy's has the copy's number behind it, as the user's name has. */
const threadOf = (userId: string): string => `thread of ${userId}`;

/** Where an owner of the sample is found, whom `round` chooses: in copy 0 under its own name. */
export function place(round: number, copy: number) {
  const userId = userOf(round % sampleSize);
  const behind = copy === 0 ? "" : `#${copy}`;
  return { scope: { userId: `${userId}${behind}` }, threadId: `${threadOf(userId)}${behind}` };
}

/**
 * Writes what an owner has after one conversation: the transcript of five rounds with its summary, and `memories` memories,
 * each with the message that it was learned from. The same for the same seed.
 */
export async function writeOwner(
  memory: Memory,
  userId: string,
  memories: number,
  seed: number,
): Promise<void> {
  const [scope, threadId] = [{ userId }, threadOf(userId)];
  const texts = sentences(Math.max(memories, roundsOfTalk), seed + 1);
  for (let round = 0; round < roundsOfTalk; round++) {
    const messages = [
      new HumanMessage({ id: `user-${round}`, content: `By the way: ${texts[round]}` }),
      new AIMessage({ id: `agent-${round}`, content: "I will think of that." }),
    ];
    // One summary at most: a second would begin while the first is made, or not.
    if (round === roundsOfTalk - 1) await memory.remember({ scope, threadId, messages });
    else await memory.record({ scope, threadId, messages });
  }
  await memory.idle();
  const drafts = texts
    .slice(0, memories)
    .map((text, index) => ({ text, source: { threadId, seqs: [(index % roundsOfTalk) * 2] } }));
  await addMemories(memory, scope, drafts);
}

/** A question about one of the first memories of the owner that `round` chooses. */
export function questionFor(round: number): string {
  const seed = round % sampleSize;
  return question(seeded(round), sentences(1, seed + 1)[0] as string);
}
