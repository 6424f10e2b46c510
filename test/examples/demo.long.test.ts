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

  /** The printed lines of one round, each column's words on one line. */
  const lines = (round: number) =>
    (
      new RegExp(`^${round} +you .*(?:\\n +\\S.*)*`, "m").exec(output)?.[0] ?? `no round ${round}`
    ).replaceAll(/\n {13}(?=\S)/g, " ");

  test("The demo exits with 0, leaves only its database, and says how to inspect it", () => {
    expect(output).not.toMatch(/error|warning/i);
    expect([exitCode, left.length]).toEqual([0, 1]);
    const words = output.replaceAll(/\s+/g, " ");
    expect(words).toContain("npx @mnemograph/server inspect --user ana --data-dir ");
    expect(words).toContain(`${left[0]}/database `);
  });

  test("The demo says what will follow before it loads memory and creates the database", () => {
    const [first = ""] = output.replaceAll(/\s+/g, " ").split("1 Ten rounds");
    expect(first).toContain("An embedded PostgreSQL is created. Then five parts follow.");
    expect(output.split("1  Ten rounds")[1]).toMatch(/^.*\nCreating an embedded PostgreSQL/);
  });

  test("The demo prints plain text that fits a window, wrapped between words", () => {
    expect(output).not.toContain("\u001b");
    const printed = output.split("\n");
    expect(Math.max(...printed.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(printed.length).toBeLessThanOrEqual(136);
  });
  test.each([
    [1, "none", "too early for one"],
    [2, "none, messages 0-1", "too early for one"],
    [3, "none, messages 0-3", "1 (0-5) starts"],
    [4, "1 (0-5), caught up, no gap", "2 (0-7) starts on 1"],
    [5, "1 (0-5), 2 is not ready, gap 6-7", "2 still runs"],
    [6, "2 (0-7), caught up, gap 8-9", "3 (0-11) starts on 2"],
    [7, "2 (0-7), 3 is not ready, gap 8-11", "3 still runs"],
    [8, "3 (0-11), caught up, gap 12-13", "4 (2-15) starts on 3, 0-1 dropped"],
    [9, "3 (0-11), 4 is not ready, gap 12-15", "4 still runs"],
    [10, "4 (2-15), caught up, gap 16-17", "5 (6-19) starts on 4, 0-5 dropped"],
  ])(
    "Turn %i is shown its summary and gap, and prints what it recorded and started",
    (round, memory, end) => {
      const recorded = `${2 * round - 2}-${2 * round - 1} recorded`;
      expect(lines(round)).toMatch(
        new RegExp(`^ +summary +${literal(memory)} → ${literal(recorded)}, ${literal(end)}$`, "m"),
      );
    },
  );

  test.each([
    [4, "planner", "Table users: id, email (unique), name, created_at."],
    [5, "executor", "The user table is in users.sql."],
    [6, "planner", "Table orders: id, user_id, total, ordered_at."],
    [9, "executor", "The shop is online in Lisbon."],
  ])("Turn %i is delegated to the %s, and its result is the answer", (round, name, result) => {
    expect(lines(round)).toMatch(new RegExp(`^ +${name} +${literal(result)}$`, "m"));
    // Another answer would have a line of its own.
    expect(lines(round)).not.toMatch(/^ +answer /m);
  });

  test("The demo prints the table of its summaries from the database", () => {
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

  test("The demo continues in a second process with the state and memory of the first", () => {
    const words = output.replaceAll(/\s+/g, " ");
    const [, first] = /Process (\d+) has closed the database/.exec(words) ?? [];
    const [, second, messages] =
      /Process (\d+) finds (\d+) messages in the graph's state/.exec(words) ?? [];
    expect(Number(second)).toBeGreaterThan(0);
    expect(second).not.toBe(first);
    expect(messages).toBe("20");
    expect(words).toContain(
      "20 in the transcript, and summary 5 of messages 6-19, which ends: Round of seq 18:",
    );
    expect(lines(11)).toMatch(/answer +From memory: Orders get an index on user and date\.$/m);
    expect(lines(11)).toMatch(
      /summary +5 \(6-19\), caught up, no gap → 20-21 recorded, 6 \(8-21\) starts on 5/,
    );
  });

  /** The lines below the heading that begins with `start`, each column's words on one line. */
  const section = (start: string) =>
    (
      new RegExp(`^ *${start}.*\\n((?:.+\\n?)+)`, "m").exec(output)?.[1] ?? `no ${start}`
    ).replaceAll(/\n {13} *(?=\S)/g, " ");

  describe("part two", () => {
    test("Twenty turns yield facts and an episode, each with its readers", () => {
      expect(output).toMatch(/^20 turns are recorded/m);
      const stored = section("What became of them");
      expect(stored).toMatch(/ fact +\[profile\] (?:preferred_)?name = Ana \(supervisor\)$/m);
      expect(stored).toMatch(/ fact +\[goals\] The user's goal is .* \(supervisor, planner\)$/m);
      expect(stored).toMatch(
        / fact .* favourite_editor = Vim \(superseded; supervisor, stylist\)$/m,
      );
      expect(stored).toMatch(/ fact .* favourite_editor = Helix \(supervisor, stylist\)$/m);
      expect(stored).toMatch(/ episode +\[activity\] turns 1-10: The user said: My name is Ana/);
      expect(stored.match(/^ +(?:fact|episode) /gm)).toHaveLength(7);
    });

    test("A question in a new conversation is answered from the episode", () => {
      const monday = section("A new conversation");
      expect(monday).toMatch(
        / memory +from the episode of turns 1-10, similarity 0\.\d\d: same words/,
      );
      const [, answer = ""] = / answer +From memory: (.*)/.exec(monday) ?? [];
      expect(answer).toContain("We booked the Alfama hall for the launch");
    });

    test("The next turn is shown the changes, and the planner reads tasks and is refused preferences", () => {
      const told = section("Another program adds two tasks");
      expect(told).toMatch(/ shown +Memory updates since rev \d+:\n/);
      expect(told).toMatch(
        / shown +- \+created: \[Tasks\] Before the launch the checkout is tested/,
      );
      expect(told).toMatch(/ shown +- \+created: \[Tasks\] For the launch the guests get/);
      expect(told).toMatch(
        /in preferences\n +memory +Refused: Agent "planner" may not read preferences\. .*\n +planner +memory_query: "tasks of the launch" in tasks\n +memory +\[tasks\] /,
      );
      expect(told).toMatch(/ answer +1\) Before the launch the checkout is tested\. 2\) /);
    });
  });

  describe("part three", () => {
    const note = "The user said: I have meetings after 2 pm only.";

    test("The agent ends a conversation, which leaves a note", () => {
      const first = section("4  An app keeps a note");
      expect(first).toMatch(/ ended +by the agent's own tool: The user said goodbye\.$/m);
      expect(first).toMatch(new RegExp(` note +${literal(note)}$`, "m"));
    });

    test("The note is in the prompt of another conversation with the app, and answers", () => {
      const second = section("Another conversation: the note");
      expect(second).toMatch(/ shown +\(memories for app: Calendar\)\n/);
      expect(second).toMatch(
        new RegExp(` shown +1\\. \\[Created: \\d{4}-\\d\\d-\\d\\d\\] ${literal(note)}$`, "m"),
      );
      expect(second).toMatch(new RegExp(` answer +From memory: .*${literal(note)}$`, "m"));
    });

    test("Ten notes of eleven conversations stay, and the removed one is named with the reason", () => {
      const eleven = section("Nine more conversations end");
      expect(eleven).toMatch(/ stay +10 notes of 11 conversations$/m);
      expect(eleven).toMatch(/ gone +The user said: The dentist is on Friday at three\.$/m);
      expect(eleven).toMatch(/ because +It is the oldest of those that matter least\.$/m);
    });
  });
});

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
