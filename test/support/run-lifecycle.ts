import type { Memory, Scope } from "../../src/index.js";

/** Hides, deletes and trims what is due now, of everybody; says what came of the memories of `scope`. */
export async function runLifecycle(
  memory: Memory,
  { scope }: { readonly scope?: Scope } = {},
): Promise<{ readonly softDeleted: number; readonly purged: number }> {
  const states = ["active", "quarantined", "superseded", "merged", "soft_deleted"] as const;
  const stateOf = async () => {
    const all = scope ? await memory.memories.list({ scope, states, limit: 1_000 }) : [];
    return new Map(all.map(({ id, state }) => [id, state]));
  };
  const before = await stateOf();
  while ((await memory.upkeep({ kinds: ["lifecycle", "purge"] })) > 0) await memory.idle();
  await memory.idle();
  const after = await stateOf();
  const gone = [...before].filter(([id]) => !after.has(id));
  const hidden = [...after].filter(([id, state]) => state === "soft_deleted" && before.get(id) !== state);
  return { softDeleted: hidden.length, purged: gone.length };
}
