import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openDataDirectory } from "../../src/postgres/data-directory.js";
import { openEmbeddedPool } from "../../src/postgres/embedded-pool.js";
import { copyEmbedded } from "../support/copy-embedded.js";
import { onServer } from "../support/test-database.js";

const root = mkdtempSync(join(tmpdir(), "mnemograph-private-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
/** Paths in `folder` that others than the owner can access. */
const openTo = (folder: string) =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).mode & 0o077);

/** Runs `work` with a umask of 0. */
async function withoutUmask(work: () => unknown) {
  const before = process.umask(0);
  try {
    await work();
  } finally {
    process.umask(before);
  }
}

describe("the folder of an embedded database", () => {
  it("The folder of an embedded database is created with mode 700, and reset to it on each opening", async () => {
    const dataDir = join(root, "parent", "made");
    await withoutUmask(() => openDataDirectory(dataDir)());
    expect(modeOf(dataDir)).toBe("700");
    expect(openTo(dataDir)).toEqual([]);
    chmodSync(dataDir, 0o755);
    openDataDirectory(dataDir)();
    expect(modeOf(dataDir)).toBe("700");
  });

  it("A folder that somebody else created keeps its permissions", () => {
    const dataDir = join(root, "theirs");
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o755);
    for (let opened = 0; opened < 2; opened++) openDataDirectory(dataDir)();
    expect(modeOf(dataDir)).toBe("755");
  });

  it.skipIf(onServer())(
    "The folder of an embedded database holds no file of it that others may read (embedded only)",
    async () => {
      for (const name of ["own", "shared"]) {
        const dataDir = join(root, name);
        if (name === "shared") {
          copyEmbedded(dataDir);
          for (const path of ["", ...readdirSync(dataDir, { recursive: true })]) {
            chmodSync(join(dataDir, String(path)), 0o755);
          }
        }
        const used = async () => {
          const { pool, close } = openEmbeddedPool({ dataDir });
          await pool.query("create table kept (id int)");
          await close();
        };
        await withoutUmask(used);
        if (name === "shared") writeFileSync(join(dataDir, "notes.txt"), "", { mode: 0o644 });
        expect(openTo(dataDir)).toEqual(name === "shared" ? [join(dataDir, "notes.txt")] : []);
      }
    },
  );
});
