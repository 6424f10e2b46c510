import { describe, expect, it } from "vitest";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { type Address, newAddress, say, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const config = { memories: { extract: true, writesPerDay: 1_000 } };

/**
 * What a user says, and what a model makes of it; `of` is the text of the memory that the relation
 * is to.
 */
type Turn = readonly [says: string, ...told: readonly Told[]];
type Told = readonly [text: string, fields?: Record<string, unknown> & { of?: string }];

/** A memory whose model knows `turns`, played in one thread. */
async function play(turns: readonly Turn[], address = newAddress()) {
  const model = taskModel({
    fact_extraction: (prompt) => {
      const [says = "", ...told] = turns.find(([words]) => prompt.includes(words)) ?? [];
      return facts(
        ...told.map(([text, { of, ...fields } = {}]) => {
          const quote = says.replace(/[.!?。]$/u, "");
          return candidate(text, quote, {
            target: of === undefined ? null : numberOf(prompt, of),
            ...fields,
          });
        }),
      );
    },
  });
  const memory = db.memory({ model, config });
  const thread: Address = address;
  for (const [says] of turns) await say(memory, thread, says);
  return { memory, thread, model };
}

function numberOf(prompt: string, text: string): number | null {
  const shown = [...prompt.matchAll(/<memory number="(\d+)"[^>]*>([^<]*)</g)];
  return Number(shown.find(([, , content]) => content === text)?.[1] ?? 99);
}

const updates = (of: string, fields = {}) => ({ relation: "updates", of, ...fields });

/**
 * Rows of two turns: message | statement | second message | its statement | relation to the first |
 * category.
 */
const statements = `
My budget is 8,000 euros. | The user's budget is 8,000 euros. | Make it 9,500 euros now. | The user's budget is 9,500 euros. | updates
I love sushi. | The user loves sushi. | I can't stand sushi anymore. | The user cannot stand sushi. | updates
I have a cat called Mimi. | The user has a cat called Mimi. | Mimi died. | The user's cat Mimi died. | ends
Clara and I got married. | The user is married to Clara. | We split up. | The user and Clara split up. | ends
I like hiking. | The user likes hiking. | Hikes make me happy. | The user enjoys hikes. | same_as
Die Feier ist am 3. Mai. | Die Feier des Nutzers ist am 3. Mai. | Die Feier ist jetzt am 10. Mai. | Die Feier des Nutzers ist am 10. Mai. | updates
Ich habe einen Hund, Rex. | Der Nutzer hat einen Hund namens Rex. | Und noch einen, Bello. | Der Nutzer hat einen Hund namens Bello. | adds_to
Ich fahre einen Volvo. | Der Nutzer fährt einen Volvo. | Den Volvo habe ich verkauft. | Der Nutzer hat den Volvo verkauft. | ends
Je suis allergique aux noix. | L'utilisateur est allergique aux noix. | Le médecin dit que je ne suis plus allergique. | L'utilisateur n'est plus allergique aux noix. | updates | constraints
J'aime le thé. | L'utilisateur aime le thé. | J'aime aussi le café. | L'utilisateur aime le café. | adds_to
猫のタマを飼っています。 | ユーザーは猫のタマを飼っている。 | タマは先月死にました。 | ユーザーの猫のタマは死んだ。 | ends
寿司が好きです。 | ユーザーは寿司が好きだ。 | 寿司はもう食べません。 | ユーザーは寿司をもう食べない。 | updates
予算は8000円です。 | ユーザーの予算は8000円だ。 | 予算は9500円になりました。 | ユーザーの予算は9500円だ。 | updates
`;
const keepsBoth = ["adds_to", "same_as"];

const slot = (key: string, value: string, fields = {}) => ({
  category: "profile",
  key,
  value,
  ...fields,
});
const city = (value: string) => slot("city", value, { personal: "city" });
const nurse: Turn = ["I work as a nurse.", ["The user works as a nurse.", slot("job", "nurse")]];
const drink = slot("drink", "mate", { category: "knowledge" });

/** Turns over a slot, and what they leave active. */
const slots: readonly (readonly [first: Turn, second: Turn, left: readonly string[]])[] = [
  [
    nurse,
    [
      "I quit nursing.",
      ["The user no longer works as a nurse.", { relation: "ends", of: "nurse" }],
    ],
    ["The user no longer works as a nurse."],
  ],
  [
    ["I live in Porto.", ["The user lives in Porto.", city("Porto")]],
    ["I moved to Braga.", ["The user lives in Braga.", updates("Porto", city("Braga"))]],
    ["The user lives in Braga."],
  ],
  [
    ["I am a pilot.", ["The user is a pilot.", slot("job", "pilot", { confidence: 1 })]],
    ["I may quit.", ["The user may quit.", { relation: "ends", of: "pilot", confidence: 0.6 }]],
    ["The user is a pilot.", "The user may quit."],
  ],
  [
    ["I drink tea.", ["The user drinks tea."]],
    ["It is mate now.", ["The user drinks mate.", updates("The user drinks tea.", drink)]],
    ["The user drinks mate."],
  ],
];

describe("conversations", () => {
  const rows = statements.trim().split("\n");
  it.each(rows.map((row) => row.split(" | ")))(
    "A conversation that says %j (%s), then %j (%s: %s) keeps what holds now",
    async (first = "", before = "", second = "", after = "", relation = "", category = "knowledge") => {
      const related = { relation, of: before, category };
      const { memory, thread } = await play([
        [first, [before, { category }]],
        [second, [after, related]],
      ]);
      expect(await textsOf(memory, thread)).toEqual(
        keepsBoth.includes(relation) ? [before, after] : [after],
      );
    },
  );

  it.each(rows.map((row) => row.split(" | ")))(
    "One answer about %j (%s), and about %j (%s: %s) leaves what one answer for each does",
    async (first = "", before = "", second = "", after = "", relation = "", category = "knowledge") => {
      const quote = (says: string) => says.replace(/[.!?。]$/u, "");
      const related = { relation: relation as "updates", target: 1, message: 2, category };
      const model = taskModel({
        fact_extraction: () =>
          facts(
            candidate(before, quote(first), { category }),
            candidate(after, quote(second), related),
          ),
      });
      const memory = db.memory({ model, config });
      const thread = newAddress();
      const said = [first, second].map((content) => ({ role: "user", content }));
      await memory.remember({ ...thread, messages: said });
      await memory.idle();
      const both = relation === "same_as" ? [before] : [before, after];
      expect(await textsOf(memory, thread)).toEqual(keepsBoth.includes(relation) ? both : [after]);
    },
  );

  it("A value that ends in the answer that brings it replaced the one before", async () => {
    const ended = { relation: "ends", target: 2 };
    const { memory, thread } = await play([
      ["I am a teacher.", ["The user is a teacher.", slot("job", "teacher")]],
      [
        "I became a nurse, and quit.",
        ["The user is a nurse.", slot("job", "nurse")],
        ["The user no longer works as a nurse.", ended],
      ],
    ]);
    expect(await textsOf(memory, thread)).toEqual(["The user no longer works as a nurse."]);
  });

  it("A user who corrects herself in one message is believed in the end", async () => {
    const colour = (value: string) => slot("favourite_colour", value, { category: "preferences" });
    const { memory, thread } = await play([
      [
        "My favourite colour is green, no, blue",
        ["The user's favourite colour is green.", colour("green")],
        [
          "The user's favourite colour is blue.",
          { ...colour("blue"), relation: "updates", target: 1 },
        ],
      ],
    ]);
    expect(await textsOf(memory, thread)).toEqual(["The user's favourite colour is blue."]);
  });

  it.each(slots)("A conversation that says %j, then %j keeps %j", async (first, second, left) => {
    const { memory, thread } = await play([first, second]);
    expect(await textsOf(memory, thread)).toEqual(left);
  });
});

describe("relations to existing memories", () => {
  const sushi = "The user loves sushi.";
  const told = (fields: Record<string, unknown>, before = {}) =>
    play([
      ["I love sushi.", [sushi, before]],
      [
        "No sushi for me.",
        ["The user eats no sushi.", { relation: "updates", of: sushi, ...fields }],
      ],
    ]);
  it("A memory that a new fact updates is closed, and can be restored", async () => {
    const { memory, thread } = await told({ since: "2020-03-01" });
    const [gone] = await memory.memories.list({ scope: thread.scope, states: ["superseded"] });
    expect(gone).toMatchObject({
      text: sushi,
      validTo: expect.any(Date),
      supersededBy: expect.any(String),
    });
    await memory.memories.restore({ ...thread, id: gone!.id });
    expect(await textsOf(memory, thread)).toHaveLength(2);
  });

  it.each([
    ["says it in other words", { relation: "same_as" }],
    ["adds to it", { relation: "adds_to" }],
  ])("A memory and a fact that %s are both kept, and linked", async (_, fields) => {
    const { memory, thread } = await told(fields);
    expect(await textsOf(memory, thread)).toHaveLength(2);
    const history = await db.pool.query(
      `select count(*)::int as links from "${db.schema}".relation r join "${db.schema}".memory m on m.ref = r.from_ref
       join "${db.schema}".owner o on o.id = m.owner_ref where o.user_id = $1`,
      [thread.scope.userId],
    );
    expect(history.rows[0].links).toBe(1);
  });

  it.each([
    ["to a memory that was not shown", { of: "The user owns a boat." }],
    ["without a memory's number", { target: null, of: undefined }],
    ["by an unknown word", { relation: "destroys" }],
    ["by nothing", { relation: undefined, target: undefined, of: undefined }],
    ["by a list", { relation: ["updates"], target: "all", of: undefined }],
  ])("A relation %s is ignored: the fact is new and closes nothing", async (_, fields) => {
    const { memory, thread } = await told(fields);
    expect(await textsOf(memory, thread)).toEqual([sushi, "The user eats no sushi."]);
  });

  it("A fact closes no memory of another category that shares no word with it", async () => {
    const allergic = "The user is allergic to nuts.";
    const { memory, thread } = await play([
      ["Nuts make me ill.", [allergic, { category: "constraints" }]],
      ["I adopted a cat, Miso.", ["The user has a cat called Miso.", updates(allergic)]],
    ]);
    expect(await textsOf(memory, thread)).toEqual([allergic, "The user has a cat called Miso."]);
  });

  it("A relation is read with its number as text and its words in capitals", async () => {
    const { memory, thread } = await told({ relation: "Updates", target: "1" });
    expect(await textsOf(memory, thread)).toEqual(["The user eats no sushi."]);
  });

  it("A model's relation closes no memory that is pinned or an operator's", async () => {
    for (const change of [{ pinned: true }, { origin: "operator" as const }]) {
      const thread = newAddress();
      const [known] = await db
        .memory()
        .memories.add({ scope: thread.scope, memories: { text: sushi, ...change } });
      const { memory } = await play(
        [["No sushi for me.", ["The user eats no sushi.", updates(sushi)]]],
        thread,
      );
      expect((await memory.memories.get({ ...thread, id: known!.id! }))?.state).toBe("active");
    }
  });

  it("A relation without a quote of the user's message is ignored", async () => {
    const { memory, thread } = await play([
      ["I love sushi.", [sushi]],
      [
        "What is for dinner?",
        ["The user eats no sushi.", updates(sushi, { quote: "no sushi for me" })],
      ],
    ]);
    expect(await textsOf(memory, thread)).toEqual([sushi]);
  });
});

describe("personal fields", () => {
  const told = async (fields: Record<string, unknown>) => {
    const home = { category: "knowledge", key: "home", value: "Porto", ...fields };
    const { memory, thread } = await play([
      ["Porto is lovely.", ["The user lives in Porto.", home]],
    ]);
    const waiting = await memory.consents.list({ scope: thread.scope });
    return [await textsOf(memory, thread), waiting.map(({ text }) => text)];
  };
  const [kept, waits] = [
    [["The user lives in Porto."], []],
    [[], ["The user lives in Porto."]],
  ];

  it.each([
    [{ personal: "city", stated_by_user: true }, kept],
    [{ personal: "city", stated_by_user: false }, waits],
    [{ personal: "City", stated_by_user: "Yes" }, kept],
    [{ personal: "City", stated_by_user: "no" }, waits],
    [{ personal: "city", stated_by_user: "true, I think" }, waits],
    [{ personal: "city", stated_by_user: undefined }, waits],
    [{ personal: "city", key: null, value: null, stated_by_user: false }, waits],
    [{ personal: "none", stated_by_user: false }, kept],
    [{ personal: "shoe size", stated_by_user: false }, kept],
    [{ personal: undefined, category: "profile", key: "city", stated_by_user: false }, waits],
    [{ personal: ["city"], category: "profile", key: "City", stated_by_user: null }, waits],
  ])(
    "A personal field is stored, or waits for consent, by its key and %j",
    async (fields, outcome) => expect(await told(fields)).toEqual(outcome),
  );
});
