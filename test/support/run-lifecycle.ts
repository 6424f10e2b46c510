import type { Memory, Scope } from "../../src/index.js";

const states = ["active", "quarantined", "superseded", "merged", "soft_deleted"] as const;

/**
 * Runs the lifecycle work that is due, of all scopes. Counts the memories of `scope` that it hid
 * and deleted.
 */
export async function runLifecycle(memory: Memory, { scope }: { readonly scope?: Scope } = {}) {
  /** How often each memory expired. */
  const hidings = async () => {
    const all = scope ? await memory.memories.list({ scope, states, limit: 1_000 }) : [];
    const counts = new Map<string, number>();
    for (const { id } of all) {
      const trail = await memory.memories.history({ scope: scope as Scope, id });
      counts.set(id, trail.filter(({ event }) => event === "TTL").length);
    }
    return counts;
  };
  const before = await hidings();
  while ((await memory.upkeep({ kinds: ["lifecycle", "purge"] })) > 0) await memory.idle();
  await memory.idle();
  const after = await hidings();
  return {
    softDeleted: [...after].filter(([id, times]) => times > (before.get(id) ?? 0)).length,
    purged: [...before.keys()].filter((id) => !after.has(id)).length,
  };
}
