import { describe, expect, it } from "vitest";
import { newTalk, noted } from "../notes/note-model.js";
import { providerNames, useProviders } from "../support/providers/clients.js";
import type { Script } from "../support/providers/provider.js";
import { recordingLogger } from "../support/recording-logger.js";
import { round } from "../support/spoken.js";
import { candidate, facts } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { textsOf } from "../support/thread-facts.js";
import { optionsOf, type WorkCase, workCases } from "../support/work-cases.js";

const db = useTestDatabase();
const start = useProviders();

type Task = Omit<WorkCase, "kind"> & { readonly kind: WorkCase["kind"] | "procedures" };

const procedures: Task = {
  kind: "procedures",
  task: "procedure_steps",
  reply: () => ({ structured: { reasoning: "", title: "Bees", steps: ["Open it.", "Look."] } }),
  begin: (memory, { scope, threadId }) =>
    memory.procedures.write({ scope, threadId, messages: round("1") }),
  done: ["Bees:\n1. Open it.\n2. Look."],
  effects: (memory, talk) => textsOf(memory, talk, "procedure"),
};
const tasks: readonly Task[] = [...workCases, procedures];

/** What the model is asked first, so that there is something to work on. */
const before: Partial<Record<Task["kind"], unknown>> = {
  compaction: noted("They talked."),
  insights: facts(candidate("The user keeps bees.", "I keep bees")),
};
/** Consolidation asks for a pair until five votes agree. */
const calls: Partial<Record<Task["kind"], number>> = {
  compaction: 2,
  insights: 2,
  consolidation: 5,
};

/** As models answer that are asked by a schema. */
const wrappings: [string, ((json: string) => string)?][] = [
  ["bare"],
  ["in a fence", (json) => `\`\`\`json\n${json}\n\`\`\``],
  ["after thoughts", (json) => `<think>\nPerhaps {"facts": []}?\n</think>\n${json}`],
  ["within prose", (json) => `Sure {as asked}:\n\n${json}\n\nHope [this] helps {a lot}.`],
  ["with commas too many and a bracket too few", (json) => json.slice(0, -1).replaceAll("}", ",}")],
  ["in a list, numbers as texts", (json) => `[${json.replace(/:(\d+)/g, ':"$1"')}]`],
];

const scriptOf =
  ({ kind, reply }: Task, wrapped?: (json: string) => string): Script =>
  ({ messages }, index) => {
    const prompt = messages.flatMap(({ texts }) => texts).join("\n");
    const { structured } = ((index === 0 && before[kind]) || reply(prompt, index)) as {
      structured: object;
    };
    return { structured, ...(wrapped && { wrapped }) };
  };

describe.each(providerNames)("background work on a model of %s", (name) => {
  describe.each(wrappings)("that answers %s", (_, wrapped) => {
    it.for(tasks)(
      "Background work is done with one call for each question: $kind",
      async (task) => {
        const { model, exchanges } = await start(name, scriptOf(task, wrapped));
        const memory = db.memory({ ...optionsOf(task, task.reply), model });
        const talk = newTalk();
        await task.begin(memory, talk);
        expect(exchanges.flatMap(({ refused }) => refused ?? [])).toEqual([]);
        expect(exchanges.map(({ request }) => request.wanted)).not.toContain(null);
        expect(await task.effects(memory, talk)).toEqual(task.done);
        expect(exchanges).toHaveLength(calls[task.kind] ?? 1);
      },
    );
  });
});

it("Work that the model refused is given up with the refusal, which is reported once", async () => {
  const { model, exchanges } = await start("chat completions", () => ({ refusal: "I cannot." }));
  const logger = recordingLogger();
  const [, extraction] = workCases;
  const memory = db.memory({ ...optionsOf(extraction!, extraction!.reply), model, logger });
  const talk = newTalk();
  await extraction!.begin(memory, talk);
  await memory.upkeep();
  expect(exchanges).toHaveLength(1);
  const told = logger.lines.filter((line) => /^(warn|error)/.test(line));
  expect(told).toEqual([expect.stringMatching(/given up at try 1: .*refused.*\(refusal\)/)]);
});
