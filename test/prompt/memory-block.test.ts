import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MemoryItem, type Recalled, shownBy } from "../../src/index.js";
import { memoryPreface } from "../../src/messages/recalled-mark.js";
import { memoryBlock } from "../../src/prompt/memory-block.js";
import { aSummary } from "../langgraph/conversation.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();
const headings = [
  "# Long-term Memory",
  "# Recent Conversation",
  "## User Profile",
  "## Unverified",
  "## Relevant to This Message",
  "## Recent Context",
  "## Also Known",
  "## Waiting for the User's Consent",
];

describe("the memory block", () => {
  it("The memory block separates unverified memories", async () => {
    const memory = db.memory();
    const { scope, threadId } = newAddress();
    const slot = (key: string, value: string) => {
      return {
        category: "preferences",
        key,
        value,
        importance: 5,
        text: `The user's ${key} is ${value}.`,
      };
    };
    await memory.memories.add({
      scope,
      memories: [
        { ...slot("tea", "green"), origin: "user" },
        { ...slot("vpn", "Acme"), origin: "tool" },
        { ...slot("bank", "Example"), origin: "document" },
      ],
    });
    const block = memoryBlock(await memory.recall({ scope, threadId, query: "vpn" })) ?? "";
    const sections = block.split("\n\n");
    const profile = sections.find((section) => section.startsWith("## User Profile"));
    const unverified = sections.find((section) => section.startsWith("## Unverified"));
    expect(profile).toContain("- tea: green");
    expect(profile).not.toMatch(/Acme|Example/);
    expect(unverified).toContain("- vpn: Acme (unverified, from a tool)");
    expect(unverified).toContain("- bank: Example (unverified, from a document)");
  });

  it("The memory block shows a slot with its sentence if that says more, its start, and its earlier value", async () => {
    const memory = db.memory();
    const { scope, threadId } = newAddress();
    const add = (key: string, value: string, text: string, more = {}) =>
      memory.memories.add({
        scope,
        memories: { category: "profile", key, value, text, importance: 5, origin: "user", ...more },
      });
    await add("employer", "Acme", "The user works for Acme.", { validFrom: "2025-03-01" });
    await add("employer", "Globex", "The user works for Globex.", { validFrom: "2026-05-02" });
    await add(
      "budget",
      "9500",
      "The user's budget is 9,500 euros, 1,500 of it from the user's mother.",
    );
    await add("job", "engineer", "The user works as an engineer at a small firm in Braga.");
    await add("diet", "vegetarian", "The user is vegetarian since 2025.");
    await add("tea", "green", "The user's tea is green.");
    const lines = memoryBlock(await memory.recall({ scope, threadId }))!.split("\n");
    expect(lines).toEqual(
      expect.arrayContaining([
        "- employer: Globex (since 2 May 2026, earlier: Acme)",
        "- The user's budget is 9,500 euros, 1,500 of it from the user's mother.",
        "- The user works as an engineer at a small firm in Braga.",
        "- The user is vegetarian since 2025.",
        "- tea: green",
      ]),
    );
  });

  it("The memory block shows the beginning of an episode, and its day", async () => {
    const memory = db.memory();
    const { scope, threadId } = newAddress();
    const text = `They talked about the cello ${"and bows ".repeat(20)}at length.`;
    const turns = { start: 1, end: 10 };
    await memory.memories.add({
      scope,
      memories: { kind: "episode", turns, origin: "user", text, validFrom: "2026-03-02T09:00:00Z" },
    });
    const block = memoryBlock(await memory.recall({ scope, threadId, query: "cello" })) ?? "";
    const episode = block.split("\n").find((line) => line.startsWith("- turns")) ?? "";
    expect(episode).toMatch(
      /^- turns 1-10 \(2 March 2026\): They talked about the cello( and( bows)?)+\.\.\.$/,
    );
    expect(episode.length).toBeLessThanOrEqual("- turns 1-10 (2 March 2026): ".length + 153);
    expect(episode.length).toBeGreaterThan(140);
    const [found] = await memory.query({ scope, query: "bows" });
    expect(found?.memory.text).toContain("at length");
  });

  const tea = {
    category: "preferences",
    key: "tea",
    value: "green",
    importance: 5,
    origin: "user",
  };
  const nuts = { text: "Leo is allergic to nuts.", category: "relationships", origin: "user" };
  const met = {
    kind: "episode",
    text: "They discussed nuts.",
    turns: { start: 1, end: 10 },
    origin: "user",
  };
  const note = { kind: "note", text: "Users ask for nuts.", origin: "operator" };
  const steps = {
    kind: "procedure",
    text: "Roast the nuts.",
    category: "procedural",
    origin: "user",
  };
  const slot = { ...tea, text: "The user drinks green tea." };
  const name = { category: "profile", key: "name", value: "Ana", text: "The user's name is Ana." };
  const summary = { ...aSummary, startTurn: 1, endTurn: 4, text: "They met." };
  const long = `# Long-term Memory\nToday is Wednesday, 2 January 2030.\n${memoryPreface}`;
  const [ofMemory, ofConversation, ofBoth] = [
    "memory",
    "conversation",
    "memory and conversation",
  ].map((above) => `Answer consistently using the ${above} above.`);
  const profile = "## User Profile\n- tea: green";
  const known = "## Also Known\n- [relationships] Leo is allergic to nuts.";
  const fits = "## Relevant to This Message\n- [relationships] Leo is allergic to nuts.";
  const episodes = "## Recent Context\n- turns 1-10 (2 January 2030): They discussed nuts.";
  const conversation = "# Recent Conversation\n[Summary of Round 1-4]:\nThey met.";
  const notes =
    "(memories for app: shop)\nThe following are notes of this app's operator:\n\n" +
    "1. [Created: 2030-01-02] Users ask for nuts.\n\nUse these memories to provide context-aware responses.";
  const waits =
    "## Waiting for the User's Consent\nNone of this is known until the user agrees. Where it fits, ask about it. With a " +
    "tool for consent, call it only when the user plainly said yes or no to one of these:\n- ID: name: Ana";
  const gone = "Memory updates since rev 1:\n- ⌛soft_deleted: [Relationships] (no longer kept)";
  const notShown =
    "[12 earlier messages are not shown: they are too many, and no summary has them. They are kept, and a search of the transcript finds them.]";

  const omitted = { messages: 12 } as never;
  it.each<
    [
      string,
      { drafts?: object[]; query?: string; gone?: boolean; more?: Partial<Recalled> },
      unknown[],
    ]
  >([
    ["nothing at all", {}, []],
    ["a fact", { drafts: [nuts] }, [long, known, ofMemory]],
    ["a slot", { drafts: [slot] }, [long, profile, ofMemory]],
    ["a note", { drafts: [note] }, [long, notes, ofMemory]],
    ["a procedure", { drafts: [steps] }, []],
    ["an episode", { drafts: [met], query: "nuts" }, [long, episodes, ofMemory]],
    ["a summary", { more: { summary } }, [memoryPreface, conversation, ofConversation]],
    [
      "messages without a summary",
      { more: { omitted } },
      [memoryPreface, `# Recent Conversation\n${notShown}`],
    ],
    ["a change", { drafts: [nuts], gone: true }, [long, gone, ofMemory]],
    ["a consent", { drafts: [name] }, [long, waits, ofMemory]],
    [
      "the same of the user and of the app",
      { drafts: [nuts, { ...nuts, app: true }] },
      [long, known, ofMemory],
    ],
    [
      "all",
      { drafts: [nuts, slot, met, note, steps, name], query: "nuts", more: { summary } },
      [long, profile, fits, episodes, notes, waits, conversation, ofBoth],
    ],
  ])(
    "A memory block of %s has headings with lines, and what it refers to above",
    async (_, known, sections) => {
      const memory = db.memory({
        clock: () => new Date("2030-01-02T12:00:00Z"),
        config: { consent: { ask: "tool" } },
      });
      const address = newAddress();
      const scope = { ...address.scope, tenantId: address.threadId, appId: "shop" };
      const turn = { scope, threadId: address.threadId, query: known.query };
      for (const { app, ...draft } of (known.drafts ?? []) as { app?: true; kind?: string }[]) {
        const { userId, ...ofApp } = scope;
        const own = draft.kind === "note" || app ? ofApp : scope;
        await memory.memories.add({ scope: own, memories: draft as never });
      }
      if (known.gone) {
        const before = await memory.recall(turn);
        const { query: _, ...thread } = turn;
        await memory.remember({
          ...thread,
          messages: [{ role: "user", content: "Hi." }],
          shown: shownBy(before),
        });
        await memory.memories.remove({ scope, id: before.memories.rest[0]?.id ?? "" });
      }
      const block = memoryBlock({ ...(await memory.recall(turn)), ...known.more });
      const expected =
        sections.length === 0 ? null : `<memory>\n${sections.join("\n\n")}\n</memory>`;
      expect(block?.replace(/^- [0-9a-f]{8}: /m, "- ID: ") ?? null).toBe(expected);
    },
  );

  it("The memory block labels untrusted hits, episodes and notes", async () => {
    const memory = db.memory();
    const { scope, threadId } = newAddress();
    const app = { ...scope, appId: `app of ${scope.userId}` };
    const draft = { origin: "tool", importance: 1 } as const;
    await memory.memories.add({
      scope: app,
      memories: [
        { ...draft, text: "The user likes tea." },
        { ...draft, kind: "episode", text: "They drank tea in May.", turns: { start: 1, end: 2 } },
      ],
    });
    const note = { ...draft, kind: "note", text: "Tea helps." } as const;
    await memory.memories.add({ scope: { appId: app.appId }, memories: note });
    const block = memoryBlock(await memory.recall({ scope: app, threadId, query: "tea" })) ?? "";
    for (const text of ["The user likes tea.", "They drank tea in May.", "Tea helps."])
      expect(block).toContain(`${text} (unverified, from a tool)`);
  });

  it("The memory block is one block with its own headings, with any content", async () => {
    const memory = db.memory();
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
          kind: "fact",
          category: one || "c",
          key: two || "k",
          value: three,
          text: one,
          origin: trusted ? "user" : "tool",
          trust: trusted ? "user" : "untrusted",
          turns: null,
          createdAt: new Date(0),
          validFrom: new Date(-1e12),
          earlier: two,
          scope: { appId: two },
        } as unknown as MemoryItem;
        const hit = { memory: item } as Recalled["memories"]["relevant"][number];
        const items = { profile: [item], related: [item], notes: [item], rest: [item] };
        const block = memoryBlock({
          ...nothing,
          summary: { ...aSummary, text: two },
          memories: { ...items, relevant: [hit], episodes: [hit], omitted: 3 },
          changes: {
            since: 1,
            revision: 2,
            count: 1,
            top: [{ event: "created", line: three }] as never,
          },
          consents: [
            {
              id: "12345678",
              category: one,
              key: two || null,
              value: three,
              text: one,
              current: two,
              currentId: null,
            },
          ],
        });
        const folded = (block ?? "")
          .normalize("NFKC")
          .replace(/\p{Default_Ignorable_Code_Point}/gu, "");
        const plain = folded.replace(
          /[еоу]/g,
          (letter) => ({ е: "e", о: "o", у: "y" })[letter] ?? letter,
        );
        expect(plain.match(/[<‹]\s*\/?\s*m\s*e\s*m\s*o\s*r\s*y/gi)).toEqual([
          "<memory",
          "</memory",
        ]);
        const opened = folded
          .split(/[\n\r\v\f\u0085\u2028\u2029]/)
          .filter((line) => /^\s*#/.test(line));
        expect(opened.filter((line) => !headings.includes(line))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
