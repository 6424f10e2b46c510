import type { Command } from "commander";
import type { Memory } from "../memory.js";
import type { ListedOwner } from "../owners/list-owners.js";
import type { Scope } from "../scope/scope.js";
import { type CliCommand, type MemoryFlags, type PageFlags, wholeNumber, withDatabase } from "./flags.js";
import { aligned, print } from "./output.js";
import { useMemory } from "./use-memory.js";

/** Flags of lists of users and apps. */
export type OwnersFlags = MemoryFlags & PageFlags;

/** `command` with the flags of such lists. */
export function withOwners(command: Command): Command {
  return withDatabase(command)
    .option("--tenant <id>", "only this tenant's (default: all)")
    .option("--limit <count>", "at most this many (default: 100)", wholeNumber(1_000))
    .option("--after <cursor>", "the next page: after the one with this cursor, as --json shows it");
}

/** `mnemograph users`: of whom something is kept. */
export const usersCommand: CliCommand = {
  name: "users",
  description: "list the users that something is kept of",
  examples: [["users --tenant acme", "users, with how much is kept of each"]],
  flags: withOwners,
  run: (flags: OwnersFlags) => listed(flags, (memory) => memory.users),
};

/** Prints the users or the apps that something is kept of. */
export async function listed(
  flags: OwnersFlags,
  of: (memory: Memory) => Pick<Memory["apps"], "list">,
): Promise<void> {
  const { tenant, limit, after } = flags;
  const page = { ...(tenant !== undefined && { tenantId: tenant }), limit, after };
  const owners = await useMemory({ ...flags, tenant: undefined }, (memory) => of(memory).list(page));
  print(flags, owners, () => aligned(owners.map(row)).join("\n") || "There are none.");
}

function row({ scope, memories, threads, items, lastActivityAt }: ListedOwner) {
  const { tenantId, userId, appId } = scope;
  const counts = [
    `${memories} memories`,
    `${threads} threads`,
    `${items} items`,
    lastActivityAt?.toISOString() ?? "-",
  ];
  return [...counts, tenantId === undefined ? "" : `tenant ${tenantId}`, userId ?? appId ?? ""];
}

interface MergeFlags extends MemoryFlags {
  readonly from?: string;
  readonly fromApp?: string;
  readonly thread?: string[];
  readonly to: string;
  readonly dryRun?: true;
  readonly actor?: string;
}

/** `mnemograph merge`: makes all that is kept of one user another's. */
export const mergeCommand: CliCommand = {
  name: "merge",
  description: "make one user another, such as a guest who signed in, with threads, memories and all",
  examples: [
    ["merge --from guest-7f3a --to ana --dry-run", "what would move"],
    ["merge --from-app shop --thread t1 --to ana", "a conversation begun before there was a user"],
  ],
  flags: (command) =>
    withDatabase(command)
      .option("--from <user>", "the user that goes; this or --from-app is needed")
      .option("--from-app <app>", "the app in which the conversations were begun")
      .option("--thread <id...>", "with --from-app: which conversations")
      .requiredOption("--to <user>", "the user that it becomes")
      .option("--tenant <id>", "the tenant of both")
      .option("--config <file>", "YAML file with the application's settings, such as its categories")
      .option("--actor <name>", "who does it, for the audit trail (default: cli)")
      .option("--dry-run", "only count what would move"),
  run: merge,
};

/** @throws MemoryError as `memory.users.merge` does. */
async function merge(flags: MergeFlags): Promise<void> {
  const { from, fromApp, to, thread: threadIds, dryRun = false, tenant, actor = "cli" } = flags;
  const of = tenant === undefined ? {} : { tenantId: tenant };
  const source: Scope = {
    ...of,
    ...(from !== undefined && { userId: from }),
    ...(fromApp !== undefined && { appId: fromApp }),
  };
  const merge = { from: source, to: { ...of, userId: to }, threadIds, dryRun, actor };
  const merged = await useMemory({ ...flags, tenant: undefined }, (memory) => memory.users.merge(merge));
  print(flags, merged, () =>
    [dryRun ? "Would move:" : "Moved:", ...aligned(Object.entries(merged))].join("\n"),
  );
}
