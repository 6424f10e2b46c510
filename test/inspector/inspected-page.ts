import axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { hasChromium, openChromium } from "../support/chromium.js";
import { openInspected } from "../support/inspected.js";
import { ana, fillInspectorSample, sampleModel } from "../support/inspector-sample.js";
import { useTestDatabase } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";

if (!hasChromium)
  console.log(
    "There is no Chromium here, so the inspector's page is not tested: run scripts/chromium.sh",
  );

/** What axe finds serious, and whether something is wider than the window, or a tab is cut in it. */
const problems = `(async () => {
  ${axe.source};
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const { scrollWidth, clientWidth } = document.documentElement;
  const tabs = document.querySelector("nav[aria-label=Views]");
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | "))
    .concat(scrollWidth > clientWidth ? ["the page is " + scrollWidth + " px wide"] : [])
    .concat(innerWidth > 900 && tabs?.scrollWidth > tabs?.clientWidth ? ["a tab is cut"] : []);
})()`;

/**
 * The inspector of a sample, opened in a new page before each test. After each test the page is
 * checked in light and dark, wide and narrow.
 */
export function useInspectedPage() {
  const db = useTestDatabase();
  /** What went wrong in the page: errors, and what its policy stopped. */
  const wrong: string[] = [];
  let memory: Memory;
  let server: Awaited<ReturnType<typeof openInspected>>;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let clicks = 0;

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
    clicks = 0;
    page = await context.newPage();
    page.setDefaultTimeout(limitsMs.step);
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("console", (message) => {
      // The page explains calls that this server lacks, and changes that came too late.
      if (message.type() === "error" && !/ 4(04|12) /.test(message.text()))
        wrong.push(message.text());
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

  return {
    db,
    wrong,
    get memory() {
      return memory;
    },
    get server() {
      return server;
    },
    get browser() {
      return browser;
    },
    get page() {
      return page;
    },
    /** Those of `click` in this test. */
    get clicks() {
      return clicks;
    },
    /** Of several, the last: a dialog's button stands after the one that opened it. */
    async click(role: "link" | "button", name: string) {
      clicks++;
      await page.getByRole(role, { name, exact: true }).last().click();
    },
    async open(place: string) {
      await page.goto(`${server.origin}/inspector/#/${place}`);
      await page.locator("main").waitFor();
    },
    /** Clicks the button `does`, and fills in and confirms its dialog. */
    async act(does: string, reason: string, fields: Record<string, string> = {}) {
      await page.getByRole("button", { name: does, exact: true }).first().click();
      const dialog = page.getByRole("dialog");
      for (const [label, value] of Object.entries(fields))
        await dialog.getByLabel(label).fill(value);
      if (reason !== "") await dialog.getByLabel("Reason").fill(reason);
      await dialog.getByRole("button", { name: does, exact: true }).click();
      await dialog.waitFor({ state: "detached" });
    },
    /** The id of the memory of `ana` that contains the text. */
    async idOf(contains: string) {
      const [found] = await memory.memories.list({ scope: ana, contains });
      return found?.id ?? "";
    },
  };
}
