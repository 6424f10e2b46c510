/** What is needed of a LangGraph checkpoint to tell whether it may go. */
export interface CheckpointNode {
  /** "" for the outermost graph; for an inner one the path of nodes, each with ":" and a task unless it keeps its state. */
  readonly ns: string;
  /** Ids grow with time. */
  readonly id: string;
  readonly parentId: string | null;
  /** By namespace, the checkpoints of the graphs around this one from which its run began. */
  readonly parents: Readonly<Record<string, string>>;
  /** Whether it was made of its parent by hand. */
  readonly forked: boolean;
  /** Whether it is too young to go. */
  readonly recent: boolean;
  /** Version of its format; before 4, what is to be sent next lies with its parent. */
  readonly format: number;
  /** Delta channels that are not stored with it, but replayed from what was written since an earlier checkpoint. */
  readonly replayed: readonly string[];
}

/**
 * Those of a thread's checkpoints that nothing needs any more: neither the outermost graph's last `keepLast`, nor
 * the graphs that ran within those, nor a channel that is replayed. Each comes before what it needs itself: the
 * newest first, those of inner graphs last.
 *
 * What is newer than the outermost graph's newest belongs to a run that is under way, and stays.
 */
export function supersededCheckpoints<Node extends CheckpointNode>(
  nodes: readonly Node[],
  keepLast: number,
): Node[] {
  const namespaces = byNamespace(nodes);
  const roots = namespaces.get("") ?? [];
  const newest = roots.at(-1);
  if (!newest) return [];

  const last = roots.slice(-keepLast);
  const kept = withSources(new Set([...last, ...roots.filter(({ recent }) => recent)]), roots);
  const points = [...kept].flatMap(travelPoints);
  const ids = new Set([...kept].map(keyOf));
  const outerFirst = [...namespaces].filter(([ns]) => ns !== "").sort(([a], [b]) => depth(a) - depth(b));
  for (const [ns, inner] of outerFirst) {
    const needed = inner.filter((node) => isNeeded(node, newest, ids));
    const states = keepsState(ns) ? points.map((point) => inner.findLast(({ id }) => id < point)) : [];
    const wanted = new Set([...needed, ...states.filter((node) => node !== undefined)]);
    for (const node of withSources(wanted, inner)) {
      kept.add(node);
      ids.add(keyOf(node));
    }
  }
  const newestFirst = [roots, ...outerFirst.map(([, inner]) => inner)].flatMap((group) => group.toReversed());
  return newestFirst.filter((node) => !kept.has(node));
}

/** Oldest first within each. */
function byNamespace<Node extends CheckpointNode>(nodes: readonly Node[]): Map<string, Node[]> {
  const groups = new Map<string, Node[]>();
  for (const node of nodes.toSorted((a, b) => compare(a.id, b.id))) {
    const group = groups.get(node.ns);
    if (group) group.push(node);
    else groups.set(node.ns, [node]);
  }
  return groups;
}

/** A graph that keeps its state goes on, after time travel, from its last state before these. */
function travelPoints({ id, parentId, forked }: CheckpointNode): string[] {
  return forked && parentId !== null ? [id, parentId] : [id];
}

const keepsState = (ns: string) => !ns.includes(":");

/** Whether an inner graph's checkpoint belongs to a kept run of the graphs around it, as far as is known. */
function isNeeded(node: CheckpointNode, newest: CheckpointNode, kept: ReadonlySet<string>): boolean {
  if (node.recent || node.id > newest.id) return true;
  return Object.entries(node.parents).every(([ns, id]) => kept.has(keyOf({ ns, id })));
}

/**
 * `kept` and the earlier ones of their namespace that their values are made from, back to one that replays nothing: so
 * that these are whole as well. Of the old format only the one before, or everything would stay.
 */
function withSources<Node extends CheckpointNode>(kept: Set<Node>, all: readonly Node[]): Set<Node> {
  const byId = new Map(all.map((node) => [node.id, node]));
  const parentOf = ({ parentId }: Node) => (parentId === null ? undefined : byId.get(parentId));
  const sends = [...kept].filter(({ format }) => format < 4).map(parentOf);
  for (const node of sends) if (node) kept.add(node);
  // A set that grows is walked to its end.
  for (const node of kept) {
    const source = node.replayed.length > 0 ? parentOf(node) : undefined;
    if (source) kept.add(source);
  }
  return kept;
}

const depth = (ns: string) => ns.split("|").length;
const keyOf = ({ ns, id }: { ns: string; id: string }) => `${id}/${ns}`;
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
