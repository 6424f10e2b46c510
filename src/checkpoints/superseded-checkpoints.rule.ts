export interface CheckpointRow {
  /** "" for the root graph; for a subgraph its node path, with ":task" per node unless stateful. */
  readonly ns: string;
  /** Ids grow with time. */
  readonly id: string;
  readonly parentId: string | null;
  /** Its source is "update" or "fork". */
  readonly forked: boolean;
  /** Newer than `olderThan`: kept. */
  readonly recent: boolean;
  /** Format version; before 4, its parent holds pending sends. */
  readonly format: number;
  /** Whether delta channels are replayed from writes since an earlier checkpoint. */
  readonly replays: boolean;
}

/**
 * Checkpoints that nothing needs: not recent, not the last `keepLast` roots, not of subgraphs since
 * the oldest of these or resumed from, and not replayed. Newest first, subgraphs last: each
 * precedes what it needs.
 */
export function supersededCheckpoints(
  rows: readonly CheckpointRow[],
  keepLast: number,
): CheckpointRow[] {
  const newestFirst = rows.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const roots = newestFirst.filter(({ ns }) => ns === "");
  const last = roots.filter(({ recent }, place) => recent || place < keepLast);
  if (last.length === 0) return [];
  const kept = withSources(last, roots);
  const points: string[] = [];
  for (const { id, parentId, forked } of kept) {
    points.push(id);
    // After time travel a subgraph resumes from that checkpoint or its parent.
    if (forked && parentId !== null) points.push(parentId);
  }
  const [oldest = ""] = points.sort();
  const subgraphs = newestFirst.filter(({ ns }) => ns !== "");
  for (const ns of new Set(subgraphs.map((row) => row.ns))) {
    const own = subgraphs.filter((row) => row.ns === ns);
    const before = ns.includes(":") ? undefined : own.find(({ id }) => id < oldest);
    const needed = own.filter((row) => row === before || row.recent || row.id > oldest);
    for (const row of withSources(needed, own)) kept.add(row);
  }
  return [...roots, ...subgraphs].filter((row) => !kept.has(row));
}

/** Marks the last checkpoint of each branch as recent: a run may be resumed there. */
export function withBranchEnds(rows: readonly CheckpointRow[]): CheckpointRow[] {
  const parents = new Set(rows.filter(({ ns }) => ns === "").map(({ parentId }) => parentId));
  return rows.map((row) =>
    row.ns === "" && !parents.has(row.id) ? { ...row, recent: true } : row,
  );
}

/** Adds replay sources, transitively; in the old format the parent, for its pending sends. */
function withSources(
  rows: readonly CheckpointRow[],
  all: readonly CheckpointRow[],
): Set<CheckpointRow> {
  const byId = new Map(all.map((row) => [row.id, row]));
  const kept = new Set(rows);
  const keepParent = ({ parentId }: CheckpointRow) => {
    const parent = byId.get(parentId ?? "");
    if (parent) kept.add(parent);
  };
  for (const row of rows) if (row.format < 4) keepParent(row);
  // The loop also visits rows that it adds.
  for (const row of kept) if (row.replays) keepParent(row);
  return kept;
}
