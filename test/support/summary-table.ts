import type { Memory } from "../../src/memory.js";

/** `base` is the number of the summary that it extends. */
export type SummaryRow = [
  id: number,
  start: number,
  end: number,
  base: number | null,
  status: string,
];

/** A thread's summaries, oldest first, numbered from 1. */
export async function summaryTable(
  memory: Memory,
  thread: Parameters<Memory["summaries"]["list"]>[0],
): Promise<SummaryRow[]> {
  const rows = await memory.summaries.list(thread);
  const number = new Map(rows.map((row, index) => [row.id, index + 1]));
  return rows.map((row) => [
    number.get(row.id) ?? 0,
    row.startSeq,
    row.endSeq,
    row.baseId === null ? null : (number.get(row.baseId) ?? 0),
    row.status,
  ]);
}
