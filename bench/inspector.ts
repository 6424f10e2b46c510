import { parseArgs } from "node:util";
import type { BrowserContext, Page, Request } from "playwright-core";
import { createMemory } from "../src/index.js";
import { hasChromium, openChromium } from "../test/support/chromium.js";
import { openInspected } from "../test/support/inspected.js";
import { type BenchDatabase, openBenchDatabase } from "./bench-database.js";
import { loadInspected, type RowCounts, reader } from "./inspector/load-inspected.js";
import { type InspectedPage, pagesOf } from "./inspector/pages.js";
import { asRoute, collectStatements, findScans, type Scan } from "./inspector/statements.js";
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";
import { inTurn, percentile } from "./timing.js";

// How quickly the inspector's pages are there on a server with much in it, and whether a statement
// of theirs reads a large table from end to end.
//   DATABASE_URL=... npm run bench:inspector [-- --conversations 300 --memories 50000 --rounds 20]

const { values } = parseArgs({
  options: {
    conversations: { type: "string", default: "300" },
    memories: { type: "string", default: "50000" },
    rounds: { type: "string", default: "20" },
  },
});
const sizes = { conversations: Number(values.conversations), memories: Number(values.memories) };
const rounds = Number(values.rounds);
const numbers = { ...sizes, rounds };
if (Object.values(numbers).some((each) => !(each > 0)))
  throw new Error(`Each option is a number above 0: ${JSON.stringify(numbers)}`);

/** Of medians, in ms. */
const goals = { firstPaint: 1_000, request: 300 };

/** Milliseconds of each opening, by page, and of each request, by route. */
interface Times {
  readonly firstPaint: Map<string, number[]>;
  readonly complete: Map<string, number[]>;
  readonly requests: Map<string, number[]>;
}

if (hasChromium) {
  const database = await openBenchDatabase();
  try {
    if (database.server === null)
      throw new Error("bench:inspector needs a server: set DATABASE_URL to its connection string.");
    printEnvironment(database);
    await measure(database, database.server);
  } finally {
    await database.close();
  }
} else {
  console.log("There is no Chromium here, so nothing is measured: run scripts/chromium.sh");
}

async function measure({ pool, schema }: BenchDatabase, server: string): Promise<void> {
  const memory = createMemory({ database: server, schema });
  await memory.setup();
  const counts = await loadInspected(pool, schema, sizes);
  const [first] = await memory.memories.list({
    scope: { userId: reader },
    sort: "oldest",
    limit: 1,
  });
  const pages = pagesOf(first?.id ?? "");
  const inspected = await openInspected(memory, { around: asRoute });
  const browser = await openChromium();
  const times: Times = { firstPaint: new Map(), complete: new Map(), requests: new Map() };
  try {
    const context = await browser.newContext();
    const entry = await context.newPage();
    await entry.goto(inspected.address);
    await entry.waitForSelector("main");
    await entry.close();
    const open = (page: InspectedPage) => openPage(context, inspected.origin, page, times);

    // Each page once, to collect its statements; then all in turns, for the times.
    const sent = [];
    for (const page of pages) sent.push(...(await collectStatements(page.name, () => open(page))));
    const scans = await findScans(pool, schema, sent);
    for (const each of Object.values(times)) each.clear();
    for (let round = 0; round < rounds; round++)
      for (const page of inTurn(pages, round)) await open(page);
    report(pages, times, { counts, scans, statements: sent.length });
  } finally {
    await browser.close();
    await inspected.close();
    await memory.close();
  }
}

/** Opens a page anew, and throws unless it shows what it should. */
async function openPage(
  context: BrowserContext,
  origin: string,
  { name, place, click, text, links }: InspectedPage,
  times: Times,
): Promise<void> {
  const page = await context.newPage();
  const finished: Request[] = [];
  page.on("requestfinished", (request) => finished.push(request));
  const startedAt = performance.now();
  await page.goto(`${origin}/inspector/#/${place}`);
  await waitUntilThere(page);
  addTo(times.complete, name, performance.now() - startedAt);
  if (click !== undefined) {
    await page.getByRole("button", { name: click }).click();
    await page.locator(".owners a").first().waitFor();
    await waitUntilThere(page);
  }
  const [paint] = await page.evaluate<number[]>(
    "performance.getEntriesByName('first-contentful-paint').map(({ startTime }) => startTime)",
  );
  if (paint === undefined) throw new Error(`The page ${name} was not painted.`);
  addTo(times.firstPaint, name, paint);
  for (const request of finished) {
    const { requestStart, responseEnd } = request.timing();
    addTo(times.requests, routeOf(request), responseEnd - requestStart);
    const status = (await request.response())?.status() ?? 0;
    if (status >= 400) throw new Error(`The page ${name} was answered ${status}: ${request.url()}`);
  }
  const main = page.locator("main");
  const shown = (await main.textContent()) ?? "";
  if (!shown.includes(text))
    throw new Error(`The page ${name} does not show "${text}": ${shown.slice(0, 1_000)}`);
  if (links) {
    const [view, atLeast] = links;
    const found = await main.locator(`a[href^="#/${view}?"]`).count();
    if (found < atLeast)
      throw new Error(`The page ${name} has ${found} links to ${view}, not ${atLeast}.`);
  }
  await page.close();
}

async function waitUntilThere(page: Page): Promise<void> {
  await page.waitForSelector("main");
  await page.waitForSelector(".loading, [aria-busy=true]", { state: "detached" });
}

/** The method and the path, with names for ids. */
function routeOf(request: Request): string {
  const path = new URL(request.url()).pathname
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, ":id")
    .replace(/thread-\d+/, ":threadId");
  return `${request.method()} ${path}`;
}

function addTo(times: Map<string, number[]>, name: string, ms: number): void {
  times.set(name, [...(times.get(name) ?? []), ms]);
}

interface Measured {
  readonly counts: RowCounts;
  readonly scans: readonly Scan[];
  readonly statements: number;
}

function report(
  pages: readonly InspectedPage[],
  times: Times,
  { counts, scans, statements }: Measured,
) {
  printTable(
    "Rows",
    Object.entries(counts).map(([table, rows]) => ({ table, rows })),
  );
  const median = (ms: readonly number[] = []) => percentile(ms, 0.5);
  const pageRows = pages.map(({ name, isStart }) => {
    const [paint = [], complete = []] = [times.firstPaint.get(name), times.complete.get(name)];
    return {
      page: isStart ? `${name} (start page)` : name,
      n: paint.length,
      "first paint ms": median(paint),
      "worst ms": Math.max(...paint),
      "complete ms": median(complete),
    };
  });
  printTable(`Pages, median of ${rounds}`, pageRows);
  const requests = [...times.requests]
    .map(([route, ms]) => ({
      route,
      n: ms.length,
      "median ms": median(ms),
      "worst ms": Math.max(...ms),
    }))
    .toSorted((one, other) => other["median ms"] - one["median ms"]);
  printTable("The slowest requests", requests.slice(0, 10));
  for (const { pages: on, route, table, rows, text, values: given } of scans) {
    console.log(`\nSequential scan of ${table} (${rows} rows) by ${route} on: ${on.join(", ")}`);
    console.log(text.trim(), JSON.stringify(given));
  }
  printLoad();
  const measured = {
    ...sizes,
    firstPaintMs: Math.max(
      ...pageRows.filter((_, n) => pages[n]?.isStart).map((row) => row["first paint ms"]),
    ),
    completeMs: Math.max(...pageRows.map((row) => row["complete ms"])),
    slowestRequestMs: requests[0]?.["median ms"] ?? Number.NaN,
    worstRequestMs: Math.max(...requests.map((row) => row["worst ms"])),
    requestsOver300Ms: [...times.requests.values()].flat().filter((ms) => ms > goals.request)
      .length,
    statements,
    sequentialScans: scans.length,
  };
  printResult(measured);
  const isMet =
    scans.length === 0 &&
    measured.firstPaintMs < goals.firstPaint &&
    measured.slowestRequestMs <= goals.request;
  if (isMet) return;
  console.log("A goal is missed: first paint < 1 s, each route's median at most 300 ms, no scan.");
  process.exitCode = 1;
}
