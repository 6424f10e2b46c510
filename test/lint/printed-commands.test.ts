import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const files = [
  "README.md",
  ...["docs", "examples", "graphs", "src", "packages/server", "packages/ai-sdk"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(md|tsx?|yaml)$/.test(path) && !/node_modules|dist\//.test(path))
      .map((path) => join(folder, path)),
  ),
];

/** What is shown to somebody: not a comment of a source. */
const shown = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => path.endsWith(".md") || !/^\s*(\*|\/\/|\/\*)/.test(line));

it("Every printed command names the package that has it: npx @mnemograph/server", () => {
  expect(files.length).toBeGreaterThan(300);
  const old = files.flatMap((path) =>
    shown(path)
      .filter((line) => /(?:npx |[`$] ?)mnemograph [a-z]/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(old).toEqual([]);
});
