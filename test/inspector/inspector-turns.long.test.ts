import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { hasChromium } from "../support/chromium.js";
import { useInspectedPage } from "./inspected-page.js";

describe.skipIf(!hasChromium)("turns in the inspector", () => {
  const inspected = useInspectedPage();
  const { open } = inspected;
  let memory: Memory;
  let page: Page;
  beforeEach(() => {
    ({ memory, page } = inspected);
  });

  const texts = {
    cars: "Drives two cars in the city.",
    careful: "Has a careful carpenter lay the carpets.",
  };

  it("A line says what its turn's search found it by, and never by words with the same beginning", async () => {
    const [scope, threadId] = [{ userId: "vera" }, "garage"];
    await memory.memories.add({
      scope,
      memories: [
        ...Object.values(texts),
        ...Array.from({ length: 20 }, (_, at) => `Collects stamps of the year ${1980 + at}.`),
      ].map((text) => ({ text })),
    });
    const ids = (await memory.memories.list({ scope, sort: "oldest" })).map(({ id }) => id);
    const [cars = "", careful = "", ...rest] = ids;
    const messages = [
      { role: "user" as const, content: "Which car is it?", id: "garage-1" },
      { role: "assistant" as const, content: "The one that the carpenter drove.", id: "garage-2" },
    ];
    const scores = { [cars]: 0.5, [careful]: 0.4 };
    const scoreParts = { [cars]: { words: 0.4, recency: 0.1 }, [careful]: { vector: 0.4 } };
    const parts = { relevant: [cars, careful], rest };
    const shown = { revision: 0, memoryIds: ids, firstSeq: 0, parts, scores, scoreParts };
    await memory.remember({ scope, threadId, messages, shown });
    await open("thread?user=vera&thread=garage");
    const lines = page.getByRole("region", { name: /^What/ }).getByRole("listitem");
    const ofCars = lines.filter({ hasText: texts.cars });
    await ofCars.getByText("fits by cars").waitFor();
    await ofCars.getByText("score 0.50: words 0.40, recency 0.10").waitFor();
    expect(await ofCars.locator("mark").allTextContents()).toEqual(["cars"]);
    const ofCareful = lines.filter({ hasText: texts.careful });
    await ofCareful.getByText("fits by meaning").waitFor();
    expect(await ofCareful.locator("mark:not(.answered)").count()).toBe(0);
    expect(await ofCareful.locator("mark.answered").allTextContents()).toEqual(["carpenter"]);
    await page.getByLabel("Filter these lines").fill("1987");
    expect(await lines.allTextContents()).toEqual([expect.stringContaining("year 1987")]);
    await page.getByLabel("Filter these lines").fill("");
    await page.getByLabel("1 with words of the answer").check();
    expect(await lines.allTextContents()).toEqual([expect.stringContaining(texts.careful)]);
    await open("question?user=vera&question=Which+car+is+it%3F");
    await page.getByRole("heading", { name: "Found" }).waitFor();
    const found = page.locator("ol.rows li");
    await found.filter({ hasText: texts.cars }).waitFor();
    const marks = await found.locator("mark").allTextContents();
    expect(new Set(marks)).toEqual(new Set(["cars"]));
  });

  it("A turn is asked what it would have said without a line", async () => {
    const [scope, threadId] = [{ userId: "nora" }, "harbour"];
    await memory.memories.add({ scope, memories: { text: "Sails a green boat." } });
    const query = "Which boat is mine?";
    const { shown } = await memory.promptFor({ scope, threadId, query });
    await memory.remember({ scope, threadId, shown, messages: [{ role: "user", content: query }] });
    await open("thread?user=nora&thread=harbour");
    const card = page.getByRole("region", { name: "Would it have said this without …?" });
    await card.getByRole("button", { name: "Show the messages of this turn" }).click();
    await card.getByText("what the model was handed, word for word").waitFor();
    const line = card.getByRole("listitem").filter({ hasText: "Sails a green boat." });
    const box = await line.getByRole("checkbox").boundingBox();
    const words = await line.getByText("Sails a green boat.").boundingBox();
    expect(words?.x, "the box is beside its text").toBeGreaterThan(box!.x + box!.width);
    await card.getByLabel("Sails a green boat.").uncheck();
    await card.getByLabel("Lines to add").fill("Sails a red boat.");
    await card.getByRole("button", { name: "Show the messages", exact: true }).click();
    const changed = card.locator("details", { hasText: "The changed messages" });
    await changed.locator("summary").click();
    await changed.getByText("Sails a red boat.").waitFor();
    expect(await changed.getByText("green").count()).toBe(0);
    await card.getByRole("button", { name: "Ask the model for both answers" }).click();
    for (const messages of ["to the messages as they were", "to the changed messages"])
      await card.getByRole("region", { name: `Answer ${messages}` }).waitFor();
    await memory.memories.remove({
      scope,
      id: (await memory.memories.list({ scope }))[0]?.id ?? "",
    });
    await page.reload();
    await card.getByRole("button", { name: "Show the messages of this turn" }).click();
    await card.getByText("Not as they were handed on: memory forgotten.").waitFor();
  });

  it("A conversation is exported as a test case", async () => {
    const [scope, threadId] = [{ userId: "vera-7" }, "greenhouse"];
    const messages = [{ role: "user" as const, content: "In greenhouse I am vera-7." }];
    await memory.remember({ scope, threadId, messages });
    await open("thread?user=vera-7&thread=greenhouse");
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as a test case" }).click();
    const yaml = await readFile(await (await downloading).path(), "utf8");
    expect(yaml).toContain("- user: In thread-1 I am user-1.");
    await page.getByText("case.yaml is in your downloads").waitFor();
  });

  it("Two turns are compared in three clicks, also of two conversations", async () => {
    const scope = { userId: "paula" };
    const foods = ["figs", "rye", "tea"];
    await memory.memories.add({
      scope,
      memories: foods.map((food) => ({ text: `Likes ${food}.` })),
    });
    const ids = (await memory.memories.list({ scope, sort: "oldest" })).map(({ id }) => id);
    const say = async (threadId: string, turn: number, memoryIds: readonly string[]) => {
      const content = `Question ${turn} of ${threadId}?`;
      await memory.remember({
        scope,
        threadId,
        messages: [{ role: "user", content, id: `${threadId}-${turn}` }],
        shown: {
          revision: 0,
          memoryIds: [...memoryIds],
          firstSeq: turn,
          parts: { rest: [...memoryIds] },
        },
      });
    };
    await say("breakfast", 0, ids.slice(0, 1));
    await say("breakfast", 1, ids.slice(0, 2));
    await say("breakfast", 2, ids.slice(1, 3));
    await say("supper", 0, ids.slice(2));
    await open("thread?user=paula&thread=breakfast");
    await page.locator("article", { hasText: "Question 0" }).click();
    await page.getByRole("button", { name: "Compare with another turn" }).click();
    await page.locator("article", { hasText: "Question 2" }).click();
    const compared = page.getByRole("region", { name: "Two turns compared" });
    await compared.getByText("0 lines in both prompts.").waitFor();
    const sides = compared.locator(".pair > div");
    expect(await sides.locator("li a").allTextContents()).toEqual([
      ...["Likes figs.", "Likes rye.", "Likes tea."],
    ]);
    await open("thread?user=paula&thread=supper");
    await compared.getByText("Question 0 of supper?").waitFor();
    await compared.getByRole("link", { name: "Turn 1 of breakfast" }).click();
    await page.locator("article.selected", { hasText: "Question 0 of breakfast" }).waitFor();
    await page.getByRole("button", { name: "Do not compare" }).click();
    await page.getByRole("button", { name: "Compare with another turn" }).waitFor();
  });

  it("A memory's page leads to the turns that were shown it", async () => {
    const [scope, threadId] = [{ userId: "sara" }, "menu"];
    await memory.memories.add({ scope, memories: { text: "Eats only fish." } });
    const [fish] = await memory.memories.list({ scope });
    const ids = [fish?.id ?? ""];
    const shown = { revision: 0, memoryIds: ids, firstSeq: 0, parts: { rest: ids } };
    const messages = [{ role: "user" as const, content: "What shall I cook?", id: "menu-1" }];
    await memory.remember({ scope, threadId, messages, shown });
    await open(`memory?user=sara&id=${fish?.id}`);
    await page.getByRole("region", { name: "Shown in" }).getByRole("link").click();
    await page.locator("article.selected", { hasText: "What shall I cook?" }).waitFor();
  });

  it("A turn tried again is compared with what it added, and not with the whole block", async () => {
    const [scope, threadId] = [{ userId: "rita" }, "boats"];
    const texts = [
      "Sails a green boat.",
      "Rents a boat house.",
      "Bakes bread.",
      "Sings in a choir.",
    ];
    await memory.memories.add({ scope, memories: texts.map((text) => ({ text })) });
    const [boat = "", house = "", bread = "", choir = ""] = (
      await memory.memories.list({ scope, sort: "oldest" })
    ).map(({ id }) => id);
    const turns = [
      ["Hello.", { rest: [bread] }],
      ["Which boat is it?", { relevant: [boat, choir] }],
    ] as const;
    for (const [at, [content, { ...parts }]] of turns.entries()) {
      const memoryIds = Object.values(parts).flat() as string[];
      const shownParts = Object.fromEntries(
        Object.entries(parts).map(([part, of]) => [part, [...of]]),
      );
      const shown = { revision: 0, memoryIds, parts: shownParts, ...(at === 0 && { firstSeq: 0 }) };
      await memory.remember({
        scope,
        threadId,
        shown,
        messages: [{ role: "user", content, id: `boats-${at}` }],
      });
    }
    await memory.memories.remove({ scope, id: choir });
    await open("thread?user=rita&thread=boats");
    await page.getByRole("button", { name: "Try this turn again" }).click();
    const today = page.getByRole("region", { name: "Today" }).getByRole("status");
    await today.getByText("1 line of the 2 that it added would be shown today as well.").waitFor();
    const lines = today.getByRole("listitem");
    expect(await lines.filter({ hasText: "Rents a boat house." }).getAttribute("class")).toBe(
      "added",
    );
    expect(await lines.filter({ hasText: "Bakes bread." }).count()).toBe(0);
    expect(house).not.toBe("");
  });

  it("What the model was shown stays beside a talk that is longer than the window", async () => {
    const { memory, page } = inspected;
    const messages = Array.from({ length: 8 }, (_, turn) => {
      return {
        role: "user" as const,
        content: `${turn} ${"word ".repeat(300)}`,
        id: `long-${turn}`,
      };
    });
    await memory.record({ scope: { userId: "lou" }, threadId: "long", messages });
    await page.setViewportSize({ width: 1_280, height: 800 });
    await open("thread?user=lou&thread=long");
    const panel = await page.getByLabel("What the model was shown").boundingBox();
    const { y = -1, height = 0 } = panel ?? {};
    expect([y >= 0, y + height <= 800]).toEqual([true, true]);
    const scrolls = await page.evaluate<boolean[]>(
      "[document.querySelector('.talk'), document.documentElement].map((e) => e.scrollHeight > e.clientHeight)",
    );
    expect(scrolls).toEqual([true, false]);
  });
});
