import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../support/run-program.js";
import { onServer } from "../support/test-database.js";

// On a server it would be the same again: the demo has its own embedded database.
describe.skipIf(onServer())("npm run demo (embedded only)", () => {
  let output = "";
  let exitCode: number;
  let left: string[];

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "mnemograph-demo-test-"));
    try {
      const demo = runProgram(resolve("examples/demo.ts"), { TMPDIR: folder });
      exitCode = await demo.exited;
      output = demo.output();
      left = readdirSync(folder).filter((name) => name.startsWith("mnemograph-"));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  /** The printed lines of one round: its user's line and what is indented below. */
  const lines = (round: number) =>
    new RegExp(`^Round ${round} .*(?:\\n\\s+\\S.*)*`, "m").exec(output)?.[0] ?? `no round ${round}`;

  test("ends well and leaves nothing behind", () => {
    expect(output).not.toMatch(/error|warning/i);
    expect(exitCode).toBe(0);
    expect(left).toEqual([]);
  });

  // The window after each round of plain chat.
  test.each([
    [1, "none", "skip: too early"],
    [2, "none; the raw messages, seq 0-1", "skip: too early"],
    [3, "none; the raw messages, seq 0-3", "trigger: id=1 (0-5), base null"],
    [4, "id=1 (seq 0-5), caught up; no gap", "trigger: id=2 (0-7), base 1"],
    [5, "id=1 (seq 0-5), not caught up, id=2 is processing; gap seq 6-7", "skip: id=2 is still processing"],
    [6, "id=2 (seq 0-7), caught up; gap seq 8-9", "trigger: id=3 (0-11), base 2"],
    [7, "id=2 (seq 0-7), not caught up, id=3 is processing; gap seq 8-11", "skip: id=3 is still processing"],
    [
      8,
      "id=3 (seq 0-11), caught up; gap seq 12-13",
      "trigger: id=4 (2-15), base 3, sliding: seq 0-1 dropped",
    ],
    [
      9,
      "id=3 (seq 0-11), not caught up, id=4 is processing; gap seq 12-15",
      "skip: id=4 is still processing",
    ],
    [
      10,
      "id=4 (seq 2-15), caught up; gap seq 16-17",
      "trigger: id=5 (6-19), base 4, sliding: seq 0-5 dropped",
    ],
  ])("round %i uses the seed's memory and ends as it says", (round, memory, end) => {
    expect(lines(round)).toMatch(new RegExp(`^ +memory +${literal(memory)}$`, "m"));
    expect(lines(round)).toMatch(
      new RegExp(`^ +end +seq ${2 * round - 2}-${2 * round - 1} recorded; ${literal(end)}`, "m"),
    );
  });

  test.each([
    [4, "planner"],
    [5, "executor"],
    [6, "planner"],
    [9, "executor"],
  ])("round %i is delegated to the %s, and its result is the answer", (round, name) => {
    expect(lines(round)).toMatch(new RegExp(`task +transfer_to_${name}: "`));
    const result = new RegExp(`result +${name}: "(.+)"`).exec(lines(round))?.[1] ?? "no result";
    expect(lines(round)).toMatch(new RegExp(`answer +\\[offline stand-in\\] ${literal(result)}$`, "m"));
  });

  test("prints the seed's table from the database", () => {
    const table = output.split("\n").filter((line) => line.startsWith("|"));
    const cells = table.map((line) =>
      line
        .split("|")
        .map((cell) => cell.trim())
        .slice(1, -1),
    );
    expect(cells[0]).toEqual(["id", "start_seq", "end_seq", "base_id", "status"]);
    expect(cells[1]?.every((cell) => /^-+$/.test(cell))).toBe(true);
    expect(cells.slice(2)).toEqual([
      ["1", "0", "5", "null", "completed"],
      ["2", "0", "7", "1", "completed"],
      ["3", "0", "11", "2", "completed"],
      ["4", "2", "15", "3", "completed"],
      ["5", "6", "19", "4", "completed"],
    ]);
  });

  test("goes on in a second process with the state and the memory of the first", () => {
    const [, first] = /Process (\d+) has closed the database/.exec(output) ?? [];
    const [, second, messages] = /Process (\d+) found (\d+) messages in the graph's state/.exec(output) ?? [];
    expect(Number(second)).toBeGreaterThan(0);
    expect(second).not.toBe(first);
    expect(messages).toBe("20");
    expect(output).toContain("20 in the transcript, and memory id=5 (seq 6-19):");
    expect(lines(11)).toMatch(/memory +id=5 \(seq 6-19\), caught up; no gap$/m);
    expect(lines(11)).toMatch(
      /answer +\[offline stand-in\] From memory: Orders get an index on user and date\.$/m,
    );
    expect(lines(11)).toMatch(/end +seq 20-21 recorded; trigger: id=6 \(8-21\), base 5/);
  });

  describe("part two", () => {
    /** The lines below the headline that begins with `start`. */
    const section = (start: string) =>
      new RegExp(`^${start}.*:\\n\\n((?:.+\\n)+)`, "m").exec(output)?.[1] ?? `no ${start}`;

    test("facts and an episode come of twenty turns, each with those who may read it", () => {
      expect(output.match(/^Turn \d+ +user /gm)).toHaveLength(20);
      const stored = section("What the background work made of it");
      expect(stored).toMatch(/ fact +\[profile\] name = Ana \(supervisor\)$/m);
      expect(stored).toMatch(/ fact +\[goals\] The user's goal is .* \(supervisor, planner\)$/m);
      expect(stored).toMatch(/ fact .* favourite_editor = Vim \(superseded; supervisor, stylist\)$/m);
      expect(stored).toMatch(/ fact .* favourite_editor = Helix \(supervisor, stylist\)$/m);
      expect(stored).toMatch(/ episode +\[activity\] turns 1-10: The user said: My name is Ana/);
      expect(stored.match(/^ +(?:fact|episode) /gm)).toHaveLength(7);
    });

    test("a question in a new conversation is answered from the episode", () => {
      const monday = section("A new conversation");
      expect(monday).toMatch(/ hit +the episode of turns 1-10, similarity 0\.\d\d: same words/);
      expect(monday).toMatch(/ shown +- turns 1-10: /);
      const [, answer = ""] = / answer +\[offline stand-in\] From memory: ([\s\S]*)/.exec(monday) ?? [];
      expect(answer.replaceAll(/\s+/g, " ")).toContain("We booked the Alfama hall for the launch...");
    });

    test("the next round is told what changed; the planner reads tasks and is refused preferences", () => {
      const [shown = "", asked = ""] = section("Another program adds two tasks").split(/(?<=<\/memory>\n)/);
      expect(shown).toMatch(
        /<memory>\n +shown +# Long-term Memory\n +shown +Use what is known here.+\n(?: +shown *)?\n* +shown +Memory updates since rev \d+:\n/,
      );
      expect(shown).toMatch(/ shown +- \+created: \[Tasks\] Before the launch the checkout is tested/);
      expect(shown).toMatch(/ shown +- \+created: \[Tasks\] For the launch the guests get/);
      expect(asked).toMatch(
        /"categories":\["preferences"\]\}\n +memory +Refused: Agent "planner" may not read preferences\./,
      );
      expect(asked).toMatch(/"categories":\["tasks"\]\}\n +memory +\[\{"id":/);
      expect(asked).toMatch(
        / answer +\[offline stand-in\] 1\) Before the launch the checkout is tested\. 2\) /,
      );
    });
  });
});

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
