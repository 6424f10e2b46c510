import { MemoryError } from "../errors.js";
import type { HistoryEntry } from "../memories/changes/changes-api.js";
import { type CliCommand, type MemoryFlags, withDatabase, withScope } from "./flags.js";
import { aligned, print } from "./output.js";
import { useScope } from "./use-memory.js";

/** `mnemograph history`: who changed what in a memory, newest first. */
export const historyCommand: CliCommand = {
  name: "history",
  description: "show who changed what in a memory",
  examples: [["history 6f1c2d3e-… --user ana", "who changed what in a memory"]],
  flags: (command) =>
    withDatabase(withScope(command)).argument("<id>", "the memory's id, as `search` prints it"),
  run: history,
};

/** @throws MemoryError `NOT_FOUND` */
async function history(id: string, flags: MemoryFlags): Promise<void> {
  const entries = await useScope(flags, (memory, scope) => memory.memories.history(id, { scope }));
  if (entries.length === 0) throw new MemoryError("NOT_FOUND", `There is no memory ${id} in this scope.`);
  print(flags, entries, () => aligned(entries.map(row)).join("\n"));
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
