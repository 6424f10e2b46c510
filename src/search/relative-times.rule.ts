import { dayMs } from "../clock.js";
import { withPlainFigures } from "../text/normal-value.js";
import { anyStem, plainWords } from "../text/plain-words.js";
import { midnight, type TimeSpan } from "./time-span.rule.js";

const reads = (stems: string) => new RegExp(anyStem(stems, true), "u");

/** Stems as `anyStem` reads them. Without "today" and "this week", by which messages ask for nothing. */
const named = {
  yesterday: reads(`
    yesterday last_night gestern ayer anoche ieri ontem gisteren i_gar eilen tegnap wczoraj vcera jucer вчера вчора χθες χτες dun
    أمس البارحة אתמול 昨天 昨日 昨晚 きのう 어제 kemarin hom_qua เมื่อวาน`),
  dayBefore: reads(`
    day_before_yesterday vorgestern avant-hier anteayer antes_de_ayer l'altro_ieri altroieri anteontem eergisteren i_forrgar
    toissapaivana przedwczoraj predevcirem позавчера 前天 一昨日 おととい 그저께`),
  week: reads(`
    last_week past_week letzte_woche letzter_woche letzten_woche vergangene_woche vorige_woche semaine_derniere semaine_passee
    semana_pasada semana_passada settimana_scorsa vorige_week afgelopen_week forra_veckan sidste_uge forrige_uke viime_viikolla
    mult_heten zeszlym_tygodniu ubieglym_tygodniu minuly_tyden прошлой_неделе минулого_тижня gecen_hafta
    الأسبوع_الماضي שבוע_שעבר 上周 上週 上星期 上个星期 上個星期 上礼拜 先週 지난주 지난_주 minggu_lalu tuan_truoc`),
  month: reads(`
    last_month past_month letzten_monat vergangenen_monat vorigen_monat mois_dernier mois_passe mes_pasado mes_passado
    mese_scorso vorige_maand afgelopen_maand forra_manaden sidste_maned forrige_maned viime_kuussa mult_honapban
    zeszlym_miesiacu ubieglym_miesiacu minuly_mesic прошлом_месяце минулого_місяця gecen_ay الشهر_الماضي חודש_שעבר
    上个月 上個月 上月 先月 지난달 지난_달 bulan_lalu thang_truoc`),
  year: reads(`
    last_year past_year letztes_jahr letzten_jahr vergangenes_jahr vergangenen_jahr annee_derniere an_dernier ano_pasado
    ano_passado anno_scorso vorig_jaar afgelopen_jaar i_fjol forra_aret sidste_ar viime_vuonna tavaly zeszlym_roku
    ubieglym_roku loni прошлом_году торік минулого_року gecen_yil gecen_sene العام_الماضي السنة_الماضية שנה_שעברה 去年 昨年
    작년 지난해 tahun_lalu nam_ngoai`),
};

/** "Hier" is "here" in German and Dutch, and "yesterday" among words of French. */
const frenchYesterday = /(?<!avant-)(?<![\p{L}])hier(?!\p{L})/u;
const french =
  /(?<![\p{L}])(?:je|tu|nous|vous|il|elle|que|quoi|avons|avez|est-ce|ai|c'|j'|t'|m'|qu'|l')(?!\p{L})|\b[jtmcql]'/u;

/** Numbers said in words, from one on, in the languages that say "ago" below; "/" parts forms of one. */
const numbers =
  `one/a/an/ein/eine/einem/einer/un/une/uno/una/um/uma/een two/zwei/deux/dos/due/dois/duas/twee/couple
  three/drei/trois/tres/tre/drie/few/paar/algunos/unos four/vier/quatre/cuatro/quattro/quatro five/funf/cinq/cinco/cinque/vijf
  six/sechs/seis/sei/zes seven/sieben/sept/siete/sette/sete/zeven eight/acht/huit/ocho/otto/oito nine/neun/neuf/nueve/nove/negen
  ten/zehn/dix/diez/dieci/dez/tien`
    .split(/\s+/)
    .map((forms) => forms.split("/"));
const number = `(\\d{1,3}|${numbers.flat().join("|")})`;

const unitDays = { day: 1, week: 7, month: 30.44, year: 365.25 };

/** Units by their stems, as "ago" is said with them. */
const units: readonly (readonly [keyof typeof unitDays, string])[] = [
  ["day", "days?|tag(?:e|en)?|jours?|dias?|giorn[oi]|dag(?:en)?|дн(?:я|ей)|день|dni|dzien|天|日|일"],
  [
    "week",
    "weeks?|wochen?|semaines?|semanas?|settiman[ae]|week|weken|недел[юиь]|tygodnie|tygodni|tydzien|周|週|星期|個星期|个星期|週間|주",
  ],
  [
    "month",
    "months?|monat(?:en|e)?|mois|mes(?:es)?|mes[ei]|maand(?:en)?|месяц(?:а|ев)?|miesiac(?:e)?|miesiecy|个月|個月|か月|ヶ月|カ月|개월|달",
  ],
  ["year", "years?|jahr(?:en|e)?|ans?|annees?|anos?|ann[oi]|jaar|год(?:а)?|лет|lata|lat|rok|年|년"],
];
const agoOf = (unit: string) =>
  new RegExp(
    [
      `(?<![\\p{L}\\d])${number}(?: of)? (?:${unit})(?: ago| geleden| fa| atras| назад| temu)(?!\\p{L})`,
      `(?<!\\p{L})(?:vor|il y a|hace|ha|hace unos) ${number} (?:${unit})(?!\\p{L})`,
      `(\\d{1,3}) ?(?:${unit}) ?(?:之?前|以前|전)`,
    ].join("|"),
    "u",
  );
const ago = units.map(([unit, pattern]) => [unit, agoOf(pattern)] as const);

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const lastWeekday = new RegExp(`\\blast (${weekdays.join("|")})\\b`, "u");

/** Whether a text asks: what only tells of yesterday asks for nothing of that day. */
const asks =
  /[?？؟]|^\W*(?:what|when|where|who|which|whose|how|did|was|were|have|has|had|remind|recall|tell|list|show)\b/u;

/** Whether `text` asks, by its signs and by English words. */
export function isQuestion(text: string): boolean {
  return asks.test(text.slice(0, mostCharacters).toLowerCase());
}

/** Characters of a question that are looked at. */
const mostCharacters = 2_000;

/** The times before `now` that `question` names by how long ago they are: "yesterday", "last week", "three months ago". */
export function relativeTimes(question: string, now: Date): TimeSpan[] {
  const text = plainWords(withPlainFigures(question.slice(0, mostCharacters)));
  if (!isQuestion(text)) return [];
  return [...daysNamed(text, now), ...periodsNamed(text, now), ...timesAgo(text, now)];
}

function daysNamed(text: string, now: Date): TimeSpan[] {
  const isDayBefore = named.dayBefore.test(text);
  const isYesterday =
    !isDayBefore && (named.yesterday.test(text) || (frenchYesterday.test(text) && french.test(text)));
  const weekday = weekdays.indexOf(lastWeekday.exec(text)?.[1] ?? "");
  // The same weekday as today is a week ago.
  const daysAgo = weekday < 0 ? null : ((now.getUTCDay() - weekday + 6) % 7) + 1;
  return [isDayBefore ? 2 : null, isYesterday ? 1 : null, daysAgo].flatMap((days) =>
    days === null ? [] : dayAgo(now, days),
  );
}

function dayAgo(now: Date, days: number): TimeSpan {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() - days];
  return { from: midnight(year, month, day), before: midnight(year, month, day + 1) };
}

function periodsNamed(text: string, now: Date): TimeSpan[] {
  const [year, month, date] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const monday = date - ((now.getUTCDay() + 6) % 7);
  // Weeks begin on Sunday in some countries.
  const lastWeek = { from: midnight(year, month, monday - 8), before: midnight(year, month, monday) };
  return [
    ...(named.week.test(text) ? [lastWeek] : []),
    ...(named.month.test(text) ? [{ from: midnight(year, month - 1), before: midnight(year, month) }] : []),
    ...(named.year.test(text) ? [{ from: midnight(year - 1, 0), before: midnight(year, 0) }] : []),
  ];
}

/** "Three weeks ago" is half a week more or less. */
function timesAgo(text: string, now: Date): TimeSpan[] {
  return ago.flatMap(([unit, pattern]) => {
    const said = pattern
      .exec(text)
      ?.slice(1)
      .find((part) => part !== undefined);
    if (said === undefined) return [];
    const count = /^\d/.test(said) ? Number(said) : numbers.findIndex((forms) => forms.includes(said)) + 1;
    if (unit === "day") return dayAgo(now, count);
    const [days, half] = [unitDays[unit] * count, unitDays[unit] / 2];
    return {
      from: new Date(now.getTime() - (days + half) * dayMs),
      before: new Date(now.getTime() - (days - half) * dayMs),
    };
  });
}
