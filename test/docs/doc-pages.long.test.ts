import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { format } from "node:util";
import ts from "typescript";
import { afterEach, describe, expect, it } from "vitest";
import type { MemoryOptions } from "../../src/create-memory-options.js";
import { type DocExample, docExamples, docPages, repository } from "../support/doc-pages.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const pages = docPages();

describe("examples of the documentation", () => {
  // Each example starts with empty tables.
  afterEach(async () => {
    const { rows } = await db.pool.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = $1 and tablename not in ('meta', 'checkpoint_migrations')",
      [db.schema],
    );
    await db.pool.query(
      `truncate ${rows.map(({ name }) => `"${db.schema}"."${name}"`).join(", ")} cascade`,
    );
  });

  it.each(docExamples(pages))("$at prints what the page says", async (example) => {
    expect(await printed(example)).toBe(example.output);
  });
});

describe("pages of the documentation", () => {
  it("Links of the pages lead to files of the package, and to headings within pages", () => {
    const dead = pages.flatMap(({ path, text }) =>
      linksOf(text)
        .filter((link) => !leads(path, link))
        .map((link) => `${path}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  it("docs/README.md lists each page of docs once", () => {
    const [contents] = pages.filter(({ path }) => path === "docs/README.md");
    const listed = [...(contents?.text ?? "").matchAll(/^\| \[[^\]]+\]\(([^)]+\.md)\)/gm)].map(
      ([, link = ""]) => normalize(join("docs", link)),
    );
    const others = pages.filter(
      ({ path }) => path.startsWith("docs/") && path !== "docs/README.md",
    );
    expect(listed).toEqual(expect.arrayContaining(others.map(({ path }) => path)));
    expect(new Set(listed).size).toBe(listed.length);
  });
});

/**
 * What an example prints, line by line as the console has it, on the test's database where it names
 * none.
 */
async function printed({ code }: DocExample): Promise<string> {
  const { createMemory, ...own } = await import("../../src/index.js");
  const packages: Record<string, () => unknown> = {
    mnemograph: () => ({
      ...own,
      createMemory: (options?: MemoryOptions) =>
        createMemory({ database: db.pool, schema: db.schema, ...options }),
    }),
    "@mnemograph/server/http": () => import("../../packages/server/src/http/index.js"),
    "@mnemograph/server/mcp": () => import("../../packages/server/src/mcp/index.js"),
    "@mnemograph/ai-sdk": () => import("../../packages/ai-sdk/src/index.js"),
    "mnemograph/testing": () => import("../../src/testing/index.js"),
  };
  const loaded = new Map<string, unknown>();
  for (const { fileName } of ts.preProcessFile(code).importedFiles) {
    loaded.set(fileName, await (packages[fileName]?.() ?? import(fileName)));
  }
  const lines: string[] = [];
  const console = { log: (...values: unknown[]) => void lines.push(`${format(...values)}\n`) };
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const program = new AsyncFunction("require", "exports", "console", outputText);
  await program((name: string) => loaded.get(name), {}, console);
  return lines.join("");
}

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...values: unknown[]) => Promise<void>;

/** The targets of a page's links within the repository. */
function linksOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map(([, link = ""]) => link);
}

function leads(from: string, link: string): boolean {
  const [file = "", heading] = link.split("#");
  const path = file === "" ? from : normalize(join(dirname(from), file));
  if (heading === undefined) return existsSync(join(repository, path)) && isPublished(path);
  const page = pages.find((other) => other.path === path);
  return page !== undefined && headingsOf(page.text).includes(heading);
}

/** Whether the package contains the file. */
function isPublished(path: string): boolean {
  const { files } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  return ["README.md", ...(files as string[])].some((pattern) =>
    new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}(/|$)`).test(path),
  );
}

/** The names that GitHub gives to headings. */
function headingsOf(text: string): string[] {
  const headings = text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, "")
      .replaceAll(" ", "-"),
  );
}
