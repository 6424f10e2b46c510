import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { installVectorsCommand } from "../../src/postgres/database-error.js";
import { briefly } from "../support/compiled.js";
import { repository } from "../support/doc-pages.js";
import { newProject } from "../support/packed.js";
import { limitsMs } from "../support/timing.js";

/** The oldest PGlite in the range of package.json is installed here; npm finds the newest. */
const engines = { oldest: join(repository, "node_modules/@electric-sql/pglite"), newest: "" };
const extension = join(repository, "node_modules/@electric-sql/pglite-pgvector");
let project: string;
let newestVersion: string;

beforeAll(async () => {
  project = await newProject();
  const other = join(project, "other");
  mkdirSync(other);
  writeFileSync(join(other, "package.json"), "{}");
  const range = ["--no-audit", "--no-fund", "@electric-sql/pglite@^0.5.14"];
  execFileSync("npm", ["install", ...range], { cwd: other });
  engines.newest = join(other, "node_modules/@electric-sql/pglite");
  newestVersion = execFileSync(process.execPath, ["-p", "require('./package.json').version"], {
    cwd: engines.newest,
    encoding: "utf8",
  }).trim();
  rmSync(join(project, "node_modules/@electric-sql"));
  mkdirSync(join(project, "node_modules/@electric-sql"));
  writeFileSync(
    join(project, "main.mjs"),
    `import { createMemory } from "mnemograph";
     import { HashingEmbeddings } from "mnemograph/testing";
     const warn = (text) => console.log("warn: " + text);
     const logger = { warn, error: warn, info() {}, debug() {} };
     const [database, text] = JSON.parse(process.argv[2]);
     const open = () => createMemory({ database, embeddings: new HashingEmbeddings(), logger });
     const memory = open();
     const scope = { userId: "ana" };
     try {
       await memory.setup();
       if (text) await memory.memories.add({ scope, memories: { text } });
       for (const hit of await memory.query({ scope, query: "tea or coffee" })) console.log(hit.memory.text);
       if (database === ":memory:") {
         const second = open();
         await second.setup();
         await second.close();
       }
     } catch ({ code, message }) {
       console.log(code + ": " + message);
     }
     await memory.close();`,
  );
}, limitsMs.long);

/** What the program prints with one of the engines, line by line. */
function printed(engine: keyof typeof engines, database: object | string, text?: string): string[] {
  for (const [name, target] of [
    ["pglite", engines[engine]],
    ["pglite-pgvector", extension],
  ] as const) {
    const place = join(project, "node_modules/@electric-sql", name);
    rmSync(place, { recursive: true, force: true });
    symlinkSync(target, place);
  }
  return run(database, text);
}

function run(database: object | string, text?: string): string[] {
  const args = [...briefly, "main.mjs", JSON.stringify([database, text])];
  const output = execFileSync(process.execPath, args, { cwd: project, encoding: "utf8" });
  return output.trim().split("\n").toSorted();
}

const madeBy = (version: string) =>
  `PGlite ${version} takes longer than 0.5.14, for which this package has an empty database`;

describe("The newest PGlite in the range", () => {
  it("Has vectors by the extension for 0.5.14, and says once that its start takes longer", () => {
    expect(printed("newest", ":memory:", "Ana drinks tea.")).toEqual([
      "Ana drinks tea.",
      `warn: creating an embedded PostgreSQL in memory; ${madeBy(newestVersion)}`,
    ]);
  });

  it.each([
    ["oldest", "newest"],
    ["newest", "oldest"],
  ] as const)(
    "A folder made by the %s is opened by the %s, and by the first again",
    (one, other) => {
      const dataDir = `${realpathSync(project)}/made by ${one}`;
      const warning = {
        oldest: `warn: creating an embedded PostgreSQL in ${dataDir}; this takes some seconds, once`,
        newest: `warn: creating an embedded PostgreSQL in ${dataDir}; ${madeBy(newestVersion)}`,
      };
      expect(printed(one, { dataDir }, "Ana drinks tea.")).toEqual([
        "Ana drinks tea.",
        warning[one],
      ]);
      const both = ["Ana drinks coffee.", "Ana drinks tea."];
      expect(printed(other, { dataDir }, "Ana drinks coffee.")).toEqual(both);
      expect(printed(one, { dataDir })).toEqual(both);
    },
  );

  it("Names the pair that fits where the extension does not load", () => {
    const place = join(project, "node_modules/@electric-sql/pglite-pgvector");
    printed("newest", ":memory:");
    rmSync(place);
    cpSync(realpathSync(extension), place, { recursive: true });
    const files = join(project, "files");
    const archive = join(place, "dist/vector.tar.gz");
    mkdirSync(files);
    execFileSync("tar", ["xzf", archive, "-C", files]);
    // Half of a library, as no engine loads it.
    truncateSync(join(files, "lib/postgresql/vector.so"), 30_000);
    execFileSync("tar", ["czf", archive, "-C", files, "lib", "share"]);
    const [error] = run(":memory:");
    expect(error).toMatch(
      /^PEER_MISSING: Embeddings need pgvector 0\.7 or later, which is not installed or does not load: /,
    );
    expect(error).toContain(`run \`${installVectorsCommand}\``);
  });
});
