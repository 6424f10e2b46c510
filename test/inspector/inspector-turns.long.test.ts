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
    const lines = page.getByRole("region", { name: "Changes since" }).getByRole("listitem");
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
});
