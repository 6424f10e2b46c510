import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HumanMessage } from "@langchain/core/messages";
import { afterAll, describe, expect, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import type { Memory } from "../../src/memory.js";
import { openEmbeddedPool } from "../../src/postgres/embedded-pool.js";
import { sharedEmptyDatabase, shareEmptyDatabase } from "../../src/postgres/empty-database.js";
import { useChildScripts } from "../support/child-scripts.js";
import { useDataDirectories } from "../support/data-directories.js";
import { recordingLogger } from "../support/recording-logger.js";
import { code } from "../support/rejection.js";
import { silentLogger } from "../support/silent-logger.js";
import { onServer } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";

const folder = useDataDirectories();
const start = useChildScripts();
const thread = { scope: { userId: "ana" }, threadId: "t" };
const open = (dataDir: string): Memory =>
  createMemory({ database: { dataDir }, logger: silentLogger });

describe.skipIf(onServer())("the embedded database (embedded only)", () => {
  it("The embedded database opens after each SIGKILL in mid-write with every committed row", async () => {
    const dataDir = folder("killed");
    let acknowledged = -1;
    for (let kill = 0; kill < 2; kill++) {
      const writer = start("write-rounds", [dataDir, "mnemograph", "t", `writer${kill}`]);
      await writer.line(/^seq/);
      await sleep(50 + Math.random() * 400);
      await writer.kill();
      acknowledged = Number(writer.lines.at(-1)?.slice(4));
      expect(acknowledged).toBeGreaterThan(0);

      const memory = open(dataDir);
      const { lastSeq, gap, omitted } = await memory.recall(thread);
      expect(lastSeq).toBeGreaterThanOrEqual(acknowledged);
      // No gap, and no half of a turn.
      expect(gap.length + (omitted?.messages ?? 0)).toBe(lastSeq + 1);
      expect(lastSeq % 2).toBe(1);
      await memory.close();
    }
  });

  it("The embedded database refuses a folder of another development version until it is deleted", async () => {
    const dataDir = folder("other version");
    const made = open(dataDir);
    await made.setup();
    await made.close();
    const { pool, close } = openEmbeddedPool({ dataDir });
    await pool.query("update mnemograph.meta set baseline = 'other'");
    await close();

    const refused = open(dataDir);
    for (const call of [refused.setup, () => refused.recall(thread)]) {
      await expect(call()).rejects.toThrow(code("SCHEMA_DIFFERS"));
      await expect(call()).rejects.toThrow(
        `then delete the folder ${dataDir} and run \`npx @mnemograph/server migrate --data-dir '${dataDir}'\`.`,
      );
    }
    await refused.close();

    rmSync(dataDir, { recursive: true });
    const anew = open(dataDir);
    await anew.setup();
    expect((await anew.recall(thread)).lastSeq).toBe(-1);
    await anew.close();
  });

  it("A program that never closes the embedded database ends by itself, also after recovery from that", async () => {
    const dataDir = folder("never closed");
    for (let run = 1; run <= 2; run++) {
      const program = start("never-closes", [dataDir]);
      await program.line("done");
      // The engine's timer for statistics takes 10 s.
      expect(await Promise.race([program.exitCode, sleep(limitsMs.step, "still running")])).toBe(0);
    }
  });

  it("The embedded database is refused to a second process until the first is killed", async () => {
    const dataDir = folder("shared");
    const first = start("open-data-directory", [dataDir]);
    first.say("open");
    await first.line("open");
    const second = open(dataDir);
    await expect(second.recall(thread)).rejects.toThrow(code("DATA_DIRECTORY_LOCKED"));
    await expect(second.setup()).rejects.toThrow(new RegExp(`open in process ${first.pid} on`));
    await first.kill();
    expect((await second.recall(thread)).lastSeq).toBe(-1);
    await second.close();
  });

  it("The embedded database is refused to a second memory of the process, by any path, until it is closed", async () => {
    const dataDir = folder("with 'quotes' & ünïcödé 日本 #1 %20?");
    const link = `${dataDir} link`;
    symlinkSync(dataDir, link);
    const first = open(dataDir);
    await first.record({ ...thread, messages: [new HumanMessage("hello")] });
    const second = open(link);
    await expect(second.recall(thread)).rejects.toThrow(code("DATA_DIRECTORY_LOCKED"));
    await expect(second.recall(thread)).rejects.toThrow(/open in this process/);
    await first.close();
    expect((await second.recall(thread)).lastSeq).toBe(0);
    await second.close();
    expect(readdirSync(dataDir)).not.toContain("mnemograph.lock");
  });

  it("The embedded database reports that it does not start, and starts once the cause is removed", async () => {
    const dataDir = folder("other version");
    const version = join(dataDir, "PG_VERSION");
    const right = readFileSync(version);
    writeFileSync(version, "9.6\n");
    const memory = open(dataDir);
    await expect(memory.setup()).rejects.toThrow(code("DATABASE_UNAVAILABLE"));
    await expect(memory.recall(thread)).rejects.toThrow(/in .*other version does not start/);
    writeFileSync(version, right);
    expect((await memory.recall(thread)).lastSeq).toBe(-1);
    await memory.close();
  });
});

describe("a new embedded database", () => {
  const root = mkdtempSync(join(tmpdir(), "mnemograph-new-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it("A new embedded database logs its creation once", async () => {
    const dataDir = join(root, "made");
    const logger = recordingLogger();
    for (let start = 0; start < 2; start++) {
      const memory = createMemory({ database: { dataDir }, logger });
      await memory.setup();
      await memory.close();
    }
    const line = `warn: creating an embedded PostgreSQL in ${dataDir}; this takes some seconds, once`;
    expect(logger.lines).toEqual([line]);
  });

  it.each([":memory:", { dataDir: "memory://" }])(
    "A database in memory, %j, is separate, silent and without a folder",
    async (database) => {
      const before = readdirSync(".");
      const logger = recordingLogger();
      const memories = [1, 2].map(() => createMemory({ database, logger }));
      for (const memory of memories) await memory.setup();
      await memories[0]!.record({ ...thread, messages: [new HumanMessage("hello")] });
      expect(
        await Promise.all(memories.map(async (memory) => (await memory.recall(thread)).lastSeq)),
      ).toEqual([0, -1]);
      for (const memory of memories) await memory.close();
      expect(readdirSync(".")).toEqual(before);
      expect(logger.lines).toEqual([]);
    },
  );
});

describe.skipIf(onServer())("the empty database of databases in memory (embedded only)", () => {
  it("The empty database is a dump of the first database if the package has none", async () => {
    expect(sharedEmptyDatabase("0.0.1")).toBeUndefined();
    const { pool, engine, close } = openEmbeddedPool({});
    await pool.query("select");
    const dump = await engine().dumpDataDir("none");
    await pool.query("create table later ()");
    await close();
    shareEmptyDatabase("0.0.1", dump as Blob);
    const next = openEmbeddedPool({ loadDataDir: sharedEmptyDatabase("0.0.1") as Blob });
    const { rows } = await next.pool.query(
      "select tablename from pg_tables where schemaname = 'public'",
    );
    expect(rows).toEqual([]);
    await next.close();
  });
});

describe("an unusable dataDir", () => {
  const root = mkdtempSync(join(tmpdir(), "mnemograph-bad-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it("A dataDir that cannot be written to is refused", async () => {
    const dataDir = join(root, "read-only");
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o555);
    const memory = open(dataDir);
    await asOrdinaryUser(async () => {
      await expect(memory.setup()).rejects.toThrow(code("PERMISSION_DENIED"));
      await expect(memory.recall(thread)).rejects.toThrow(
        /may not write in dataDir .*choose another dataDir/,
      );
    });
    await memory.close();
  });
});

/** Root may write anywhere. */
async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    if (root) process.seteuid?.(0);
  }
}
