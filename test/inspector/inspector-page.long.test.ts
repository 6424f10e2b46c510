import { readFile } from "node:fs/promises";
import axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { hasChromium, openChromium } from "../support/chromium.js";
import { openInspected } from "../support/inspected.js";
import { ana, fillInspectorSample, hostile, sampleModel } from "../support/inspector-sample.js";
import { useTestDatabase } from "../support/test-database.js";

if (!hasChromium)
  console.log(
    "There is no Chromium here, so the inspector's page is not tested: run scripts/chromium.sh",
  );

const db = useTestDatabase();
let memory: Memory;
let server: Awaited<ReturnType<typeof openInspected>>;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** What went wrong in the page: errors, and what its policy stopped. */
const wrong: string[] = [];

/** What axe finds serious, and whether something is wider than the window. */
const problems = `(async () => {
  ${axe.source};
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const { scrollWidth, clientWidth } = document.documentElement;
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | "))
    .concat(scrollWidth > clientWidth ? ["the page is " + scrollWidth + " px wide"] : []);
})()`;

describe.skipIf(!hasChromium)("the inspector's page", () => {
  beforeAll(async () => {
    const config = { memories: { extract: true } };
    memory = db.memory({ model: sampleModel(), embeddings: new HashingEmbeddings(), config });
    await memory.setup();
    await fillInspectorSample(memory);
    server = await openInspected(memory);
    browser = await openChromium();
    context = await browser.newContext({ acceptDownloads: true });
    const first = await context.newPage();
    await first.goto(server.address);
    await first.getByRole("heading", { name: "Latest conversations" }).waitFor();
    // Exchanged, and gone from the address and the history.
    expect(first.url()).toBe(`${server.origin}/inspector/#/overview?`);
    expect(await first.evaluate("document.cookie")).toBe("");
    await first.close();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  beforeEach(async () => {
    wrong.length = 0;
    page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("console", (message) => {
      // The page explains calls that this server lacks.
      if (message.type() === "error" && !message.text().includes("404")) wrong.push(message.text());
    });
  });
  afterEach(async () => {
    for (const [colorScheme, width] of [
      ["light", 1_280],
      ["dark", 390],
      ["light", 390],
      ["dark", 1_280],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(problems), `${colorScheme} at ${width} px`).toEqual([]);
    }
    expect(await page.title()).toMatch(/· Mnemograph$/);
    await page.close();
    expect(wrong).toEqual([]);
  });

  const open = async (place: string) => {
    await page.goto(`${server.origin}/inspector/#/${place}`);
    await page.locator("main").waitFor();
  };
  const act = async (does: string, reason: string, fields: Record<string, string> = {}) => {
    await page.getByRole("button", { name: does, exact: true }).first().click();
    const dialog = page.getByRole("dialog");
    for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value);
    if (reason !== "") await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: does, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  };
  const idOf = async (contains: string) => {
    const [found] = await memory.memories.list({ scope: ana, contains });
    return found?.id ?? "";
  };

  it("begins with what goes on: the latest conversations, what failed, what waits, what was learned, what recall took", async () => {
    await open("overview");
    await page.getByRole("link", { name: "I want to run a half marathon in October." }).waitFor();
    await page.getByText("failed", { exact: true }).first().waitFor();
    await page.getByText("The user's preferred name is Jo.").first().waitFor();
    await page.getByText("Moved to Porto in the spring of 2026.").waitFor();
    await page
      .getByRole("img", { name: /half within \d+, 95 of 100 within \d+/ })
      .first()
      .waitFor();
    // operators M8: an axis that is whole.
    const chart = await page.locator("svg.chart").first().boundingBox();
    for (const label of await page.locator("svg.chart").first().locator("text").all())
      expect((await label.boundingBox())?.x).toBeGreaterThanOrEqual(chart?.x ?? 0);
    await page.getByRole("button", { name: "Whose: everyone" }).click();
    await page.getByLabel("User or app").fill("ana");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "ana", exact: true }).waitFor();
    expect(await page.getByText("half marathon").count()).toBe(0);
  });

  it("finds what was said over all users, and opens the very turn with what the model was shown", async () => {
    await open("threads");
    await page.getByLabel("Search what was said").fill("allergic nuts");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /I am allergic to nuts/ }).click();
    const turn = page.locator("article.selected");
    await turn.locator(".pointed", { hasText: "I am allergic to nuts" }).waitFor();
    await page.getByRole("heading", { name: "What changed since the turn before" }).waitFor();
    await page.getByRole("heading", { name: "I moved to Porto in spring." }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Conversations" }).waitFor();
  });

  it("lists conversations by their first and last words, and by date, app and state", async () => {
    await open("threads");
    const titles = page.locator(".thread a.row");
    await page.getByRole("link", { name: "I moved to Porto in spring." }).waitFor();
    expect(await page.locator(".thread .last").first().textContent()).not.toBe("");
    await page.getByLabel("State").selectOption("failed");
    await expect
      .poll(() => titles.allTextContents())
      .toEqual(["I want to run a half marathon in October."]);
    await open("threads?app=lessons");
    await expect
      .poll(() => titles.allTextContents())
      .toEqual(["I practise the guitar for twenty minutes a day."]);
    await open("threads?since=2001-01-01&until=2001-02-01");
    await page.getByText("No conversation is like that.").waitFor();
    await open("thread?user=ana&thread=no-such");
    await page.getByText("There is no such conversation here").waitFor();
  });

  it("shows beside a turn what changed since the one before, why, the whole prompt by part, and what it would be now", async () => {
    await open("thread?user=ana&thread=sailing&at=0");
    const beside = page.getByRole("complementary", { name: "What the model was shown" });
    await beside
      .getByRole("listitem")
      .filter({ hasText: "Is allergic to nuts." })
      .getByText("always shown")
      .first()
      .waitFor();
    await page
      .getByRole("group", { name: /assistant/ })
      .getByText("tide_table")
      .waitFor();
    await page.locator("a.row.turn-line").first().focus();
    for (const key of ["j", "j", "ArrowDown"]) await page.keyboard.press(key);
    await page.locator("article.selected", { hasText: "Where could we sail" }).waitFor();
    await beside
      .getByText(/fits: Sails|as before/)
      .first()
      .waitFor();
    await beside.getByText(/^A cache had \d+% of it/).waitFor();
    await beside.getByText("word for word").waitFor();
    await page.locator("article").last().getByRole("group").last().click();
    await page.locator("article.selected", { hasText: "Then plan a day" }).waitFor();
    await memory.memories.add({ text: "Will sail to Avintes with Inês." }, { scope: ana });
    await beside.getByRole("button", { name: "Try this turn again with today's memory" }).click();
    const today = beside.getByRole("status").getByRole("listitem").filter({ hasText: "Avintes" });
    await today.waitFor();
    expect(await today.getAttribute("class")).toBe("added");
    await today.getByRole("link").click();
    await page.getByRole("heading", { name: "Will sail to Avintes with Inês." }).waitFor();
  });

  it("takes a question to its hits, their scores apart, and says what is omitted and why", async () => {
    await open("question?user=ana");
    await page.getByRole("searchbox", { name: "Question" }).fill("Where does she sail?");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByRole("heading", { name: "Found" }).waitFor();
    expect(await page.locator("ol.rows li").first().textContent()).toMatch(/sail/i);
    await open("question?user=ana&question=Where+does+she+sail%3F&topK=1");
    await page.getByRole("img", { name: /^words 0\.\d+.*importance 0\.\d+/ }).waitFor();
    await page.getByRole("heading", { name: "Omitted" }).waitFor();
    await page.getByText(/It is number 2; 1 were asked for/).waitFor();
  });

  it("shows a conversation's summaries as steps over its messages, and what changed in each", async () => {
    await open("thread?user=ana&thread=sailing");
    const [first, second, ...more] = await memory.summaries.list({
      scope: ana,
      threadId: "sailing",
    });
    await page.getByRole("button", { name: `Version ${second?.id},` }).click();
    await page.getByText(`What changed since version ${first?.id}`).waitFor();
    expect(await page.locator(".difference ins").count()).toBeGreaterThan(0);
    const inUse = page.getByRole("button", { name: /, in use$/ });
    expect(await inUse.textContent()).toContain(`Version ${more.at(-1)?.id},`);
  });

  it("finds memories, and goes through them by the keyboard", async () => {
    await open("memories?user=ana");
    await page.locator("a.row").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("sails");
    await page.keyboard.press("Enter");
    const rows = page.locator("a.row");
    await expect
      .poll(async () => (await rows.allTextContents()).every((text) => /sails/i.test(text)))
      .toBe(true);
    await page.locator("a.row").first().focus();
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("k");
    const second = (await page.locator("a.row").nth(1).textContent()) ?? "";
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: second }).waitFor();
  });

  it("changes a memory under the operator's name and for a reason: edit, pin, remove, restore, revert", async () => {
    const id = await idOf("Has a sister");
    await open(`memory?user=ana&id=${id}`);
    await page.getByText("She said so on the phone.").waitFor();
    await act("Edit", "a misprint", { Text: "Has a sister called Inês, who visits in July." });
    await page.getByRole("heading", { name: "in July" }).waitFor();
    await act("Pin", "it matters");
    await page.getByRole("button", { name: "Unpin" }).waitFor();
    await act("Remove", "just a try");
    await act("Restore", "it was a try");
    await page.getByRole("button", { name: "Revert to this" }).last().click();
    await page.getByRole("dialog").getByLabel("Reason").fill("as it was at first");
    await page.getByRole("dialog").getByRole("button", { name: "Revert" }).click();
    await page
      .getByRole("heading", { name: "Has a sister called Inês who visits in June." })
      .waitFor();
    const events = await memory.memories.history(id, { scope: ana });
    const told = events.map(({ actor, new: now }) => [actor, (now as { reason?: string }).reason]);
    const reasons = [
      "as it was at first",
      "it was a try",
      "just a try",
      "it matters",
      "a misprint",
    ];
    expect(told.slice(0, 5)).toEqual(reasons.map((reason) => ["joe", reason]));
  });

  it("tells what a slot was, and what a memory rests on", async () => {
    await open(`memory?user=ana&id=${await idOf("Lives in Porto")}`);
    await page.getByRole("heading", { name: "City over time" }).waitFor();
    expect(await page.locator(".slot a").allTextContents()).toEqual(["Lisbon", "Porto"]);
    await open("memories?user=ana&key=city");
    await page.getByRole("link", { name: "Lisbon" }).waitFor();
    await open(`memory?user=ana&id=${await idOf("Moved to Porto")}`);
    await page.locator("mark").waitFor();
  });

  it("decides what waits, several at once", async () => {
    await open("waiting");
    await page.getByText("preferred name is Anita").waitFor();
    // operators M7: what failed comes first.
    expect(await page.getByRole("heading", { level: 2 }).allTextContents()).toEqual([
      ...["Failed work", "Requests for consent", "Quarantine", "Due work", "Running work"],
    ]);
    await page.getByText("waits for consent").first().waitFor();
    await page.getByLabel("Select all 3").check();
    await act("Approve 3", "they told me");
    await page.getByText("No request waits").waitFor();
    const names = await memory.memories.list({ scope: ana, keys: ["preferred_name"] });
    expect(names.map(({ value }) => value)).toEqual(["Anita"]);
    expect(
      await memory.memories.list({ scope: { userId: "miguel" }, keys: ["preferred_name"] }),
    ).toHaveLength(1);
    await act("Reject", "an attack");
    await page.getByText("Nothing reads as instructions").waitFor();
    expect(await memory.memories.list({ scope: ana, states: ["quarantined"] })).toEqual([]);
  });

  it("removes several memories for one reason, and restores them", async () => {
    const scope = { userId: "tom" };
    await memory.memories.add(
      ["bread", "rye", "malt"].map((what) => ({ text: `Bakes ${what}.` })),
      { scope },
    );
    await open("memories?user=tom");
    await page.getByLabel("Select all 3").check();
    await act("Remove 3", "he asked for it");
    await page.getByText("No memory is like that.").waitFor();
    await page.getByLabel("State").selectOption("soft_deleted");
    await page.getByLabel("Select: Bakes rye.").check();
    await act("Restore", "rye stays");
    await expect.poll(() => page.locator("a.row").count()).toBe(2);
    expect((await memory.memories.list({ scope })).map(({ text }) => text)).toEqual(["Bakes rye."]);
  });

  it("tells what changes while one looks", async () => {
    await open("changes?user=ana");
    await page.getByText("Sails the green boat Vento.").waitFor();
    await memory.memories.add({ text: "Has learned to dive." }, { scope: ana });
    await page.getByText("Has learned to dive.").waitFor({ timeout: 10_000 });
    expect(await page.getByText("Has learned to dive.").count()).toBe(1);
  });

  it("says what failed, also in the conversation, and tries it again", async () => {
    await open("thread?user=miguel&app=coach&thread=half-marathon");
    await page.getByText(/The model call failed/).waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("1 job is due again.").waitFor();
  });

  it("keeps what was typed when the token ends or the server is down, and goes on with what it is given then", async () => {
    let accepted = "the-first-token-of-all";
    const own = db.memory();
    const other = await openInspected(own, ({ headers }) =>
      headers.get("authorization") === `Bearer ${accepted}`
        ? { role: "operator" as const, actor: "joe" }
        : null,
    );
    await page.goto(
      `${other.origin}/inspector/#/memory?user=ana&id=${await idOf("Sails the green")}`,
    );
    const token = page.getByLabel(/Bearer token/);
    await token.fill("a-foreign-token-here");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("does not take this token").waitFor();
    await token.fill(accepted);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Edit" }).click();
    accepted = "the-second-token-of-all";
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Text").fill("Sails the green boat Vento on the Douro.");
    await dialog.getByLabel("Reason").fill("more exact");
    await dialog.getByRole("button", { name: "Edit" }).click();
    await token.fill(accepted);
    await dialog.getByRole("button", { name: "Go on" }).click();
    await dialog.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("heading", { name: "on the Douro." }).waitFor();
    await page.getByRole("link", { name: "Memories" }).click();
    await page.locator("a.row").first().waitFor();
    await own.close();
    await page.getByLabel("Search memories").fill("sails");
    await page.keyboard.press("Enter");
    await page.getByText("It is asked again every few seconds.").waitFor();
    expect(await page.getByLabel("Search memories").inputValue()).toBe("sails");
    await other.close();
    await page.getByText("The server does not answer.").first().waitFor({ timeout: 15_000 });
    wrong.length = 0;
  });

  it("shows a plain user their own memory, and nothing of operators", async () => {
    const other = await openInspected(memory, () => ({ role: "user", scope: ana }));
    await page.goto(`${other.origin}/inspector/`);
    await page.getByRole("link", { name: "I moved to Porto in spring." }).waitFor();
    expect(await page.getByText("half marathon").count()).toBe(0);
    expect(await page.getByRole("button", { name: /Whose/ }).count()).toBe(0);
    await page.getByRole("link", { name: "Waiting" }).click();
    await page.getByRole("heading", { name: "Requests for consent" }).waitFor();
    expect(await page.getByRole("heading", { name: "Failed work" }).count()).toBe(0);
    await page.goto(`${other.origin}/inspector/#/memories?user=miguel`);
    await page.getByText("There is nothing of that name for you here.").waitFor();
    await other.close();
  });

  it("shows hostile words and does nothing else with them", async () => {
    await open("thread?user=zoe&thread=hostile");
    await page.getByText(hostile.script.slice(0, 30)).first().waitFor();
    await page.getByText(hostile.emoji).waitFor();
    await page.getByRole("button", { name: "Show all 1,000,000 characters" }).click();
    const length = async () => (await page.locator(".message .text").last().textContent())?.length;
    await expect.poll(length).toBe(1_000_000);
    await page.goto("about:blank");
    await open("memories?user=zoe&words=javascript");
    await page.locator("a.row", { hasText: "javascript:document" }).click();
    await page.getByRole("heading", { name: "javascript:document" }).waitFor();
    expect(await page.locator("a[href^=javascript]").count()).toBe(0);
    expect(await page.locator("main script, main img").count()).toBe(0);
  });

  it("exports, counts and erases", async () => {
    const scope = { userId: "eve" };
    await memory.memories.add([{ text: "Eve paints." }, { text: "Eve knits." }], { scope });
    await open("erase?user=eve");
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const lines = (await readFile(await (await downloading).path(), "utf8")).trimEnd().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "header", scope });
    await page.getByRole("button", { name: "Count what would go" }).click();
    // operators M8: what it is, and not which tables hold it.
    await page.getByRole("row", { name: "memories 2" }).waitFor();
    await page.getByRole("row", { name: "indexes and other records" }).waitFor();
    await page.getByRole("row", { name: "together" }).waitFor();
    expect(await memory.memories.list({ scope })).toHaveLength(2);
    await page.getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Type eve").fill("ana");
    await dialog.getByRole("button", { name: "Delete for good" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Type eve").fill("eve");
    await dialog.getByRole("button", { name: "Delete for good" }).click();
    await page.getByText("All of it is gone").waitFor();
    expect(await memory.memories.list({ scope, states: ["active", "soft_deleted"] })).toEqual([]);
  });

  it("tells a stranger how to sign in, and asks for a user or an app", async () => {
    await open("changes");
    await page.getByText("Choose a user or an app.").waitFor();
    await page.getByRole("link", { name: /^ana/ }).click();
    await page.getByText("Sails the green boat Vento").first().waitFor();
    const stranger = await browser.newContext();
    const strange = await stranger.newPage();
    await strange.goto(server.address);
    await strange.getByText("This server does not know you.").waitFor();
    await stranger.close();
  });
});
