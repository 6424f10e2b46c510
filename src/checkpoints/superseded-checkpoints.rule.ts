export interface CheckpointNode {
  /** "" for the outermost graph; for an inner one the path of nodes, each with ":" and a task unless it keeps its state. */
  readonly ns: string;
  /** Ids grow with time. */
  readonly id: string;
  readonly parentId: string | null;
  /** Whether it was made of its parent by hand. */
  readonly forked: boolean;
  /** Whether it is too young to go. */
  readonly recent: boolean;
  /** Version of its format; before 4, its parent holds what is sent next. */
  readonly format: number;
  /** Delta channels that are not stored with it, but replayed from what was written since an earlier checkpoint. */
  readonly replayed: readonly string[];
}

/**
 * Checkpoints that nothing needs: not the outermost graph's last `keepLast`, what inner graphs wrote since the oldest
 * of these, or what a channel is replayed from. Newest first, inner graphs last: each comes before what it needs.
 */
export function supersededCheckpoints(nodes: readonly CheckpointNode[], keepLast: number): CheckpointNode[] {
  const newestFirst = nodes.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const roots = newestFirst.filter(({ ns }) => ns === "");
  const last = roots.filter(({ recent }, place) => recent || place < keepLast);
  if (last.length === 0) return [];
  const kept = withSources(last, roots);
  // After time travel an inner graph goes on from its state at the time of the checkpoint, or of the one before.
  const parents = [...kept].flatMap(({ parentId, forked }) => (forked ? (parentId ?? []) : []));
  const points = [...[...kept].map(({ id }) => id), ...parents];
  const [oldest = ""] = points.sort();
  const inner = newestFirst.filter(({ ns }) => ns !== "");
  for (const ns of new Set(inner.map((node) => node.ns))) {
    const own = inner.filter((node) => node.ns === ns);
    const before = ns.includes(":") ? undefined : own.find(({ id }) => id < oldest);
    const needed = own.filter((node) => node === before || node.recent || node.id > oldest);
    for (const node of withSources(needed, own)) kept.add(node);
  }
  return [...roots, ...inner].filter((node) => !kept.has(node));
}

/** Adds what replayed values are made from. Of the old format only the parent, or everything would stay. */
function withSources(nodes: readonly CheckpointNode[], all: readonly CheckpointNode[]): Set<CheckpointNode> {
  const byId = new Map(all.map((node) => [node.id, node]));
  const parentOf = ({ parentId }: CheckpointNode) => byId.get(parentId ?? "") ?? [];
  const kept = new Set([nodes, nodes.filter(({ format }) => format < 4).flatMap(parentOf)].flat());
  // A set that grows is walked to its end.
  for (const node of kept) if (node.replayed.length > 0) for (const source of [parentOf(node)].flat()) kept.add(source);
  return kept;
}
