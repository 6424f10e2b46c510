import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leavesScript } from "../../src/facts/choose-facts.rule.js";
import {
  maxCharacters,
  trimToLength,
  writingProblems,
} from "../../src/memories/write/writing-constraints.rule.js";
import { forAll } from "../support/for-all.js";

describe("facts", () => {
  it.each([
    "The user's name is Ana.",
    "Dr. Smith of St. Mary's treats the user, e.g. for asthma. Prof. J. R. Lee does so, too.",
    "Am 3. Mai zieht die Nutzerin nach Bonn, z. B. zu ihrer Schwester. Der Umzug dauert ca. 2 Tage.",
    'The user\'s motto is "Stop! Think! Go!", and Ana\'s is "Wait. Look."',
    "The user runs Node 22.1. Ana runs Node 24.",
    "- tea\n- coffee\n- juice",
    "I like tea.",
    "她喜欢茶。",
  ])("Code checks only the form of a fact, and leaves its grammar to the prompt: %s", (text) =>
    expect(writingProblems("fact", text)).toEqual([]),
  );

  it.each([
    ["", "empty"],
    [" … ", "empty"],
    ["One is here. Two is here. Three is here.", "too_many_sentences"],
    ["用户喜欢茶。用户住在北京。用户有一只猫。", "too_many_sentences"],
    ["a".repeat(281), "too_long"],
  ])("The fact %j is rejected as %s", (text, problem) =>
    expect(writingProblems("fact", text)).toContain(problem),
  );
});

describe("other kinds of memory", () => {
  it("Each kind of memory has its own length limit", () => {
    for (const [kind, most] of Object.entries(maxCharacters) as [
      keyof typeof maxCharacters,
      number,
    ][]) {
      const start = "1. Do it. ";
      expect(writingProblems(kind, start.padEnd(most, "x"))).toEqual([]);
      expect(writingProblems(kind, start.padEnd(most + 1, "x"))).toEqual(["too_long"]);
    }
  });

  it("A procedure needs numbered steps", () => {
    expect(writingProblems("procedure", "Deploy:\n1. Build it.\n2. Push it.")).toEqual([]);
    expect(writingProblems("procedure", "1) Build it.")).toEqual([]);
    expect(writingProblems("procedure", "Build it, then push it.")).toEqual(["not_steps"]);
  });
});

describe("trimming", () => {
  it("Trimming keeps whole sentences", () => {
    expect(trimToLength("fact", `The user hikes. ${"x".repeat(300)}`)).toBe("The user hikes.");
    expect(trimToLength("note", `${"é".repeat(150)}! ${"y".repeat(100)}`)).toBe(
      `${"é".repeat(150)}!`,
    );
    expect(trimToLength("fact", "x".repeat(300))).toBeNull();
    expect(trimToLength("fact", " The user\u0000 hikes. ")).toBe("The user hikes.");
    const doctor = `The user is seen by a doctor near the station. ${"very ".repeat(44)}kind Dr. Miller of Bern treats him.`;
    expect(trimToLength("fact", doctor)).toBe("The user is seen by a doctor near the station.");
    const quoted = `The user has a 5" pipe in the garden. ${"x ".repeat(110)}near the house of Dr. Miller in Bern.`;
    expect(trimToLength("fact", quoted)).toBe('The user has a 5" pipe in the garden.');
    expect(trimToLength("fact", `ユーザーは東京に住んでいる。${"とても".repeat(100)}`)).toBe(
      "ユーザーは東京に住んでいる。",
    );
  });

  it.each([
    ["The user hikes. The user sails. The user sings.", "The user hikes. The user sails."],
    ["Dr. Lee hikes. Mr. J. Doe sails. The user sings.", "Dr. Lee hikes. Mr. J. Doe sails."],
    ["茶が好き。犬を飼う。東京に住む。", "茶が好き。犬を飼う。"],
    [
      "The user said: “Wait! Stop! Go!” and left. Ana sings. Bo sails.",
      "The user said: “Wait! Stop! Go!” and left. Ana sings.",
    ],
  ])("Trimming keeps at most two sentences of a fact: %s", (text, kept) =>
    expect(trimToLength("fact", text)).toBe(kept),
  );

  it("Trimming leaves steps and short notes unchanged", () => {
    const notes = "Ask first. Then write. Keep it short. Say thanks.";
    expect(trimToLength("note", notes)).toBe(notes);
    const steps = "Deploy:\n1. Build. Wait. Test. Go.\n2. Push. Wait. Look. Go.";
    expect(trimToLength("procedure", steps)).toBe(steps);
  });

  it("Trimming leaves a text without problems", () => {
    const word = fc.constantFrom(
      ...'The user|Ana|likes|tea|They|ich|。|. |! |Dr. |"|\n| '.split("|"),
    );
    forAll(fc.array(word, { maxLength: 60 }), (words) => {
      const trimmed = trimToLength("fact", words.join(" "));
      if (trimmed === null) return;
      expect(writingProblems("fact", trimmed)).not.toContain("too_many_sentences");
      expect(trimToLength("fact", trimmed)).toBe(trimmed);
    });
  });

  it("Trimming never exceeds the limit and adds nothing", () =>
    forAll(
      fc.string({ maxLength: 700, unit: fc.constantFrom("a", " ", ". ", "!", "。", "é") }),
      (text) => {
        const trimmed = trimToLength("fact", text);
        expect(trimmed?.length ?? 0).toBeLessThanOrEqual(maxCharacters.fact);
        expect(text.startsWith(trimmed ?? "") || text.trim().startsWith(trimmed ?? "")).toBe(true);
      },
    ));
});

it.each([
  ["Я живу в Казани и люблю чай.", "Пользователь живёт в Казани.", false],
  ["Я живу в Казани и люблю чай.", "The user lives in Kazan.", true],
  ["Мой сервер называется ana-01, я люблю его.", "The server is ana-01.", true],
  ["我住在北京，喜欢喝茶，也喜欢咖啡。", "The user lives in Beijing.", true],
  ["コーヒーが好きです、紅茶は飲みません。", "用户喜欢咖啡。", false],
  ["I live in Kazan.", "Пользователь живёт в Казани.", true],
  ["Да.", "The user lives in Kazan.", false],
  ["Меня зовут Ana Maria Fernandes da Silva.", "The user is Ana Maria Fernandes.", false],
  ["Ich wohne in Bonn.", "The user lives in Bonn.", false],
  ["Я живу в Казани и люблю чай.", "MIT-0", false],
])("leavesScript for the source %j and the fact %j is %s", (source, text, leaves) =>
  expect(leavesScript(source, text)).toBe(leaves),
);
