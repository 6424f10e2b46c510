export interface CheckpointNode {
  /** "" for the outermost graph; for an inner one the path of nodes, each with ":" and a task unless it keeps its state. */
  readonly ns: string;
  /** Ids grow with time. */
  readonly id: string;
  readonly parentId: string | null;
  /** Whether an update or a fork made it. */
  readonly forked: boolean;
  readonly recent: boolean;
  /** Format version; before 4, its parent holds pending sends. */
  readonly format: number;
  /** Delta channels that are replayed from writes since an earlier checkpoint. */
  readonly replayed: readonly string[];
}

/**
 * Checkpoints that nothing needs: neither the outermost graph's last `keepLast`, nor inner graphs' since the oldest of
 * these, nor replay sources. Newest first, inner graphs last: each precedes what it needs.
 */
export function supersededCheckpoints(nodes: readonly CheckpointNode[], keepLast: number): CheckpointNode[] {
  const newestFirst = nodes.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const roots = newestFirst.filter(({ ns }) => ns === "");
  const last = roots.filter(({ recent }, place) => recent || place < keepLast);
  if (last.length === 0) return [];
  const kept = withSources(last, roots);
  // After time travel an inner graph continues from its state at that checkpoint, or at the one before.
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

/** Adds what replayed values are built from; for the old format only the parent, or everything would stay. */
function withSources(nodes: readonly CheckpointNode[], all: readonly CheckpointNode[]): Set<CheckpointNode> {
  const byId = new Map(all.map((node) => [node.id, node]));
  const parentOf = ({ parentId }: CheckpointNode) => byId.get(parentId ?? "") ?? [];
  const kept = new Set([nodes, nodes.filter(({ format }) => format < 4).flatMap(parentOf)].flat());
  // The loop also visits nodes that it adds.
  for (const node of kept) if (node.replayed.length > 0) for (const source of [parentOf(node)].flat()) kept.add(source);
  return kept;
}
