import { MemoryError } from "../errors.js";
import type { Purged } from "../forgetting/erase-app-memories.js";
import type { MemoryItem } from "../memories/item/memory.js";
import type { Memory } from "../memory.js";
import type { AppScope } from "../scope/scope.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withDatabase } from "./flags.js";
import { agreed } from "./forget-command.js";
import { aligned, oneLine, print } from "./output.js";
import { useMemory } from "./use-memory.js";

interface NotesFlags extends MemoryFlags {
  readonly app: string;
  readonly limit?: number;
  readonly after?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly ifRevision?: number;
  readonly reason?: string;
  readonly actor?: string;
}

/** `mnemograph notes`: what an app remembers of conversations that ended. */
export const notesCommand: CliCommand = {
  name: "notes",
  description: "show or delete what an app remembers of conversations that ended",
  examples: [
    ["notes --app calendar", "newest first"],
    ["notes context --app calendar", "as its next conversation is shown them"],
    ["notes remove 6f1c2d3e-… --app calendar", "hide one; for 30 days `restore` brings it back"],
    ["notes purge --app calendar --dry-run", "how many would go; --yes deletes them for good"],
  ],
  flags: (command) =>
    withDatabase(command)
      .argument("[action]", "list, count, remove, purge or context (default: list)")
      .argument("[what]", "with remove: the note's id, as the list prints it")
      .requiredOption("--app <id>", "the app")
      .option("--tenant <id>", "the tenant")
      .option("--limit <count>", "with list: at most this many (default: 100)", wholeNumber(1_000))
      .option("--after <id>", "with list: the next page, after this note")
      .option("--dry-run", "with purge: only count what would go")
      .option("--yes", "with purge: do not ask")
      .option("--if-revision <number>", "with remove: only when it still has this revision", wholeNumber(1e9))
      .option("--reason <text>", "with remove and purge: why, for the audit trail")
      .option("--actor <name>", "with remove and purge: who does it (default: cli)"),
  run: notes,
};

/** What a command does: with the memory, for an app, by its flags and `what` was named. */
type Action = (memory: Memory, scope: AppScope, flags: NotesFlags, what: string) => Promise<void>;

const actions: Readonly<Record<string, Action>> = {
  list,
  count,
  remove,
  purge,
  context,
};
/** Those that are about something; what, as it is called where it is missing. */
const subjects: Readonly<Record<string, string>> = { remove: "<id>" };

/** @throws MemoryError `INVALID_INPUT` for another action, and what the calls of `memory.notes` throw. */
async function notes(name = "list", what: string | undefined, flags: NotesFlags): Promise<void> {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  const subject = subjects[name];
  if (action === undefined)
    throw new MemoryError("INVALID_INPUT", `Use one of ${Object.keys(actions).join(", ")} with \`notes\`.`);
  if ((subject === undefined) !== (what === undefined))
    throw new MemoryError("INVALID_INPUT", `Use \`${["notes", name, subject].filter(Boolean).join(" ")}\`.`);
  const { tenant, app: appId } = flags;
  const scope: AppScope = { ...(tenant !== undefined && { tenantId: tenant }), appId };
  await useMemory(flags, (memory) => action(memory, scope, flags, what ?? ""));
}

async function list(memory: Memory, scope: AppScope, flags: NotesFlags): Promise<void> {
  const { limit, after } = flags;
  const found = await memory.notes.list({ scope, limit, after });
  print(flags, found, () => aligned(found.map(row)).join("\n") || "There are none.");
}

function row({ id, createdAt, importance, pinned, text }: MemoryItem): string[] {
  return [id, createdAt.toISOString().slice(0, 10), `imp=${importance}`, pinned ? "pinned" : "-", text];
}

async function count(memory: Memory, scope: AppScope, flags: NotesFlags): Promise<void> {
  const found = await memory.notes.count({ scope });
  print(flags, { count: found }, () => `${found}`);
}

async function remove(memory: Memory, scope: AppScope, flags: NotesFlags, id: string): Promise<void> {
  const { actor = "cli", reason, ifRevision } = flags;
  const removed = await memory.notes.remove(id, { scope, actor, reason, ifRevision });
  print(flags, removed, () => oneLine(`${removed.state}: ${removed.text}`));
}

async function purge(memory: Memory, scope: AppScope, flags: NotesFlags): Promise<void> {
  const { actor = "cli", reason } = flags;
  const preview = await memory.notes.purge({ scope, dryRun: true });
  if (flags.dryRun) return print(flags, preview, () => `Would delete ${counted(preview)}.`);
  const hint = "notes purge deletes for good: add --yes, or --dry-run to see how many would go.";
  const question = `Delete ${counted(preview)} of app ${oneLine(scope.appId)} for good?`;
  if (!flags.yes && !(await agreed(question, hint)))
    throw new MemoryError("INVALID_INPUT", "Nothing was deleted.");
  const purged = await memory.notes.purge({ scope, actor, reason });
  print(flags, purged, () => `Deleted ${counted(purged)}.`);
}

function counted({ deletedCount, hiddenCount }: Purged): string {
  return `${deletedCount} notes in use and ${hiddenCount} hidden ones`;
}

async function context(memory: Memory, scope: AppScope, flags: NotesFlags): Promise<void> {
  const block = await memory.notes.context({ scope });
  print(flags, { context: block }, () => block?.split("\n").map(oneLine).join("\n") ?? "There are none.");
}
