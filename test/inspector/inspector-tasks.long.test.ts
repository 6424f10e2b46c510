import type { Browser, Page, Request } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { hasChromium, openChromium } from "../support/chromium.js";
import { openInspected } from "../support/inspected.js";
import { fillLargeSample, nina } from "../support/large-sample.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";

if (!onServer())
  console.log("DATABASE_URL is not set: the inspector's tasks on 50,000 memories are skipped.");

const db = useTestDatabase();
let memory: Memory;
let server: Awaited<ReturnType<typeof openInspected>>;
let browser: Browser;
let page: Page;
let clicks = 0;

describe.skipIf(!hasChromium || !onServer())(
  "the inspector on 300 conversations and 50,000 memories",
  () => {
    beforeAll(async () => {
      memory = db.memory();
      await memory.setup();
      await fillLargeSample(memory, db);
      server = await openInspected(memory);
      browser = await openChromium();
      page = await browser.newPage();
      page.setDefaultTimeout(limitsMs.step);
      await page.goto(server.address);
      await page.getByRole("heading", { name: "Latest conversations" }).waitFor();
    });
    afterAll(async () => {
      await browser?.close();
      await server?.close();
    });
    beforeEach(async () => {
      clicks = 0;
      await page.goto(`${server.origin}/inspector/#/overview`);
      await page.locator(".thread").first().waitFor();
    });

    const click = async (name: string | RegExp, role: "link" | "button" | "checkbox" = "link") => {
      clicks++;
      await page.getByRole(role, { name }).first().click();
    };
    const type = async (label: string | RegExp, text: string) => {
      clicks++;
      await page.getByLabel(label).first().fill(text);
    };
    const timed = (task: string, act: () => Promise<void>) =>
      it(task, async () => {
        const begun = performance.now();
        await act();
        console.log(
          `${task}: ${clicks} clicks and fields, ${((performance.now() - begun) / 1_000).toFixed(1)} s`,
        );
      });
    const findNuts = async () => {
      await click("Conversations");
      await type("Search what was said", "nuts");
      await page.keyboard.press("Enter");
      await click(/nuts make me ill/);
      await page.locator(".message.pointed", { hasText: "nuts make me ill" }).waitFor();
    };

    timed("An operator finds the conversation in which nuts were spoken of", findNuts);

    timed("The page says why the agent said what it said", async () => {
      await findNuts();
      const changes = page.getByRole("region", { name: "What the model was shown first" });
      const line = changes.getByRole("listitem").filter({ hasText: "Is allergic to walnuts." });
      await line.getByText("always shown").waitFor();
      await page.getByRole("region", { name: "The whole prompt" }).waitFor();
    });

    timed("An operator corrects a wrong fact", async () => {
      await findNuts();
      await click("Is allergic to walnuts.");
      await click("Edit", "button");
      await type("Text", "Is allergic to peanuts.");
      await type("Reason", "she wrote to us");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Is allergic to peanuts." }).waitFor();
      const found = await memory.memories.list({ scope: nina, contains: "allergic" });
      expect(found.map(({ text }) => text)).toEqual(["Is allergic to peanuts."]);
    });

    timed("An operator decides three requests at once", async () => {
      await click("Waiting");
      await click("Select all 3", "checkbox");
      await click("Approve 3", "button");
      await type("Reason", "they agreed");
      await page.keyboard.press("Enter");
      await page.getByText("No request waits").waitFor();
      expect(await memory.consents.list({ status: ["approved"] })).toHaveLength(3);
    });

    timed("An operator finds what failed, and tries it again", async () => {
      await page.getByText("429 the quota").first().waitFor();
      await click("Waiting");
      await click("Select all 5", "checkbox");
      await click("Try again 5", "button");
      await page.getByRole("dialog").getByRole("button", { name: "Try again 5" }).click();
      await expect.poll(() => page.getByText("due again", { exact: true }).count()).toBe(5);
      const jobs = await memory.jobs.list({ state: "failed" });
      expect(
        jobs.map(({ dueAt }) => dueAt !== null && dueAt.getTime() <= Date.now() + 1_000),
      ).toEqual(Array(5).fill(true));
    });

    it("Each view shows 300 conversations and 50,000 memories, and its times are printed", async () => {
      const [of] = await memory.memories.list({ scope: nina, contains: "allergic" });
      const views = {
        ...{
          overview: "overview",
          conversations: "threads",
          said: "threads?said=nuts",
          waiting: "waiting",
        },
        ...{
          conversation: "thread?user=user-77&thread=baking",
          memories: "memories",
          ofOne: "memories?user=user-77",
        },
        ...{
          memory: `memory?user=user-77&id=${of?.id}`,
          changes: "changes?user=user-77",
          erase: "erase?user=user-77",
        },
        retrieval: "question?user=user-77&question=Which+dish+in+town%3F",
        whose: "changes",
      };
      for (const [name, place] of Object.entries(views)) {
        const requests: string[] = [];
        const finished = (request: Request) => {
          const { responseEnd } = request.timing();
          requests.push(
            `${responseEnd.toFixed(0).padStart(5)} ms ${new URL(request.url()).pathname}`,
          );
        };
        await page.goto("about:blank");
        page.on("requestfinished", finished);
        await page.goto(`${server.origin}/inspector/#/${place}`);
        await page.locator("main").waitFor();
        await page.waitForSelector(".loading, [aria-busy=true]", { state: "detached" });
        const paint = await page.evaluate<number>(
          "performance.getEntriesByName('first-contentful-paint')[0]?.startTime",
        );
        const whole = await page.evaluate<number>("performance.now()");
        page.off("requestfinished", finished);
        console.log(
          `${name}: first paint ${paint?.toFixed(0)} ms, whole ${whole.toFixed(0)} ms; ${requests.sort().at(-1)?.trim()}`,
        );
        expect(await page.locator(".trouble").count()).toBe(0);
      }
    });
  },
);
