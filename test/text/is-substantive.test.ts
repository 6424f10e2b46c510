import { describe, expect, it } from "vitest";
import { asksSomething } from "../../src/text/asks-only.js";
import { isSubstantive } from "../../src/text/is-substantive.js";

describe("isSubstantive", () => {
  it.each([
    [["", "   ", "...", "👍", "❤️‍🔥😂", "\n\n"], false, false],
    [["ok", "No!", "42", "don't", "谢谢", "ขอบคุณ", "Хорошо", "好"], false, true],
    [
      ["Thanks a lot!", "I moved to Porto.", "我住在波尔图", "ฉันชื่อแอนนา", "меня зовут Анна"],
      true,
      true,
    ],
    [
      ["أسكن في بورتو", "나는 서울에 살아요", "terima kasih", `ok ${"👍 ".repeat(5_000)} Porto`],
      true,
      true,
    ],
    [
      [`${"\n".repeat(1_000_000)} I sail.`, "ab".repeat(5_000_000), "好".repeat(5_000_000)],
      true,
      true,
    ],
  ])(
    "isSubstantive accepts two words of any script, and one as an answer: %#",
    (texts, unasked, asked) => {
      for (const text of texts) {
        expect([text.slice(0, 20), isSubstantive(text)]).toEqual([text.slice(0, 20), unasked]);
        expect([text.slice(0, 20), isSubstantive(text, true)]).toEqual([text.slice(0, 20), asked]);
      }
    },
  );

  it.each([
    ["Sweet or salty?", true],
    ["Süß oder salzig? 😊", true],
    ["甘いのとしょっぱいの、どちらですか？", true],
    ["أيهما تفضل؟", true],
    ["*Which one?*\n", true],
    ["Why? Because it rains.", false],
    ["Done.", false],
    ["Πού μένει η αδελφή σου;", true],
    ["Που; Εδώ.", false],
    ["Որտե՞ղ է քույրդ։", true],
    ["Buy milk; bread;", false],
    ["", false],
  ])("The text %j asks something: %s", (text, asks) => expect(asksSomething(text)).toBe(asks));
});
