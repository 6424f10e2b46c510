import { MemoryError } from "../errors.js";
import type { Uninstalled } from "../owners/uninstall-app.js";
import type { AppScope } from "../scope/scope.js";
import type { CliCommand } from "./flags.js";
import { agreed } from "./forget-command.js";
import { oneLine, print } from "./output.js";
import { listed, type OwnersFlags, withOwners } from "./owners-commands.js";
import { useMemory } from "./use-memory.js";

interface AppsFlags extends OwnersFlags {
  readonly purgeMemories?: true;
  readonly yes?: true;
  readonly actor?: string;
  readonly reason?: string;
}

/** `mnemograph apps`: the apps that something is kept of, and the end of one. */
export const appsCommand: CliCommand = {
  name: "apps",
  description: "list the apps that something is kept of, or take one out of use",
  examples: [
    ["apps"],
    ["apps uninstall calendar", "its conversations end; --purge-memories deletes its own memories"],
  ],
  flags: (command) =>
    withOwners(command)
      .argument("[action]", '"uninstall" takes one out of use: its conversations end, its memories stay')
      .argument("[id]", "which")
      .option("--purge-memories", "with uninstall: delete its own memories for good, its notes among them")
      .option("--yes", "with --purge-memories: do not ask")
      .option("--reason <text>", "with uninstall: why, for the audit trail")
      .option("--actor <name>", "with uninstall: who does it, for the audit trail (default: cli)"),
  run: apps,
};

/** @throws MemoryError `INVALID_INPUT` for another action, and what `memory.apps.uninstall` throws. */
async function apps(action: string | undefined, id: string | undefined, flags: AppsFlags): Promise<void> {
  if (action === "uninstall" && id !== undefined) return uninstall(id, flags);
  if (action !== undefined)
    throw new MemoryError("INVALID_INPUT", "Use `apps` to list them, or `apps uninstall <id>`.");
  if (flags.purgeMemories)
    throw new MemoryError("INVALID_INPUT", "--purge-memories goes with `apps uninstall <id>`.");
  await listed(flags, (memory) => memory.apps);
}

async function uninstall(appId: string, flags: AppsFlags): Promise<void> {
  const { tenant, purgeMemories = false, yes, actor = "cli", reason } = flags;
  if (purgeMemories && !yes) {
    const hint = "--purge-memories deletes for good: add --yes, or leave it out to keep what the app knows.";
    if (!(await agreed(`Delete all memories of app ${oneLine(appId)} for good?`, hint)))
      throw new MemoryError("INVALID_INPUT", "Nothing was done.");
  }
  const scope: AppScope = { ...(tenant !== undefined && { tenantId: tenant }), appId };
  const done = await useMemory({ ...flags, app: appId }, (memory) =>
    memory.apps.uninstall(scope, { purgeMemories, actor, reason }),
  );
  print(flags, done, () => describe(done, purgeMemories));
}

function describe(
  { endedThreads, deletedCount, hiddenCount, deletedItems }: Uninstalled,
  purged: boolean,
): string {
  const ended = `Ended ${endedThreads} ${endedThreads === 1 ? "conversation" : "conversations"}.`;
  if (!purged) return `${ended} Its memories and items stay.`;
  return `${ended} Deleted ${deletedCount} memories in use, ${hiddenCount} hidden ones and ${deletedItems} items of its store.`;
}
