import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");
const rule = "lint/style/noRestrictedImports";

type Case = readonly [file: string, statement: string];

const forbidden: readonly Case[] = [
  ["domain/a.ts", `import { x } from "../database/pool.js"`],
  ["domain/b.ts", `import type { X } from "../store/memories.js"`],
  ["domain/c.ts", `import { Pool } from "pg"`],
  ["domain/d.ts", `import { StateGraph } from "@langchain/langgraph"`],
  ["domain/e.ts", `import { tool } from "@langchain/core/tools"`],
  ["domain/nested/f.ts", `import { x } from "../../recall/recall.js"`],
  ["domain/g.ts", `import { readFile } from "node:fs/promises"`],
  ["domain/h.ts", `import { x } from "../a-folder-yet-to-come/x.js"`],
  ["database/a.ts", `import { x } from "../store/memories.js"`],
  ["database/b.ts", `import { x } from "../recall/recall.js"`],
  ["store/a.ts", `import { x } from "../llm/extract.js"`],
  ["store/b.ts", `export { x } from "../remember/remember.js"`],
  ["recall/a.ts", `import { x } from "../langgraph/state.js"`],
  ["recall/b.ts", `import type { X } from "../memory.js"`],
  ["remember/a.ts", `import { x } from "../http/app.js"`],
  ["llm/a.ts", `import { x } from "../cli/main.js"`],
  ["llm/b.ts", `import { x } from "../testing/index.js"`],
  ["upkeep/a.ts", `import { x } from "../index.js"`],
  ["summarize/a.ts", `import { StateGraph } from "@langchain/langgraph"`],
  ["governance/a.ts", `import { interrupt } from "@langchain/langgraph/web"`],
  ["jobs/a.ts", `import { createSupervisor } from "@langchain/langgraph-supervisor"`],
  ["jobs/b.ts", `const { x } = await import("../langgraph/state.js")`],
  ["langgraph/a.ts", `import { x } from "../http/app.js"`],
  ["langgraph/b.ts", `import { createMemory } from "../create-memory.js"`],
  ["http/a.ts", `import { x } from "../cli/main.js"`],
  ["http/b.ts", `import { createMemory } from "../create-memory.js"`],
  ["cli/a.ts", `import { StateGraph } from "@langchain/langgraph"`],
  ["testing/a.ts", `import { x } from "../domain/scope.js"`],
  ["errors.ts", `import { x } from "./store/memories.js"`],
  ["logger.ts", `import { x } from "./memory.js"`],
];

const allowed: readonly Case[] = [
  ["domain/a.ts", `import { MemoryError } from "../errors.js"`],
  ["domain/b.ts", `import type { Options } from "../options.js"`],
  ["domain/c.ts", `import type { BaseMessage } from "@langchain/core/messages"`],
  ["domain/d.ts", `import { x } from "./memory.js"`],
  ["domain/nested/e.ts", `import { x } from "../../errors.js"`],
  ["database/a.ts", `import { x } from "../domain/scope.js"`],
  ["database/b.ts", `import pg from "pg"`],
  ["store/a.ts", `import { x } from "../database/pool.js"`],
  ["store/b.ts", `import { x } from "../domain/memory.js"`],
  ["store/c.ts", `import { MemorySaver } from "@langchain/langgraph-checkpoint"`],
  ["recall/a.ts", `import { x } from "../store/memories.js"`],
  ["recall/b.ts", `import { x } from "../llm/extract.js"`],
  ["recall/c.ts", `import type { Clock } from "../clock.js"`],
  ["summarize/a.ts", `import { HumanMessage } from "@langchain/core/messages"`],
  ["langgraph/a.ts", `import { StateGraph } from "@langchain/langgraph"`],
  ["langgraph/b.ts", `import { x } from "../recall/recall.js"`],
  ["langgraph/c.ts", `import type { Memory } from "../memory.js"`],
  ["http/a.ts", `import type { Memory } from "../memory.js"`],
  ["cli/a.ts", `import { createMemory } from "../create-memory.js"`],
  ["cli/b.ts", `import { x } from "../http/app.js"`],
  ["testing/a.ts", `import { MemoryError } from "../errors.js"`],
  ["testing/b.ts", `import { FakeListChatModel } from "@langchain/core/utils/testing"`],
  ["create-memory.ts", `import { StateGraph } from "@langchain/langgraph"`],
  ["index.ts", `export { x } from "./langgraph/state.js"`],
  ["options.ts", `import type { X } from "./domain/scope.js"`],
];

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string | { readonly file: string } };
}

/**
 * What Biome says of `cases`, planted in a directory of their own under a copy of the lint configuration:
 * in the real src they would be seen by a lint or a type check that runs at the same time.
 */
function lint(cases: readonly Case[]): { status: number | null; reported: ReadonlySet<string> } {
  const base = mkdtempSync(join(tmpdir(), "mnemograph-lint-"));
  try {
    for (const config of ["biome.json", "biome.imports.json"]) cpSync(join(root, config), join(base, config));
    for (const [file, statement] of cases) {
      const path = join(base, "src", file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `${statement};\n`);
    }
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [biome, "lint", `--only=${rule.replace("lint/", "")}`, "--reporter=json", "--max-diagnostics=none"],
      { cwd: base, encoding: "utf8" },
    );
    const start = stdout.indexOf("{");
    if (start < 0) throw new Error(`Biome gave no report:\n${stderr}`);
    const { diagnostics } = JSON.parse(stdout.slice(start)) as { diagnostics: Diagnostic[] };
    const reported = diagnostics.filter(({ category }) => category === rule).map(fileOf);
    return { status, reported: new Set(reported) };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function fileOf({ location: { path } }: Diagnostic): string {
  return (typeof path === "string" ? path : path.file).replace(/^src\//, "");
}

describe("import direction", () => {
  describe("against it", () => {
    const { status, reported } = lint(forbidden);
    it("fails the lint", () => expect(status).not.toBe(0));
    it.each(forbidden)("src/%s may not: %s", (file) => expect(reported).toContain(file));
  });

  describe("along it", () => {
    const { status, reported } = lint(allowed);
    it("passes the lint", () => expect(status).toBe(0));
    it.each(allowed)("src/%s may: %s", (file) => expect(reported).not.toContain(file));
  });

  it("has a place for every folder of src", () => {
    const config = readFileSync(join(root, "biome.imports.json"), "utf8");
    const { overrides } = JSON.parse(config) as { overrides: { includes: string[] }[] };
    const placed = overrides.flatMap(({ includes }) => includes).join(" ");
    const entries = readdirSync(join(root, "src"), { withFileTypes: true });
    for (const { name } of entries.filter((entry) => entry.isDirectory())) {
      expect(placed).toMatch(new RegExp(`[/{,]${name}[/},]`));
    }
  });
});
