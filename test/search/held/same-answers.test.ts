import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeAll, describe, it } from "vitest";
import type { Memory, MemoryDraft, Scope } from "../../../src/index.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { notHeld, recallUntilHeld } from "../../support/held.js";
import { expectSame } from "../../support/same-recall.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";
import { limitsMs } from "../../support/timing.js";

const db = useTestDatabase();
const embeddings = new HashingEmbeddings({ dimensions: 16 });
const startMs = Date.parse("2026-03-01T12:00:00Z");
const minuteMs = 60_000;

beforeAll(() => db.memory({ embeddings }).setup());

// Few words, so that many memories share them and many scores are the same.
const word = fc.constantFrom(
  ...["honey", "train", "Oslo", "garden", "piano", "Ben", "bees", "seat", "novels", "tea"],
);
const speaker = fc.constantFrom("Ana", "Ben", "Chloe");

/** A draft at a given time. */
type DraftAt = (nowMs: number) => MemoryDraft;

const draft: fc.Arbitrary<DraftAt> = fc
  .record({
    who: speaker,
    what: fc.array(word, { minLength: 1, maxLength: 4 }),
    number: fc.nat({ max: 12 }),
    importance: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    pinned: fc.option(fc.constant(true), { nil: undefined, freq: 8 }),
    category: fc.constantFrom("knowledge", "goals", "preferences", "event"),
    slot: fc.option(fc.constantFrom("drink", "seat"), { nil: undefined, freq: 5 }),
    actorId: fc.option(speaker, { nil: undefined }),
    expires: fc.option(fc.integer({ min: 5, max: 120 }), { nil: undefined, freq: 5 }),
    begins: fc.option(fc.integer({ min: -60 * 24 * 40, max: 120 }), { nil: undefined, freq: 3 }),
  })
  .map(({ who, what, number, slot, expires, begins, ...rest }) => (nowMs) => ({
    ...rest,
    text: `${who} tells of ${what.join(" and ")} ${number}.`,
    ...(slot && { category: "preferences", key: slot, value: what.join(" ") }),
    ...(expires !== undefined && { expiresAt: new Date(nowMs + expires * minuteMs) }),
    ...(begins !== undefined && { validFrom: new Date(nowMs + begins * minuteMs) }),
  }));

const question = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(word, { minLength: 1, maxLength: 6 })
      .map((words) => `What of ${words.join(" and ")}?`),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(speaker, word).map(([who, what]) => `What did ${who} say of the ${what} 7?`),
  },
  fc.constantFrom(
    ...[
      "",
      "What do you know about me?",
      "Wat of teh hnoey adn piaon?",
      "When was the train on 1 March 2026?",
    ],
    ...["zzzz qqqq", "honey ".repeat(80), "Österreich 東京 🙂"],
  ),
);

type Step =
  | { readonly does: "add"; readonly drafts: readonly DraftAt[]; readonly toApp: boolean }
  | { readonly does: "remove" | "restore" | "pin" | "rewrite"; readonly which: number }
  | { readonly does: "say"; readonly text: string; readonly thread: number }
  | { readonly does: "wait"; readonly minutes: number }
  | { readonly does: "ask"; readonly question: string; readonly thread: number };

const thread = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("add" as const),
      drafts: fc.array(draft, { minLength: 1, maxLength: 12 }),
      toApp: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom("remove" as const, "restore" as const, "pin" as const, "rewrite" as const),
      which: fc.nat(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant("say" as const),
      text: fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(" ")),
      thread,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant("wait" as const), minutes: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 8, arbitrary: fc.record({ does: fc.constant("ask" as const), question, thread }) },
);

/** One user, maybe in an app, of whom one memory is asked held and another cold, at the same time by the same clock. */
function openUser(withVectors: boolean, inApp: boolean) {
  const time = { nowMs: startMs };
  const options = { clock: () => new Date(time.nowMs), ...(withVectors && { embeddings }) };
  const scope: Scope = { userId: `user ${randomUUID()}`, ...(inApp && { appId: `app ${randomUUID()}` }) };
  return { time, scope, holding: db.memory(options), cold: db.memory({ ...options, config: notHeld }) };
}

async function change(
  memory: Memory,
  scope: Scope,
  nowMs: number,
  made: Exclude<Step, { does: "ask" | "wait" }>,
): Promise<void> {
  const { userId, appId } = scope;
  if (made.does === "add") {
    const to = made.toApp && appId !== undefined ? { appId } : { userId: userId as string };
    await memory.memories.add(
      made.drafts.map((draftAt) => draftAt(nowMs)),
      { scope: to },
    );
    return;
  }
  if (made.does === "say") {
    const threadId = `${made.thread} of ${userId}`;
    const messages = [
      { role: "user", content: `Ana and Ben: ${made.text}?` },
      { role: "assistant", content: made.text },
    ];
    const { lastSeq } = await memory.record({ scope, threadId, messages });
    const source = { threadId, seqs: [lastSeq - 1] };
    await memory.memories.add({ text: `Ana said: ${made.text} ${made.thread}.`, source }, { scope });
    return;
  }
  const states = [made.does === "restore" ? ("soft_deleted" as const) : ("active" as const)];
  const items = await memory.memories.list({ scope, states, limit: 50 });
  const item = items[made.which % Math.max(1, items.length)];
  if (!item) return;
  const access = { scope: item.scope };
  const changing = {
    remove: () => memory.memories.remove(item.id, access),
    restore: () => memory.memories.restore(item.id, access),
    pin: () => memory.memories.update(item.id, { pinned: !item.pinned }, access),
    rewrite: () =>
      memory.memories.update(item.id, { text: `Chloe tells of tea ${made.which % 50}.` }, access),
  };
  // Memory may refuse: a slot is taken, or somebody else has said so already.
  await changing[made.does]().catch((error: { code?: string }) => {
    if (error.code === undefined) throw error;
  });
}

/** A step, at the user's time. A question is asked of both. */
async function done(each: Step, { time, scope, holding, cold }: ReturnType<typeof openUser>): Promise<void> {
  if (each.does === "wait") time.nowMs += each.minutes * minuteMs;
  else if (each.does !== "ask") await change(cold, scope, time.nowMs, each);
  else {
    const input = { scope, threadId: `${each.thread} of ${scope.userId}`, query: each.question };
    expectSame(await recallUntilHeld(holding, input), await cold.recall(input));
  }
}

describe("a held user", () => {
  it(
    "is recalled as by the statement, whoever it is and whatever is asked",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.record({ withVectors: fc.boolean(), inApp: fc.boolean() }),
          fc.array(draft, { minLength: 1, maxLength: 40 }),
          fc.array(step, { minLength: 4, maxLength: 12 }),
          async ({ withVectors, inApp }, drafts, steps) => {
            const user = openUser(withVectors, inApp);
            const { scope, holding, cold } = user;
            // Each of them measures its embeddings with its first question, which need not be a recall.
            for (const each of [holding, cold]) await each.query({ scope, query: "Which one?" });
            // A user of an app is held with the app.
            const own: Step[] = inApp ? [{ does: "add", drafts: drafts.slice(0, 3), toApp: true }] : [];
            const first: Step = { does: "add", drafts, toApp: false };
            const last: Step = { does: "ask", question: "What of honey in Oslo?", thread: 0 };
            for (const each of [first, ...own, ...steps, last]) await done(each, user);
            await Promise.all([holding.close(), cold.close()]);
          },
        ),
        { numRuns: onServer() ? 40 : 12, endOnFailure: true },
      );
    },
    limitsMs.long,
  );
});
