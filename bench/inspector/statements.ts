import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";

/** A statement that a page's request sent, with its parameters. */
interface SentStatement {
  readonly page: string;
  /** "GET /inspector/…" without the query. */
  readonly route: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A sequential scan that a statement's plan has, on all pages that sent the statement. */
export interface Scan extends Omit<SentStatement, "page"> {
  readonly pages: string[];
  readonly table: string;
  readonly rows: number;
}

/** Tables with fewer rows may be read from end to end. */
const maxScannedRows = 1_000;

const routes = new AsyncLocalStorage<string>();

/** Runs `answer` so that its statements are known as those of `route`. */
export const asRoute = <Result>(route: string, answer: () => Result): Result =>
  routes.run(route, answer);

/**
 * Collects the statements of requests that are answered while it works, each once with the same
 * parameters.
 */
export async function collectStatements(
  page: string,
  work: () => Promise<void>,
): Promise<SentStatement[]> {
  const sent = new Map<string, SentStatement>();
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const original = prototype.query;
  prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const route = routes.getStore();
    const { text, values = [] } = args[0] as { text?: string; values?: unknown[] };
    if (route !== undefined && text !== undefined && /^\s*(?:select|with)\b/i.test(text))
      sent.set(JSON.stringify([route, text, values]), { page, route, text, values });
    return original.apply(this, args);
  };
  try {
    await work();
  } finally {
    prototype.query = original;
  }
  return [...sent.values()];
}

/** A node of a plan, as EXPLAIN writes it. */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly Plans?: readonly PlanNode[];
}

/**
 * The sequential scans of large tables in the plans of `statements`: in the plan with the real
 * parameters, and in the one for any, which sessions of the library's own pool use.
 */
export async function findScans(
  pool: pg.Pool,
  schema: string,
  statements: readonly SentStatement[],
): Promise<Scan[]> {
  const { rows: tables } = await pool.query<{ name: string; rows: number }>(
    "select relname as name, reltuples::int as rows from pg_class where relnamespace = $1::regnamespace",
    [schema],
  );
  const sizes = new Map(tables.map(({ name, rows }) => [name, rows]));
  const scans = new Map<string, Scan>();
  for (const { page, route, text, values } of statements) {
    const plans = [
      await pool.query(`explain (format json) ${text}`, [...values]),
      await pool.query(`explain (format json, generic_plan) ${text}`),
    ];
    const scanned = plans.flatMap(({ rows }) => scannedTables(rows[0]["QUERY PLAN"][0].Plan));
    for (const table of new Set(scanned)) {
      const rows = sizes.get(table) ?? 0;
      if (rows <= maxScannedRows) continue;
      const key = JSON.stringify([route, table, text]);
      const scan = scans.get(key) ?? { pages: [], route, text, values, table, rows };
      if (!scan.pages.includes(page)) scan.pages.push(page);
      scans.set(key, scan);
    }
  }
  return [...scans.values()];
}

function scannedTables(node: PlanNode): string[] {
  const below = (node.Plans ?? []).flatMap(scannedTables);
  return node["Node Type"] === "Seq Scan" ? [node["Relation Name"] ?? "", ...below] : below;
}
