import type { Memory, Scope } from "../../src/index.js";

const states = ["active", "quarantined", "superseded", "merged", "soft_deleted"] as const;

/** Hides, deletes and trims what is due now, of everybody; says what came of the memories of `scope`. */
export async function runLifecycle(
  memory: Memory,
  { scope }: { readonly scope?: Scope } = {},
): Promise<{ readonly softDeleted: number; readonly purged: number }> {
  /** How often each memory was hidden. */
  const hidings = async () => {
    const all = scope ? await memory.memories.list({ scope, states, limit: 1_000 }) : [];
    const counts = new Map<string, number>();
    for (const { id } of all) {
      const trail = await memory.memories.history(id, { scope: scope as Scope });
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
