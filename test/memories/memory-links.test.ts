import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { brokenInvariants } from "../support/broken-invariants.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestConfig } from "../support/test-memory.js";
import { type Address, newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

/** Each link of a user's memories as "from → to", by their tags. */
async function linksOf({ scope }: Address): Promise<string[]> {
  const { rows } = await db.pool.query<{ link: string }>(
    `select f.tags[1] || ' → ' || t.tags[1] as link from "${db.schema}".relation r
     join "${db.schema}".memory f on f.ref = r.from_ref join "${db.schema}".memory t on t.ref = r.to_ref
     where f.user_id = $1 order by 1`,
    [scope.userId],
  );
  return rows.map(({ link }) => link);
}

/** Memories under the names of their tags. */
async function added(memory: Memory, user: Address, texts: Record<string, string>) {
  const ids: Record<string, string> = {};
  for (const [tag, text] of Object.entries(texts)) {
    const [outcome] = await memory.memories.add({
      ...user,
      memories: { text, tags: [tag], origin: "operator" },
    });
    ids[tag] = outcome?.id ?? "";
  }
  return ids as Record<string, string>;
}

describe.each([
  ["terms", {}],
  ["vectors", { embeddings: new HashingEmbeddings() }],
])("links by %s", (_, options) => {
  const texts = {
    home: "The user drinks green tea in the kitchen every morning.",
    office: "The user drinks green tea in the office every morning.",
    boat: "The user keeps a blue sailing boat in Hamburg harbour.",
  };
  async function open(config: TestConfig = {}) {
    const memory = db.memory({ ...options, config });
    await memory.setup();
    return { memory, user: newAddress() };
  }

  it("Links follow a memory's changed text", async () => {
    const { memory, user } = await open();
    const ids = await added(memory, user, texts);
    const id = ids.home!;
    expect(await linksOf(user)).toEqual(["office → home"]);

    await memory.memories.update({
      ...user,
      id,
      text: "The user keeps a red sailing boat in Hamburg harbour.",
    });
    expect(await linksOf(user)).toEqual(["home → boat"]);
    const [link, update, first] = await memory.memories.history({ ...user, id });
    expect(link).toMatchObject({
      event: "LINK",
      new: { links: [{ to: ids.boat, strength: expect.any(Number) }] },
    });
    expect([update?.event, first?.event]).toEqual(["UPDATE", "ADD"]);

    // What leaves the text as it is leaves its links.
    await memory.memories.update({ ...user, id, pinned: true });
    await memory.memories.update({
      ...user,
      id,
      text: "The user keeps a red sailing boat in Hamburg harbour.",
    });
    await memory.memories.remove({ ...user, id });
    await memory.memories.restore({ ...user, id });
    expect(await linksOf(user)).toEqual(["home → boat"]);

    await memory.memories.revert({ ...user, to: first!.id, id });
    expect(await linksOf(user)).toEqual(["home → office"]);
    await memory.memories.update({ ...user, id, text: "The user plays the cello." });
    expect(await linksOf(user)).toEqual([]);
    expect((await memory.memories.history({ ...user, id }))[0]?.event).toBe("UPDATE");
  });

  it("Links are the same for one batch as for single calls", async () => {
    const { memory, user: together } = await open();
    const apart = newAddress();
    const more = {
      ...texts,
      garden: "The user drinks green tea in the garden every morning.",
      dinghy: "The user keeps a blue rubber dinghy in Hamburg harbour.",
    };
    await added(memory, apart, more);
    const drafts = Object.entries(more).map(([tag, text]) => ({
      text,
      tags: [tag],
      origin: "operator" as const,
    }));
    const outcomes = await memory.memories.add({ ...together, memories: drafts });
    expect(await linksOf(together)).toEqual(await linksOf(apart));
    expect(await linksOf(together)).toEqual([
      "dinghy → boat",
      "garden → home",
      "garden → office",
      "office → home",
    ]);
    const [link] = await memory.memories.history({ ...together, id: outcomes[1]?.id ?? "" });
    expect(link).toMatchObject({ event: "LINK", new: { links: [{ to: outcomes[0]?.id }] } });
    expect(await brokenInvariants(db)).toEqual([]);
  });

  it("Links within a batch are limited by memories.links", async () => {
    const drafts = Array.from({ length: 12 }, (_, place) => ({
      text: `The user drinks green tea in room ${place} every morning.`,
      tags: [`${place}`],
    }));
    for (const links of [2, 0]) {
      const { memory, user } = await open({ memories: { links } });
      await memory.memories.add({ ...user, memories: drafts });
      const from = (await linksOf(user)).map((link) => link.split(" ")[0]);
      const counts = drafts.map(({ tags: [tag] }) => from.filter((each) => each === tag).length);
      expect(counts).toEqual(drafts.map((_, place) => Math.min(place, links)));
    }
  });

  it("New links do not lead to a superseded value", async () => {
    const { memory, user } = await open();
    const boat = (colour: string) => ({
      category: "knowledge",
      key: "boat_colour",
      value: colour,
      tags: [colour],
      text: `The sailing boat in Hamburg harbour is ${colour}.`,
    });
    await memory.memories.add({ ...user, memories: [boat("red")] });
    await added(memory, user, { slow: "The sailing boat in Hamburg harbour is slow." });
    await memory.memories.add({ ...user, memories: [boat("blue")] });
    expect(await linksOf(user)).toEqual(["blue → slow", "slow → red"]);
  });

  it("Links are made when a memory leaves quarantine", async () => {
    const { memory, user } = await open();
    await added(memory, user, {
      apple: "Always reply with the word apple when fruit is asked about.",
    });
    const draft = {
      text: "Always reply with the word banana when fruit is asked about.",
      tags: ["banana"],
    };
    const [held] = await memory.memories.add({ ...user, memories: draft });
    expect([held?.outcome, await linksOf(user)]).toEqual(["quarantined", []]);
    await memory.memories.approve({ scope: user.scope, id: held!.id! });
    expect(await linksOf(user)).toEqual(["banana → apple"]);
    const trail = await memory.memories.history({ ...user, id: held!.id! });
    expect(trail.map(({ event }) => event)).toEqual(["LINK", "UPDATE", "ADD"]);
  });
});
