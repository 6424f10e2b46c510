import { MemoryError } from "../errors.js";
import type { HistoryEntry } from "../memories/changes/list-history.js";
import { type MemoryFlags, type ScopeFlags, scopeOf, useMemory } from "./memory-flags.js";
import { aligned } from "./output.js";

/**
 * `mnemograph history`: who changed what in a memory, newest first.
 *
 * @throws MemoryError `NOT_FOUND`
 */
export async function historyCommand(id: string, flags: MemoryFlags & ScopeFlags): Promise<void> {
  const scope = scopeOf(flags);
  const entries = await useMemory(flags, (memory) => memory.memories.history(id, { scope }));
  if (entries.length === 0) throw new MemoryError("NOT_FOUND", `There is no memory ${id} in this scope.`);
  console.log(flags.json ? JSON.stringify(entries) : aligned(entries.map(row)).join("\n"));
}

function row({ at, revision, event, actor, old, new: next }: HistoryEntry) {
  return [at.toISOString(), `rev ${revision}`, event, actor ?? "-", changes(fieldsOf(old), fieldsOf(next))];
}

/** What differs, old and new. */
function changes(old: Record<string, unknown>, next: Record<string, unknown>): string {
  return Object.entries(next)
    .map(([name, value]) => ({ name, was: JSON.stringify(old[name] ?? null), is: JSON.stringify(value) }))
    .filter(({ was, is }) => was !== is)
    .map(({ name, was, is }) => `${name}: ${was === "null" ? "" : `${was} → `}${is}`)
    .join("; ");
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
