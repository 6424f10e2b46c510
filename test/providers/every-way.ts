import { afterAll, expect, it } from "vitest";
import { addressOf, newThread } from "../langgraph/conversation.js";
import {
  injectAsOf,
  type ProviderName,
  providerNames,
  reasoningOptions,
  useProviders,
} from "../support/providers/clients.js";
import type { RunningProvider } from "../support/providers/provider-server.js";
import { useTestDatabase } from "../support/test-database.js";
import { replyTo, talkIn, turns, type WayIn, waysIn, workOf } from "./conversation.js";

interface Case {
  readonly name: ProviderName;
  readonly way: WayIn;
  readonly preset: "ledger" | "every-round";
  readonly session: "full" | "bounded";
}

/** Every way in with every provider that it can call, in both presets. */
export const everyCase: readonly Case[] = providerNames.flatMap((name) =>
  waysIn
    .filter((way) => way !== "AI SDK" || name === "chat completions")
    .flatMap((way): Case[] => [
      { name, way, preset: "ledger", session: "full" },
      { name, way, preset: "every-round", session: "bounded" },
    ]),
);

const learnedIn = 10;
const contextTokens = 8_000;

/** Told by code in that turn, never said in the conversation. */
const boat = {
  category: "profile",
  key: "boat",
  value: "Zanzibar",
  importance: 5,
  text: "The user's boat is called Zanzibar.",
};
/** Proposed in the same turn. */
const city = { category: "profile", key: "city", value: "Porto", text: "The user lives in Porto." };

/** Of the agent that talks to the user, not of subagents and background work. */
const agentsRequests = ({ exchanges }: Pick<RunningProvider, "exchanges">, way: WayIn) =>
  exchanges
    .map(({ request }) => request)
    .filter(
      (request) =>
        !workOf(request) && (way !== "supervisor" || request.toolNames.includes("planner")),
    );

export function conversationsOf(cases: readonly Case[]): void {
  const db = useTestDatabase();
  const start = useProviders();
  const table: object[] = [];
  afterAll(() => console.table(table));

  /** The conversation, and which of the agent's requests began each turn. */
  async function converse({ name, way, preset, session }: Case) {
    // Less than the whole conversation and the tools: it has to fold.
    const provider = await start(name, replyTo, { contextTokens, ...reasoningOptions[name] });
    const { model, origin } = provider;
    const config = {
      preset,
      consent: { ask: "tool" as const },
      memories: { extract: true, episodes: true },
    };
    const memory = db.memory({ model, jobs: "background", config });
    const thread = newThread();
    const address = addressOf(thread);
    // Its template refuses two messages of one role in a row.
    const talk = await talkIn(way, {
      memory,
      model,
      origin,
      thread,
      session,
      injectAs: injectAsOf(name),
    });
    const shown: unknown[] = [];
    const firsts: number[] = [];
    for (const [turn, text] of turns.entries()) {
      if (turn === learnedIn) {
        await memory.memories.add({ scope: address.scope, memories: boat });
        await memory.memories.add({ ...address, actor: "agent", memories: city });
      }
      firsts.push(agentsRequests(provider, way).length);
      shown.push(await talk.say(text, turn % 2 === 1));
      await memory.idle();
    }
    const refused = provider.exchanges.flatMap((exchange) => exchange.refused ?? []);
    table.push({ way, provider: name, preset, turns: turns.length, refused: refused.length });
    expect(refused).toEqual([]);
    return {
      memory,
      address,
      shown,
      firsts,
      kept: await talk.kept(),
      requests: agentsRequests(provider, way),
    };
  }

  it.each(cases)(
    "A conversation of twenty turns is accepted by $name, and memory holds: $way, $preset",
    async (each) => {
      const { memory, address, shown, firsts, kept, requests } = await converse(each);
      // What was said is recorded once, in order, and kept by the graph as far as it should be.
      const recorded = await memory.threads.messages({ ...address, limit: 200 });
      const ofUser = recorded.filter(({ role }) => role === "user");
      expect(ofUser.map(({ text }) => text)).toEqual(turns);
      if (kept) {
        expect(kept.length === recorded.length).toBe(each.session === "full");
        expect(recorded.slice(-kept.length).map(({ messageId }) => messageId)).toEqual(
          kept.map(({ id }) => id),
        );
      }

      // What is known is shown once in each later request of the agent.
      const later = requests.slice(firsts[learnedIn]).map(({ parts }) => JSON.stringify(parts));
      expect(later.filter((prompt) => prompt.split("Zanzibar").length !== 2)).toEqual([]);

      // The requests of a turn only grow: it has one recall.
      for (const [at, { messages }] of requests.entries()) {
        const before = firsts.includes(at) ? [] : requests[at - 1]!.messages;
        expect(messages.slice(0, before.length)).toEqual(before);
      }

      // Nobody but the model is shown memory.
      const seen = /.{0,80}(Zanzibar|They talked).{0,80}/s.exec(JSON.stringify([shown, kept]));
      expect(seen).toBeNull();

      // What was said is learned, and what the user agreed to is known.
      const known = await memory.memories.list({ scope: address.scope, kinds: ["fact"] });
      const agreed = each.way === "AI SDK" || each.way === "plain code" ? [] : [city.text];
      expect(known.map(({ text }) => text).toSorted()).toEqual(
        [boat.text, ...agreed, "The user works at the bakery."].toSorted(),
      );
    },
  );
}
