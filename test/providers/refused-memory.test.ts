import { expect, it } from "vitest";
import { knownThread } from "../langgraph/conversation.js";
import { useProviders } from "../support/providers/clients.js";
import { useTestDatabase } from "../support/test-database.js";
import { talkIn } from "./conversation.js";

const db = useTestDatabase();
const start = useProviders();

it.each(["withMemory", "middleware", "supervisor", "AI SDK"] as const)(
  "A server that demands alternating roles refuses memory's message, the error names the option, and the option helps: %s",
  async (way) => {
    const { model, origin } = await start("strict compatible", () => "So it is.");
    const memory = db.memory();
    const say = async (injectAs?: "text") => {
      const thread = await knownThread(memory);
      const talk = await talkIn(way, { memory, model, origin, thread, injectAs });
      return JSON.stringify(await talk.say("Hello.", false));
    };
    await expect(say()).rejects.toThrow('pass `injectAs: "text"`');
    expect(await say("text")).toContain("So it is.");
  },
);
