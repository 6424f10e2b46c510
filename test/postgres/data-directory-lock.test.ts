import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { lockDataDirectory } from "../../src/postgres/data-directory.js";
import { useChildScripts } from "../support/child-scripts.js";

const root = mkdtempSync(join(tmpdir(), "mnemograph-lock-"));
const start = useChildScripts();
let next = 0;
const folder = () => join(root, `data ${next++}`);
const lockFile = (dataDir: string) => join(dataDir, "mnemograph.lock");
const deadPid = 2 ** 30;
const dead = { pid: deadPid, host: hostname(), startedAt: "1" };

afterAll(() => rmSync(root, { recursive: true, force: true }));

function leaveLock(dataDir: string, content: unknown): void {
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(lockFile(dataDir), typeof content === "string" ? content : JSON.stringify(content));
}

const alive = { pid: process.ppid, host: hostname(), startedAt: null };
const locked = expect.objectContaining({ code: "DATA_DIRECTORY_LOCKED" });

describe("lockDataDirectory", () => {
  it.each([
    ["a process that was killed", dead],
    [
      "an earlier process with this one's id",
      { pid: process.pid, host: hostname(), startedAt: "1" },
    ],
    ["a power failure while it was written", '{"pid": 1'],
    ["a power failure before it was written", ""],
  ])("lockDataDirectory takes over the lock that %s left", (_, content) => {
    const dataDir = folder();
    leaveLock(dataDir, content);
    const unlock = lockDataDirectory(dataDir);
    expect(() => lockDataDirectory(dataDir)).toThrow(locked);
    expect(readdirSync(dataDir)).toEqual(["mnemograph.lock"]);
    unlock();
    expect(existsSync(lockFile(dataDir))).toBe(false);
  });

  it("lockDataDirectory takes over the locks of processes killed during a take-over", () => {
    const dataDir = folder();
    leaveLock(dataDir, dead);
    for (const suffix of [".next", ".next.next"])
      writeFileSync(lockFile(dataDir) + suffix, JSON.stringify(dead));
    const unlock = lockDataDirectory(dataDir);
    expect(readdirSync(dataDir)).toEqual(["mnemograph.lock"]);
    unlock();
  });

  it("lockDataDirectory respects a process that is taking over right now", () => {
    const dataDir = folder();
    leaveLock(dataDir, dead);
    writeFileSync(`${lockFile(dataDir)}.next`, JSON.stringify(alive));
    expect(() => lockDataDirectory(dataDir)).toThrow(locked);
  });

  it("lockDataDirectory respects locks of other machines, and says how to remove them", () => {
    const dataDir = folder();
    leaveLock(dataDir, { ...dead, host: "elsewhere" });
    expect(() => lockDataDirectory(dataDir)).toThrow(locked);
    const message = new RegExp(`process ${deadPid} on elsewhere.*delete .*mnemograph.lock`);
    expect(() => lockDataDirectory(dataDir)).toThrow(message);
  });

  it("lockDataDirectory refuses a file, and a path through one", () => {
    const file = folder();
    writeFileSync(file, "");
    for (const dataDir of [file, join(file, "inside")]) {
      expect(() => lockDataDirectory(dataDir)).toThrow(
        expect.objectContaining({ code: "INVALID_INPUT" }),
      );
      expect(() => lockDataDirectory(dataDir)).toThrow(/must be a folder/);
    }
  });

  it("Unlocking keeps the lock of a process that took the folder after the first lock was deleted", () => {
    const dataDir = folder();
    const unlock = lockDataDirectory(dataDir);
    leaveLock(dataDir, alive);
    unlock();
    expect(existsSync(lockFile(dataDir))).toBe(true);
  });

  it("Of four processes that contend for stale locks, one at a time holds the folder", async () => {
    const dataDir = folder();
    mkdirSync(dataDir);
    const contenders = Array.from({ length: 4 }, () => start("contend-for-lock", [dataDir, "10"]));
    const codes = await Promise.all(contenders.map((each) => each.exitCode));
    expect(contenders.map((each) => each.stderr())).toEqual(["", "", "", ""]);
    expect(codes).toEqual([0, 0, 0, 0]);
    const held = contenders.map((each) => Number(/held (\d+)/.exec(each.lines.at(-1) ?? "")?.[1]));
    expect(Math.min(...held)).toBeGreaterThanOrEqual(10);
    expect(readdirSync(dataDir).filter((file) => file.includes("mnemograph.lock."))).toEqual([]);
  });
});
