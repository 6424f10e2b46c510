import { movingSchema } from "../cells/cell-place.rule.js";
import { MemoryError } from "../errors.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withDatabase } from "./flags.js";
import { aligned, print } from "./output.js";
import { useMemory } from "./use-memory.js";

interface CellsFlags extends MemoryFlags {
  readonly timeout?: number;
}

/** `mnemograph cells`: the schemas that a memory is spread over, and taking one out of use to move it. */
export const cellsCommand: CliCommand = {
  name: "cells",
  description: "show the cells, or take one out of use to move it, and put it in use again",
  examples: [
    ["cells list --cells 16", "how each cell stands"],
    ["cells freeze 3 --cells 16", "then pg_dump its schema, and `cells thaw 3` where it is now"],
  ],
  flags: (command) =>
    withDatabase(command)
      .argument("[action]", '"list", "freeze" or "thaw"', "list")
      .argument("[cell]", "which cell, from 0")
      .option(
        "--timeout <seconds>",
        "longest wait for those who write there (default: 30)",
        wholeNumber(86_400),
      ),
  run: cells,
};

/** @throws MemoryError `INVALID_INPUT`, and what `memory.cells` throws */
async function cells(action: string, cell: string | undefined, flags: CellsFlags): Promise<void> {
  if (action === "list" && cell === undefined) {
    const found = await useMemory(flags, (memory) => memory.cells.list());
    return print(flags, found, () =>
      aligned(found.map(({ cell, schema, state }) => [cell, schema, state])).join("\n"),
    );
  }
  if ((action !== "freeze" && action !== "thaw") || cell === undefined || !/^\d+$/.test(cell)) {
    throw new MemoryError("INVALID_INPUT", "Use `cells list`, `cells freeze <cell>` or `cells thaw <cell>`.");
  }
  const { timeout } = flags;
  const found = await useMemory(flags, async (memory) => {
    const number = Number(cell);
    if (action === "thaw") await memory.cells.thaw(number);
    else await memory.cells.freeze(number, timeout === undefined ? {} : { timeoutMs: timeout * 1_000 });
    return (await memory.cells.list())[number];
  });
  print(flags, found, () =>
    action === "thaw"
      ? `Cell ${cell} is in use.`
      : `Cell ${cell} is out of use. Its schema is called "${movingSchema(found?.schema ?? "")}" until it is thawed.`,
  );
}
