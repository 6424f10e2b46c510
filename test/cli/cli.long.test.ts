import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { compiled } from "../support/compiled.js";
import { silentLogger } from "../support/silent-logger.js";
import { round } from "../support/spoken.js";
import { summariesOnly } from "../support/summary-memory.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const core = ["0001_conversations", "0001_memories", "0001_work"];
const folder = mkdtempSync(join(tmpdir(), "mnemograph-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command in an empty folder, without DATABASE_URL unless given. */
function run(
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; out: string; err: string }> {
  const { DATABASE_URL: _, ...inherited } = process.env;
  const options = { cwd: folder, env: { ...inherited, ...env } };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [compiled("packages/server/src/cli/main"), ...args],
      options,
      (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        resolve({ code, out: out.trim(), err: err.trim() });
      },
    );
  });
}

describe("mnemograph", () => {
  it("The command line explains itself, with examples", async () => {
    const help = await run(["--help"]);
    expect(help).toMatchObject({ code: 0, err: "" });
    expect(help.out).toMatch(
      /migrate .*[\s\S]*doctor .*[\s\S]*Examples:\n +\$ npx @mnemograph\/server migrate/,
    );
    const { version } = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
    );
    expect(await run(["--version"])).toEqual({ code: 0, out: version, err: "" });
  });

  it("The command line has fourteen commands, and call", async () => {
    const { out } = await run(["--help"]);
    const [, listed = ""] = /^Commands:\n([\s\S]*?)\n\n/m.exec(out) ?? [];
    const names = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name);
    expect(names.filter((name) => name !== "help").sort()).toEqual([
      ...[
        "call",
        "doctor",
        "eval",
        "export",
        "forget",
        "import",
        "inspect",
        "mcp",
        "migrate",
        "reembed",
      ],
      ...["search", "serve", "upkeep", "verify", "worker"],
    ]);
  });

  it.concurrent.each<[string, number, RegExp, string?]>([
    ["merge", 2, /^error: unknown command 'merge'/],
    ["doctor --verbose", 2, /^error: unknown option '--verbose'/],
    [
      "upkeep",
      1,
      /^mnemograph: There is no database in .*\.mnemograph\. Run `npx @mnemograph\/server migrate --data-dir .*\.mnemograph` once\.$/,
    ],
    ["migrate --database postgresql://h/d --data-dir d", 2, /--database and --data-dir name two/],
    ["migrate", 2, /^mnemograph: .*must start with postgresql:/, "localhost"],
    [
      "upkeep",
      1,
      /^mnemograph: The database does not answer/,
      "postgresql://ana:secret@127.0.0.1:1/db",
    ],
    ['migrate --schema a"b', 2, /^mnemograph: .*cannot be a schema name/],
  ])(
    "The command line says in one line what is wrong with %s",
    async (line, expected, message, url) => {
      const { code, out, err } = await run(
        line.split(" "),
        url === undefined ? {} : { DATABASE_URL: url },
      );
      expect([code, out]).toEqual([expected, ""]);
      expect(err).toMatch(message);
      expect(err).not.toMatch(/\n|secret|at .*\.[jt]s:/);
      expect(existsSync(join(folder, ".mnemograph"))).toBe(false);
    },
  );
});

describe.skipIf(onServer())("mnemograph on the embedded database (embedded only)", () => {
  it("`mnemograph migrate` sets up a folder once, and `doctor` finds nothing wrong", async () => {
    const first = await run(["migrate", "--data-dir", "data"]);
    const place = join(folder, "data");
    expect(first).toEqual({
      code: 0,
      out: `Applied to "mnemograph" in ${place}: ${core.join(", ")}`,
      err: `mnemograph: creating an embedded PostgreSQL in ${place}; this takes some seconds, once`,
    });

    const memory = createMemory({
      database: { dataDir: place },
      model: new OfflineChatModel(),
      jobs: "inline",
      logger: silentLogger,
      config: summariesOnly,
    });
    const messages = ["1", "2", "3"].flatMap(round);
    await memory.remember({ scope: { userId: "ana" }, threadId: "t", messages });
    const open = await run(["doctor", "--data-dir", "data"]);
    expect(open).toMatchObject({ code: 1, err: "" });
    expect(open.out).toMatch(
      /^bad {2}database {2}The embedded database in .* is open in process \d+/,
    );
    await memory.close();

    const doctor = await run(["doctor", "--data-dir", "data"]);
    expect(doctor).toMatchObject({ code: 0, err: "" });
    const lines = doctor.out.split("\n").map((line) => line.replace(/ {2,}/g, ": "));
    expect(lines).toEqual([
      expect.stringMatching(`^ok: database: Embedded PostgreSQL \\S+ in ${place}\\.$`),
      'ok: role: "postgres" may read and write all tables, and migrate.',
      ...[
        "ok: core: Version 1.",
        `ok: vector: Not set up; embeddings need it (\`npx @mnemograph/server migrate --vectors --data-dir ${place}\`).`,
      ],
      expect.stringMatching(/^ok: isolation: Not set up/),
      ...[/functions: Version \d/, /pgvector: Not created/].map((line) =>
        expect.stringMatching(line),
      ),
      "ok: checkpointer: LangGraph's tables are up to date.",
      ...["running", "due", "stuck", "given up"].map((state) => `ok: ${state}: None.`),
      "0 bad, 0 warnings, 12 ok.",
    ]);
  });
});

describe.skipIf(!onServer())("mnemograph on a server (server only)", () => {
  const db = useTestDatabase();
  const server = () => ({ DATABASE_URL: inject("databaseUrl") ?? "" });

  it("`mnemograph migrate` sets up a schema once, and `doctor` says what it lacks", async () => {
    const schema = `${db.schema}_cli`;
    const before = await run(["doctor", "--schema", schema, "--json"], server());
    expect(before).toMatchObject({ code: 1, err: "" });
    const { checks } = JSON.parse(before.out);
    const todo = `Run \`npx @mnemograph/server migrate --schema ${schema}\`.`;
    expect(checks).toContainEqual({ check: "core", verdict: "bad", says: "Not set up.", todo });
    const plan = await run(["migrate", "--schema", schema, "--plan"], server());
    expect(plan.out).toBe(`To apply: ${core.join(", ")}\nIt locks no table that is there already.`);

    const migrated = await run(["migrate", "--schema", schema, "--json"], server());
    expect(migrated).toEqual({ code: 0, out: JSON.stringify({ schema, applied: core }), err: "" });
    const url = server().DATABASE_URL;
    const { code, out } = await run(["doctor", "--schema", schema, "--database", url, "--json"]);
    const { host, pathname } = new URL(url);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      database: `PostgreSQL ${host}${pathname}`,
      schema,
      summary: { ok: expect.any(Number), warn: expect.any(Number), bad: 0 },
      checks: expect.arrayContaining([
        { check: "core", verdict: "ok", says: "Version 1.", todo: null },
      ]),
    });
    await db.pool.query(`drop schema "${schema}" cascade`);
  });

  it("The doctor names who has work and who left it, by the kinds that jobs are listed by", async () => {
    const [scope, threadId] = [{ userId: "ana" }, "t"];
    await db.memory().record({ scope, threadId, messages: round("1") });
    await db.pool.query(
      `insert into "${db.schema}".work (kind, thread_ref, done_until, worker, taken_at, lease_until)
       select k.kind, t.id, -1, 'host:7', now(), now() + k.lease from "${db.schema}".thread t, (
         values ('facts', interval '1 minute'), ('notes', interval '-1 minute')) k (kind, lease)`,
    );
    const { out } = await run(["doctor", "--schema", db.schema], server());
    expect(out).toMatch(/^ok +running +1 facts by host:7 since 20/m);
    expect(out).toMatch(/^warn +stuck +1 notes by host:7 since 20/m);
    const asked = ["call", "listJobs", "--schema", db.schema, "--json", '{"kind":"facts"}'];
    expect(JSON.parse((await run(asked, server())).out)).toMatchObject({
      jobs: [{ worker: "host:7", since: expect.any(String), leaseUntil: expect.any(String) }],
    });
  });
});
