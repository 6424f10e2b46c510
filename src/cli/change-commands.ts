import type { MemoryItem } from "../memories/item/memory.js";
import type { MemoryChangeAccess } from "../memories/memories-api.js";
import type { Memory } from "../memory.js";
import { type CliCommand, type DecisionFlags, wholeNumber, withDecisions } from "./flags.js";
import { oneLine, print } from "./output.js";
import { useScope } from "./use-memory.js";

interface ChangeFlags extends DecisionFlags {
  readonly consent?: true;
  readonly to?: number;
}

type Change = (
  memory: Memory,
  id: string,
  access: MemoryChangeAccess,
  flags: ChangeFlags,
) => Promise<MemoryItem>;

const texts = {
  embeddings: "give the memory a vector, with the embeddings a file or package exports",
  actor: "who changes it, for the audit trail (default: cli)",
};

/** A command that changes one memory, named by its id. */
function changeCommand(name: string, description: string, change: Change): CliCommand {
  return {
    ...{ name, description, examples: [] },
    flags: (command) =>
      withDecisions(command, texts, [["--consent", "the user agreed, where a field needs consent"]]).argument(
        "<id>",
        "the memory's id, as `list` prints it",
      ),
    async run(id: string, flags: ChangeFlags) {
      const { actor = "cli", ifRevision, consent } = flags;
      await useScope(flags, async (memory, scope) => {
        const access = { scope, actor, ifRevision, ...(consent && { consent: "given" as const }) };
        const changed = await change(memory, id, access, flags);
        print(flags, changed, () => oneLine(`${changed.state}: ${changed.text}`));
      });
    },
  };
}

/** `mnemograph remove`, `restore`, `pin` and `unpin`: as the calls of the same names. */
export const removeCommand = changeCommand(
  "remove",
  "hide a memory; for 30 days it can be restored",
  ({ memories }, id, access) => memories.remove(id, access),
);
export const restoreCommand = changeCommand(
  "restore",
  "bring back a memory that was removed, aged or expired",
  ({ memories }, id, access) => memories.restore(id, access),
);
export const pinCommand = changeCommand(
  "pin",
  "keep a memory from being forgotten by age",
  ({ memories }, id, access) => memories.update(id, { pinned: true }, access),
);
export const unpinCommand = changeCommand("unpin", "let it age again", ({ memories }, id, access) =>
  memories.update(id, { pinned: false }, access),
);

const revert = changeCommand(
  "revert",
  "give a memory the content it had right after an entry of its history",
  ({ memories }, id, access, { to }) => memories.revert(id, { ...access, to: to as number }),
);
const entry = "the entry's id, as `history` prints it";

/** `mnemograph revert`: an earlier version of a memory again. */
export const revertCommand: CliCommand = {
  ...revert,
  examples: [["revert 6f1c2d3e-… --to 42 --user ana", "as it was after entry 42 of its history"]],
  flags: (command) => revert.flags(command).requiredOption("--to <entry>", entry, wholeNumber(1e15)),
};
