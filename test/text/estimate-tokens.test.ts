import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens, readTokens } from "../../src/text/estimate-tokens.js";
import { processorMs } from "../support/timing.js";

const text = fc.oneof(
  fc.string({ maxLength: 200, unit: "binary" }),
  fc.string({ maxLength: 200 }),
  fc
    .array(fc.constantFrom("a", "B", "é", " ", "  ", "\n", "=", "<", "7", "я", "語", "한", "😀"), {
      maxLength: 60,
    })
    .map((parts) => parts.join("")),
);

describe("estimateTokens", () => {
  // Counted with OpenAI's o200k encoding.
  it.each<[string, number, string]>([
    [
      "English",
      49,
      "My name is Ana and I live in Porto. I am allergic to nuts, in the mornings I drink green tea and in the afternoons I run along the river. Last week we finished the deployment plan for Phoenix, which is due on Friday.",
    ],
    [
      "German",
      52,
      "Ich heiße Ana und wohne in Porto. Gegen Nüsse bin ich allergisch, morgens trinke ich grünen Tee, und nachmittags laufe ich am Fluss entlang. Letzte Woche haben wir den Auslieferungsplan für Phoenix abgeschlossen.",
    ],
    [
      "French",
      51,
      "Je m'appelle Ana et j'habite à Porto. Je suis allergique aux noix, le matin je bois du thé vert et l'après-midi je cours le long de la rivière. La semaine dernière, nous avons terminé le plan de déploiement.",
    ],
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
    [
      "TypeScript",
      46,
      "export function estimateTokens(text: string): number {\n  return Math.ceil(readTokens(text).tokens);\n}\n\nconst isCapital = (code: number) => code >= 0x41 && code <= 0x5a;\n",
    ],
    [
      "SQL",
      38,
      "select m.seq, m.content as text from message m\nwhere m.thread_ref = $1 and m.role in ('user', 'assistant')\norder by m.seq desc limit 50;",
    ],
    [
      "JSON",
      96,
      '[{"id":"0198f3c2-7d1b-7a31-9c4e-123456789012","category":"tasks","text":"[tasks] The deployment plan is due on Friday.","similarity":0.734,"metadata":{"kind":"fact","value":null,"importance":3,"pinned":false,"tags":[],"createdAt":"2026-01-02T03:04:05.678Z"}}]',
    ],
    [
      "Markdown",
      59,
      "## What it costs\n\n| task | ms | calls |\n| ---- | --: | ----: |\n| recall | 2.9 | 1 |\n| remember | 4.1 | 2 |\n\n- **Recall** is one round trip.\n- `remember` writes once.\n",
    ],
  ])("is near the count of %s: %i", (_, counted, sample) => {
    expect(estimateTokens(sample) / counted).toBeGreaterThan(0.9);
    expect(estimateTokens(sample) / counted).toBeLessThan(1.25);
  });

  it.each<[string, number, string]>([
    ["one letter", 150, "a".repeat(1_200)],
    ["one ideograph", 1_200, "语".repeat(1_200)],
    ["digits", 400, "0".repeat(1_200)],
    ["empty lines", 75, "\n".repeat(1_200)],
    ["emoji", 600, "😀".repeat(600)],
    ["rules", 18, "-".repeat(1_200)],
  ])("of %s over and over is not far below the count of %i", (_, counted, sample) => {
    expect(estimateTokens(sample)).toBeGreaterThanOrEqual(counted * 0.8);
  });

  it.each(["a", " ", "\n", "=", "😀", "ﷺ"])("of a million %j takes no time", (part) => {
    const taken = processorMs(() => estimateTokens(part.repeat(1_000_000)), 3_000);
    // 15 ms; an encoder takes hours.
    expect(taken).toBeLessThan(3_000);
  });

  it("is nothing for nothing, and never more than the characters", () => {
    expect(estimateTokens("")).toBe(0);
    fc.assert(
      fc.property(text, (each) => {
        expect(estimateTokens(each)).toBeLessThanOrEqual(each.length);
        if (/\S/.test(each)) expect(estimateTokens(each)).toBeGreaterThan(0);
      }),
    );
  });

  it("grows with the text: hardly any two texts joined are more than both apart", () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const joined = readTokens(one + other).tokens;
        expect(joined).toBeGreaterThanOrEqual(readTokens(one).tokens - 1e-9);
        expect(joined).toBeLessThanOrEqual(readTokens(one).tokens + readTokens(other).tokens + 1 + 1e-9);
      }),
    );
  });
});

describe("readTokens", () => {
  it("stops at the last character within the bound", () => {
    fc.assert(
      fc.property(text, fc.double({ min: 0, max: 60, noNaN: true }), (each, most) => {
        const { end, tokens } = readTokens(each, 0, most);
        expect(tokens).toBeLessThanOrEqual(most);
        expect(readTokens(each.slice(0, end)).tokens).toBeCloseTo(tokens);
        if (end < each.length) expect(readTokens(each.slice(0, end + 1)).tokens).toBeGreaterThan(most);
      }),
    );
  });
});
