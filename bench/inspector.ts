import { createMemory } from "../src/index.js";
import { HashingEmbeddings } from "../src/testing/index.js";
import { openChromium } from "../test/support/chromium.js";
import { openInspected } from "../test/support/inspected.js";
import { openBenchDatabase } from "./bench-database.js";
import { loadInspected } from "./inspector/load-inspected.js";
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";

/**
 * `npm run bench:inspector`: how long each view of the inspector's page takes from a cold start of the page until what it is
 * about stands there, over one user with 50,000 memories, 10,000 threads and a thread of 5,000 messages. And what it loads.
 */
const sizes = {
  memories: Number(process.env.MEMORIES ?? 50_000),
  threads: Number(process.env.THREADS ?? 10_000),
  messages: Number(process.env.MESSAGES ?? 5_000),
};
const times = 5;

/** Each view, and what stands there once it is shown. */
const views: Readonly<Record<string, readonly [place: string, shown: string]>> = {
  owners: ["threads", "main tbody tr"],
  threads: ["threads?user=ana", "main tbody tr"],
  thread: ["thread?user=ana&thread=long", "main article"],
  threadBeginning: ["thread?user=ana&thread=long&after=-1", "main article"],
  summaries: ["summaries?user=ana&thread=long", "main svg .bar"],
  question: ["question?user=ana&question=Where+is+the+green+boat%3F", "main .hits li"],
  memories: ["memories?user=ana", "a.row"],
  memoriesByImportance: ["memories?user=ana&sort=importance", "a.row"],
  memoriesContaining: ["memories?user=ana&words=number+777", "a.row"],
  waiting: ["waiting", "main h2"],
  charts: ["charts", "main figure, main dl"],
  live: ["live?user=ana", "main h2"],
  erase: ["erase?user=ana", "main h2"],
};

const database = await openBenchDatabase();
printEnvironment(database);
const memory = createMemory({
  ...{ database: database.source, schema: database.schema, embeddings: new HashingEmbeddings() },
});
await memory.setup();
await loadInspected(database.pool, database.schema, sizes);
const [first] = await memory.memories.list({ scope: { userId: "ana" }, limit: 1 });
const all = { ...views, memory: [`memory?user=ana&id=${first?.id}`, "main dl"] as const };
const server = await openInspected(memory);
const browser = await openChromium();
const context = await browser.newContext();
const login = await context.newPage();
await login.goto(server.address);
await login.waitForSelector("main");

const rows: { view: string; medianMs: number; worstMs: number; kilobytes: number }[] = [];
for (const [view, [place, shown]] of Object.entries(all)) {
  const tookMs: number[] = [];
  let bytes = 0;
  for (let time = 0; time < times; time++) {
    const page = await context.newPage();
    const bodies: Promise<number>[] = [];
    page.on("response", (response) => {
      if (!response.url().includes("/inspector/")) bodies.push(response.body().then(({ length }) => length));
    });
    await page.goto(`${server.origin}/inspector/#/${place}`);
    await page.waitForSelector(shown, { state: "attached" });
    // Since the page was asked for, in the page's own time.
    tookMs.push(
      Number(
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => done(performance.now())))"),
      ),
    );
    if (view !== "live") await page.waitForLoadState("networkidle");
    bytes = (await Promise.all(bodies)).reduce((sum, length) => sum + length, 0);
    await page.close();
  }
  tookMs.sort((one, other) => one - other);
  rows.push({
    view,
    medianMs: tookMs[times >> 1] ?? 0,
    worstMs: tookMs.at(-1) ?? 0,
    kilobytes: bytes / 1_000,
  });
}
printTable(`First sight of each view, ${JSON.stringify(sizes)}`, rows);
printLoad();
printResult({ inspector: Object.fromEntries(rows.map(({ view, medianMs }) => [view, medianMs])) });
await browser.close();
await server.close();
await memory.close();
await database.close();
