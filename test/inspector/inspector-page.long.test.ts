import { readFile } from "node:fs/promises";
import axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import { hasChromium, openChromium } from "../support/chromium.js";
import { openInspected } from "../support/inspected.js";
import { ana, fillInspectorSample, hostile } from "../support/inspector-sample.js";
import { useTestDatabase } from "../support/test-database.js";

if (!hasChromium)
  console.log("There is no Chromium here, so the inspector's page is not tested: run scripts/chromium.sh");

const db = useTestDatabase();
let memory: Memory;
let server: Awaited<ReturnType<typeof openInspected>>;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** What went wrong in the page: errors, and what its policy stopped. */
const wrong: string[] = [];

describe.skipIf(!hasChromium)("the inspector's page", () => {
  beforeAll(async () => {
    memory = db.memory({ model: new OfflineChatModel(), embeddings: new HashingEmbeddings() });
    await memory.setup();
    await fillInspectorSample(memory);
    server = await openInspected(memory);
    browser = await openChromium();
    context = await browser.newContext({ acceptDownloads: true });
    const first = await context.newPage();
    await first.goto(server.address);
    await first.getByRole("heading", { name: "Users" }).waitFor();
    // Exchanged, and gone from the address and the history.
    expect(first.url()).toBe(`${server.origin}/inspector/#/threads?`);
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
    const violations = await page.evaluate(`(async () => {
      ${axe.source};
      const { violations } = await axe.run(document, { resultTypes: ["violations"] });
      return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | "));
    })()`);
    expect(violations).toEqual([]);
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

  it("shows who there is, their conversations, and beside each turn what the model was shown", async () => {
    await open("threads");
    await page.getByRole("link", { name: "ana" }).click();
    await page.getByRole("link", { name: "sailing", exact: true }).click();
    await page.getByText("There is room for three on Vento.").waitFor();
    const round = page.locator("article", { has: page.locator(".message", { hasText: "What could I give him?" }) });
    await round.getByText("Memory that the model was shown").waitFor();
    expect(await round.locator("pre").textContent()).toContain("Is allergic to nuts.");
    await round.getByText(/^prompt \d[\d,]* tokens, [\d,]+ shared/).waitFor();
    await page.getByText(/^In all: prompt .* · summary \d/).waitFor();
    await round.getByText("memories in it").click();
    await round.getByRole("link", { name: "Is allergic to nuts." }).first().click();
    await page.getByRole("heading", { name: "Is allergic to nuts." }).waitFor();
  });

  it("takes a question to its hits", async () => {
    await open("question?user=ana");
    await page.getByRole("textbox", { name: "Question" }).fill("Where does she sail?");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByRole("heading", { name: "Found" }).waitFor();
    expect(await page.locator(".hits li").first().textContent()).toMatch(/Sails/);
  });

  it("shows how a conversation became summaries", async () => {
    await open("summaries?user=ana&thread=sailing");
    const [first, second, ...more] = await memory.summaries.list({ scope: ana, threadId: "sailing" });
    await page.getByRole("link", { name: `Version ${second?.id}` }).click();
    await page.getByText(`What is different from version ${first?.id}`).waitFor();
    expect(await page.locator(".difference ins").count()).toBeGreaterThan(0);
    const inUse = page.locator("li", { hasText: "in use" });
    expect(await inUse.textContent()).toContain(`Version ${more.at(-1)?.id}`);
  });

  it("finds memories, and goes through them by the keyboard", async () => {
    await open("memories?user=ana");
    await page.locator("a.row").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("sails");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("a.row").count()).toBe(3);
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
    await page.getByRole("heading", { name: "Has a sister called Inês who visits in June." }).waitFor();
    const events = await memory.memories.history(id, { scope: ana });
    const told = events.map(({ actor, new: now }) => [actor, (now as { reason?: string }).reason]);
    const reasons = ["as it was at first", "it was a try", "just a try", "it matters", "a misprint"];
    expect(told.slice(0, 5)).toEqual(reasons.map((reason) => ["joe", reason]));
  });

  it("tells what a slot was, and what a memory rests on", async () => {
    await open(`memory?user=ana&id=${await idOf("Lives in Porto")}`);
    await page.getByRole("heading", { name: "Values of city" }).waitFor();
    await page.getByRole("link", { name: "Lisbon" }).waitFor();
    await open(`memory?user=ana&id=${await idOf("Moved to Porto")}`);
    await page.locator("mark").waitFor();
  });

  it("decides what waits", async () => {
    await open("waiting");
    await page.getByText("preferred name is Anita").waitFor();
    // operators M7: what failed comes first.
    expect(await page.getByRole("heading", { level: 2 }).allTextContents()).toEqual([
      ...["Dead letters and failed work", "Consents", "Quarantine", "Due work", "Running work"],
    ]);
    await page.getByText("waits for consent").waitFor();
    await act("Approve", "she told me");
    await expect.poll(() => page.getByText("No request waits").count()).toBe(1);
    const names = await memory.memories.list({ scope: ana, keys: ["preferred_name"] });
    expect(names.map(({ value }) => value)).toEqual(["Anita"]);
    await act("Reject", "an attack");
    await page.getByText("Nothing reads as instructions").waitFor();
    expect(await memory.memories.list({ scope: ana, states: ["quarantined"] })).toEqual([]);
  });

  it("tells what changes while one looks", async () => {
    await open("changes?user=ana");
    await page.getByText("Sails the green boat Vento.").waitFor();
    await memory.memories.add({ text: "Has learned to dive." }, { scope: ana });
    await page.getByText("Has learned to dive.").waitFor({ timeout: 10_000 });
    expect(await page.getByText("Has learned to dive.").count()).toBe(1);
  });

  it("takes scores apart, and says what is left out and why", async () => {
    await open("question?user=ana&question=Where+does+she+sail%3F&topK=1");
    await page.getByRole("img", { name: /^words 0\.\d+.*importance 0\.\d+/ }).waitFor();
    await page.getByRole("heading", { name: "Left out" }).waitFor();
    await page.getByText(/It is number 2; 1 were asked for/).waitFor();
  });

  it("lists work that was given up", async () => {
    const job = {
      id: "7",
      kind: "facts",
      state: "failed",
      key: "ana/sailing",
      attempts: 3,
      error: "MODEL_FAILED",
      createdAt: "2026-11-01T10:00:00Z",
      dueAt: null,
    };
    // Of queues, which the embedded database does not have.
    await page.route(
      (url) => url.pathname === "/jobs",
      (route) => route.fulfill({ json: { jobs: [job], nextCursor: null } }),
    );
    await open("waiting");
    await page.getByRole("button", { name: "Retry" }).first().waitFor();
  });

  it("shows hostile words and does nothing else with them", async () => {
    await open("thread?user=ana&thread=hostile");
    await page.getByText(hostile.script.slice(0, 30)).waitFor();
    await page.getByText(hostile.emoji).waitFor();
    const whole = page.getByRole("button", { name: "Show all 1,000,000 characters" });
    await whole.click();
    const length = async () => (await page.locator(".message .text").last().textContent())?.length;
    await expect.poll(length).toBe(1_000_000);
    await page.goto("about:blank");
    await open("memories?user=ana&words=javascript");
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
    await page.getByRole("button", { name: "Erase…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Type eve").fill("ana");
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Type eve").fill("eve");
    await dialog.getByRole("button", { name: "Erase for good" }).click();
    await page.getByText("All of it is gone").waitFor();
    expect(await memory.memories.list({ scope, states: ["active", "soft_deleted"] })).toEqual([]);
  });

  it("tells a stranger how to sign in, and asks for a user or an app", async () => {
    await open("memories");
    await page.getByText("choose a user or an app").waitFor();
    const stranger = await browser.newContext();
    const strange = await stranger.newPage();
    await strange.goto(server.address);
    await strange.getByText("This server does not know you.").waitFor();
    await stranger.close();
  });
});
