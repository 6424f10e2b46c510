import { useState } from "preact/hooks";
import { counted } from "./texts.js";

/** Rows that are ticked: a box for each, one for all, and which they are. */
export function useSelection<Row extends { readonly id: string }>(
  rows: readonly Row[],
  nameOfRow: (row: Row) => string,
) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const chosen = rows.filter(({ id }) => ids.has(id));
  const box = (row: Row) => (
    <input
      type="checkbox"
      aria-label={`Select: ${nameOfRow(row).slice(0, 80)}`}
      checked={ids.has(row.id)}
      onChange={({ currentTarget: { checked } }) =>
        setIds(new Set([...[...ids].filter((id) => id !== row.id), ...(checked ? [row.id] : [])]))
      }
    />
  );
  const boxOfAll = (
    <label class="inline">
      <input
        type="checkbox"
        checked={chosen.length > 0 && chosen.length === rows.length}
        onChange={({ currentTarget: { checked } }) => setIds(new Set(checked ? rows.map(({ id }) => id) : []))}
      />
      Select all {rows.length}
    </label>
  );
  return { chosen, box, boxOfAll, clear: () => setIds(new Set()) };
}

/** Does something to each row. Those that are done are not done again when it is tried again. @throws Error how many failed, and why */
export function eachOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  act: (row: Row, reason: string) => Promise<unknown>,
) {
  const done = new Set<string>();
  return async (reason: string) => {
    for (const row of rows) {
      if (done.has(row.id)) continue;
      try {
        await act(row, reason);
      } catch (error) {
        if (rows.length === 1) throw error;
        const left = rows.length - done.size;
        throw new Error(
          `${counted(done.size, "is", "are")} done, ${counted(left, "is", "are")} left: ${(error as Error).message}`,
          { cause: error },
        );
      }
      done.add(row.id);
    }
  };
}
