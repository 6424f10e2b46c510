import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

it("prints what the README says when its example is run as printed", async () => {
  const [, example = ""] = /<!-- example:start -->\s*```ts\n([\s\S]*?)```/.exec(
    readFileSync(join(root, "README.md"), "utf8"),
  ) as RegExpExecArray;
  expect(example.trim().split("\n").length).toBeLessThanOrEqual(20);

  const folder = mkdtempSync(join(tmpdir(), "mnemograph-readme-"));
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    // The package's own name leads to its sources, as an installed copy would lead to its build.
    const source = example
      .replace(`"mnemograph/testing"`, JSON.stringify(join(root, "src/testing/index.ts")))
      .replace(`"mnemograph"`, JSON.stringify(join(root, "src/index.ts")));
    writeFileSync(join(folder, "example.ts"), source);
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", "example.ts"], {
      cwd: folder,
      timeout: 60_000,
    });
    expect(stdout).toContain("My name is Ana.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 90_000);
