/** `counts` added up, name by name. */
export function sums<Name extends string>(
  counts: readonly Readonly<Partial<Record<Name, number>>>[],
): Record<Name, number> {
  const total: Partial<Record<string, number>> = {};
  for (const each of counts) {
    for (const [name, count] of Object.entries<number | undefined>(each)) {
      total[name] = (total[name] ?? 0) + (count ?? 0);
    }
  }
  return total as Record<Name, number>;
}

/** Rows of several cells that are of the same, as `keyOf` says, made one by `join`. */
export function joinBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  join: (one: Row, other: Row) => Row,
): Row[] {
  const joined = new Map<string, Row>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = joined.get(key);
    joined.set(key, known === undefined ? row : join(known, row));
  }
  return [...joined.values()];
}

/** The latest `limit` of `rows`, of several cells, latest first. */
export function latest<Row>(rows: readonly Row[], at: (row: Row) => Date, limit = rows.length): Row[] {
  return [...rows].sort((a, b) => at(b).getTime() - at(a).getTime()).slice(0, limit);
}
