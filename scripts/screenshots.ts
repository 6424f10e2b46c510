import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { createMemory } from "../src/index.js";
import { HashingEmbeddings } from "../src/testing/index.js";
import { openChromium } from "../test/support/chromium.js";
import { openInspected } from "../test/support/inspected.js";
import { ana, fillInspectorSample, sampleModel } from "../test/support/inspector-sample.js";

// `npm run screenshots [-- --kept]`: pictures of the inspector's views, at two widths, light and
// dark, in .screenshots/; with --kept, only those that the documentation shows, in docs/inspector/.
const kept = process.argv.includes("--kept");
const folder = fileURLToPath(
  new URL(kept ? "../docs/inspector" : "../.screenshots", import.meta.url),
);
mkdirSync(folder, { recursive: true });

/** Those that the documentation shows. */
const shownInDocs = new Set(["overview", "thread", "memory"]);

let now = Date.now();
const memory = createMemory({
  database: ":memory:",
  model: sampleModel(),
  embeddings: new HashingEmbeddings(),
  jobs: "inline" as const,
  clock: () => new Date(now),
  // Small, so that a short conversation has all there is to see.
  config: { context: { tailTokens: 200 }, retrieval: { budgetTokens: 450, topK: 3 } },
});
await memory.setup();
// What is quicker the second time is not the story of the charts.
for (let time = 0; time < 5; time++)
  await memory.recall({
    scope: { userId: "nobody" },
    threadId: "nothing",
    query: "Where does she sail?",
  });
const dayMs = 86_400_000;
await fillInspectorSample(memory, (daysAgo) => {
  now = Date.now() - daysAgo * dayMs;
});
const [city] = await memory.memories.list({ scope: ana, contains: "Lives in Porto" });
const server = await openInspected(memory);
const browser = await openChromium();

const views: Readonly<Record<string, string>> = {
  overview: "overview",
  threads: "threads",
  said: "threads?said=nuts",
  thread: "thread?user=ana&thread=sailing&at=2",
  hostile: "thread?user=zoe&thread=hostile",
  question: "question?user=ana&question=Where+does+she+sail%3F",
  memories: "memories?user=ana",
  memory: `memory?user=ana&id=${city?.id}`,
  waiting: "waiting",
  changes: "changes?user=ana",
  costs: "costs",
  forgotten: "forgotten",
  erase: "erase?user=ana",
};

/** The session's cookie: the address is good for one visit. */
async function logIn(opened: Browser) {
  const context = await opened.newContext();
  const page = await context.newPage();
  await page.goto(server.address);
  await page.waitForSelector("main");
  const state = await context.storageState();
  await context.close();
  return state;
}

const storageState = await logIn(browser);
for (const width of kept ? [1_280] : [1_280, 390]) {
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({
      viewport: { width, height: width === 390 ? 844 : kept ? 960 : 800 },
      colorScheme,
      storageState,
    });
    const page = await context.newPage();
    for (const [name, place] of Object.entries(views)) {
      if (kept && !shownInDocs.has(name)) continue;
      await page.goto("about:blank");
      await page.goto(`${server.origin}/inspector/#/${place}`);
      await page.waitForSelector("main");
      await page.waitForSelector(".loading, [aria-busy=true]", { state: "detached" });
      const suffix = kept ? `-${colorScheme}` : `-${width}-${colorScheme}`;
      await page.screenshot({ path: join(folder, `${name}${suffix}.png`), fullPage: kept });
    }
    await context.close();
  }
}
await browser.close();
await server.close();
await memory.close();
