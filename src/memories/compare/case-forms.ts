/*
 * Numerals, days and months that neither `detail-words.ts` nor the runtime's locale data have: numbers in one word, and
 * cases of languages that decline. Without them "in August" and "in July" differ only in an unknown word.
 */
/** A language, and numbers with their words; an ordinal has a point. */
const furtherNumerals = `
es 21 veintiun/veintiuno/veintiuna 22 veintidos 23 veintitres 24 veinticuatro
es 25 veinticinco 26 veintiseis 27 veintisiete 28 veintiocho 29 veintinueve
es 200 doscientos/doscientas 300 trescientos/trescientas
es 400 cuatrocientos/cuatrocientas 500 quinientos/quinientas
es 600 seiscientos/seiscientas 700 setecientos/setecientas
es 800 ochocientos/ochocientas 900 novecientos/novecientas
pt 200 duzentos/duzentas 300 trezentos/trezentas 400 quatrocentos/quatrocentas
pt 500 quinhentos/quinhentas 600 seiscentos/seiscentas 700 setecentos/setecentas
pt 800 oitocentos/oitocentas 900 novecentos/novecentas
pl 200 dwiescie/dwustu 300 trzysta/trzystu 400 czterysta/czterystu
pl 500 piecset/pieciuset 600 szescset/szesciuset 700 siedemset/siedmiuset
pl 800 osiemset/osmiuset 900 dziewiecset/dziewieciuset
sk 200 dvesto 300 tristo 400 styristo 500 patsto
hr 200 dvjesto/dvjesta/dvesta 300 tristo/trista 400 cetiristo 500 petsto
ru 5 пятью/пятерых 6 шестью/шестеро 7 ~семью/семеро 8 восемью/восьмью/восьмеро
ru 9 девятью 10 десятью 2 двоих/двоим 3 троих/троим 4 четверых/четырем/четырьмя
ru 11 одиннадцати/одиннадцатью 12 двенадцатью 13 тринадцати/тринадцатью
ru 14 четырнадцати/четырнадцатью 15 пятнадцати/пятнадцатью
ru 16 шестнадцати/шестнадцатью 17 семнадцати/семнадцатью
ru 18 восемнадцати/восемнадцатью 19 девятнадцати/девятнадцатью 20 двадцатью
ru 30 тридцатью 60 шестидесяти 70 семидесяти 80 восьмидесяти 90 девяноста
ru 200 двести/двухсот/двумстам 300 триста/трехсот/тремстам 400 четыреста/четырехсот
ru 500 пятьсот/пятисот 600 шестьсот/шестисот 700 семьсот/семисот
ru 800 восемьсот/восьмисот 900 девятьсот/девятисот
ru 3. третьем/третьему/третьей/третьим/третьих 30. тридцатый 40. сороковой
ru 50. пятидесятый 60. шестидесятый 70. семидесятый 80. восьмидесятый 90. девяностый
uk 200 двісті/двохсот 300 триста/трьохсот 400 чотириста 500 п'ятсот 600 шістсот
uk 700 сімсот 800 вісімсот 900 дев'ятсот
cs 1. prvnim 3. tretiho/tretim/tretimu
fi 2 kahdessa/kahdella/kahdesta 3 kolmessa/kolmella/kolmesta
fi 4 neljassa/neljalla/neljasta 5 viidessa/viidella/viidesta
fi 6 kuudessa/kuudella/kuudesta 1. ensimmais* 3. kolmann*/kolmatta
fi 4. neljann*/neljatta 5. viidenn*/viidetta 6. kuudenn*/kuudetta
fi 7. seitsemann*/seitsematta 8. kahdeksann*/kahdeksatta 9. yhdeksann*/yhdeksatta
fi 10. kymmenenn*/kymmenetta
et 1. esimes* 2. teisel 3. kolmanda* 4. neljanda* 5. viienda* 6. kuuenda*
et 7. seitsmenda* 8. kaheksanda* 9. uheksanda*
`;

/** A language; endings of ordinals as they are listed; endings that they have in other cases. */
const ordinalEndings = `
ru | ый ий ой ая ое ого | ый ой ая ое ого ому ую ым ом ые ых ыми
uk | ий ій а е | ий ій а я е є ого ього ому ьому ої ьої у ю ою ьою им ім их іх
pl | y i a e | y i a e ego emu ej ym im ych iego iemu iej ich ia
cs | y a e | y a e eho emu em ym ou ych
sk | y a e | y a e eho emu om ej ym ych
sl | i a | i a o e ega emu em im ih
hr | i a | i a o e og oga om omu oj u im ih eg ega em emu
sr | и а | и а о е ог ога ом ому ој у им их ег ега ем ему
bg | и а | и ия ият а ата о ото ите
lt | as a | as a o ai us am ame oje ajame ojoje
lv | ais a | ais a o os aja as
`;

/** Endings of ordinals that a language joins to the numbers it writes as one word: "einundzwanzigste", "ventiduesimo". */
const joinedOrdinals: Readonly<Record<string, string>> = {
  de: "ste ster sten stes stem",
  nl: "ste",
  it: "esimo esima",
};

/** Cases of days (from Sunday) and months (from January) that are too short to be known by their beginning. */
const furtherDates = `
day 0 щонеділі
day 1 щопонеділка
day 2 щовівторка
day 3 щосереди
day 4 щочетверга
day 5 щоп'ятниці
day 6 щосуботи
day 2 kedden keddi keddig salıya salıları
day 5 cumaya cumaları
month 1 lutym lutemu лютому лютим
month 2 марту
month 4 мая мае маем маю maja maju majem majo мају
month 5 июне июню июнем јуну јуна
month 6 июле июлю июлем јулу јула
`;

export function numeralForms() {
  return linesOf(furtherNumerals).flatMap((line) => {
    const [language = "", ...entries] = line.split(/ (?=\d)/);
    return entries.flatMap((entry) => {
      const [number = "", names = ""] = entry.split(" ");
      const isOrdinal = number.endsWith(".");
      return names
        .split("/")
        .flatMap((word) => (isOrdinal ? casesOf(language, word) : word))
        .map((word) => ({ language, value: Number.parseInt(number, 10), isOrdinal, word }));
    });
  });
}

const endings = new Map(
  linesOf(ordinalEndings).map((line) => {
    const [language = "", listed = "", others = ""] = line.split("|").map((part) => part.trim());
    const listedEnd = new RegExp(`^(.{2,}?)(?:${listed.split(" ").join("|")})$`, "u");
    return [language, { listedEnd, others: others.split(" ") }] as const;
  }),
);

/** The ordinal `word` in all cases that `language` has; itself where it has none. */
export function casesOf(language: string, word: string): string[] {
  const declined = endings.get(language);
  const stem = declined?.listedEnd.exec(word)?.[1];
  if (declined === undefined || stem === undefined) return [word];
  return [...new Set([word, ...declined.others.map((ending) => stem + ending)])];
}

/** Ordinals of a number of several digits, where a language writes them as one word. */
export function joinedOrdinalsOf(language: string, word: string): string[] {
  const joined = joinedOrdinals[language]?.split(" ") ?? [];
  return joined.map((ending) => (/^[aeiou]/.test(ending) ? word.replace(/[aeiou]$/, "") : word) + ending);
}

export function dateForms() {
  return linesOf(furtherDates).flatMap((line) => {
    const [kind, value = "", ...forms] = line.split(" ");
    return forms.map((word) => ({ kind: kind === "day" ? "day" : "month", value, word }) as const);
  });
}

/** The name as cases leave it, without its last vowel: "wtorek", "utorak", "вівторок". Null for others. */
export function withoutFleetingVowel(name: string): string | null {
  const [, head, last] = /^(.{2,}\p{L})[eoaео](k|c|к|ц)$/u.exec(name) ?? [];
  return head === undefined || last === undefined ? null : head + last;
}

function linesOf(table: string): string[] {
  return table.trim().split("\n");
}
