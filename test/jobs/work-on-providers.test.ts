import { describe, expect, it } from "vitest";
import { newTalk, noted } from "../notes/note-model.js";
import { providerNames, useProviders } from "../support/providers/clients.js";
import type { Reply, Script } from "../support/providers/provider.js";
import { candidate, facts } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { optionsOf, type WorkCase, workCases } from "../support/work-cases.js";

const db = useTestDatabase();
const start = useProviders();

/** What the model is asked first, so that there is something to work on. */
const before: Partial<Record<WorkCase["kind"], unknown>> = {
  compaction: noted("They talked."),
  insights: facts(candidate("The user keeps bees.", "I keep bees")),
};

const scriptOf =
  ({ kind, reply }: WorkCase): Script =>
  ({ messages }, index) => {
    const prompt = messages.flatMap(({ texts }) => texts).join("\n");
    return ((index === 0 && before[kind]) || reply(prompt, index)) as Reply;
  };

describe.each(providerNames)("background work on a model of %s", (name) => {
  it.for(workCases)(
    "Background work is done on each provider, which accepts all requests: $kind",
    async (each) => {
      const { model, exchanges } = await start(name, scriptOf(each));
      const memory = db.memory({ ...optionsOf(each, each.reply), model });
      const talk = newTalk();
      await each.begin(memory, talk);
      expect(exchanges.flatMap(({ refused }) => refused ?? [])).toEqual([]);
      expect(exchanges.map(({ request }) => request.wanted)).not.toContain(null);
      expect(await each.effects(memory, talk)).toEqual(each.done);
    },
  );
});
