import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { hasChromium } from "../support/chromium.js";
import { openInspected } from "../support/inspected.js";
import { ana, hostile } from "../support/inspector-sample.js";
import { useInspectedPage } from "./inspected-page.js";

describe.skipIf(!hasChromium)("the views of the inspector", () => {
  const inspected = useInspectedPage();
  const { idOf, open } = inspected;
  let memory: Memory;
  let page: Page;
  beforeEach(() => {
    ({ memory, page } = inspected);
  });

  it("The overview shows the latest conversations, failures, what waits and what was learned", async () => {
    await open("overview");
    await page.getByRole("link", { name: "I want to run a half marathon in October." }).waitFor();
    await page.getByText("failed", { exact: true }).first().waitFor();
    await page.getByText("The user's preferred name is Jo.").first().waitFor();
    await page.getByText("Practises the guitar for twenty minutes a day.").waitFor();
    await page
      .getByRole("img", { name: /half within \d+, 95 of 100 within \d+/ })
      .first()
      .waitFor();
    // The labels of the axis are not cut off.
    const chart = await page.locator(".chart").first().boundingBox();
    for (const label of await page.locator(".chart").first().locator(".level, span").all())
      expect((await label.boundingBox())?.x).toBeGreaterThanOrEqual(chart?.x ?? 0);
    await page.getByRole("button", { name: "Whose: everyone" }).click();
    await page.getByLabel("User, app or words").fill("ana");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "ana", exact: true }).waitFor();
    expect(await page.getByText("half marathon").count()).toBe(0);
  });

  it("A search over all users opens the turn of a hit with what the model was shown", async () => {
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

  it("Conversations are listed by their first and last words, and by date, app and state", async () => {
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

  it("A turn shows what changed since the one before, why, and its whole prompt then and now", async () => {
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
      .getByText(/fits by .*Sails|as before/)
      .first()
      .waitFor();
    await beside.getByText(/^A cache had \d+% of it/).waitFor();
    await beside.getByText("word for word").waitFor();
    await page.locator("article").last().getByRole("group").last().click();
    await page.locator("article.selected", { hasText: "Then plan a day" }).waitFor();
    await memory.memories.add({
      scope: ana,
      memories: { text: "Wants to plan a day with lunch at Avintes." },
    });
    await beside.getByRole("button", { name: "Try this turn again with today's memory" }).click();
    const today = beside.getByRole("status").getByRole("listitem").filter({ hasText: "Avintes" });
    await today.waitFor();
    expect(await today.getAttribute("class")).toBe("added");
    await today.getByRole("link").click();
    await page
      .getByRole("heading", { name: "Wants to plan a day with lunch at Avintes." })
      .waitFor();
  });

  it("A question shows its hits with the parts of their scores, and what is omitted and why", async () => {
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

  it("The page says that meaning is not searched where vectors are kept and no embeddings were given", async () => {
    const hint = page.getByText("Meaning is not searched here");
    const place = "/inspector/#/question?user=ana&question=Where+does+she+sail%3F";
    await page.goto(inspected.server.origin + place);
    await page.getByRole("heading", { name: "Found" }).waitFor();
    expect(await hint.count()).toBe(0);
    const other = await openInspected(inspected.db.memory(), {
      authenticate: () => ({ role: "user", scope: ana }),
    });
    await page.goto(other.origin + place.replace("user=ana&", ""));
    await hint.waitFor();
    await other.close();
  });

  it("A conversation shows its summaries as steps over its messages, with what changed in each", async () => {
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

  it("Memories are found by search and read by the keyboard", async () => {
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

  it("A memory's page shows the earlier values of its slot, and what the memory rests on", async () => {
    await open(`memory?user=ana&id=${await idOf("Lives in Porto")}`);
    await page.getByRole("heading", { name: "City over time" }).waitFor();
    expect(await page.locator(".slot a").allTextContents()).toEqual(["Lisbon", "Porto"]);
    await open("memories?user=ana&key=city");
    await page.getByRole("link", { name: "Lisbon" }).waitFor();
    await open(`memory?user=ana&id=${await idOf("Lives in Porto")}`);
    await page.locator("mark", { hasText: "I moved to Porto in spring" }).waitFor();
    // The sample's facts are extracted, and none of them is said twice.
    const ofPorto = await memory.memories.list({ scope: ana, contains: "Porto" });
    expect(ofPorto.map(({ text }) => text)).toEqual(["Lives in Porto."]);
  });

  it("A change appears in the list of changes while it is open", async () => {
    await open("changes?user=ana");
    await page.getByText("Sails the green boat Vento.").waitFor();
    await memory.memories.add({ scope: ana, memories: { text: "Has learned to dive." } });
    await page.getByRole("link", { name: "Has learned to dive.", exact: true }).waitFor();
    expect(await page.getByText("Has learned to dive.").count()).toBe(1);
  });

  it("A plain user sees their own memory, and nothing of operators", async () => {
    const other = await openInspected(memory, {
      authenticate: () => ({ role: "user", scope: ana }),
    });
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

  it("Code and tables keep their columns, files have a frame, titles are words, and turns have their time of day", async () => {
    const code = "select user, count(*)\nfrom   visit";
    const table = "| day | visits |\n| --- | ---: |";
    const content = `## Why is **it** slow?\n- It waits on \`visit\`.\n\`\`\`sql\n${code}\n\`\`\`\n${table}\n[image: plan.png, image/png]\nThanks.`;
    const messages = [{ role: "user" as const, content, id: "slow-1" }];
    await memory.record({ scope: { userId: "mara" }, threadId: "slow", messages });
    await open("thread?user=mara&thread=slow");
    await page
      .getByRole("heading", { name: "Why is it slow? It waits on visit. [image] Thanks." })
      .waitFor();
    const passages = [`${code}\n${table}`, "image: plan.png, image/png"];
    expect(await page.locator("pre").allTextContents()).toEqual(passages);
    expect(await page.locator(".turn-line").textContent()).toMatch(/, \d\d:\d\d/);
    await open("nonsense");
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await open("memory?user=ana&id=00000000-0000-4000-8000-000000000000");
    await page.getByRole("link", { name: "All memories" }).waitFor();
  });

  it("Memories stand in the order that was asked for, whatever their category", async () => {
    const scope = { userId: "otto" };
    for (const [at, category] of ["projects", "preferences", "projects"].entries())
      await memory.memories.add({ scope, memories: { category, text: `Statement ${at}.` } });
    await open("memories?user=otto");
    await page.locator("a.row").first().waitFor();
    const expected = ["Statement 2.", "Statement 1.", "Statement 0."];
    expect(await page.locator("a.row").allTextContents()).toEqual(expected);
  });

  it("Hostile words are shown and do nothing else", async () => {
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

  it("A stranger is told how to sign in, and an operator is asked for a user or an app", async () => {
    await open("changes");
    await page.getByText("Choose a user or an app.").waitFor();
    await page.getByRole("link", { name: /^ana/ }).click();
    await page.getByText("Sails the green boat Vento").first().waitFor();
    const stranger = await inspected.browser.newContext();
    const strange = await stranger.newPage();
    await strange.goto(inspected.server.address);
    await strange.getByText("This server does not know you.").waitFor();
    await stranger.close();
  });
});
