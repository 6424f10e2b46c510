import type { Command } from "commander";
import type { Memory } from "../memory.js";
import type { ListedOwner } from "../owners/list-owners.js";
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
