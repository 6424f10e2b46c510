import { HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import { answering, chatAgent } from "../langgraph/conversation.js";
import { useTestDatabase } from "../support/test-database.js";
import { episodesOf, newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

it("A conversation of 100 turns yields 5 episodes, 15 facts, and a small session", async () => {
  const memory = db.memory({
    model: new OfflineChatModel(),
    embeddings: new HashingEmbeddings(),
    config: {
      memories: { extract: true, episodes: true },
      // The stand-in's vectors of a question and of a longer text are farther apart than a model's.
      retrieval: { maxEpisodeDistance: 1 },
    },
  });
  await memory.setup();
  const { scope, threadId } = newAddress();
  const graph = withMemory(chatAgent(answering()), memory, { session: "bounded" }).compile({
    checkpointer: memory.checkpointer(),
  });
  const run = { configurable: { thread_id: threadId, user_id: scope.userId } };
  const facts: Record<number, string> = {
    1: "My name is Alex.",
    4: "What about vector databases like FAISS and pgvector?",
    7: "I prefer Python.",
    9: "I live in Oslo.",
    12: "My timezone is CET.",
    18: "I am allergic to peanuts.",
    25: "I work as a baker.",
    28: "I like rye bread.",
    33: "Always answer briefly.",
    39: "I love jazz.",
    44: "I hate raisins.",
    51: "My favourite colour is blue.",
    58: "I don't eat meat.",
    66: "My goal is to run a marathon.",
    // A goal counts once it was said twice.
    72: "Never use emojis.",
    81: "I enjoy chess.",
    84: "My goal is to run a marathon.",
  };
  for (let turn = 1; turn <= 100; turn++) {
    const says = facts[turn] ?? `Let us talk about topic ${turn}.`;
    await graph.invoke({ messages: [new HumanMessage(says)] }, run);
  }

  expect(await episodesOf(memory, { scope, threadId })).toEqual([
    "1-10",
    "11-30",
    "31-50",
    "51-70",
    "71-90",
  ]);
  expect(await memory.memories.list({ scope, kinds: ["fact"] })).toHaveLength(15);
  expect((await graph.getState(run)).values.messages.length).toBeLessThanOrEqual(20);
  const [name] = await memory.query({ scope, query: "What's my name?" });
  expect(name?.memory.value).toBe("Alex");
  const [episode] = await memory.query({
    scope,
    query: "What did we discuss about vector databases?",
    kinds: ["episode"],
  });
  expect(episode?.memory).toMatchObject({ turns: { start: 1, end: 10 }, category: "activity" });
  expect(episode?.memory.source).toMatchObject({
    threadId,
    seqs: Array.from({ length: 20 }, (_, seq) => seq),
  });
  const { memories } = await memory.recall({
    scope,
    threadId,
    query: "What did we discuss about vector databases?",
  });
  expect(memories.episodes.map((hit) => hit.memory.turns?.start)).toContain(1);
});
