import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findQuote } from "../../src/text/find-quote.js";
import { forAll } from "../support/for-all.js";

describe("a quote", () => {
  it.each([
    ["My name is  Ana.", "my NAME is ana", "My name is  Ana"],
    ["I’m in\nPorto", "I'm in Porto", "I’m in\nPorto"],
    ['She said "yes"', "“yes”", '"yes"'],
    ["He said «yes» — twice", '"yes" - twice', "«yes» — twice"],
    ["a well–known café", "well-known café", "well–known café"],
    ["cafe\u0301 here", "café", "café"],
    ["Me encanta el cafe.", "el café", "el cafe"],
    ["Já moro em São Paulo.", "moro em Sao Paulo", "moro em São Paulo"],
    ["أُحِبُّ القَهوة", "أحب القهوة", "أُحِبُّ القَهوة"],
    ["I have **two** dogs", "I have two dogs", "I have **two** dogs"],
    ["ﾈｺが好き", "ネコが好き", "ﾈｺが好き"],
    ["Is it (a+b)*c? Yes.", "(a+b)*c?", "(a+b)*c?"],
    ["我叫安娜，住在波尔图", "住在波尔图", "住在波尔图"],
    ["番号は１２３４です", "番号は1234です", "番号は１２３４です"],
    ["عمري ٤٢ سنة", "عمري 42 سنة", "عمري ٤٢ سنة"],
    ["من می\u200cخواهم بروم", "من میخواهم بروم", "من می\u200cخواهم بروم"],
    ["Ich mag Donau\u00addampf.", "mag Donaudampf", "mag Donau\u00addampf"],
    ["I ❤️ Porto", "I ❤ Porto", "I ❤️ Porto"],
    ["Ich wohne in der Hauptstrasse.", "in der Hauptstraße", "in der Hauptstrasse"],
    ["Mieszkam w Lodzi", "w Łodzi", "w Lodzi"],
    ["Tôi sống ở Đà Nẵng", "song o Da Nang", "sống ở Đà Nẵng"],
    ["ADIM IŞIL", "adım Işıl", "ADIM IŞIL"],
    ["ΟΔΟΣ ΑΘΗΝΑΣ", "οδός Αθηνάς", "ΟΔΟΣ ΑΘΗΝΑΣ"],
    ["I like tea… and cake", "tea... and cake", "tea… and cake"],
    ["my oﬃce", "my office", "my oﬃce"],
    ["צ'רצ'יל גר פה", "צ׳רצ׳יל גר", "צ'רצ'יל גר"],
    ["我住在Porto的中心", "住在 Porto 的中心", "住在Porto的中心"],
    ["我住在\n波尔图", "住在波尔图", "住在\n波尔图"],
    ["我住在Porto的中心", "Porto", "Porto"],
    ["C:\\temp and [x]", "c:\\TEMP and [X]", "C:\\temp and [x]"],
  ])("The text %j has the quote %j in its original form", (text, quote, found) =>
    expect(findQuote(text, quote)).toBe(found),
  );

  it.each([
    ["My name is Ana.", "my name is Anna"],
    ["My name is Ana.", "an"],
    ["My name is Ana.", "name Ana"],
    ["My name is Ana.", "."],
    ["My name is Ana.", " "],
    ["", "Ana"],
    ["I earn 1000", "100"],
    ["한글", "하늘"],
    ["I live in Portogal", "Porto"],
    ["我有１２３４元", "123"],
  ])("The text %j does not have the quote %j", (text, quote) =>
    expect(findQuote(text, quote)).toBeNull(),
  );

  it("A quote of whole words is always found", () => {
    const words = fc.array(fc.stringMatching(/^[\p{L}\p{N}.*+?()[\]\\^$'"-]{0,8}[a-zé]$/u), {
      minLength: 1,
      maxLength: 8,
    });
    forAll(words, fc.nat(), fc.nat(), (said, from, length) => {
      const start = from % said.length;
      const quote = said.slice(start, start + 1 + (length % said.length)).join(" ");
      expect(findQuote(said.join("  "), quote)).not.toBeNull();
    });
  });
});
