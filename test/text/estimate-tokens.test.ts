import fc from "fast-check";
import { countTokensApproximately, HumanMessage } from "langchain";
import { expect, it } from "vitest";
import { estimateTokens, readTokens } from "../../src/text/estimate-tokens.js";
import { forAll } from "../support/for-all.js";

const text = fc.string({ maxLength: 200, unit: "binary" });

it("estimateTokens counts Latin letters, code and JSON as LangChain does", () =>
  forAll(fc.string({ maxLength: 200, unit: "binary-ascii" }), (ascii) => {
    expect(estimateTokens(ascii)).toBe(countTokensApproximately([new HumanMessage(ascii)]));
  }));

// Counted with OpenAI's o200k encoding.
it.each([
  [
    "Chinese",
    54,
    "我的名字叫安娜，住在波尔图。我对坚果过敏，每天早上喝绿茶，下午去河边跑步。上周我和同事一起完成了凤凰项目的部署计划，星期五之前必须交付。",
  ],
  [
    "Japanese",
    61,
    "私の名前はアンナで、ポルトに住んでいます。ナッツにアレルギーがあり、毎朝緑茶を飲みます。先週、同僚と一緒にフェニックス計画の準備を終えました。",
  ],
  [
    "Arabic",
    49,
    "اسمي آنا وأعيش في بورتو. لدي حساسية من المكسرات، وأشرب الشاي الأخضر كل صباح، وأركض على ضفاف النهر بعد الظهر. أنهينا الأسبوع الماضي خطة النشر.",
  ],
  ["Tibetan", 58, "སྤྱོད་མཁན་གྱི་སྲིང་མོ་ལྷ་སར་བཞུགས་ཡོད།"],
  ["Lao", 54, "ນ້ອງສາວຂອງຜູ້ໃຊ້ອາໄສຢູ່ວຽງຈັນ"],
  ["emoji", 600, "😀".repeat(600)],
])("estimateTokens does not count %s too low: %i", (_, counted, sample) =>
  expect(estimateTokens(sample)).toBeGreaterThan(counted),
);

it("An estimate is at most twice the number of characters, and estimates add up", () =>
  forAll(text, text, (one, other) => {
    expect(estimateTokens(one)).toBeLessThanOrEqual(2 * one.length);
    expect(readTokens(one + other).tokens).toBe(readTokens(one).tokens + readTokens(other).tokens);
  }));

it("readTokens stops at the last character within the bound", () =>
  forAll(text, fc.double({ min: 0, max: 60, noNaN: true }), (each, most) => {
    const { end, tokens } = readTokens(each, 0, most);
    expect(tokens).toBeLessThanOrEqual(most);
    expect(readTokens(each.slice(0, end)).tokens).toBe(tokens);
    if (end < each.length) expect(readTokens(each.slice(0, end + 1)).tokens).toBeGreaterThan(most);
  }));
