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
  // After time travel a subgraph resumes from that checkpoint or its parent.
  const parents = [...kept].flatMap(({ parentId, forked }) => (forked ? (parentId ?? []) : []));
  const points = [...[...kept].map(({ id }) => id), ...parents];
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

/** Adds replay sources, transitively; in the old format the parent, for its pending sends. */
function withSources(
  rows: readonly CheckpointRow[],
  all: readonly CheckpointRow[],
): Set<CheckpointRow> {
  const byId = new Map(all.map((row) => [row.id, row]));
  const parentOf = ({ parentId }: CheckpointRow) => byId.get(parentId ?? "") ?? [];
  const kept = new Set([rows, rows.filter(({ format }) => format < 4).flatMap(parentOf)].flat());
  // The loop also visits rows that it adds.
  for (const row of kept)
    if (row.replays) for (const source of [parentOf(row)].flat()) kept.add(source);
  return kept;
}
