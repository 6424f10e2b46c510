import { describe, expect, inject, it } from "vitest";
import { useChildScripts } from "../../support/child-scripts.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";

const start = useChildScripts();

/** How each of 36 runs ended, in a process that ended well. */
async function endsOf(...args: string[]): Promise<string[]> {
  const child = start("fail-writes", args);
  const code = await child.exitCode;
  const [ends = "", last] = child.lines;
  expect({ code, last, stderr: child.stderr() }).toEqual({ code: 0, last: "goes on", stderr: "" });
  return ends.split(" ");
}

describe("checkpoint writes that fail, in each durability and by each call", () => {
  it("A user who is forgotten during a run fails that run's checkpoint writes and nothing else", async () =>
    expect(await endsOf("forgotten", ":memory:")).toEqual(Array(36).fill("THREAD_FORBIDDEN")));

  describe.skipIf(!onServer())("(server only)", () => {
    const db = useTestDatabase();
    it("A database that goes away fails the checkpoint writes of runs under way and nothing else", async () => {
      const ends = await endsOf("away", inject("databaseUrl") ?? "", db.schema);
      expect(ends).toEqual(
        Array(36).fill(expect.stringMatching(/^DATABASE_(UNAVAILABLE|TIMEOUT)$/)),
      );
    });
  });
});
