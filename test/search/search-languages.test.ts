import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { MemoryConfig } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { asDrafts } from "../support/thread-facts.js";

const db = useTestDatabase();

/** Adds `texts` as facts and as messages of a user of their own, and asks both. */
async function find(texts: readonly string[], query: string, config: MemoryConfig = {}) {
  const memory = db.memory({ config });
  const scope = { userId: JSON.stringify([texts, query, config]) };
  await memory.memories.add({ scope, memories: asDrafts(texts) });
  const messages = texts.map((content, index) => new HumanMessage({ id: `m${index}`, content }));
  await memory.record({ scope, threadId: scope.userId, messages });
  const [memories, said] = await Promise.all([
    memory.query({ scope, query }),
    memory.transcript.search({ scope, query }),
  ]);
  return { memories: memories.map((hit) => hit.memory.text), said: said.map((hit) => hit.text) };
}

const japanese = [
  "猫の名前はタマです。",
  "毎朝コーヒーを飲みます。",
  "大阪に住んでいます。",
  "妹は医者です。",
];
const chinese = [
  "我每天早上喝绿茶。",
  "小红住在上海的旧城区。",
  "他的狗叫小黑。",
  "周末我们去爬山。",
];
const korean = [
  "커피를 매일 마셔요.",
  "서울에서 살고 있어요.",
  "고양이 이름은 나비예요.",
  "주말에는 등산을 해요.",
];
const thai = ["ฉันดื่มกาแฟทุกเช้า", "เขาอาศัยอยู่ที่กรุงเทพ", "แมวชื่อมะลิ", "น้องสาวเป็นหมอ"];
const german = [
  "Der Müller fährt täglich über die Brücke.",
  "Die Äpfel sind süß.",
  "Das Häuschen steht am See.",
];

describe("search in other languages", () => {
  it.each<[string, readonly string[], string, number]>([
    ["Japanese", japanese, "猫は何という名前ですか?", 0],
    ["Japanese, one word", japanese, "コーヒー", 1],
    ["Japanese, half-width", japanese, "ｺｰﾋｰ", 1],
    ["Japanese, one ideograph", japanese, "猫", 0],
    ["Chinese", chinese, "她住在哪里?", 1],
    ["Chinese, one word", chinese, "绿茶", 0],
    ["Korean", korean, "커피 좋아해요?", 0],
    ["Korean, another particle", korean, "고양이는?", 2],
    ["Thai", thai, "กาแฟ", 0],
  ])(
    "A question in another language finds its memory and message first: %s",
    async (_, texts, query, index) => {
      const { memories, said } = await find(texts, query);
      expect(memories[0]).toBe(texts[index]);
      expect(said[0]).toBe(texts[index]);
    },
  );

  it("A question in another language finds nothing without a shared word", async () => {
    expect(await find(japanese, "税金の申告")).toEqual({ memories: [], said: [] });
    expect(await find(chinese, "股票")).toEqual({ memories: [], said: [] });
  });

  it.each([
    "เขียนกลอนเกี่ยวกับฤดูใบไม้ร่วง",
    "ทำแกงเขียวหวานอย่างไร",
    "เมืองหลวงของนอร์เวย์คืออะไร",
    "แนะนำหนังตลกหน่อย",
  ])(
    "A Thai question that shares letters with memories, but no word, finds none: %s",
    async (query) => {
      const texts = [
        "สัญญาเช่าห้องหมดเดือนมีนาคม",
        "พี่สาวของผู้ใช้อยู่ที่เชียงใหม่",
        "เธอร้องเพลงประสานเสียง",
        ...thai,
      ];
      expect((await find(texts, query)).memories).toEqual([]);
    },
  );

  it.each([
    ["swedish", "Vad är klockan på Hawaii?", ["Hon är född på Gotland.", "Sonen spelar fiol."]],
    ["spanish", "Escribe también un poema.", ["También es alérgica.", "Le gusta el té."]],
    ["portuguese", "Não sei, também já está.", ["Não come peixe.", "A janela está partida."]],
    ["italian", "Perché il cielo è blu?", ["È nata a Cefalù perché pioveva.", "Suona il violino."]],
    ["german", "Für wen ist das?", ["Sie spart für ein Rad.", "Sie singt gern."]],
  ])("A stop word with an accent finds nothing in %s: %s", async (language, query, texts) => {
    const { memories, said } = await find(texts, query, { retrieval: { language } });
    expect(memories.length === texts.length ? [] : memories).toEqual([]);
    expect(said).toEqual([]);
  });

  it.each([
    ["german", "Wann muss ich zum Zahnarzt?", "Am Montag hat sie einen Zahnarzttermin."],
    ["german", "Wo ist die Zahnarztpraxis?", "Der Zahnarzt heißt Weiß."],
    ["english", "Czy Tomasza zna Katarzyna?", "Tomasz gra na skrzypcach."],
    ["english", "Jaki język, japoński?", "Uczy się języka japońskiego."],
    ["finnish", "Osaanko portugaliksi?", "Hän opiskelee portugalia iltaisin."],
    ["portuguese", "Posso comer amendoim?", "Ela tem alergia a amendoins."],
  ])(
    "A word that no text has finds its other forms and compounds, in %s: %s",
    async (language, query, text) => {
      const { said } = await find([text, "Something else."], query, { retrieval: { language } });
      expect(said).toEqual([text]);
    },
  );

  it("A word does not find others that begin alike", async () => {
    const texts = [
      "The company paints fences.",
      "The contest was on Monday.",
      "She plays the cornet.",
    ];
    for (const query of ["computers", "contraband", "correspondence"])
      expect((await find(texts, query)).said, query).toEqual([]);
  });

  it.each([
    ["Hebrew points", "חברתה שָׂרָה השאילה לה מקדחה.", "שרה"],
    ["Arabic vowels", "وُلِدَ والده في دمشق.", "ولد"],
    ["Arabic hamza", "يعمل في الإسكندرية.", "الاسكندرية"],
    ["Russian stress", "Это за́мок короля.", "замок"],
    ["Greek accents", "Ο γάτος φοβάται.", "γατος"],
  ])("Marks that texts leave out make no difference to a search: %s", async (_, text, query) => {
    const { memories, said } = await find([text, "Something else."], query);
    expect([memories, said]).toEqual([[text], [text]]);
  });

  it.each([
    ["Das Cafe in Zurich ist gut.", "Café Zürich"],
    ["Das Café in Zürich ist gut.", "cafe zurich"],
    ["Das Cafe\u0301 in Zu\u0308rich ist gut.", "CAFÉ"],
  ])("Accents make no difference to a search: %s is found by %s", async (text, query) => {
    for (const language of ["english", "german", "simple"]) {
      const { memories, said } = await find([text, "Something else."], query, {
        retrieval: { language },
      });
      expect([memories[0], said[0]]).toEqual([text, text]);
    }
  });

  it.each<[language: string, query: string, index: number]>([
    ["german", "Wann fahren die Müllers über Brücken?", 0],
    ["german", "Apfel", 1],
    ["german", "HÄUSCHEN", 2],
    ["simple", "müller brücke", 0],
    ["simple", "apfel oder äpfel", 1],
  ])("A German text is found with the index language %s: %s", async (language, query, index) => {
    const { memories, said } = await find(german, query, { retrieval: { language } });
    expect([memories[0], said[0]]).toEqual([german[index], german[index]]);
  });

  it.each([
    ["100821", "We saw 100821 of them.", "It is ticket BENCH-100821."],
    ["main.py", "The file main.py runs.", "The file src/main.py runs."],
    ["example.org", "Look at example.org today.", "Look at docs.example.org today."],
    ["report", "The report is done.", "The file report.docx is done."],
    ["C++", "Ana writes C++.", "Ana writes C#."],
    ["C#", "Ana writes C#.", "Ana writes C++."],
  ])(
    "A part of an identifier or name is found, and ranks after the whole: %s",
    async (query, whole, part) => {
      for (const texts of [
        [whole, part],
        [part, whole],
      ]) {
        const { memories, said } = await find([...texts, "Something else."], query);
        expect([memories, said.slice(0, 2)]).toEqual([
          [whole, part],
          [whole, part],
        ]);
      }
    },
  );

  it.each([
    ["sœur", "soeur"],
    ["Søren", "Soren"],
    ["Łódź", "Lodz"],
    ["Straße", "Strasse"],
    ["Ægir", "Aegir"],
    ["Đà", "Da"],
  ])(
    "Letters that do not decompose are found by plain ones and finds them: %s, %s",
    async (one, other) => {
      for (const [text, query] of [
        [`So sagt ${one} es.`, other],
        [`So sagt ${other} es.`, one],
      ] as const) {
        const { memories, said } = await find([text, "Something else."], query);
        expect([memories, said[0]]).toEqual([[text], text]);
      }
    },
  );

  it.each([
    ["Russian", "Мы сняли новую квартиру.", "квартира"],
    ["Russian and English", "Мы сняли квартиру near the painted offices.", "painted квартира"],
    ["Greek", "Τα σπίτια είναι μικρά.", "σπίτι"],
    ["Arabic", "قرأت الكتاب أمس.", "كتاب"],
    ["Hindi", "मैं किताबें पढ़ता हूँ", "किताब"],
  ])("A text is stemmed in the language of its script: %s", async (_, text, query) => {
    for (const language of ["english", "german", "simple"]) {
      const { memories, said } = await find([text, "We rent an office."], query, {
        retrieval: { language },
      });
      expect([memories, said[0]]).toEqual([[text], text]);
    }
  });

  it.each([
    ["The rent is €1,250 a month.", "1250"],
    ["Die Miete beträgt 1.250 Euro.", "1250"],
    ["The office phone is +351 912 345 678.", "+351912345678"],
    ["The office phone is +351912345678.", "351 912 345 678"],
  ])("A figure is found however its digits are grouped: %s, %s", async (text, query) => {
    const { memories, said } = await find([text, "Something else."], query);
    expect([memories, said[0]]).toEqual([[text], text]);
  });

  it("A question of emoji alone finds nothing, and is no broad question", async () => {
    const memory = db.memory();
    const scope = { userId: "emoji" };
    await memory.memories.add({ scope, memories: { text: "Ana paints.", importance: 5 } });
    await memory.store({ scope }).put(["a"], "k", { text: "Ana paints." });
    for (const [query, hits] of [
      ["🎉", 0],
      ["👍🏽 🇵🇹!", 0],
      ["", 1],
      ["?", 1],
    ] as const) {
      expect(await memory.query({ scope, query }), query).toHaveLength(hits);
      expect(await memory.store({ scope }).search(["a"], { query }), query).toHaveLength(hits);
    }
  });

  it("A search stems words in the configured language only", async () => {
    expect((await find(german, "fahren", { retrieval: { language: "simple" } })).memories).toEqual(
      [],
    );
    expect(
      (await find(["She paints lakes."], "painting", { retrieval: { language: "simple" } })).said,
    ).toEqual([]);
    expect((await find(["She paints lakes."], "painting")).said).toEqual(["She paints lakes."]);
  });
});
