import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { installVectorsCommand } from "../../src/postgres/database-error.js";
import { openEmbeddedPool } from "../../src/postgres/embedded-pool.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { briefly } from "../support/compiled.js";
import { docPages } from "../support/doc-pages.js";
import { packages, packed } from "../support/packed.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";

const run = promisify(execFile);
const repository = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "mnemograph-bundled-"));
const project = join(folder, "project");
const installed = join(project, "node_modules");
const db = useTestDatabase();

/**
 * A project that has the package installed as it is published, and everything it can be used with.
 */
beforeAll(async () => {
  const dist = join(installed, "mnemograph/dist");
  mkdirSync(dist, { recursive: true });
  for (const name of readdirSync(join(repository, "node_modules"))) {
    if (!name.startsWith(".") && name !== "mnemograph")
      symlinkSync(join(repository, "node_modules", name), join(installed, name));
  }
  cpSync(join(repository, "package.json"), join(installed, "mnemograph/package.json"));
  const tsx = join(repository, "node_modules/tsx/dist/cli.mjs");
  const script = (...args: string[]) => run(process.execPath, [tsx, ...args], { cwd: repository });
  await script("scripts/bundle.ts", repository, dist);
  await script("scripts/make-empty-database.ts", dist);
});
afterAll(async () => {
  for (const schema of schemas) await db.pool.query(`drop schema if exists "${schema}" cascade`);
  rmSync(folder, { recursive: true, force: true });
});

const schemas: string[] = [];

/** A program that sets a database up and remembers over two threads. */
const program = (head: string) => `${head}
async function main() {
  const [database, schema] = JSON.parse(process.argv[2]);
  const memory = createMemory({ database, schema, model: new OfflineChatModel(), jobs: "inline" });
  const applied = await memory.setup();
  const agent = new StateGraph(MessagesAnnotation)
    .addNode("answer", (state) => ({ messages: [{ role: "assistant", content: "I see " + state.messages.length }] }))
    .addEdge(START, "answer")
    .compile();
  const graph = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
  const thread = { configurable: { thread_id: "t", user_id: "ana" } };
  await graph.invoke({ messages: [{ role: "user", content: "My name is Ana." }] }, thread);
  const { lastSeq } = await memory.recall({ scope: { userId: "ana" }, threadId: "t" });
  await memory.close();
  console.log(JSON.stringify({ applied: applied.length, lastSeq }));
}
main().catch((error) => { console.error(error); process.exit(1); });
`;
const imports = `import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createMemory, withMemory } from "mnemograph";
import { OfflineChatModel } from "mnemograph/testing";`;
const requires = `const { MessagesAnnotation, START, StateGraph } = require("@langchain/langgraph");
const { createMemory, withMemory } = require("mnemograph");
const { OfflineChatModel } = require("mnemograph/testing");`;

/** The packages of each `npm install` line, those of the README's first line first. */
function installLines(): string[] {
  const sources = ["src", "packages/server/src", "packages/ai-sdk/src"].flatMap((home) =>
    readdirSync(join(repository, home), { recursive: true, encoding: "utf8" }).map((name) =>
      join(home, name),
    ),
  );
  const paths = [...docPages().map(({ path }) => path), ...sources];
  const texts = paths
    .toSorted((one) => (one === "README.md" ? -1 : 0))
    .filter((path) => /\.(?:md|ts)$/.test(path));
  const lines = texts.flatMap((path) =>
    [
      ...readFileSync(join(repository, path), "utf8").matchAll(
        /npm install ((?:[@\w][^\s`"#{}]*(?: \\\n)?[ ]*)+)/g,
      ),
    ].map(([, names = ""]) => names.replace(/\\\n/g, "").replace(/[ ]+/g, " ").trim()),
  );
  return [...new Set([...lines, installVectorsCommand.replace("npm install ", "")])];
}

/** What the program prints on an empty database: the server's, else an embedded one of its own. */
async function outputOf(file: string, cwd: string, embedded = false): Promise<unknown> {
  const url = embedded ? null : inject("databaseUrl");
  const schema = `bundled_${schemas.length}_${process.pid}`;
  if (url !== null) schemas.push(schema);
  const database = url ?? { dataDir: join(cwd, "data") };
  const { stdout } = await run(
    process.execPath,
    [...briefly, file, JSON.stringify([database, schema])],
    { cwd },
  );
  return JSON.parse(stdout);
}

/** Bundles the program, and moves the bundle to a folder of its own. */
async function bundled(
  format: "esm" | "cjs",
  peers: "external" | "bundled",
): Promise<{ file: string; cwd: string }> {
  const entry = join(project, "app.mjs");
  writeFileSync(entry, program(imports));
  const name = `app.${format === "esm" ? "mjs" : "cjs"}`;
  const built = join(project, "build", name);
  await build({
    entryPoints: [entry],
    outfile: built,
    bundle: true,
    platform: "node",
    format,
    logLevel: "silent",
    preserveSymlinks: true,
    external:
      peers === "external"
        ? ["@langchain/*", "langchain", "pg", "@opentelemetry/*"]
        : ["pg-native"],
    // What esbuild asks for where CommonJS packages are bundled into an ES module.
    ...(format === "esm" && {
      banner: {
        js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
      },
    }),
  });
  const cwd = join(folder, `${format} ${peers}`);
  mkdirSync(cwd);
  renameSync(built, join(cwd, name));
  // The embedded database is never part of a bundle: it brings files of its own.
  if (peers === "external" || !onServer())
    symlinkSync(join(repository, "node_modules"), join(cwd, "node_modules"));
  return { file: join(cwd, name), cwd };
}

describe("the published package", () => {
  it("The package contains an empty database of some 1.3 MB for its version of the engine", async () => {
    const dist = join(installed, "mnemograph/dist");
    const { engineVersion, close } = openEmbeddedPool({});
    await close();
    const { size } = statSync(join(dist, `empty-database-${engineVersion}.tar.br`));
    expect(size).toBeGreaterThan(1_000_000);
    expect(size).toBeLessThan(2_000_000);
  });

  it("The main entry of the package loads nothing that is optional", async () => {
    const hook = join(project, "hook.mjs");
    writeFileSync(
      hook,
      `import { appendFileSync } from "node:fs";
       export async function resolve(name, context, next) {
         const found = await next(name, context);
         appendFileSync("loaded.txt", found.url + "\\n");
         return found;
       }`,
    );
    writeFileSync(
      join(project, "load.mjs"),
      `import { appendFileSync } from "node:fs";
       import { createRequire, register } from "node:module";
       register("./hook.mjs", import.meta.url);
       const { createMemory } = await import("mnemograph");
       appendFileSync("loaded.txt", Object.keys(createRequire(import.meta.url).cache).join("\\n"));
       console.log(JSON.stringify(typeof createMemory));`,
    );
    const { stdout } = await run(process.execPath, ["load.mjs"], { cwd: project });
    expect(JSON.parse(stdout)).toBe("function");
    const loaded = readFileSync(join(project, "loaded.txt"), "utf8");
    const names = new Set(
      Array.from(loaded.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\//g), ([, name]) => name),
    );
    expect([...names]).toEqual(expect.arrayContaining(["@langchain/langgraph", "pg", "zod"]));
    const { peerDependenciesMeta, devDependencies } = JSON.parse(
      readFileSync(join(repository, "package.json"), "utf8"),
    );
    const unneeded = [
      ...Object.keys(peerDependenciesMeta),
      "@langchain/openai",
      "commander",
      "cli-progress",
    ];
    expect(unneeded.filter((name) => names.has(name))).toEqual([]);
    const ownTools = Object.keys(devDependencies).filter(
      (name) => !/^@langchain|^@types|^mnemograph$/.test(name),
    );
    expect(ownTools.filter((name) => names.has(name))).toEqual([]);
  });

  it(
    "The package is installed by each line of the docs and of its errors, one after another",
    async () => {
      const archives = await packed();
      const tarballs = new Map<string, string>();
      for (const { name } of packages) {
        const { stdout } = await run("npm", ["pack", "--pack-destination", folder], {
          cwd: join(archives, name),
        });
        tarballs.set(name, join(folder, stdout.trim().split("\n").at(-1) ?? ""));
      }
      const app = join(folder, "installed");
      mkdirSync(app);
      writeFileSync(join(app, "package.json"), '{ "type": "module" }');
      const install = (names: string) => {
        const wanted = names.split(/\s+/).map((name) => tarballs.get(name) ?? name);
        return run("npm", ["install", "--no-audit", "--no-fund", ...wanted], { cwd: app });
      };
      const [first = "", ...others] = installLines();
      await install(first);

      const embeddings = new HashingEmbeddings();
      const before = createMemory({ database: { dataDir: join(app, ".mnemograph") }, embeddings });
      await before.setup();
      await before.memories.add({
        scope: { userId: "ana" },
        memories: { text: "Ana drinks tea." },
      });
      await before.close();
      writeFileSync(
        join(app, "app.js"),
        `import { createMemory } from "mnemograph";
       import { HashingEmbeddings } from "mnemograph/testing";
       const memory = createMemory({ embeddings: new HashingEmbeddings() });
       const query = () => memory.query({ scope: { userId: "ana" }, query: "tea" });
       for (const call of [() => memory.setup(), query])
         console.log(await call().then(({ length }) => length, ({ code, message }) => code + message));
       await memory.close();`,
      );
      const printed = async () => (await run(process.execPath, ["app.js"], { cwd: app })).stdout;
      const pair = "@electric-sql/pglite@0.5.14 @electric-sql/pglite-pgvector@0.0.15";
      const named = `PEER_MISSING.*run \`npm install ${pair}\`.*\n`;
      expect(await printed()).toMatch(new RegExp(`^${named}${named}$`));
      expect(others).toContain(pair);
      for (const line of others) await install(line);
      expect(await printed()).toBe("0\n1\n");
      await run("npm", ["ls"], { cwd: app });
    },
    limitsMs.long,
  );

  it.each([
    ["an ES module", "plain.mjs", imports],
    ["CommonJS, by require", "plain.cjs", requires],
  ])("The package sets a database up and remembers in %s", async (_, name, head) => {
    const file = join(project, name);
    writeFileSync(file, program(head));
    expect(await outputOf(file, project)).toEqual({ applied: 3, lastSeq: 1 });
    rmSync(join(project, "data"), { recursive: true, force: true });
  });

  it("The package is bundled where no optional package is installed", async () => {
    const bare = join(folder, "bare");
    const packages = join(bare, "node_modules");
    mkdirSync(packages, { recursive: true });
    const { peerDependenciesMeta } = JSON.parse(
      readFileSync(join(repository, "package.json"), "utf8"),
    );
    const optional = Object.keys(peerDependenciesMeta).map((name) => name.split("/")[0] as string);
    for (const name of readdirSync(installed)) {
      if (!optional.includes(name)) symlinkSync(join(installed, name), join(packages, name));
    }
    writeFileSync(join(bare, "app.mjs"), program(imports));
    const { errors } = await build({
      entryPoints: [join(bare, "app.mjs")],
      write: false,
      bundle: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
      preserveSymlinks: true,
      external: ["pg-native"],
    });
    expect(errors).toEqual([]);
  });

  it.each([
    ["esm", "external"],
    ["esm", "bundled"],
    ["cjs", "external"],
    ["cjs", "bundled"],
  ] as const)(
    "The package sets a database up and remembers in a bundle that was moved: %s, peers %s",
    async (format, peers) => {
      const { file, cwd } = await bundled(format, peers);
      expect(await outputOf(file, cwd)).toEqual({ applied: 3, lastSeq: 1 });
    },
  );
});
