import { withPlainFigures } from "../text/normal-value.js";
import { plainWords } from "../text/plain-words.js";
import type { NamedDate } from "./time-span.rule.js";

/** Months in some 35 languages, a month a line, as `plainWords` writes them; after the runtime's own locale data. */
const monthNames = `
januar januari janvier enero janeiro gennaio gener ianuarie tammikuuta tammikuu stycznia styczen ledna leden januara sijecnja sijecanj јануар януари января январь січня січень sausio sausis janvaris jaanuar ιανουαριου ιανουαριος ocak urtarrila eanair يناير ژانويه ינואר जनवरी հունվարի հունվար janar yanvar
februar februari fevrier febrero fevereiro febbraio febrer februarie helmikuuta helmikuu lutego luty unora unor februara veljace veljaca фебруар февруари февраля февраль лютого лютий vasario vasaris februaris veebruar φεβρουαριου φεβρουαριος subat otsaila feabhra فبراير فوريه פברואר फ़रवरी փետրվարի փետրվար shkurt fevral
marz maart mars marzo marco marc martie marts maaliskuuta maaliskuu marcius marca marzec brezna brezen marec ozujka ozujak март марта березня березень kovo kovas μαρτιου μαρτιος mart martxoa marta maret مارس מרץ मार्च մարտի մարտ
april avril abril aprile aprilie huhtikuuta huhtikuu aprilis kwietnia kwiecien dubna duben aprila travnja travanj април апреля апрель квітня квітень balandzio balandis aprill απριλιου απριλιος nisan apirila aibrean ابريل اوريل אפריל अप्रैल ապրիլի ապրիլ prill aprel
mai mei mayo maio maggio maig maj maja maju toukokuuta toukokuu majus kvetna kveten svibnja svibanj мај май мая мае травня травень geguzes geguze maijs μαιου μαιος mayis maiatza bealtaine مايو مه מאי मई մայիսի մայիս
juni juin junio junho giugno juny iunie kesakuuta kesakuu junius czerwca czerwiec cervna cerven jun juna lipnja lipanj јун юни июня июнь червня червень birzelio birzelis junijs juuni ιουνιου ιουνιος haziran ekaina meitheamh يونيو ژوين יוני जून հունիսի հունիս qershor iyun
juli juillet julio julho luglio juliol iulie heinakuuta heinakuu julius lipca lipiec cervence cervenec jul jula srpnja srpanj јул юли июля июль липня липень liepos liepa julijs juuli ιουλιου ιουλιος temmuz uztaila iuil julai يوليو ژوييه יולי जुलाई հուլիսի հուլիս korrik iyul
august augustus aout agosto agost augusti elokuuta elokuu augusztus sierpnia sierpien srpna srpen augusta kolovoza kolovoz август августа серпня серпень rugpjucio rugpjutis augusts αυγουστου αυγουστος agustos abuztua lunasa agustus ogos اغسطس اوت אוגוסט अगस्त օգոստոսի օգոստոս gusht avqust
september septembre septiembre setembro settembre setembre septembrie syyskuuta syyskuu szeptember wrzesnia wrzesien zari septembra rujna rujan септембар септември сентября сентябрь вересня вересень rugsejo rugsejis septembris σεπτεμβριου σεπτεμβριος eylul iraila سبتمبر سپتامبر ספטמבר सितंबर սեպտեմբերի սեպտեմբեր shtator sentyabr
oktober octobre octubre outubro ottobre octombrie lokakuuta lokakuu pazdziernika pazdziernik rijna rijen oktobra listopada listopad октобар октомври октября октябрь жовтня жовтень spalio spalis oktobris oktoober οκτωβριου οκτωβριος ekim urria اكتوبر اكتبر אוקטובר अक्टूबर հոկտեմբերի հոկտեմբեր tetor oktyabr
november novembre noviembre novembro noiembrie marraskuuta marraskuu listopada listopad listopadu novembra studenoga studeni новембар ноември ноября ноябрь листопада листопад lapkricio lapkritis novembris νοεμβριου νοεμβριος kasim azaroa samhain نوفمبر نوامبر נובמבר नवंबर նոյեմբերի նոյեմբեր nentor noyabr
dezember december decembre diciembre dezembro dicembre desembre decembrie desember joulukuuta joulukuu grudnia grudzien prosince prosinec decembra prosinca prosinac децембар декември декабря декабрь грудня грудень gruodzio gruodis decembris detsember δεκεμβριου δεκεμβριος aralik abendua nollaig disember ديسمبر دسامبر דצמבר दिसंबर դեկտեմբերի դեկտեմբեր dhjetor dekabr`;

const months = new Map<string, number[]>();
const monthStems = new Map<string, number[]>();
for (const [index, line] of monthNames.trim().split("\n").entries()) {
  for (const name of line.split(" ").map((word) => plainWords(word))) {
    addMonth(months, name, index + 1);
    // "в январе", "ocakta", "márciusban": what cases leave of it.
    const stem = /\p{Script=Cyrillic}/u.test(name) ? name.slice(0, -1) : name;
    if (stem.length >= 4) addMonth(monthStems, stem, index + 1);
  }
}

function addMonth(table: Map<string, number[]>, name: string, month: number): void {
  const known = table.get(name) ?? [];
  if (!known.includes(month)) table.set(name, [...known, month]);
}

/** Most letters that a case adds to a month's name: "tammikuussa", "januárban", "ağustosta". */
const longestCase = 4;

/** "listopad" is October or November, by the language. */
function monthsOf(word: string): { numbers: readonly number[]; isInflected: boolean } {
  const known = months.get(word);
  if (known) return { numbers: known, isInflected: false };
  for (let cut = 1; cut <= longestCase && word.length - cut >= 4; cut++) {
    const found = monthStems.get(word.slice(0, -cut));
    if (found && /[^a-z]|(?:da|de|ta|te|ban|ben|n|ssa|s)$/u.test(word))
      return { numbers: found, isInflected: true };
  }
  return { numbers: [], isInflected: false };
}

/** Words between a day, its month and its year. */
const between = new Set(
  plainWords(
    ". , de del d d' di do du da of et af ter den er re o a e i ος te ste го й nd th st m metu г года року év ko yil yili",
  ).split(" "),
);
/** Words after which a month without a day or a year is a time. */
const before = new Set(
  plainWords(
    "im in en em au a nel nello i w we v ve u в во у з с от до за seit bis ab von desde hasta depuis jusqu dal fino w no nom na letzten vergangenen letztem vorigen vorige afgelopen förra sidste forrige viime geçen zeszłym minulém في منذ ב",
  ).split(" "),
);
/** Words behind a month that make a time of it: "mars dernier", "marzo pasado". */
const behind = new Set(
  plainWords("dernier derniere pasado passat passado scorso ubiegłego الماضي שעבר").split(" "),
);

const token = /\p{L}[\p{L}\p{M}']*|\d+|[.,]/gu;
const year = /^(?:19|20)\d\d$/;
const day = /^(?:0?[1-9]|[12]\d|3[01])$/;

/** Characters of a question that dates are looked for in. */
const mostCharacters = 10_000;

/** The dates that `question` names in figures ("25.5.2022", "2022年5月25日") or in words of other languages than English. */
export function wordedDates(question: string): NamedDate[] {
  const plain = plainWords(withPlainFigures(question.slice(0, mostCharacters)));
  const { dates, rest } = figuredDates(plain);
  const words = rest.match(token) ?? [];
  return [...dates, ...words.flatMap((word, at) => (/^\d|[.,]/.test(word) ? [] : datesAt(words, at)))];
}

function datesAt(words: readonly string[], at: number): NamedDate[] {
  const { numbers, isInflected } = monthsOf(words[at] ?? "");
  if (numbers.length === 0) return [];
  const [preceding, following] = [beside(words, at, -1), beside(words, at, 1)];
  const dayBefore = day.test(preceding.word) ? Number(preceding.word) : null;
  const yearAfter = year.test(following.word) ? Number(following.word) : null;
  // "2022. május 5.", "2022 m. gegužės 5 d."
  const yearBefore = yearAfter === null && year.test(preceding.word) ? Number(preceding.word) : null;
  const dayAfter =
    dayBefore === null && yearAfter === null && day.test(following.word) ? Number(following.word) : null;
  const date = { year: yearAfter ?? yearBefore, day: dayBefore ?? (yearBefore === null ? null : dayAfter) };
  const isTime =
    date.year !== null ||
    date.day !== null ||
    isInflected ||
    before.has(words[at - 1] ?? "") ||
    behind.has(words[at + 1] ?? "");
  return isTime ? numbers.map((month) => ({ ...date, month })) : [];
}

/** Most words and signs between the parts of a date. */
const mostBetween = 3;

function beside(words: readonly string[], at: number, step: 1 | -1): { word: string } {
  for (let away = 1; away <= mostBetween + 1; away++) {
    const word = words[at + step * away] ?? "";
    if (!between.has(word)) return { word };
  }
  return { word: "" };
}

/** Dates in figures: parts by name, in the order in which a country writes them. */
const figures = [
  /(?<![\d.])(?<y>(?:19|20)\d\d)\s?[年년]\s?(?<m>\d{1,2})\s?[月월](?:\s?(?<d>\d{1,2})\s?[日号號일])?/gu,
  /(?<![\d.])(?<m>\d{1,2})\s?[月월]\s?(?<d>\d{1,2})\s?[日号號일]/gu,
  /(?<![\d.])(?<y>(?:19|20)\d\d)[./](?<m>\d{1,2})[./](?<d>\d{1,2})(?![\d.])/gu,
  /(?<![\d.])(?<d>\d{1,2})\.\s?(?<m>\d{1,2})\.\s?(?<y>(?:19|20)\d\d)(?!\d)/gu,
  /(?<=(?:am|vom|bis|zum|dem|den|dne|dnia|od|do)\s)(?<d>\d{1,2})\.\s?(?<m>\d{1,2})\.(?!\d)/gu,
  /(?<![\d./-])(?<d>\d{1,2})(?<sign>[/-])(?<m>\d{1,2})\k<sign>(?<y>(?:19|20)\d\d)(?!\d)/gu,
];

/** "3/4/2022" is the fourth of March or the third of April. */
function figuredDates(text: string): { dates: NamedDate[]; rest: string } {
  const dates: NamedDate[] = [];
  let rest = text;
  for (const pattern of figures) {
    rest = rest.replace(pattern, (...match) => {
      const { y, m, d, sign } = match.at(-1) as Record<string, string | undefined>;
      const number = (part: string | undefined) => (part === undefined ? null : Number(part));
      const date = { year: number(y), month: number(m), day: number(d) };
      const turned = { year: date.year, month: date.day, day: date.month };
      dates.push(...[date, ...(sign === "/" && d !== m ? [turned] : [])].filter(isDate));
      return " ";
    });
  }
  return { dates, rest };
}

function isDate({ month, day: of }: NamedDate): boolean {
  return month !== null && month >= 1 && month <= 12 && (of === null || (of >= 1 && of <= 31));
}
