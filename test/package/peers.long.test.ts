import { execFile } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { PgBoss } from "pg-boss";
import PgBoss10 from "pg-boss-10";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { engineVersion, installEngine } from "../../src/postgres/database-error.js";
import { briefly } from "../support/compiled.js";
import { repository } from "../support/doc-pages.js";
import { newProject } from "../support/packed.js";
import { onServer } from "../support/test-database.js";
import { newSchemaName } from "../support/worker-pool.js";

const run = promisify(execFile);
const command = "node_modules/@mnemograph/server/dist/cli/main.js";
let project: string;

beforeAll(async () => {
  project = await newProject();
  // Links of its own, to change one package without the others of its scope.
  const folder = join(project, "node_modules/@electric-sql");
  const real = realpathSync(folder);
  rmSync(folder);
  mkdirSync(folder);
  for (const name of readdirSync(real)) symlinkSync(join(real, name), join(folder, name));
});
beforeEach(() => {
  for (const name of ["pg-boss", "langchain", "@electric-sql/pglite"]) restore(name);
});

const placeOf = (name: string) => join(project, "node_modules", name);
const remove = (name: string) => rmSync(placeOf(name), { recursive: true, force: true });

function restore(name: string, from = name): void {
  remove(name);
  symlinkSync(join(repository, "node_modules", from), placeOf(name));
}

/** The installed package under another version, as if it had been installed in spite of npm. */
function pretend(name: string, version: string): void {
  const real = realpathSync(placeOf(name));
  remove(name);
  mkdirSync(placeOf(name));
  for (const each of readdirSync(real)) {
    if (each !== "package.json") symlinkSync(join(real, each), join(placeOf(name), each));
  }
  const manifest = JSON.parse(readFileSync(join(real, "package.json"), "utf8"));
  writeFileSync(join(placeOf(name), "package.json"), JSON.stringify({ ...manifest, version }));
}

/** What a program prints that reports its error. @param use of `uses` */
async function printed(use: string): Promise<string> {
  writeFileSync(
    join(project, "main.mjs"),
    `import { createMemory, createMemorySupervisor } from "mnemograph";
     try { ${uses[use]} } catch ({ code, message }) { console.log(code + ": " + message); }`,
  );
  const { stdout, stderr } = await run(process.execPath, [...briefly, "main.mjs"], {
    cwd: project,
  }).catch((error) => error);
  return `${stdout}${stderr}`.replace(/^PEER_MISSING|^mnemograph/, "").trim();
}

const uses: Readonly<Record<string, string>> = {
  embedded: "const memory = createMemory(); await memory.setup();",
  queues:
    'await createMemory({ jobs: { pgBoss: { host: "127.0.0.1", port: 1 } }, database: ":memory:" }).work();',
  supervisor:
    'await createMemorySupervisor({ model: { invoke() {} }, memory: createMemory({ database: ":memory:" }) });',
};

describe("A package that is not installed is named in one sentence, with the command that installs it", () => {
  it.each([
    [
      "pg-boss",
      "queues",
      "`jobs` needs pg-boss, which cannot be found: run `npm install pg-boss`.",
    ],
    [
      "langchain",
      "supervisor",
      "createMemorySupervisor needs langchain, which cannot be found: run `npm install langchain`.",
    ],
    [
      "@electric-sql/pglite",
      "embedded",
      "The embedded database needs a package that is not installed or does not load: run `npm install @electric-sql/pglite@0.5.14`, or pass `database` a PostgreSQL connection string.",
    ],
  ])("%s, for %s", async (name, use, sentence) => {
    remove(name);
    expect(await printed(use)).toBe(`: ${sentence}`);
  });
});

describe("A package of another version is named in one sentence, with the command that installs one that fits", () => {
  const { peerDependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  it.each([
    ["pg-boss", "9.0.3", "queues"],
    ["pg-boss", "11.1.2", "queues"],
    ["langchain", "0.3.37", "supervisor"],
    ["@electric-sql/pglite", "0.4.6", "embedded"],
  ])("%s %s, for %s", async (name, version, use) => {
    pretend(name, version);
    const range = peerDependencies[name];
    expect(await printed(use)).toBe(
      `: Mnemograph works with ${name} ${range}, but ${version} is installed: run \`npm install "${name}@${range}"\`.`,
    );
  });
});

describe.runIf(onServer())("The pg-boss that is installed (server only)", () => {
  const url = inject("databaseUrl") ?? "";
  const schemas: string[] = [];
  afterAll(async () => {
    const client = new pg.Client(url);
    await client.connect();
    for (const schema of schemas) await client.query(`drop schema if exists "${schema}" cascade`);
    await client.end();
  });
  const newSchema = () => {
    schemas.push(newSchemaName());
    return schemas.at(-1) as string;
  };
  const program = `
    import { createMemory } from "mnemograph";
    import { OfflineChatModel } from "mnemograph/testing";
    const [database, schema, queues, others] = JSON.parse(process.argv[2]);
    const open = (queue) =>
      createMemory({ database, schema, model: new OfflineChatModel(), jobs: { pgBoss: { schema: queue } } });
    const memory = open(queues);
    await memory.setup();
    const worker = await memory.work({ kinds: ["facts"] });
    const scope = { userId: "ana" };
    const messages = [{ role: "user", content: "I am allergic to peanuts." }];
    await memory.remember({ scope, threadId: "t", messages });
    await memory.upkeep();
    let facts = [];
    while (facts.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      facts = await memory.memories.list({ scope });
    }
    console.log(facts[0].text);
    await worker.stop();
    await memory.close();
    const other = open(others);
    await other.work().catch(({ code, message }) => console.log(code + ": " + message));
    await other.close();`;

  it.each([
    [
      "10",
      "pg-boss-10",
      "12",
      () => new PgBoss({ connectionString: url, schema: schemas.at(-1)! }),
    ],
    ["12", "pg-boss", "10", () => new PgBoss10({ connectionString: url, schema: schemas.at(-1)! })],
  ] as const)(
    "%s gets the jobs of { pgBoss: options }, and refuses the tables of another",
    async (version, name, otherVersion, makeOther) => {
      const [schema, queues, others] = [newSchema(), newSchema(), newSchema()];
      const other = makeOther();
      await other.start();
      await other.stop({ graceful: false });
      restore("pg-boss", name);
      writeFileSync(join(project, "main.mjs"), program);
      const given = JSON.stringify([url, schema, queues, others]);
      const { stdout, stderr } = await run(process.execPath, [...briefly, "main.mjs", given], {
        cwd: project,
      });
      expect(stderr).toBe("");
      const [fact, error] = stdout.split("\n");
      expect(fact).toBe("The user is allergic to peanuts.");
      expect(error).toBe(
        `SCHEMA_DIFFERS: The schema "${others}" has the tables of pg-boss ${otherVersion}, and pg-boss ${version} is installed: ` +
          'name another schema in every process, as in jobs: { pgBoss: { schema: "queues" } }.',
      );
    },
  );
});

it("Each optional package is listed with its range in docs/getting-started.md", () => {
  const manifest = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  const { peerDependencies, peerDependenciesMeta, devDependencies } = manifest;
  const page = readFileSync(join(repository, "docs/getting-started.md"), "utf8");
  const rows = page.replaceAll("\\|", "|").replaceAll(/ +/g, " ");
  const listed = (name: string) => rows.includes(`| \`${name}\` | \`${peerDependencies[name]}\` |`);
  expect(Object.keys(peerDependenciesMeta).filter((name) => !listed(name))).toEqual([]);
  expect(devDependencies["@electric-sql/pglite"]).toBe(engineVersion);
  expect(installEngine).toBe(`npm install @electric-sql/pglite@${engineVersion}`);
});

describe("Node that is too old", () => {
  const sentence = (version: string) =>
    `Mnemograph needs Node 20.19 or later, but this is Node ${version}: run \`nvm install 24\`, or see https://nodejs.org.`;
  /** Runs with Node under another version. */
  const runAs = (version: string, ...program: string[]) => {
    const old = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
    const preload = ["--import", `data:text/javascript,${encodeURIComponent(old)}`];
    return run(process.execPath, [...briefly, ...preload, ...program], { cwd: project }).catch(
      (error) => error,
    );
  };

  it.each(["18.20.8", "20.18.3"])(
    "Is named when the package is imported, without a stack: %s",
    async (version) => {
      writeFileSync(join(project, "main.mjs"), 'import "mnemograph";');
      const { code, stderr } = await runAs(version, "main.mjs");
      expect(code).toBe(1);
      expect(stderr).toContain(`MemoryError: ${sentence(version)}`);
      expect(stderr).not.toMatch(/^ +at /m);
    },
  );

  it("Is named by a command in one line", async () => {
    const { code, stderr } = await runAs("18.20.8", command, "doctor");
    expect([code, stderr]).toEqual([1, `mnemograph: ${sentence("18.20.8")}\n`]);
  });

  it("Is the one that package.json does not allow", async () => {
    const { engines } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    expect(engines).toEqual({ node: ">=20.19" });
    writeFileSync(join(project, "main.mjs"), 'import "mnemograph";');
    for (const version of ["20.19.0", "22.0.0"])
      expect((await runAs(version, "main.mjs")).stderr).toBe("");
  });
});
