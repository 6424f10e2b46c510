import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compiled } from "../support/compiled.js";
import { runProgram } from "../support/run-program.js";
import { onServer } from "../support/test-database.js";

// On a server it would be the same again: the example has its own embedded database.
it.skipIf(onServer())(
  "the graph with nodes of its own remembers across threads (embedded only)",
  async () => {
    const cwd = mkdtempSync(join(tmpdir(), "mnemograph-own-nodes-"));
    try {
      const program = runProgram(compiled("examples/own-nodes"), {}, cwd);
      expect(await program.exited, program.output()).toBe(0);
      expect(program.output()).toContain("Ana");
    } finally {
      rmSync(cwd, { recursive: true, force: true });
    }
  },
);
