import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { Memory } from "../../src/index.js";
import { seeded, sentence } from "./sentences.js";

const rounds = 1_000;
const batchSize = 100;

/** The user of `loadLongConversation`. */
export const talker = { scope: { userId: "talker" }, threadId: "thread of the talker" };

/**
 * Records one thread of 2,000 messages and adds a fact learned from each of the user's, as recall finds them after a
 * year of use.
 *
 * @returns the facts' texts.
 */
export async function loadLongConversation(memory: Memory): Promise<string[]> {
  const random = seeded(11);
  const said = Array.from({ length: rounds }, () => [sentence(random), sentence(random)] as const);
  for (let start = 0; start < rounds; start += batchSize) {
    const batch = said.slice(start, start + batchSize);
    await memory.record({
      ...talker,
      messages: batch.flatMap(([user, agent]) => [new HumanMessage(user), new AIMessage(agent)]),
    });
    await memory.memories.add(
      batch.map(([text], index) => ({
        text: `It was said that ${text}`,
        source: { threadId: talker.threadId, seqs: [(start + index) * 2] },
      })),
      talker,
    );
  }
  return said.map(([text]) => text);
}
