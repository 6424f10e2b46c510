import { type CliCommand, type MemoryFlags, withMemory, withModel } from "./flags.js";
import { print } from "./output.js";
import { useMemory } from "./use-memory.js";

/** `mnemograph upkeep`: the work that is due, once, for cron and for what runs no processes of its own. */
export const upkeepCommand: CliCommand = {
  name: "upkeep",
  description:
    "do the work that is due now, and end: ageing and expiry; with a model also summaries, facts and notes",
  examples: [["upkeep --model ./model.js", "from cron, where no process lives long"]],
  flags: (command) => withModel(withMemory(command)),
  run: upkeep,
};

/** Rounds of work: each may make more due. */
const mostRounds = 100;

async function upkeep(flags: MemoryFlags): Promise<void> {
  const pieces = await useMemory(flags, async (memory) => {
    let done = 0;
    for (let round = 0; round < mostRounds; round++) {
      const due = await memory.upkeep();
      await memory.idle();
      done += due;
      if (due === 0) break;
    }
    return done;
  });
  print(flags, { pieces }, () => (pieces === 0 ? "Nothing was due." : `Did ${pieces} pieces of work.`));
}
