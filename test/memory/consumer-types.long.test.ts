import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { options, root } from "../support/compiler.js";

/** A program of the package and of `consumer`, in an installation that lacks `missing`. */
function programOf(
  consumer: string,
  missing: RegExp,
  paths: ts.MapLike<string[]> = {},
): { program: ts.Program; file: string } {
  const file = join(root, "test/consumer.ts");
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => path === file || (!missing.test(path) && fileExists(path));
  host.readFile = (path) => (path === file ? consumer : readFile(path));
  // `format` says that it is an ES module.
  host.getSourceFile = (path, format, ...rest) =>
    path === file
      ? ts.createSourceFile(path, consumer, format)
      : getSourceFile.call(host, path, format, ...rest);
  return {
    program: ts.createProgram(
      [file],
      { ...options, paths: { ...options.paths, ...paths }, types: [] },
      host,
    ),
    file,
  };
}

describe("types of the package", () => {
  it("A program with an invalid database gets a compile error, without the declarations of pg", () => {
    const consumer = `
      import { createMemory } from "../src/index.js";
      declare const pool: { connect(): Promise<object>; query(text: string): Promise<object>; end(): Promise<void>; totalCount: number };
      createMemory({ database: pool });
      createMemory({ database: "postgresql://localhost/app" });
      createMemory({ database: { dataDir: "folder" } });
      createMemory({ database: 42 });
      createMemory({ database: { datadir: "folder" } });
      createMemory({ databse: "postgresql://localhost/app" });`;
    const { program, file } = programOf(consumer, /node_modules\/@types\/pg\//);
    const problems = program.getSemanticDiagnostics(program.getSourceFile(file));
    expect(problems.map(({ start = 0 }) => consumer.slice(0, start).split("\n").length)).toEqual([
      7, 8, 9,
    ]);
  });

  it.each([
    ["AI SDK 6", "ai-6"],
    ["AI SDK 7", "ai"],
  ])("A program gets the types of %s for the middleware and the tool", (_, name) => {
    const consumer = `
      import { generateText, stepCountIs, streamText, wrapLanguageModel } from "ai";
      import { MockLanguageModelV3 } from "ai/test";
      import { memoryModelMiddleware, memoryQueryToolFor } from "../packages/ai-sdk/src/index.js";
      import type { Memory } from "../src/index.js";
      declare const memory: Memory;
      const scope = { userId: "ana" };
      const middleware = memoryModelMiddleware(memory, { scope, threadId: "monday" });
      const model = wrapLanguageModel({ model: new MockLanguageModelV3(), middleware });
      wrapLanguageModel({ model, middleware: [middleware, middleware] });
      const tools = { memory_query: memoryQueryToolFor(memory, { scope, agent: "planner" }) };
      const { text, steps } = await generateText({ model, tools, prompt: "Hi", stopWhen: stepCountIs(3) });
      for await (const delta of streamText({ model, tools, prompt: "Hi" }).textStream) delta satisfies string;
      [text, steps[0]?.toolCalls[0]?.toolName ?? ""] satisfies string[];
      memoryModelMiddleware(memory, { scope, thread: "monday" });`;
    const folder = join(root, "node_modules", name);
    const paths = { ai: [folder], "ai/test": [join(folder, "dist/test/index.d.ts")] };
    const { program, file } = programOf(consumer, /^$/, paths);
    const sources = program.getSourceFiles().filter(({ fileName }) => /ai-sdk.src/.test(fileName));
    const problems = [program.getSourceFile(file), ...sources].flatMap((source) => [
      ...program.getSemanticDiagnostics(source),
    ]);
    expect(problems.map(({ start = 0 }) => consumer.slice(0, start).split("\n").length)).toEqual([
      15,
    ]);
    const used = program.getSourceFiles().map(({ fileName }) => fileName);
    expect(used.some((path) => path.includes(`/node_modules/${name}/`))).toBe(true);
  });

  it.each([
    [".", ["src/index.ts", "src/contract.ts", "src/testing/index.ts"]],
    ["packages/server", ["src/http/index.ts", "src/mcp/index.ts"]],
    ["packages/ai-sdk", ["src/index.ts"]],
  ])(
    "Every declaration that the package in %s imports is among its dependencies and required peers",
    (home, paths) => {
      const entries = paths.map((path) => join(home, path));
      const manifest = JSON.parse(readFileSync(join(root, home, "package.json"), "utf8"));
      const { dependencies, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
      const required = Object.keys(peerDependencies).filter(
        (name) => !peerDependenciesMeta[name]?.optional,
      );
      const installed = new Set([...Object.keys(dependencies), ...required]);
      const declared = declarations(entries);
      const used = new Map<string, string>();
      const seen = new Set<string>();
      const visit = (path: string): void => {
        if (seen.has(path)) return;
        seen.add(path);
        for (const name of importsOf(declared.get(path) as string)) {
          if (name.startsWith(".")) visit(join(path, "..", name.replace(/\.js$/, ".d.ts")));
          else if (!name.startsWith("node:")) used.set(packageOf(name), path);
        }
      };
      for (const entry of entries) visit(entry.replace(/\.ts$/, ".d.ts"));
      expect([...used].filter(([name]) => !installed.has(name))).toEqual([]);
      // pg is plain JavaScript; its declarations are a package of their own.
      if (used.has("pg")) expect(installed).toContain("@types/pg");
    },
  );
});

function importsOf(text: string): string[] {
  const found = text.matchAll(/from "([^"]+)"|import\("([^"]+)"\)/g);
  return [...found].map(([, from, dynamic]) => (from ?? dynamic) as string);
}

function packageOf(name: string): string {
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}

/** The declarations that the build writes, by path. */
function declarations(entries: readonly string[]): Map<string, string> {
  const written = new Map<string, string>();
  const program = ts.createProgram(
    entries.map((path) => join(root, path)),
    {
      ...options,
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: "/",
      rootDir: root,
    },
  );
  program.emit(
    undefined,
    (path, text) => written.set(path.replace(/^\//, ""), text),
    undefined,
    true,
  );
  return written;
}
