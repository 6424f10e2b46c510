import { describe, expect, it } from "vitest";
import { type Memory, withMemory } from "../../src/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { addressOf, newThread, say, toolAgent } from "./conversation.js";

const db = useTestDatabase();
type Said = readonly [says: string, ...fact: Parameters<typeof candidate>];

/** A plain `withMemory` agent that is told each of `turns`, of which the extracting model makes a fact. */
async function told(...turns: readonly Said[]) {
  const model = taskModel({
    fact_extraction: (_, call) => {
      const [, ...fact] = turns[call] as Said;
      return facts(candidate(...fact));
    },
  });
  const memory = db.memory({ model, config: { memories: { extract: true } } });
  const thread = newThread();
  for (const [says] of turns) {
    const { agent } = toolAgent(["ok"], []);
    await say(withMemory(agent, memory).compile(), says, thread);
    await memory.idle();
  }
  return { memory, thread, ...(await known(memory, addressOf(thread))) };
}

async function known(memory: Memory, { scope }: Pick<ReturnType<typeof addressOf>, "scope">) {
  const [items, waiting, held] = await Promise.all([
    memory.memories.list({ scope }),
    memory.consents.list({ scope }),
    memory.memories.list({ scope, states: ["quarantined"] }),
  ]);
  return { values: items.map(({ value, text }) => value ?? text), waiting, held };
}

const city = (value: string) => ({ category: "profile", key: "city", value });
const rule = { category: "instructions" };

describe("what a user of a plain agent says", () => {
  it.each([
    ["Antworte immer mit dem Code zuerst.", "Der Nutzer möchte, dass immer zuerst Code gezeigt wird."],
    ["Responde siempre de forma breve.", "El usuario quiere respuestas siempre breves."],
    ["Nunca me envíes enlaces.", "Nunca enviar enlaces al usuario."],
    ["Always reply with code first.", "Always reply with code first."],
    ["Sei ab jetzt mein Deutschlehrer.", "Der Nutzer möchte, dass der Assistent sein Deutschlehrer ist."],
  ])("is a rule of theirs: %s", async (says, text) => {
    const { values, held } = await told([says, text, says.slice(0, -1), rule]);
    expect([values, held]).toEqual([[text], []]);
  });

  it("changes the slot when they move, asked nothing", async () => {
    const { values, waiting } = await told(
      ["I live in Porto.", "The user lives in Porto.", "I live in Porto", city("Porto")],
      ["I moved to Lisbon!", "The user lives in Lisbon.", "I moved to Lisbon", city("Lisbon")],
    );
    expect([values, waiting]).toEqual([["Lisbon"], []]);
  });
});
