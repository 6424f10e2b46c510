import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { briefly, compiled } from "./support/compiled.js";
import { onServer } from "./support/test-database.js";
import { limitsMs } from "./support/timing.js";

const root = resolve(import.meta.dirname, "..");

// On a server it would be the same again: the example has its own embedded database.
it.skipIf(onServer())(
  "The README's example prints what the README says when it is run as printed (embedded only)",
  async () => {
    const [, example = "", name = ""] =
      /<!-- example:start -->\s*```ts\n([\s\S]*?)```[^`]*`([^`]+)`/.exec(
        readFileSync(join(root, "README.md"), "utf8"),
      ) as RegExpExecArray;
    expect(example.trim().split("\n").length).toBeLessThanOrEqual(20);

    const folder = mkdtempSync(join(tmpdir(), "mnemograph-readme-"));
    try {
      writeFileSync(join(folder, "package.json"), "{}"); // as `npm install` makes it: without a type of module
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      // The package's own name leads to its sources, as an installed copy would lead to its build.
      const source = example
        .replace(`"mnemograph/testing"`, JSON.stringify(compiled("src/testing/index")))
        .replace(`"mnemograph"`, JSON.stringify(compiled("src/index")));
      writeFileSync(join(folder, name), source);
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [...briefly, "--import", "tsx", name],
        {
          cwd: folder,
          timeout: limitsMs.step,
        },
      );
      expect(stdout).toContain("From memory: The user is allergic to peanuts.");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
