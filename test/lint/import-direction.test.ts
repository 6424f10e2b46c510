import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const depcruise = join(root, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
const config = ".dependency-cruiser.mjs";

const server = "../packages/server/src";

type Case = readonly [file: string, statement: string];

const forbidden: readonly Case[] = [
  ["text/a.ts", `import { x } from "../postgres/x.js"`],
  ["text/b.ts", `import sql from "sql-template-tag"`],
  ["text/c.ts", `import { readFile } from "node:fs/promises"`],
  ["memories/compare/a.ts", `import sql from "sql-template-tag"`],
  ["search/some.rule.ts", `import sql from "sql-template-tag"`],
  ["search/other.rule.ts", `import { x } from "./question-terms.js"`],
  ["postgres/a.ts", `import type { X } from "../memories/item/x.js"`],
  ["scope/a.ts", `import { x } from "../transcript/x.js"`],
  ["models/a.ts", `import type { X } from "../config.js"`],
  ["work/a.ts", `import { x } from "../summaries/x.js"`],
  ["transcript/a.ts", `import { x } from "../prompt/x.js"`],
  ["memories/item/a.ts", `import type { X } from "../write/x.js"`],
  ["memories/write/a.ts", `import type { X } from "../edit/x.js"`],
  ["memories/write/b.ts", `import { x } from "../../facts/x.js"`],
  ["memories/write/c.ts", `import { Pool } from "pg"`],
  ["memories/write/f.ts", `import { touchMemories } from "../apply/memory-states.js"`],
  ["summaries/a.ts", `import { x } from "../episodes/x.js"`],
  ["facts/extraction-graph.ts", `import { StateGraph } from "@langchain/langgraph"`],
  ["search/a.ts", `import { x } from "../prompt/x.js"`],
  ["search/b.ts", `import { x } from "../create-memory.js"`],
  ["prompt/a.ts", `import type { X } from "../memory.js"`],
  ["prompt/b.ts", `const { x } = await import("../langgraph/run/x.js")`],
  ["consents/a.ts", `export { x } from "../cli/x.js"`],
  ["langgraph/nodes/a.ts", `import { createMemory } from "../../create-memory.js"`],
  ["langgraph/run/a.ts", `import type { X } from "../nodes/x.js"`],
  ["testing/a.ts", `import { x } from "../text/x.js"`],
  ["a-new-folder/a.ts", `import { x } from "../text/x.js"`],
  ["text/f.ts", `import { x } from "../../packages/server/src/http/x.js"`],
  [`${server}/http/a.ts`, `import { x } from "../../../../src/scope/x.js"`],
  [`${server}/http/b.ts`, `import type { X } from "../cli/x.js"`],
  [`${server}/operations/a.ts`, `import { Hono } from "hono"`],
];

const allowed: readonly Case[] = [
  ["text/d.ts", `import { x } from "../errors.js"`],
  ["text/e.ts", `import type { X } from "./x.js"`],
  ["postgres/b.ts", `import pg from "pg"`],
  ["postgres/c.ts", `import type { X } from "../logger.js"`],
  ["memories/write/d.ts", `import type { X } from "../consent/x.js"`],
  ["memories/write/e.ts", `import type { Pool } from "pg"`],
  ["work/background-graph.ts", `import { StateGraph } from "@langchain/langgraph"`],
  ["facts/b.ts", `import type { X } from "../runtime.js"`],
  ["search/third.rule.ts", `import type { X } from "./memory-hits.js"`],
  ["prompt/c.ts", `import { x } from "../search/x.js"`],
  ["langgraph/nodes/b.ts", `import type { X } from "../../memory.js"`],
  ["langgraph/wrap/a.ts", `import { x } from "../nodes/x.js"`],
  [`${server}/cli/a.ts`, `import { x } from "../http/x.js"`],
  [`${server}/cli/b.ts`, `import { x } from "../../../../src/contract.js"`],
];

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}

/** The rules that `cases`, as files of a folder of their own, break. */
function cruise(cases: readonly Case[]): Violation[] {
  const base = mkdtempSync(join(tmpdir(), "mnemograph-imports-"));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(base, "src", file)), { recursive: true });
    writeFileSync(join(base, "src", file), text);
  };
  try {
    mkdirSync(join(base, "packages"));
    for (const file of [config, "tsconfig.json", "package.json"])
      cpSync(join(root, file), join(base, file));
    symlinkSync(join(root, "node_modules"), join(base, "node_modules"));
    for (const [file, statement] of cases) {
      const target = /"(\.{1,2}\/[^"]+)\.js"/.exec(statement)?.[1];
      if (target !== undefined)
        write(`${join(dirname(file), target)}.ts`, "export const x = 1;\nexport type X = 1;\n");
    }
    for (const [file, statement] of cases) write(file, `${statement};\n`);
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [depcruise, "src", "packages", "--config", config, "--output-type", "json"],
      { cwd: base, encoding: "utf8" },
    );
    if (!stdout.startsWith("{")) throw new Error(`dependency-cruiser gave no report:\n${stderr}`);
    const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[] } };
    return summary.violations;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

describe("import direction", () => {
  describe("imports against it", () => {
    const reported = new Set(cruise(forbidden).map(({ from }) => from));
    it.each(forbidden)("%s must not contain: %s", (file) =>
      expect(reported).toContain(join("src", file)),
    );
  });

  describe("imports along it", () => {
    const reported = new Set(cruise(allowed).map(({ from }) => from));
    it.each(allowed)("%s may contain: %s", (file) =>
      expect(reported).not.toContain(join("src", file)),
    );
  });

  it("The import rules report circles of types", () => {
    const violations = cruise([
      ["facts/a.ts", `import type { B } from "./b.js"; export type A = B`],
      ["facts/b.ts", `import type { A } from "./a.js"; export type B = A | 1`],
    ]);
    expect(violations.map(({ rule }) => rule.name)).toContain("no-circular-files");
  });
});
