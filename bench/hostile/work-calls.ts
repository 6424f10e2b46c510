import { HumanMessage } from "@langchain/core/messages";
import { createMemoryWith } from "../../src/create-memory.js";
import type { MemoryOptions } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import type { BenchDatabase } from "../bench-database.js";
import type { HostileCall } from "./calls.js";

const answers: Readonly<Record<string, Record<string, unknown>>> = {
  conversation_summary: { reasoning: "", summary: "They talked." },
  episode_summary: { reasoning: "", summary: "They talked." },
  app_note: { reasoning: "", note: "They talked.", importance: 3, tags: [] },
  fact_extraction: {
    reasoning: "",
    facts: [
      {
        category: "knowledge",
        key: null,
        value: null,
        text: "The user owns a dog.",
        importance: 3,
        confidence: 0.9,
        relation: "new",
        target: null,
        message: 1,
        quote: "I own a dog.",
      },
    ],
  },
};

/** Each kind of background work on a text that was said, done within the call. */
export async function workCalls(database: BenchDatabase) {
  const model = new ScriptedChatModel({
    replies: (_, __, { tools = [] }) => {
      const [name = ""] = Object.keys(answers).filter((each) =>
        JSON.stringify(tools[0]).includes(each),
      );
      return { structured: answers[name] ?? {} };
    },
  });
  const kinds = ["summaries", "facts", "episodes", "notes"] as const;
  const made = kinds.map((kind) => {
    const options: MemoryOptions = {
      database: database.pool,
      schema: database.schema,
      model,
      jobs: "inline",
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      config: {
        preset: "every-round",
        memories: {
          extract: kind === "facts",
          episodes: kind === "episodes",
          episodeEveryTurns: 4,
        },
        notes: { limit: kind === "notes" ? 10 : 0 },
        // Megabytes use up a tenant's energy, and notes would wait for it.
        energy: { capacityUnits: null },
      },
    };
    const summaries = kind === "summaries" ? {} : { afterSeq: 1_000, everyMessages: 1_000 };
    const memory = createMemoryWith(options, { summaries });
    const call: HostileCall = {
      name: `work on a text: ${kind}`,
      async run(text, id) {
        const thread = { scope: { userId: id, appId: "app" }, threadId: `${kind} ${id}` };
        const before = model.calls.length;
        const messages = [`I own a dog. ${text}`, "a", "b", "c", "d", "e", "f"].flatMap((said) => [
          new HumanMessage(said),
          { role: "assistant", content: "So?" },
        ]);
        await memory.remember({ ...thread, messages });
        if (kind === "notes") await memory.threads.end(thread);
        await memory.idle();
        return model.calls.length > before;
      },
    };
    return { memory, call };
  });
  return {
    calls: made.map(({ call }) => call),
    close: () => Promise.all(made.map(({ memory }) => memory.close())),
  };
}
