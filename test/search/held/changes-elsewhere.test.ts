import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { ExportLine, Memory, Scope } from "../../../src/index.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { useChildScripts } from "../../support/child-scripts.js";
import { notHeld, recallHeld, recallUntilHeld, textsOf } from "../../support/held.js";
import { expectSame } from "../../support/same-recall.js";
import { round } from "../../support/spoken.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const start = useChildScripts();
const open = (config = {}) => db.memory({ embeddings: new HashingEmbeddings({ dimensions: 16 }), config });

beforeAll(() => open().setup());

const texts = [
  "Ana flies to Oslo in May.",
  "Ana keeps bees.",
  "Ana reads novels on trains.",
  "Ana is in Oslo.",
];
const drink = (value: string) => ({
  ...{ category: "preferences", key: "drink", value, text: `Ana drinks ${value}.` },
});

const threadOf = ({ userId }: Scope, name: string) => `${name} thread of ${userId}`;

/** A user whom one memory holds. Another one works on the same database, and a third one holds nobody. */
async function heldUser() {
  const scope = { userId: `ana ${randomUUID()}` };
  const threadId = threadOf(scope, "first");
  const [holding, other, cold] = [open(), open(), open(notHeld)];
  const drafts = [...texts.map((text) => ({ text })), drink("tea")];
  const ids = (await other.memories.add(drafts, { scope })).map(({ id }) => id as string);
  await other.record({ scope, threadId, messages: round("How are the bees in Oslo?") });
  const input = { scope, threadId, query: "What does Ana do with bees in Oslo?" };
  const before = await recallUntilHeld(holding, input);
  expect(textsOf(before)).toEqual([...texts, drink("tea").text].toSorted());
  return { scope, holding, other, cold, ids, input, before };
}

interface Changed {
  readonly other: Memory;
  readonly scope: Scope;
  readonly ids: readonly string[];
}

/** What another process may do that changes what a recall gives. */
const changes: Record<string, (changed: Changed) => Promise<unknown>> = {
  "a memory": ({ other, scope }) => other.memories.add({ text: "Ana sells honey in Oslo." }, { scope }),
  "a memory that was told again": ({ other, scope }) =>
    other.memories.add({ text: texts[1] as string }, { scope }),
  "another value of a slot": ({ other, scope }) => other.memories.add(drink("milk"), { scope }),
  "another text": ({ other, scope, ids }) =>
    other.memories.update(ids[1] as string, { text: "Ana keeps ducks." }, { scope }),
  "a pin": ({ other, scope, ids }) => other.memories.update(ids[2] as string, { pinned: true }, { scope }),
  "a tag": ({ other, scope, ids }) => other.memories.update(ids[2] as string, { tags: ["books"] }, { scope }),
  "a memory that is gone": ({ other, scope, ids }) => other.memories.remove(ids[1] as string, { scope }),
  "a memory that is gone and back, and another": async ({ other, scope, ids }) => {
    await other.memories.remove(ids[1] as string, { scope });
    await other.memories.restore(ids[1] as string, { scope });
    await other.memories.remove(ids[2] as string, { scope });
  },
  "messages of its thread": ({ other, scope }) =>
    other.record({ scope, threadId: threadOf(scope, "first"), messages: round("Honey from Oslo?") }),
  "a hundred memories": ({ other, scope }) =>
    other.memories.add(
      Array.from({ length: 100 }, (_, index) => ({
        text: `Ana keeps hive ${index} in cellar ${index * 7}.`,
      })),
      { scope },
    ),
};

describe("a held user, whom another process gives", () => {
  it.each(Object.entries(changes))("%s, is recalled with it", async (_, change) => {
    const { scope, holding, other, cold, ids, input, before } = await heldUser();
    await change({ other, scope, ids });
    const after = await holding.recall(input);
    expectSame(after, await cold.recall(input));
    expect(JSON.stringify(after)).not.toBe(JSON.stringify(before));
    // Also where so much has changed that it was taken in anew.
    expectSame(await recallUntilHeld(holding, input), await cold.recall(input));
  });

  it("messages in other threads, is recalled with what they say for what was learned there", async () => {
    const { scope, holding, other, cold, input } = await heldUser();
    for (const name of ["second", "first", "third", "second"]) {
      const threadId = threadOf(scope, name);
      await other.record({
        scope,
        threadId,
        messages: round(`In Oslo the bees of the ${name} thread swarm.`),
      });
      const source = { threadId, seqs: [0] };
      await other.memories.add(
        { text: `The ${name} hive stands in Oslo ${randomUUID()}.`, source },
        { scope },
      );
      expectSame(await recallHeld(holding, input), await cold.recall(input));
      const elsewhere = { ...input, threadId: threadOf(scope, "fourth") };
      expectSame(await recallHeld(holding, elsewhere), await cold.recall(elsewhere));
    }
    await other.threads.delete({ scope, threadId: threadOf(scope, "second") });
    expectSame(await holding.recall(input), await cold.recall(input));
    expectSame(await recallUntilHeld(holding, input), await cold.recall(input));
  });
});

describe("a held user whom another process forgets", () => {
  it("is not recalled, is not held, and comes back as somebody new", async () => {
    const { scope, holding, other, cold, input } = await heldUser();
    await other.forget(scope);
    const nothing = await holding.recall(input);
    expect([textsOf(nothing), nothing.gap, nothing.lastSeq]).toEqual([[], [], -1]);
    expect(holding.held().list.filter((held) => held.scope.userId === scope.userId)).toEqual([]);
    await other.memories.add({ text: "Ana has moved to Bergen." }, { scope });
    expect(textsOf(await holding.recall(input))).toEqual(["Ana has moved to Bergen."]);
    expectSame(await recallUntilHeld(holding, input), await cold.recall(input));
  });

  it("and imports again, is recalled as imported", async () => {
    const { scope, holding, other, cold, input } = await heldUser();
    const lines: ExportLine[] = [];
    for await (const line of other.export(scope)) lines.push(line);
    await other.forget(scope);
    expect(textsOf(await holding.recall(input))).toEqual([]);
    await other.import(lines);
    // Imports bring no vectors, and who lacks some is not held.
    await other.reembed();
    expectSame(await holding.recall(input), await cold.recall(input));
    expectSame(await recallUntilHeld(holding, input), await cold.recall(input));
  });

  it.skipIf(!onServer())(
    "is recalled without what is gone, while it is forgotten (server only)",
    async () => {
      const { scope, holding, other, cold, input } = await heldUser();
      for (const rows of [3, 8, 20]) {
        const forgetting = start("forget-slowly", [
          ...[inject("databaseUrl") ?? "", db.schema, scope.userId],
          ...[`${rows}`],
        ]);
        await forgetting.line("deep enough");
        expectSame(await holding.recall(input), await cold.recall(input));
        await forgetting.kill();
        expectSame(await holding.recall(input), await cold.recall(input));
      }
      await other.forget(scope);
      expect(textsOf(await holding.recall(input))).toEqual([]);
    },
  );
});
