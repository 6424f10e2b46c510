import type { Command } from "commander";
import {
  type CliCommand,
  type MemoryFlags,
  withModel,
  withPlace,
  withScope,
  withSettings,
} from "./flags.js";
import { aligned } from "./output.js";
import { useMemory } from "./use-memory.js";

export const callCommand: CliCommand = {
  name: "call",
  description:
    "do any operation of the HTTP API, without a server; alone, or with --help, it lists them",
  examples: [
    ["call listMemories --user ana --json '{\"limit\":20}'", "any other operation, as JSON"],
    ["call listMemories --help", "what an operation takes"],
  ],
  flags: (command) =>
    withModel(withSettings(withPlace(withScope(command, "the user, as `userId` in the input"))))
      .argument("[operation]", "which operation")
      .option("--json <input>", 'what it takes, as JSON; "-" reads standard input')
      .option("--actor <name>", "who does it, for the audit trail", "cli")
      .helpOption(false)
      .option("-h, --help", "list the operations, or say what one takes"),
  run: call,
};

type CallFlags = Omit<MemoryFlags, "json"> & { json?: string; actor: string; help?: true };

async function call(name: string | undefined, { json, ...flags }: CallFlags, command: Command) {
  if (name === undefined) {
    const { operationList } = await import("../operations/operations.js");
    const operations = aligned(
      operationList.map(([operation, { does }]) => [`  ${operation}`, does]),
    );
    return console.log([command.helpInformation(), "Operations:", ...operations].join("\n"));
  }
  const { describeOperation, prepareOperation } = await import("./call-operation.js");
  if (flags.help) return console.log(describeOperation(name));
  const { tenant: tenantId, user: userId, app: appId, actor } = flags;
  const run = await prepareOperation(
    name,
    json,
    { tenantId, userId, appId },
    { role: "operator", actor },
  );
  await useMemory(flags, run);
}
