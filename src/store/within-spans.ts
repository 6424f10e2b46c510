import sql, { type Sql } from "sql-template-tag";
import type { TimeSpan } from "../domain/question-dates.js";

/** Whether `at` is in one of `spans`. */
export function withinSpans(at: Sql, spans: readonly TimeSpan[]): Sql {
  const ranges = spans.map(({ from, before }) => `[${from.toISOString()},${before.toISOString()})`);
  return sql`${at} <@ ${`{${ranges.join()}}`}::tstzmultirange`;
}
