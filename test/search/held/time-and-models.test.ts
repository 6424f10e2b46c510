import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { useFreshSchemas } from "../../support/fresh-schema.js";
import { notHeld, recallHeld, recallUntilHeld, textsOf } from "../../support/held.js";
import { expectSame } from "../../support/same-recall.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const freshSchema = useFreshSchemas(db);
const minuteMs = 60_000;

beforeAll(() => db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) }).setup());

describe("time that passes while a user is held", () => {
  it("hides what expires and ages the rest, without any write", async () => {
    let now = Date.parse("2026-03-01T12:00:00Z");
    const options = { embeddings: new HashingEmbeddings({ dimensions: 16 }), clock: () => new Date(now) };
    const [holding, cold] = [db.memory(options), db.memory({ ...options, config: notHeld })];
    const scope = { userId: `ana ${randomUUID()}` };
    const inMinutes = (minutes: number) => new Date(now + minutes * minuteMs);
    const drafts = [
      { text: "Ana stays in Oslo." },
      { text: "Ana flies to Oslo at noon.", expiresAt: inMinutes(10) },
      { text: "Ana has a pass for Oslo.", expiresAt: inMinutes(60), pinned: true },
      {
        text: "Ana likes seat 4.",
        category: "preferences",
        key: "seat",
        value: "4",
        expiresAt: inMinutes(30),
      },
      { text: "Ana moves to Bergen.", validFrom: inMinutes(20) },
    ];
    await holding.memories.add(drafts, { scope });
    const input = {
      scope,
      threadId: `thread of ${scope.userId}`,
      query: "How does Ana come to Oslo, in which seat?",
    };
    await recallUntilHeld(holding, input);
    const left: number[] = [];
    for (const minutes of [0, 9, 1, 10, 9, 1, 30, 60 * 24 * 90]) {
      now += minutes * minuteMs;
      const recalled = await recallUntilHeld(holding, input);
      expectSame(recalled, await cold.recall(input));
      left.push(textsOf(recalled).filter((text) => /Oslo|seat/.test(text)).length);
    }
    expect(left).toEqual([4, 4, 3, 3, 3, 2, 1, 1]);
  });

  it("takes a speaker's name for a word like others once nothing is kept of what was said under it", async () => {
    let now = Date.parse("2026-03-01T12:00:00Z");
    const options = { clock: () => new Date(now) };
    const [holding, cold] = [db.memory(options), db.memory({ ...options, config: notHeld })];
    const scope = { userId: `ana ${randomUUID()}` };
    const expiresAt = new Date(now + minuteMs);
    await cold.memories.add({ text: "Ana tells of honey.", actorId: "Ben", expiresAt }, { scope });
    const thread = { scope, threadId: `thread of ${scope.userId}` };
    const input = { ...thread, query: "What of Ben and honey?" };
    await recallUntilHeld(holding, input);
    now += minuteMs;
    const message = { role: "user", content: "Ana and Ben: honey?" };
    const { lastSeq } = await cold.record({ ...thread, messages: [message] });
    const source = { threadId: thread.threadId, seqs: [lastSeq] };
    await cold.memories.add({ text: "Ana bought honey.", source }, { scope });
    expectSame(await holding.recall(input), await cold.recall(input));
    expectSame(await recallHeld(holding, input), await cold.recall(input));
  });

  it("by the database's clock too, where none is given", async () => {
    const embeddings = new HashingEmbeddings({ dimensions: 16 });
    const memory = db.memory({ embeddings });
    const scope = { userId: `ben ${randomUUID()}` };
    const waitMs = 4_000;
    const expiresAt = new Date(Date.now() + waitMs);
    await memory.memories.add([{ text: "Ben has a cold.", expiresAt }, { text: "Ben rows." }], { scope });
    const input = { scope, threadId: `thread of ${scope.userId}`, query: "How is Ben, does he have a cold?" };
    await recallUntilHeld(memory, input);
    await sleep(Math.max(0, expiresAt.getTime() - Date.now()) + 200);
    expect(textsOf(await recallHeld(memory, input))).toEqual(["Ben rows."]);
  });
});

/** A model of another name, whose vectors are of as many dimensions and mean something else. */
class OtherModel extends HashingEmbeddings {
  // @ts-expect-error: the base names its own model for good
  override readonly model = "another";

  override async embedDocuments(documents: string[]) {
    return (await super.embedDocuments(documents)).map((vector) => vector.toReversed());
  }

  override async embedQuery(document: string) {
    return (await super.embedQuery(document)).toReversed();
  }
}

/** Who could not be held, since vectors were missing, is left alone for so long only. */
const askedAnew = { retrieval: { held: { withinMs: 1_500 } } };

describe("a model of embeddings that changes while users are held", () => {
  it("never has vectors of one compared with those of the other", async () => {
    const { memory } = await freshSchema();
    const models = {
      first: new HashingEmbeddings({ dimensions: 16 }),
      second: new OtherModel({ dimensions: 16 }),
    };
    const opened = Object.values(models).map((embeddings) => ({
      holding: memory({ embeddings, config: askedAnew }),
      cold: memory({ embeddings, config: notHeld }),
    }));
    const [first, second] = opened as [(typeof opened)[0], (typeof opened)[0]];
    const scope = { userId: "ana" };
    const input = { scope, threadId: "t", query: "Where do the ducks of Ana swim?" };
    const sameByBoth = async () => {
      for (const { holding, cold } of opened)
        expectSame(await holding.recall(input), await cold.recall(input));
    };
    await first.holding.memories.add(
      ["Ana keeps ducks.", "Ana swims.", "Ana reads."].map((text) => ({ text })),
      { scope },
    );
    await recallUntilHeld(first.holding, input);
    await sameByBoth();
    await second.holding.memories.add(
      ["Ana has a pond with ducks.", "Ana rows."].map((text) => ({ text })),
      { scope },
    );
    // Each misses vectors of what the other wrote.
    for (let times = 0; times < 3; times++) await sameByBoth();
    await second.holding.reembed();
    for (let times = 0; times < 3; times++) await sameByBoth();
    expectSame(await recallUntilHeld(second.holding, input), await second.cold.recall(input));
    await second.holding.memories.add({ text: "Ana feeds the ducks at dawn." }, { scope });
    await sameByBoth();
  });

  it("has given no vector to a recall yet, whose questions are all empty", async () => {
    const memory = db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }) });
    const scope = { userId: `eve ${randomUUID()}` };
    await memory.memories.add([{ text: "Eve keeps goats." }, { text: "Eve sings." }], { scope });
    const input = { scope, threadId: `thread of ${scope.userId}`, query: "" };
    expect(textsOf(await recallUntilHeld(memory, input))).toEqual(["Eve keeps goats.", "Eve sings."]);
    expect(textsOf(await recallHeld(memory, { ...input, query: "goats" }))).toContain("Eve keeps goats.");
  });

  it("is none at first, and one later", async () => {
    const { memory } = await freshSchema();
    const scope = { userId: "ben" };
    const input = { scope, threadId: "t", query: "Which birds does Ben keep?" };
    const words = { holding: memory(), cold: memory({ config: notHeld }) };
    await words.holding.memories.add([{ text: "Ben keeps birds." }, { text: "Ben reads." }], { scope });
    expectSame(await recallUntilHeld(words.holding, input), await words.cold.recall(input));
    const embeddings = new HashingEmbeddings({ dimensions: 16 });
    const vectors = {
      holding: memory({ embeddings, config: askedAnew }),
      cold: memory({ embeddings, config: notHeld }),
    };
    for (let times = 0; times < 3; times++)
      expectSame(await vectors.holding.recall(input), await vectors.cold.recall(input));
    await vectors.holding.reembed();
    expectSame(await recallUntilHeld(vectors.holding, input), await vectors.cold.recall(input));
    expectSame(await words.holding.recall(input), await words.cold.recall(input));
  });
});
