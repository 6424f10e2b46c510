import { expect, it } from "vitest";
import { expectMemory, type MemoryExpectationError, readPrompt } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

const problem = (check: Promise<void>) =>
  check.then(
    () => null,
    (error: MemoryExpectationError) => error,
  );

it("`expectMemory` checks what is found, shown and believed, and says what was there instead", async () => {
  const memory = db.memory();
  const scope = { userId: "expected" };
  const memories = [
    { text: "The user plays as El Ni\u00f1o.", category: "interests" },
    { text: "The user is allergic to peanuts.", category: "constraints" },
    { text: "The user's sister plays the cello.", category: "relationships" },
  ];
  await memory.memories.add({ scope, memories });
  const asked = { scope, query: "Which instrument does my sister play?" };
  const expecting = expectMemory(memory);
  await expecting.toFind({ ...asked, words: "THE  cello" });
  await expecting.not.toFind({ ...asked, words: "peanuts" });
  await expecting.toFind({ scope, query: "El Niño", words: "nin\u0303o" });
  await expecting.toShow({ ...asked, words: ["cello", "peanuts"] });
  await expecting.toBelieve({ ...asked, words: "allergic to peanuts" });
  await expecting.not.toBelieve({ ...asked, words: ["Which instrument", "violin"] });

  const missing = await problem(expecting.toFind({ ...asked, words: ["cello", "violin"] }));
  expect(missing).toMatchObject({
    name: "MemoryExpectationError",
    message:
      '"violin" should be found for "Which instrument does my sister play?", but is not. ' +
      'There was "The user\'s sister plays the cello.".',
    expected: "violin",
    actual: ["The user's sister plays the cello."],
  });
  const unwanted = await problem(expecting.not.toBelieve({ ...asked, words: "peanuts" }));
  expect(unwanted?.message).toBe(
    '"peanuts" should not be believed for "Which instrument does my sister play?", but is: ' +
      '"The user is allergic to peanuts."',
  );
  const nobody = { scope: { userId: "unknown" }, query: "Cello?", words: "cello" };
  expect((await problem(expecting.toShow(nobody)))?.message).toMatch(/There was nothing\.$/);
  await expect(expecting.toFind({ ...asked, words: " " })).rejects.toMatchObject({
    code: "INVALID_INPUT",
  });
});

it("`expectMemory` reads the prompt of the thread that it names, with what was said there", async () => {
  const memory = db.memory();
  const scope = { userId: "talking" };
  const messages = [{ role: "user", content: "The band starts at nine." }];
  await memory.remember({ scope, threadId: "party", messages });
  const asked = { scope, query: "When does it begin?", words: "at nine" };
  await expectMemory(memory).toShow({ ...asked, threadId: "party" });
  await expectMemory(memory).not.toBelieve({ ...asked, threadId: "party" });
  await expectMemory(memory).not.toShow(asked);
});

it("A line that names what it replaces ends it for the reader of a prompt", () => {
  const block = (...lines: string[]) => `<memory>\n${lines.join("\n")}\n</memory>`;
  const { believed, claims } = readPrompt([
    block("## User Profile", "- city: Porto"),
    "I moved.",
    block("Memory updates since rev 1:", "- ↑updated: [Profile] city: Lisbon (instead of: Porto)"),
  ]);
  expect(believed).toEqual(["↑updated: [Profile] city: Lisbon"]);
  expect(claims.map(({ under }) => under)).toEqual(["## User Profile", "changes"]);
});

it("A line ends the one that it replaces, and no other with the same words", () => {
  const block = (...lines: string[]) => `<memory>\n${lines.join("\n")}\n</memory>`;
  const home = "The user lives in a house with a blue door at the end of the old mill lane";
  const { believed } = readPrompt([
    block(
      "## User Profile",
      "- The user keeps fish in a pond.",
      "- team: red",
      "- diet: fish",
      "- drink: tea",
      `- ${home}.`,
      "- car: Fiat (since 1 May 2026, earlier: red)",
    ),
    block(
      "Memory updates since rev 1:",
      "- ↑updated: [Profile] The user is vegan. (instead of: fish)",
      "- ↑updated: [Profile] Coffee is the user's drink. (instead of: tea)",
      `- ↑updated: [Profile] The user lives on a boat. (instead of: ${home.slice(0, 59)}…)`,
    ),
  ]);
  expect(believed.slice(0, 3)).toEqual([
    "The user keeps fish in a pond.",
    "team: red",
    "car: Fiat",
  ]);
  expect(believed.join()).not.toMatch(/diet|tea\b|mill/);
});
