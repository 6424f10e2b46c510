import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { addressOf, answering, newThread, say, toolAgent, userOf } from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const db = useTestDatabase();

it.each([
  [
    "Antworte immer mit dem Code zuerst.",
    "Der Nutzer möchte, dass immer zuerst Code gezeigt wird.",
  ],
  ["Responde siempre de forma breve.", "El usuario quiere respuestas siempre breves."],
  ["Nunca me envíes enlaces.", "Nunca enviar enlaces al usuario."],
  ["Always reply with code first.", "Always reply with code first."],
  [
    "Sei ab jetzt mein Deutschlehrer.",
    "Der Nutzer möchte, dass der Assistent sein Deutschlehrer ist.",
  ],
])("A wish that a user says to a plain agent becomes a rule of theirs: %s", async (says, text) => {
  const rule = candidate(text, says.slice(0, -1), { category: "instructions" });
  const model = taskModel({ fact_extraction: () => facts(rule) });
  const memory = db.memory({ model, config: { memories: { extract: true } } });
  const thread = newThread();
  await say(withMemory(toolAgent(["ok"], []).agent, memory).compile(), says, thread);
  await memory.idle();
  const kept = await memory.memories.list({
    ...userOf(thread),
    states: ["active", "quarantined"],
  });
  expect(kept.map((each) => [each.state, each.text])).toEqual([["active", text]]);
});

describe.each(ways)(
  "a caller without a checkpointer that sends the whole conversation: %s",
  (way) => {
    it.each([true, false])(
      "Nothing is recorded twice under the same ids, and new ids are warned of once (same: %s)",
      async (isSame) => {
        const logger = recordingLogger();
        const memory = db.memory({ logger });
        const graph = await agentIn(way, { memory, model: answering(), checkpointer: null });
        const thread = newThread();
        const history: HumanMessage[] = [];
        for (const content of ["one", "two", "three"]) {
          history.push(new HumanMessage(isSame ? { content, id: content } : content));
          const messages = isSame ? history : history.map(({ text }) => new HumanMessage(text));
          await graph.invoke({ messages }, thread);
        }
        const recorded = await memory.threads.messages(addressOf(thread));
        const said = recorded.filter(({ role }) => role === "user").map(({ text }) => text);
        expect(said).toHaveLength(isSame ? 3 : 6);
        const warned = logger.lines.filter((line) => line.includes("sent messages again"));
        expect(warned).toHaveLength(isSame ? 0 : 1);
      },
    );
  },
);
