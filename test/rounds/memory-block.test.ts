import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryPreface } from "../../src/conversation/recalled-mark.js";
import type { MemoryItem, Recalled } from "../../src/index.js";
import { memoryBlock } from "../../src/rounds/memory-block.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const database = useTestDatabase();
const headings = [
  "# Long-term Memory",
  "# Recent Conversation",
  "## User Profile",
  "## Unverified",
  "## Recent Context",
  "## Also Known",
  "## Waiting for the User's Consent",
];

const aSummary = { id: 1, startSeq: 0, endSeq: 1, endMessageId: "1", startTurn: 1, endTurn: 1 };

describe("the memory block", () => {
  it("says how it is to be read, and keeps apart what nobody vouches for", async () => {
    const memory = database.memory();
    const { scope, threadId } = newAddress();
    const slot = (key: string, value: string) => ({
      ...{ category: "preferences", key, value, importance: 5, text: `The user's ${key} is ${value}.` },
    });
    await memory.memories.add(
      [
        { ...slot("tea", "green"), origin: "user" },
        { ...slot("vpn", "Acme"), origin: "tool" },
        { ...slot("bank", "Example"), origin: "document" },
      ],
      { scope },
    );
    const block = memoryBlock(await memory.recall({ scope, threadId, query: "vpn" })) ?? "";
    const sections = block.split("\n\n");
    expect(sections[0]).toBe(`<memory>\n# Long-term Memory\n${memoryPreface}`);
    const profile = sections.find((section) => section.startsWith("## User Profile"));
    const unverified = sections.find((section) => section.startsWith("## Unverified"));
    expect(profile).toContain("- tea: green");
    expect(profile).not.toMatch(/Acme|Example/);
    expect(unverified).toContain("- vpn: Acme (unverified, from a tool)");
    expect(unverified).toContain("- bank: Example (unverified, from a document)");
  });

  it("shows a summary under its rounds, and of an episode its beginning", async () => {
    const memory = database.memory();
    const { scope, threadId } = newAddress();
    await memory.memories.add(
      [
        {
          category: "profile",
          key: "instrument",
          value: "cello",
          text: "The user plays the cello.",
          importance: 5,
          origin: "user",
        },
        {
          ...{ kind: "episode", turns: { start: 1, end: 10 }, origin: "user" },
          text: `They talked about the cello ${"and bows ".repeat(20)}at length.`,
        },
      ],
      { scope },
    );
    const recalled = await memory.recall({ scope, threadId, query: "cello" });
    const summary = { ...aSummary, text: "They met.", startTurn: 2, endTurn: 8 };
    const unchanged = { ...recalled, changes: { ...recalled.changes, count: 0, top: [] } };
    const lines = (memoryBlock({ ...unchanged, summary }) ?? "").split("\n");
    const episode = lines.find((line) => line.startsWith("- turns")) ?? "";
    expect(lines).toEqual([
      "<memory>",
      "# Long-term Memory",
      memoryPreface,
      "",
      "## User Profile",
      "- instrument: cello",
      "",
      "## Recent Context",
      episode,
      "",
      "# Recent Conversation",
      "[Summary of Round 2-8]:",
      "They met.",
      "",
      "Answer consistently using the memory and conversation above.",
      "</memory>",
    ]);
    expect(episode).toMatch(/^- turns 1-10: They talked about the cello( and( bows)?)+\.\.\.$/);
    expect(episode.length).toBeLessThanOrEqual("- turns 1-10: ".length + 153);
    expect(episode.length).toBeGreaterThan(140);
    const [found] = await memory.query({ scope, query: "bows" });
    expect(found?.memory.text).toContain("at length");
    const nothing = { profile: [], episodes: [], relevant: [], related: [], rest: [], leftOut: 0 };
    expect(memoryBlock({ ...unchanged, memories: { ...recalled.memories, ...nothing } })).toBeNull();
  });

  it("labels untrusted hits, episodes and notes where they stand", async () => {
    const memory = database.memory();
    const { scope, threadId } = newAddress();
    const app = { ...scope, appId: `app of ${scope.userId}` };
    const draft = { origin: "tool", importance: 1 } as const;
    await memory.memories.add(
      [
        { ...draft, text: "The user likes tea." },
        { ...draft, kind: "episode", text: "They drank tea in May.", turns: { start: 1, end: 2 } },
        { ...draft, kind: "note", text: "Tea helps." },
      ],
      { scope: app },
    );
    const block = memoryBlock(await memory.recall({ scope: app, threadId, query: "tea" })) ?? "";
    for (const text of ["The user likes tea.", "They drank tea in May.", "Tea helps."])
      expect(block).toContain(`${text} (unverified, from a tool)`);
  });

  it("is one block with its own headings, whatever stands in it", async () => {
    const memory = database.memory();
    const nothing = await memory.recall(newAddress());
    const unit = fc.constantFrom(
      ...[
        "<memory>",
        "</memory>",
        "＜/ｍｅｍｏｒｙ＞",
        "<\u200B/mem\u00ADory>",
        "</ｍеmоrу>",
        "‹/memory›",
        "< / M e m o r y >",
      ],
      ...[
        "\n",
        "\r",
        "\u0085",
        "\u2028",
        "\v",
        "\f",
        "## User Profile",
        "＃＃ X",
        "\n## Recent Context",
        "#",
        " ",
      ],
      ...["<", "/", "memory", ">", "a", "\u{E0041}", "\u202E", "</mem", "ory>", "]\n\n"],
    );
    const text = fc.array(unit, { maxLength: 12 }).map((units) => units.join(""));
    fc.assert(
      fc.property(text, text, text, fc.boolean(), (one, two, three, trusted) => {
        const item = {
          ...{ kind: "fact", category: one || "c", key: two || "k", value: three, text: one },
          ...{ origin: trusted ? "user" : "tool", trust: trusted ? "user" : "untrusted", turns: null },
          ...{ createdAt: new Date(0), scope: { appId: two } },
        } as unknown as MemoryItem;
        const hit = { memory: item } as Recalled["memories"]["relevant"][number];
        const block = memoryBlock({
          ...nothing,
          summary: { ...aSummary, text: two },
          memories: {
            ...{ profile: [item], relevant: [hit], episodes: [hit], related: [item], notes: [item] },
            ...{ rest: [item], leftOut: 3 },
          },
          changes: { since: 1, revision: 2, count: 1, top: [{ event: "created", line: three }] as never },
          consents: [
            { id: "12345678", category: one, key: two || null, value: three, text: one, current: two },
          ],
        });
        const folded = (block ?? "").normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
        const plain = folded.replace(/[еоу]/g, (letter) => ({ е: "e", о: "o", у: "y" })[letter] ?? letter);
        expect(plain.match(/[<‹]\s*\/?\s*m\s*e\s*m\s*o\s*r\s*y/gi)).toEqual(["<memory", "</memory"]);
        const opened = folded.split(/[\n\r\v\f\u0085\u2028\u2029]/).filter((line) => /^\s*#/.test(line));
        expect(opened.filter((line) => !headings.includes(line))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
