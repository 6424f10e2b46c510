import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { silentLogger } from "../support/silent-logger.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const tsx = import.meta.resolve("tsx");
const folder = mkdtempSync(join(tmpdir(), "mnemograph-cli-"));
const schema = `cli_${randomUUID().slice(0, 8)}`;
const scope = { userId: "ana" };
let target: string[] = [];
let city = "";
let pronouns = "";

/** Runs `mnemograph consents` on the database of these tests. */
function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { DATABASE_URL: _, ...env } = process.env;
  const command = ["--import", tsx, main, "consents", ...args, ...target];
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd: folder, env, timeout: 60_000 }, (error, out, err) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ code, out: out.trimEnd(), err: err.trimEnd() });
    });
  });
}
const memoryOf = () => {
  const url = inject("databaseUrl");
  return createMemory({ database: url ?? { dataDir: join(folder, "data") }, schema, logger: silentLogger });
};

beforeAll(async () => {
  const url = inject("databaseUrl");
  target = [...(url === null ? ["--data-dir", "data"] : ["--database", url]), "--schema", schema];
  const memory = memoryOf();
  await memory.setup();
  const draft = (key: string, value: string) => ({
    category: "profile",
    key,
    value,
    text: `The ${key} is ${value}.`,
  });
  const outcomes = await memory.memories.add([draft("city", "Porto"), draft("pronouns", "they")], { scope });
  [city = "", pronouns = ""] = outcomes.map(({ consentId }) => consentId ?? "");
  await memory.close();
}, 120_000);
afterAll(async () => {
  if (onServer()) await db.pool.query(`drop schema if exists "${schema}" cascade`);
  rmSync(folder, { recursive: true, force: true });
});

it("lists what waits, decides it, and tells who decided", async () => {
  const listed = await run("--user=ana");
  expect(listed).toMatchObject({ code: 0, err: "" });
  const [first = "", second = "", ...others] = listed.out.split("\n");
  expect(others).toEqual([]);
  expect(first).toMatch(
    new RegExp(`^${pronouns}  waits for consent until \\S+  profile  1×  pronouns: they$`),
  );
  expect(second).toContain(city);

  expect(await run("--user=ana", "--approve", city, "--actor=support")).toMatchObject({
    ...{ code: 0, out: "approved: city: Porto" },
  });
  const refused = await run("--user=ana", "--refuse", pronouns, "--json");
  expect(JSON.parse(refused.out)).toMatchObject({ id: pronouns, status: "refused", decidedBy: "cli" });
  expect(await run("--user=ana")).toMatchObject({ code: 0, out: "Nothing waits." });
  const all = JSON.parse((await run("--user=ana", "--all", "--json")).out);
  expect(all.map((request: { status: string }) => request.status)).toEqual(["refused", "approved"]);

  const again = await run("--user=ana", "--refuse", city);
  expect(again).toMatchObject({ code: 1, out: "" });
  expect(again.err).toContain("was approved by support (cli)");
  expect(await run("--user=bob", "--refuse", city)).toMatchObject({ code: 1 });
  expect(await run("--user=ana", "--refuse", city, "--approve", city)).toMatchObject({ code: 2 });
  expect(await run()).toMatchObject({ code: 2 });
  const memory = memoryOf();
  expect(await memory.memories.list({ scope })).toMatchObject([{ key: "city", value: "Porto" }]);
  await memory.close();
}, 120_000);
