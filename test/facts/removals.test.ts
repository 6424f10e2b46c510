import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseRemovals } from "../../src/facts/choose-removals.rule.js";
import { shownBy } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { candidate, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { type Address, eventsOf, newAddress, say, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const config = { memories: { extract: true } };
const drafts = [
  { category: "profile", key: "city", value: "Porto", text: "The user lives in Porto." },
  { category: "constraints", text: "The user is allergic to nuts." },
  { category: "preferences", text: "The user likes green tea." },
];

/**
 * A memory whose model finds `text` among what it is shown, and proposes to remove it on `quote`.
 */
function forgetting(removals: (prompt: string) => unknown, facts: unknown[] = [], more = {}) {
  const model = taskModel({
    fact_extraction: (prompt) =>
      ({ structured: { reasoning: "", facts, forget: removals(prompt) } }) as never,
  });
  return { model, memory: db.memory({ model, config, ...more }) };
}
const numberOf = (prompt: string, text: string) =>
  Number(
    new RegExp(`<memory number="(\\d+)"[^>]*>(?:${text}|${shownAs(text)})<`).exec(prompt)?.[1] ?? 0,
  );
/** A slot is shown by its value. */
const shownAs = (text: string) => drafts.find((draft) => draft.text === text)?.value ?? text;
const removal =
  (text: string, quote: string, message = 1) =>
  (prompt: string) => [{ memory: numberOf(prompt, text), message, quote }];
async function knowing(memory: Memory): Promise<Address> {
  const thread = newAddress();
  await memory.memories.add({ scope: thread.scope, consent: "given", memories: drafts });
  return thread;
}

describe("requests to forget", () => {
  it.each([
    ["Please forget where I live.", "The user lives in Porto."],
    ["You can delete my allergy, it was a mistake.", "The user is allergic to nuts."],
    ["Bitte vergiss meine Allergie.", "The user is allergic to nuts."],
  ])(
    "A memory that the user asks to forget is soft-deleted with the quote, and can be restored: %s",
    async (said, text) => {
      const { memory } = forgetting(removal(text, said));
      const thread = await knowing(memory);
      const before = await memory.memories.list({ scope: thread.scope });
      const shown = shownBy(await memory.recall(thread));
      await memory.remember({ ...thread, messages: [{ role: "user", content: said }], shown });
      expect(await textsOf(memory, thread)).toEqual(
        drafts.map((draft) => draft.text).filter((each) => each !== text),
      );
      const { id } = before.find((each) => each.text === text)!;
      expect((await memory.memories.history({ ...thread, id }))[0]).toMatchObject({
        event: "DELETE",
        actor: "worker:facts",
        old: { text },
        new: {
          state: "soft_deleted",
          evidence: { quote: said, threadId: thread.threadId, seq: 0 },
        },
      });
      const { changes } = await memory.recall(thread);
      expect(changes.top.map(({ event }) => event)).toContain("soft_deleted");
      await memory.memories.restore({ scope: thread.scope, consent: "given", id });
      expect(await textsOf(memory, thread)).toHaveLength(3);
    },
  );

  it("A request to forget is no fact itself, also if only a part of it is quoted", async () => {
    const said = "Please delete what I told you about my allergy, I live in Rome now.";
    const facts = [
      candidate("The user asked about their allergy.", "told you about my allergy"),
      candidate("The user lives in Rome.", "I live in Rome now"),
    ];
    const { memory } = forgetting(
      removal("The user is allergic to nuts.", "Please delete what I told you"),
      facts,
    );
    const thread = await knowing(memory);
    await say(memory, thread, said);
    const expected = [
      "The user lives in Porto.",
      "The user likes green tea.",
      "The user lives in Rome.",
    ];
    expect(await textsOf(memory, thread)).toEqual(expected);
  });

  it("A consent request that the user asks to forget is refused, and not proposed again", async () => {
    const { memory } = forgetting(removal("The user lives in Porto.", "Forget where I live"));
    const thread = newAddress();
    const other = newAddress();
    const [city] = drafts;
    for (const { scope } of [thread, other]) await memory.memories.add({ scope, memories: city! });
    const [request] = await memory.consents.list({ scope: thread.scope });
    await say(memory, thread, "Forget where I live, please.");
    expect(await memory.consents.list({ scope: thread.scope })).toEqual([]);
    expect(await memory.consents.list({ scope: other.scope })).toHaveLength(1);
    expect(
      (await memory.consents.list({ scope: thread.scope, status: ["refused"] }))[0],
    ).toMatchObject({
      id: request?.id,
      decidedBy: "worker:facts",
      decidedVia: "said",
      evidence: { quote: "Forget where I live", threadId: thread.threadId },
    });
    const [again] = await memory.memories.add({ scope: thread.scope, memories: city! });
    expect(again?.outcome).toBe("refused");
    const [entry] = await memory.memories.history({ ...thread, id: request!.id });
    expect(entry).toMatchObject({ event: "CONSENT", new: { decision: "refuse", via: "said" } });
  });

  it("A memory to forget is found among many, and only among the user's own", async () => {
    const { memory, model } = forgetting(
      removal("The user is allergic to nuts.", "forget my allergy to nuts"),
    );
    const thread = await knowing(memory);
    const noise = Array.from({ length: 80 }, (_, index) => ({
      text: `The user owns house ${index} at the sea.`,
      importance: 5,
    }));
    await memory.memories.add({ scope: thread.scope, memories: noise });
    const other = await knowing(memory);
    await say(memory, thread, "Please forget my allergy to nuts.");
    expect(await textsOf(memory, thread)).not.toContain("The user is allergic to nuts.");
    expect(await textsOf(memory, other)).toHaveLength(3);
    expect(model.prompts("fact_extraction")[0]?.match(/<memory number/g)).toHaveLength(50);
  });

  it("A fact is not learned from the words that ask to forget it", async () => {
    const city = { category: "profile", key: "city", value: "Porto" };
    const quote = "forget that I live in Porto";
    const { memory } = forgetting(removal("The user lives in Porto.", quote), [
      candidate("The user lives in Porto.", "I live in Porto", city),
      candidate("The user sails.", "I sail now"),
    ]);
    const thread = await knowing(memory);
    await say(memory, thread, `Please ${quote}. I sail now.`);
    expect(await textsOf(memory, thread)).toEqual([
      ...["The user is allergic to nuts.", "The user likes green tea.", "The user sails."],
    ]);
    expect(await eventsOf(db, thread, "facts")).toContain("classify skipped asked_to_forget");
  });

  it("A request to forget that is quoted as a whole keeps the other fact of its sentence", async () => {
    const said = "Forget that I live in Porto, I live in Rome now.";
    const rome = { category: "profile", key: "city", value: "Rome" };
    const facts = [candidate("The user lives in Rome.", "I live in Rome now", rome)];
    const { memory } = forgetting(removal("The user lives in Porto.", said), facts);
    const thread = await knowing(memory);
    await say(memory, thread, said);
    expect(await textsOf(memory, thread)).toContain("The user lives in Rome.");
    expect(await textsOf(memory, thread)).not.toContain("The user lives in Porto.");
  });

  it("What the user asks to forget is hidden, and not only closed, where the same message replaces it", async () => {
    const said =
      "Forget that I live in Porto and about the nuts. I live in Rome, dust is my allergy.";
    const facts = [
      candidate("The user lives in Rome.", "I live in Rome", {
        ...{ category: "profile", key: "city", value: "Rome" },
      }),
      candidate("The user is allergic to dust.", "dust is my allergy", {
        ...{ category: "constraints", relation: "updates", target: 2 },
      }),
    ];
    const forget = "Forget that I live in Porto and about the nuts";
    const { memory } = forgetting((prompt) => {
      expect(numberOf(prompt, "The user is allergic to nuts.")).toBe(2);
      return ["The user lives in Porto.", "The user is allergic to nuts."].flatMap((text) =>
        removal(text, forget)(prompt),
      );
    }, facts);
    const thread = await knowing(memory);
    await say(memory, thread, said);
    const found = await memory.memories.list({
      scope: thread.scope,
      states: ["active", "superseded", "soft_deleted"],
    });
    expect(found.map(({ state, text }) => `${state}: ${text}`).toSorted()).toEqual([
      "active: The user is allergic to dust.",
      "active: The user likes green tea.",
      "active: The user lives in Rome.",
      "soft_deleted: The user is allergic to nuts.",
      "soft_deleted: The user lives in Porto.",
    ]);
    const { rows } = await db.pool.query(
      `select memory_count::int as count from "${db.schema}".owner where user_id = $1`,
      [thread.scope.userId],
    );
    expect(rows).toEqual([{ count: 3 }]);
  });

  it("Malformed and unquoted removals are ignored, and the facts beside them are kept", async () => {
    const broken: ((prompt: string) => unknown)[] = [
      removal("The user lives in Porto.", "forget my address"),
      () => [{ memory: 99, message: 1, quote: "Please forget my allergy" }],
      () => [{ memory: -1.5 }, "everything", null],
      () => "all of them",
      () => ({ memory: 1 }),
      () => undefined,
    ];
    for (const removals of broken) {
      const { memory } = forgetting(removals, [candidate("The user sails.", "I sail")]);
      const thread = await knowing(memory);
      await say(memory, thread, "Please forget my allergy. I sail. ");
      expect(await textsOf(memory, thread)).toEqual([
        ...drafts.map(({ text }) => text),
        "The user sails.",
      ]);
    }
  });

  const nuts = (before: string, after: string) =>
    `${before}Please forget that I am allergic to nuts.${after}`;
  it.each([
    ["```\n", "\n```", "Please forget that I am allergic to nuts."],
    ["Traduis :\n\n> ", "\n> Merci", "forget that I am allergic to nuts"],
    ["要約して\n---\n", "\n---\n", "forget that I am allergic to nuts"],
    ["Korrigiere: „", "“", "Please forget that I am allergic to nuts"],
    ["她说「", "」", "forget that I am allergic to nuts"],
  ])(
    "A request to forget inside a quotation removes nothing, and is not learned: %j %j",
    async (before, after, quote) => {
      const fact = candidate("The user has a dog.", quote);
      const { memory } = forgetting(removal("The user is allergic to nuts.", quote), [fact]);
      const thread = await knowing(memory);
      await say(memory, thread, nuts(before, after));
      const own =
        nuts(before, after).indexOf(quote) < before.length - quote.length ? [fact.text] : [];
      expect(await textsOf(memory, thread)).toEqual([...drafts.map(({ text }) => text), ...own]);
    },
  );

  it.each([
    nuts("It's l'été, ", ""),
    nuts("```\n", ""),
    nuts('Now. "Dear Ana," she wrote. ', ""),
    nuts("", "\n---\nAna"),
  ])(
    "A request to forget beside marks that do not quote it removes the memory: %j",
    async (said) => {
      const { memory } = forgetting(
        removal("The user is allergic to nuts.", "forget that I am allergic to nuts"),
      );
      const thread = await knowing(memory);
      await say(memory, thread, said);
      expect(await textsOf(memory, thread)).not.toContain("The user is allergic to nuts.");
    },
  );

  it("One message removes at most as many memories as it may write", async () => {
    const all = () =>
      [1, 2, 3].map((memory) => ({ memory, message: 1, quote: "Please forget everything" }));
    const { memory } = forgetting(all, [], {
      config: { memories: { extract: true, writesPerTurn: 2 } },
    });
    const thread = await knowing(memory);
    await say(memory, thread, "Please forget everything you know about me.");
    expect(await textsOf(memory, thread)).toHaveLength(3);
    expect(await eventsOf(db, thread, "facts")).toContain("delete skipped bulk");
  });

  it("Removals affect only memories that were shown, by quotes of the message", async () => {
    const number = fc.oneof(fc.integer(), fc.double());
    const proposed = fc.record({ memory: number, message: number, quote: fc.string() });
    await fc.assert(
      fc.asyncProperty(fc.array(proposed), fc.array(fc.string()), async (candidates, messages) => {
        const rules = {
          messages: ["Please forget my city.", ...messages],
          memories: ["a", "b"],
          perMessage: 1,
        };
        const { chosen, rejected } = await chooseRemovals(candidates, rules);
        expect(chosen.length + rejected.length).toBeLessThanOrEqual(candidates.length);
        for (const { id, message, quote } of chosen) {
          expect(rules.memories).toContain(id);
          expect(rules.messages[message]?.normalize("NFC")).toContain(quote);
        }
      }),
    );
  });
});
