import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asksSomething, tellsSomething } from "../../src/text/tells-something.js";

describe("tellsSomething", () => {
  it.each([
    ..."ok,OK.,Okkk!!,k,thanks,Thanks a lot!,thank you so much 🙏,got it,👍,❤️‍🔥,,   ,...,hahaha,lol,😂😂,sounds good".split(
      ",",
    ),
    ...[
      "Danke schön",
      "vielen Dank!",
      "merci beaucoup",
      "¡Muchas gracias!",
      "muito obrigado",
      "va bene, grazie",
    ],
    ...[
      "спасибо большое",
      "teşekkür ederim",
      "dzięki!",
      "شكرا جزيلا",
      "תודה רבה",
      "धन्यवाद",
      "terima kasih",
      "cảm ơn bạn",
    ],
    ...[
      "好的，谢谢",
      "谢谢你",
      "ありがとうございます！",
      "了解しました",
      "감사합니다",
      "ขอบคุณมากครับ",
      "jajaja",
      "ㅋㅋㅋ",
      "хаха",
    ],
  ])("is not asked for %j", (text) => {
    expect(tellsSomething(text)).toBe(false);
  });

  it.each([
    ..."yes|no|No!|ja|oui|да|はい|是|不|42|I moved to Porto.|ok, I live in Porto now|thanks, and call me Ana".split(
      "|",
    ),
    ...[
      "我住在波尔图",
      "好的，我叫李明",
      "ポルトに住んでいます",
      "ฉันชื่อแอนนา",
      "나는 서울에 살아요",
      "меня зовут Анна",
      "أسكن في بورتو",
    ],
    "thank you ".repeat(20),
  ])("is for %j", (text) => {
    expect(tellsSomething(text)).toBe(true);
  });

  it.each(["Morning, please.", "Sweet!", "Right.", "好", "とてもいいですね", "Хорошо"])(
    "is for %j where it answers a question",
    (text) => {
      expect(tellsSomething(text, true)).toBe(true);
    },
  );

  it.each(["ok", "Great, thanks!", "好的，谢谢", "いいですね、ありがとう", "Спасибо большое", "👍", ""])(
    "is not for %j even then",
    (text) => {
      expect(tellsSomething(text, true)).toBe(false);
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
    ["", false],
  ])("%j asks something: %s", (text, asks) => {
    expect(asksSomething(text)).toBe(asks);
  });

  it("is whatever stands around what tells something", () => {
    const courtesy = fc.constantFrom("ok", "thanks!", "👍", "好的，", "merci beaucoup", "");
    fc.assert(
      fc.property(
        fc.array(courtesy, { maxLength: 4 }),
        fc.array(courtesy, { maxLength: 4 }),
        (before, after) => {
          expect(tellsSomething([...before, "Porto", ...after].join(" "))).toBe(true);
          expect(tellsSomething([...before, ...after].join(" "))).toBe(false);
        },
      ),
    );
  });

  it("takes no longer for a long text than for its beginning", () => {
    expect(tellsSomething("ab".repeat(5_000_000))).toBe(true);
    expect(tellsSomething("好".repeat(5_000_000))).toBe(true);
  });

  it.each([
    ["line breaks", `${"\n".repeat(1_000_000)} My name is Ana.`],
    ["signs", `${"👍".repeat(5_000)} I moved to Porto.`],
    ["thanks", `${"thanks! ".repeat(8)} My cat is Momo.`],
    ["one word without an end", "x".repeat(1_000_000)],
  ])("finds what is said behind many %s", (_, text) => {
    expect(tellsSomething(text)).toBe(true);
  });
});
