import { beforeAll, describe, expect, it } from "vitest";
import { addNotes } from "../notes/note-facts.js";
import { useCommandLine } from "../support/command-line.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const { run, withMemory } = useCommandLine(db);
const [calendar, shop] = [{ appId: "calendar" }, { tenantId: "acme", appId: "shop" }];
const texts = ["Meetings are after 2 pm.", "The tax papers are due in May.", "Reminders come a day before."];
const ofCalendar = ["--app", "calendar"];
const ofShop = ["--app", "shop", "--tenant", "acme"];

beforeAll(async () => {
  await withMemory(async (memory) => {
    await addNotes(memory, calendar, texts);
    await addNotes(memory, shop, ["Parcels go out on Mondays."]);
    const talk = { scope: { ...shop, userId: "ana" }, threadId: "t" };
    await memory.record({ ...talk, messages: [{ role: "user", content: "Where is my parcel?" }] });
    await memory.memories.add(
      { text: "Ana waits for a parcel." },
      { scope: { tenantId: "acme", userId: "ana" } },
    );
  });
}, 120_000);

const json = async (...args: string[]) => {
  const ended = await run([...args, "--json"]);
  expect(ended, args.join(" ")).toMatchObject({ code: 0, err: "" });
  return JSON.parse(ended.out);
};

// Few commands each, since every one of them opens the database.
describe("mnemograph notes", () => {
  it("lists and counts those of one app of one tenant", async () => {
    const listed = await json("notes", ...ofCalendar);
    expect(listed.map(({ text }: { text: string }) => text)).toEqual(texts.toReversed());
    const words = await run(["notes", "list", ...ofCalendar, "--limit", "1", "--after", listed[0].id]);
    expect(words.out).toMatch(
      /^[-0-9a-f]{36} {2}\d{4}-\d\d-\d\d {2}imp=\d {2}- {2}The tax papers [a-zA-Z ]+\.$/,
    );
    expect(await json("notes", "count", ...ofShop)).toEqual({ count: 1 });
    expect((await run(["notes", "--app", "shop"])).out).toBe("There are none.");
  }, 120_000);

  it("shows them as prompts have them", async () => {
    const shown = await run(["notes", "context", ...ofCalendar]);
    expect(shown.out).toMatch(/^\(memories for app: calendar\)\n/);
    expect(shown.out).toMatch(/^1\. \[Created: \d{4}-\d\d-\d\d\] Reminders come a day before\.$/m);
  }, 120_000);

  it("hides one, and deletes all of an app for good, not unasked", async () => {
    const [{ id }] = await json("notes", ...ofCalendar);
    const removed = await run(["notes", "remove", id, ...ofCalendar, "--actor", "eve", "--reason", "Wrong."]);
    expect(removed.out).toBe("soft_deleted: Reminders come a day before.");
    expect((await json("history", id, ...ofCalendar))[0]).toMatchObject({
      actor: "eve",
      new: { reason: "Wrong." },
    });

    const purge = ["notes", "purge", ...ofCalendar];
    expect((await run([...purge, "--dry-run"])).out).toBe("Would delete 2 notes in use and 1 hidden ones.");
    expect(await run(purge)).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/add --yes/) });
    expect(await json(...purge, "--yes")).toEqual({ deletedCount: 2, hiddenCount: 1 });
    expect(await json("notes", ...ofCalendar)).toEqual([]);
  }, 120_000);

  it.each<[string[], number, RegExp]>([
    [["notes"], 2, /required option '--app <id>'/],
    [["notes", "--app", ""], 2, /appId/],
    [["notes", ...ofCalendar, "--user", "ana"], 2, /unknown option '--user'/],
    [["notes", "drop", ...ofCalendar], 2, /Use one of list, count, remove/],
    [["notes", "constructor", ...ofCalendar], 2, /Use one of list/],
    [["notes", "search", "tax", ...ofCalendar], 2, /Use one of list/],
    [["notes", "remove", ...ofCalendar], 2, /`notes remove <id>`/],
    [["notes", "purge", "n", ...ofCalendar, "--yes"], 2, /Use `notes purge`/],
    [["apps", "remove", "calendar"], 2, /apps uninstall <id>/],
    [["apps", "uninstall"], 2, /apps uninstall <id>/],
    [["apps", "--purge-memories"], 2, /goes with/],
    [["stats", "--by", "user"], 2, /one of app/],
    [["stats", "--by", "app", "--user", "ana"], 2, /about an app/],
    [["stats", "--since", "2026-01-01"], 2, /unknown option '--since'/],
  ])(
    "refuses %j",
    async (args, code, problem) => {
      expect(await run(args)).toMatchObject({ code, out: "", err: expect.stringMatching(problem) });
    },
    120_000,
  );
});

describe("mnemograph stats --by app", () => {
  it("says how apps remember, of all or of one", async () => {
    const one = await json("stats", "--by", "app", ...ofShop);
    expect(one).toMatchObject({ appCount: 1, notes: 1, apps: [{ scope: shop, notesCreated: 1 }] });
    const words = await run(["stats", "--by", "app", "--days", "7"]);
    expect(words.out).toMatch(/^tenant acme, app shop +1 +1 +/m);
    expect(words.out).toMatch(/^all apps +1 +/m);
    expect(words.out).toMatch(/^50\.0 % of 2 apps have notes\. .* since \d{4}-.*Z\.$/m);
  }, 120_000);
});

describe("mnemograph apps uninstall", () => {
  it("ends an app's conversations and keeps its memories, unless they are to be purged", async () => {
    const uninstall = ["apps", "uninstall", "shop", "--tenant", "acme"];
    expect((await run(uninstall)).out).toBe("Ended 1 conversation. Its memories and items stay.");
    expect(await json("threads", "--user", "ana", ...ofShop)).toMatchObject([{ endedReason: "uninstalled" }]);

    const refused = await run([...uninstall, "--purge-memories"]);
    expect(refused).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/add --yes/) });
    const purged = await run([...uninstall, "--purge-memories", "--yes"]);
    expect(purged.out).toBe(
      "Ended 0 conversations. Deleted 1 memories in use, 0 hidden ones and 0 items of its store.",
    );
    expect(await json("list", "--user", "ana", "--tenant", "acme")).toHaveLength(1);
  }, 120_000);
});
