import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { consentQuote } from "../../src/consents/consent-quote.rule.js";

describe("a quote that approves", () => {
  it.each([
    ["Yes.", "yes"],
    ["Yes, please remember that!", "yes, please remember that"],
    ["Hi Bob. Sure, go ahead. I don't eat nuts, by the way.", "Sure, go ahead"],
    ["Sure.\nWhat is the weather?", "Sure"],
    ["Yes, don't forget it. No problem.", "Yes, don't forget it."],
    ["I agree.", "I agree"],
    ["ja", "Ja."],
    ["Ja, gerne.", "ja gerne"],
    ["Bitte merk dir das.", "Bitte merk dir das"],
    ["Oui, bien sûr.", "oui, bien sûr"],
    ["Sí.", "si"],
    ["Sim, pode guardar.", "Sim, pode guardar"],
    ["Sì, va bene!", "Sì, va bene"],
    ["Ja, graag.", "Ja, graag"],
    ["Да, запомни.", "Да, запомни"],
    ["Tak, zapamiętaj to.", "Tak, zapamiętaj to"],
    ["Evet, kaydet.", "Evet, kaydet"],
    ["はい。", "はい"],
    ["はい、お願いします。", "はい、お願いします"],
    ["同意", "同意"],
    ["好的，记住吧。", "好的，记住吧"],
    ["네, 기억해 주세요.", "네, 기억해 주세요"],
    ["نعم، احفظ الاسم.", "نعم، احفظ الاسم"],
    ["हाँ, याद रखो।", "हाँ, याद रखो"],
    ["👍", "👍"],
  ])("in %j: %j", (message, quote) => {
    expect(consentQuote(message, quote, "approve")).not.toBeNull();
  });

  it.each([
    ["What is the weather in Porto?", "the"],
    ["What a lovely day.", "What a lovely day"],
    ["No, I never said yes.", "yes"],
    ["No, I never said yes.", "No, I never said yes."],
    ["Don't remember my city.", "remember my city"],
    ["Don't remember my city.", "Don't remember my city."],
    ["Yes?", "Yes?"],
    ["Yes or no?", "Yes or no"],
    ["Maybe yes.", "Maybe yes."],
    ["Yes, but not now.", "Yes, but not now."],
    ["No. Yes.", "Yes."],
    ["I don't want you to remember it. Yes.", "Yes."],
    ['She said "yes".', 'She said "yes".'],
    ["我不同意。", "同意"],
    ["我不同意。", "我不同意"],
    ["我喜欢旅行。", "我喜欢旅行"],
    ["好吗？", "好吗"],
    ["はいとは言っていません。", "はい"],
    ["はいとは言っていません。", "はいとは言っていません"],
    ["네라고 하지 않았어요.", "네라고 하지 않았어요"],
    ["Ich habe nicht ja gesagt.", "Ich habe nicht ja gesagt."],
    ["Je ne veux pas que tu retiennes ça. Oui.", "Oui."],
    ["Si llueve, tomo el tren.", "Si llueve, tomo el tren."],
    ["Не надо запоминать.", "запоминать"],
    ["Şehrimi hatırlama.", "Şehrimi hatırlama."],
    ["لا أوافق.", "لا أوافق."],
    ["नहीं, याद मत रखो।", "नहीं, याद मत रखो"],
    [`Yes. ${"x ".repeat(3_000)}`, "Yes."],
  ])("is not in %j: %j", (message, quote) => {
    expect(consentQuote(message, quote, "approve")).toBeNull();
  });

  it("is never a part of a sentence, nor any of a message that refuses", () => {
    const yes = fc.constantFrom("yes", "sure", "i agree", "go ahead", "remember it", "ja", "oui");
    const words = fc.array(fc.stringMatching(/^[b-hj-m]{3,8}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(yes, words, words, (agreement, before, after) => {
        const around = `${before.join(" ")} ${agreement} ${after.join(" ")}`;
        for (const message of [`${around}.`, `Hi. ${around}! Bye.`])
          expect(consentQuote(message, agreement, "approve")).toBeNull();
        expect(consentQuote(`No. ${agreement}.`, agreement, "approve")).toBeNull();
        expect(consentQuote(`${agreement}. Don't ${before.join(" ")}.`, agreement, "approve")).toBeNull();
        expect(consentQuote(`${agreement}.`, `${agreement}`, "approve")).toBe(`${agreement}.`);
      }),
    );
  });
});

describe("a quote that refuses", () => {
  it("is a whole sentence, and no question", () => {
    expect(consentQuote("No, forget it.", "no, forget it", "refuse")).toBe("No, forget it.");
    expect(consentQuote("いいえ。", "いいえ", "refuse")).toBe("いいえ。");
    expect(consentQuote("Is there no bus?", "no", "refuse")).toBeNull();
    expect(consentQuote("Is there no bus?", "Is there no bus?", "refuse")).toBeNull();
  });
});
