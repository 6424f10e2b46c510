import { expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newThread, say, toolAgent, userOf } from "./conversation.js";

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
