import { NumberTable } from "./layout.js";

/** What people know of what is kept; its indexes and records are the rest. */
const rowNames: Readonly<Record<string, string>> = {
  memory: "memories",
  thread: "conversations",
  message: "messages",
  summary: "summaries",
  history: "entries of the audit trail",
  consent_request: "requests for consent",
  store_item: "items of the store",
};

type RowCounts = Readonly<Record<string, number>>;

export const totalOf = (counts: RowCounts): number =>
  Object.values(counts).reduce((sum, rows) => sum + rows, 0);

/** How many of each there are. */
export function Counts({ removed }: { removed: RowCounts }) {
  const total = totalOf(removed);
  const all = Object.entries(rowNames).map(([table, name]) => [name, removed[table] ?? 0] as const);
  const rest = total - all.reduce((sum, [, number]) => sum + number, 0);
  const rows = [...all, ["indexes and other records", rest] as const].filter(
    ([, number]) => number > 0,
  );
  return <NumberTable rows={[...rows, ["together", total]]} />;
}
