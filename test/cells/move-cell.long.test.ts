import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, describe, expect, inject, it } from "vitest";
import { createMemory, type Memory, MemoryError } from "../../src/index.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { dropSchemas } from "../support/cells.js";
import { silentLogger } from "../support/silent-logger.js";
import { round } from "../support/spoken.js";

const script = process.env.POSTGRES_SCRIPT;
const run = promisify(execFile);
const server = ["--name", "cells", "--port", "24397"];
const postgres = async (command: string) => (await run(script ?? "", [command, ...server])).stdout.trim();
/** Runs what docs/scaling.md says, by the programs of the servers' version. */
const shell = (line: string) => {
  const programs = `pg_dump() { ${script} client pg_dump "$@"; }; psql() { ${script} client psql "$@"; }`;
  return run("bash", ["-o", "pipefail", "-c", `${programs}; ${line}`]);
};

const cells = 16;
const schema = `move_${randomUUID().slice(0, 8)}`;

describe.skipIf(!script || !inject("databaseUrl"))("moving a cell (needs POSTGRES_SCRIPT)", () => {
  const old = inject("databaseUrl") ?? "";
  const opened: Memory[] = [];
  let stopped = false;
  afterAll(async () => {
    stopped = true;
    for (const memory of opened) await memory.close();
    const pool = new pg.Pool({ connectionString: old });
    await dropSchemas(pool, schema);
    await pool.end();
    await postgres("stop");
  });

  it("to another server by pg_dump, while all of 16 are written to, loses nothing and keeps the others going", async () => {
    const target = await postgres("start");
    const places = new Array<string>(cells).fill(old);
    const config = {
      memories: { extract: false, episodes: false },
      ...{ insights: { enabled: false }, consolidation: { enabled: false }, notes: { limit: 0 } },
    };
    const open = () =>
      createMemory({
        ...{ cells, schema, config, logger: silentLogger },
        embeddings: new HashingEmbeddings({ dimensions: 16 }),
        database: (cell) => places[cell] ?? old,
      });
    // Two processes, as it were.
    const [memory, other] = [open(), open()];
    opened.push(memory, other);
    await memory.setup();

    const told = new Map<string, string[]>();
    const failures: { readonly cell: number; readonly code: string }[] = [];
    const write = async (tenantId: string, by: typeof memory) => {
      const scope = { tenantId, userId: "ana" };
      const texts: string[] = [];
      told.set(tenantId, texts);
      for (let n = 0; !stopped; ) {
        const text = `Number ${n} of ${tenantId}.`;
        try {
          await by.remember({ scope, threadId: "talk", messages: round(text) });
          await by.memories.add({ text }, { scope });
          texts.push(text);
          n++;
        } catch (error) {
          const code = MemoryError.is(error) ? error.code : String(error);
          failures.push({ cell: by.cells.of(scope), code });
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    };
    const tenants = Array.from({ length: 24 }, (_, n) => `tenant-${n}`);
    const writers = tenants.map((tenantId, n) => write(tenantId, n % 2 === 0 ? memory : other));
    const moved = memory.cells.of({ tenantId: "tenant-0", userId: "ana" });
    const written = (where: (cell: number) => boolean) =>
      tenants
        .filter((tenantId) => where(memory.cells.of({ tenantId, userId: "ana" })))
        .reduce((sum, tenantId) => sum + (told.get(tenantId)?.length ?? 0), 0);
    await expect.poll(() => tenants.every((tenantId) => told.get(tenantId)?.length)).toBe(true);

    const beside = written((cell) => cell !== moved);
    await memory.cells.freeze(moved);
    const name = `${schema}_c${String(moved).padStart(3, "0")}`;
    await shell(`psql --quiet --command 'create extension if not exists vector' "${target}"`);
    await shell(
      `pg_dump --schema ${name}_moving "${old}" | psql --quiet --set ON_ERROR_STOP=1 --single-transaction "${target}"`,
    );
    places[moved] = target;
    await memory.cells.thaw(moved);
    await shell(`psql --quiet --command 'drop schema ${name}_moving cascade' "${old}"`);
    expect(written((cell) => cell !== moved)).toBeGreaterThan(beside);

    const before = told.get("tenant-0")?.length ?? 0;
    const until = () => (told.get("tenant-0")?.length ?? 0) > before + 1;
    await expect.poll(until).toBe(true);
    stopped = true;
    await Promise.all(writers);
    expect(new Set(failures.map(({ cell }) => cell))).toEqual(new Set([moved]));
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(["CELL_MOVING"]));

    const fresh = open();
    opened.push(fresh);
    for (const [tenantId, texts] of told) {
      const scope = { tenantId, userId: "ana" };
      const kept = [];
      for (let after: string | undefined; ; ) {
        const page = await fresh.memories.list({ scope, limit: 1_000, ...(after && { after }) });
        if (page.length === 0) break;
        kept.push(...page);
        after = page.at(-1)?.id;
      }
      expect(kept.map(({ text }) => text)).toEqual(expect.arrayContaining(texts));
      const said = await fresh.threads.messages({ scope, threadId: "talk", limit: 1 });
      expect(said).toHaveLength(1);
      const [thread] = await fresh.threads.list({ scope });
      expect(thread?.messages).toBeGreaterThanOrEqual(texts.length * 2);
      const hits = await fresh.query({ scope, query: texts[0] ?? "" });
      expect(hits.map(({ memory: { text } }) => text)).toContain(texts[0]);
    }
    expect(await fresh.setup()).toEqual([]);
    expect(new Set((await fresh.cells.list()).map(({ state }) => state))).toEqual(new Set(["up"]));
    const there = new pg.Client({ connectionString: target });
    await there.connect();
    const { rows } = await there.query(
      "select nspname as name from pg_namespace where starts_with(nspname, $1)",
      [schema],
    );
    await there.end();
    expect(rows).toEqual([{ name }]);
  }, 120_000);
});
