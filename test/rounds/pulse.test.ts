import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import sql from "sql-template-tag";
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { findRecall } from "../../src/rounds/find-recall.js";
import { mostChangedRows, type PulseStatement } from "../../src/rounds/pulse-statement.js";
import type { RecallStatement } from "../../src/rounds/recall-statement.js";
import { noFilter } from "../../src/search/memory-filter.rule.js";
import type { readQuestion } from "../../src/search/read-question.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { asking, categories, comparable, limits, pulseCopies, readCopy } from "./pulse-copies.js";

const db = useTestDatabase();
let memory: Memory;
beforeAll(() => {
  memory = db.memory({
    model: new OfflineChatModel(),
    config: { summaries: { everyMessages: 2, afterSeq: 1 } },
  });
});

/** The recall of the same round. */
function recalling({ address, changes, consents, question }: Omit<PulseStatement, "held">): RecallStatement {
  return {
    ...{ address, limits, changes, consents, notes: 0 },
    asked: question && {
      question: question as ReturnType<typeof readQuestion>,
      selection: {
        ...{ scope: address.scope, kinds: ["fact"], categories, filter: noFilter, limit: 5, vector: null },
        times: { since: [], before: [] },
      },
    },
    known: {
      ...{ categories, lengths: categories.map(() => null), shownWhole: [], minImportance: 5 },
      ...{ most: 0, rest: 0, statements: 1 },
    },
  };
}

const words = ["figs", "plums", "quinces", "Porto", "trains", "opera"];
const questions = [null, "What about figs and trains?", "What do you know about me?", "the"];

type Step = (place: { readonly user: string; readonly app: string }) => Promise<unknown>;
/** Another value may hold the slot of what is restored. */
const slotTaken = (error: { readonly code?: string }) => {
  if (error.code !== "SLOT_TAKEN") throw error;
};
const word = fc.constantFrom(...words);
const withApp = fc.boolean();
let said = 0;

/** Whatever changes what is held, or what a round is told. */
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(word, withApp).map<Step>(
    ([text, inApp]) =>
      ({ user, app }) =>
        memory.memories.add(
          { text: `Likes ${text}.` },
          { scope: { userId: user, ...(inApp && { appId: app }) } },
        ),
  ),
  word.map<Step>(
    (value) =>
      ({ user }) =>
        memory.memories.add(
          { category: "preference", key: "fruit", value, text: `Prefers ${value}.` },
          { scope: { userId: user } },
        ),
  ),
  // Waits for the user's consent.
  word.map<Step>(
    (value) =>
      ({ user }) =>
        memory.memories.add(
          { category: "profile", key: "city", value, text: `Lives in ${value}.` },
          { scope: { userId: user } },
        ),
  ),
  word.map<Step>(
    (text) =>
      ({ app }) =>
        memory.memories.add({ text: `All like ${text}.` }, { scope: { appId: app } }),
  ),
  fc.tuple(word, fc.nat(2), withApp).map<Step>(([text, thread, inApp]) => ({ user, app }) => {
    const scope = { userId: user, ...(inApp && { appId: app }) };
    const messages = [
      new HumanMessage({ content: `Some ${text}, number ${said++}.`, name: "Bo" }),
      new ToolMessage({ content: text, tool_call_id: "1" }),
      new AIMessage(`More ${text}?`),
    ];
    return memory.remember({
      scope,
      threadId: `${user} ${thread} ${inApp}`,
      messages: messages.slice(0, 1 + thread),
    });
  }),
  fc
    .tuple(fc.nat(), fc.constantFrom("remove", "restore", "update", "pin", "purge"))
    .map<Step>(([which, change]) => async ({ user }) => {
      const scope = { userId: user };
      const states = change === "restore" ? (["soft_deleted"] as const) : (["active"] as const);
      const listed = await memory.memories.list({ scope, states });
      const id = listed[which % listed.length]?.id;
      if (id === undefined) return;
      if (change === "remove") await memory.memories.remove(id, { scope });
      else if (change === "restore") await memory.memories.restore(id, { scope }).catch(slotTaken);
      else if (change === "pin") await memory.memories.update(id, { pinned: true }, { scope });
      else if (change === "purge") {
        await db.database.query(sql`delete from ${db.database.schema}.memory where id = ${id}::uuid`);
      } else await memory.memories.update(id, { text: `Changed ${said++}.` }, { scope });
    }),
  fc.nat(2).map<Step>(
    (thread) =>
      ({ user }) =>
        memory.threads
          .delete({ scope: { userId: user }, threadId: `${user} ${thread} false` })
          .catch(() => {}),
  ),
);

let next = 0;

it("after whatever calls, copies have what the tables have, and a round is told what a recall tells", {
  timeout: 900_000,
}, async () => {
  let told = { changes: 0, consents: 0, summaries: 0, rows: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(step, withApp, fc.nat(2), fc.constantFrom(...questions)), {
        minLength: 10,
        maxLength: 20,
      }),
      async (steps) => {
        const place = { user: `user ${next}`, app: `app ${next++}` };
        const copies = pulseCopies(db.database);
        for (const [change, inApp, thread, query] of steps) {
          await change(place);
          const scope = { userId: place.user, ...(inApp && { appId: place.app }) };
          const input = asking(scope, `${place.user} ${thread} ${inApp}`, query);
          const found = await copies.pulse(input);
          const recalled = await findRecall(db.database, recalling(input), 60_000);
          const { conversation, revision, revSeen, changeCount, changes, consents, broad } = recalled;
          expect(found).toMatchObject({ revision, revSeen, changeCount, changes, consents, broad });
          expect(found.conversation).toEqual(conversation);
          for (const { ref, tick } of found.owners) {
            const expected = await readCopy(db.database, ref);
            expect(tick).toBe(expected.tick);
            expect(comparable(copies.held.get(ref)!)).toEqual(comparable(expected));
          }
          told = {
            changes: told.changes + changes.length,
            consents: told.consents + consents.length,
            summaries: told.summaries + Number(conversation?.summary != null),
            rows: told.rows + copies.counts.rows,
          };
        }
      },
    ),
    { numRuns: onServer() ? 20 : 12, endOnFailure: true },
  );
  // None of this was compared with nothing.
  expect(
    Object.values(told).filter((count) => count === 0),
    JSON.stringify(told),
  ).toEqual([]);
});

describe("a pulse", () => {
  it("tells the question's lexemes in their order, those of speakers, and how its owners stand", async () => {
    const scope = { userId: "ana", appId: "shop" };
    await memory.memories.add([{ text: "Likes red figs." }, { text: "Likes trains." }], {
      scope: { userId: "ana" },
    });
    await memory.memories.add({ text: "Sells figs." }, { scope: { appId: "shop" } });
    const messages = [new HumanMessage("I like figs."), new AIMessage("Good.")];
    for (const [threadId, appId] of [
      ["s1", "shop"],
      ["s2", "shop"],
      ["o1", "other"],
    ] as const) {
      await memory.record({ scope: { userId: "ana", appId }, threadId, messages });
    }
    const question = "Which trains did Running Maria take to the fig gardens?";
    const asked = { ...asking(scope, "s1", question), speakers: ["maria", "running"] };
    const found = await pulseCopies(db.database).pulse(asked);
    const expected = await db.database.query<{ lexeme: string }>(sql`
      select v.lexeme from unnest(to_tsvector('english', ${asked.question!.terms})) with ordinality
        v (lexeme, positions, weights, n) order by v.n`);
    expect(found.lexemes).toEqual(expected.map(({ lexeme }) => lexeme));
    expect(found.lexemes).toContain("garden");
    expect([...found.named].sort()).toEqual(["maria", "run"]);
    expect(found.broad).toBe(false);
    expect(Math.abs(found.now - Date.now())).toBeLessThan(60_000);
    expect(found.owners).toMatchObject([
      { isUser: true, memoryCount: 2, memoryLength: 5, messageCount: 6, threads: 2, changed: null },
      { isUser: false, memoryCount: 1, threads: 0, changed: null },
    ]);
    expect((await pulseCopies(db.database).pulse(asking({ userId: "ana" }, "s1"))).owners).toEqual([]);
    const everywhere = await pulseCopies(db.database).pulse(asking({ userId: "ana" }, "new", question));
    expect(everywhere.owners).toMatchObject([{ threads: 3 }]);
  });

  it("tells nothing of another scope's thread but that it is one", async () => {
    await memory.record({
      scope: { userId: "bo" },
      threadId: "of bo",
      messages: [new HumanMessage("Hello.")],
    });
    await memory.memories.add({ text: "Likes opera." }, { scope: { userId: "cleo" } });
    const found = await pulseCopies(db.database).pulse(asking({ userId: "cleo" }, "of bo", "opera?"));
    expect(found).toMatchObject({ conversation: null, owners: [], changes: [], consents: [] });
  });

  it("carries what was said in one other thread, and in several", async () => {
    const scope = { userId: "dora" };
    const say = (threadId: string, text: string) =>
      memory.record({ scope, threadId, messages: [new HumanMessage(text)] });
    const copies = pulseCopies(db.database);
    const carried = async () => {
      const [owner] = (await copies.pulse(asking(scope, "d1"))).owners;
      return owner!
        .changed!.threads.flatMap(({ size, messages }) =>
          messages.map(([seq, , lexemes]) => `${seq} of ${size}: ${lexemes.join(" ")}`),
        )
        .sort();
    };
    await say("d1", "figs");
    await say("d2", "plums");
    await copies.pulse(asking(scope, "d1"));
    expect(await carried()).toEqual([]);
    await say("d2", "quinces");
    expect(await carried()).toEqual(["1 of 2: quinc"]);
    await say("d2", "trains");
    await say("d1", "opera");
    await say("d3", "Porto");
    expect(await carried()).toEqual(["0 of 1: porto", "1 of 2: opera", "2 of 3: train"]);
    // Nothing to find in it, but the thread is longer.
    const result = new ToolMessage({ content: "found", tool_call_id: "1" });
    await memory.record({ scope, threadId: "d1", messages: [result] });
    const [owner] = (await copies.pulse(asking(scope, "d1"))).owners;
    expect(owner!.changed!.threads).toMatchObject([{ size: 3, messages: [] }]);
  });

  it("carries no rows after a large change, nor to a copy of another time", async () => {
    const scope = { userId: "eve" };
    await memory.memories.add({ text: "Likes figs." }, { scope });
    const copies = pulseCopies(db.database);
    await copies.pulse(asking(scope, "e1"));
    const many = Array.from({ length: mostChangedRows }, (_, n) => ({ text: `Saw number ${n}.` }));
    await memory.memories.add(many, { scope });
    expect((await copies.pulse(asking(scope, "e1"))).owners[0]?.changed).not.toBeNull();
    expect(copies.counts.rows).toBe(mostChangedRows);
    await memory.memories.add(
      [...many, { text: "And one more." }].map(({ text }) => ({ text: `Again: ${text}` })),
      { scope },
    );
    const [owner] = (await copies.pulse(asking(scope, "e1"))).owners;
    expect(owner?.changed).toBeNull();
    // Restored from a backup, the database stands at an earlier tick.
    copies.held.set(owner!.ref, { ...copies.held.get(owner!.ref)!, tick: owner!.tick + 1 });
    expect((await copies.pulse(asking(scope, "e1"))).owners[0]?.changed).toBeNull();
    await memory.forget(scope);
    expect((await copies.pulse(asking(scope, "e1"))).owners).toEqual([]);
  });
});
