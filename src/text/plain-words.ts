import { normalForm } from "./normal-value.js";
import { visibleText } from "./storable-text.js";

/** Scripts that are written without spaces between words. */
const unspacedScripts =
  "\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}";
/** Scripts that put articles and prepositions in front of their words without a space. */
const prefixingScripts = "\\p{scx=Arab}\\p{scx=Hebr}\\p{scx=Ethi}";

const unspaced = new RegExp(`[${unspacedScripts}]`, "u");
const prefixing = new RegExp(`[${prefixingScripts}]`, "u");
const beginning = "(?<![\\p{L}\\p{M}\\p{N}])";
const ending = "(?![\\p{L}\\p{M}\\p{N}])";

/** Whether `word` is of a script in which it is not seen where words begin. */
export function isUnspaced(word: string): boolean {
  return unspaced.test(word) || prefixing.test(word);
}

/**
 * The source of a pattern, for the flag "u", that finds any of the stems in text as `plainWords` writes it. Stems stand
 * between white space, "_" is a space within one, "*" any ending.
 *
 * @param whole whether Arabic, Hebrew and Ethiopic words are to be whole, but for "and" in front. @default false
 */
export function anyStem(stems: string, whole = false): string {
  const groups = {
    anywhere: [] as string[],
    joined: [] as string[],
    begun: [] as string[],
    entire: [] as string[],
  };
  for (const stem of plainWords(stems).split(/\s+/)) {
    if (stem === "") continue;
    const words = stem.replace(/\*/g, "").replaceAll("_", "\\s?").replaceAll("-", "[- ]");
    if (unspaced.test(stem) || (prefixing.test(stem) && !whole)) groups.anywhere.push(words);
    else if (prefixing.test(stem)) groups.joined.push(words);
    else (stem.endsWith("*") ? groups.begun : groups.entire).push(words);
  }
  // What stands around words is looked at once for all of them: each such class takes long to compile.
  const patterns = [
    around(beginning, groups.entire, ending),
    around(beginning, groups.begun, ""),
    around(`${beginning}[وفו]?`, groups.joined, ending),
    around("", groups.anywhere, ""),
  ].filter((pattern) => pattern !== "");
  return patterns.length === 0 ? "(?!)" : `(?:${patterns.join("|")})`;
}

function around(before: string, words: readonly string[], after: string): string {
  return words.length === 0 ? "" : `${before}(?:${words.join("|")})${after}`;
}

/** Characters that are drawn like another one, each followed by what it looks like. Case matters: Ν looks like N, ν like v. */
const lookalikes =
  // Greek
  "αaΑAΒBϲcεeΕEηnΗHιiΙIϳjκkΚKΜMνvΝNοoΟOρpΡPτtΤTυuΥYχxΧXγyωwΖZσo" +
  // Cyrillic
  "аaАAвbВBсcСCԁdеeЕEԍgһhнhНHіiІIјjЈJкkКKӏlӀlмmМMпnоoОOрpРPԛqгrѕsЅSтtТTцuѵvԝwхxХXуyУYьbзz" +
  // Armenian, Cherokee, Coptic, Lisu, Canadian syllabics
  "օoՕOսuհhոnցgզqՏSԼLյjᎠDᎡRᎢTᎥiᎪAᎫJᎬEᎳWᎷMᎻHᎽYᎾOᏀGᏃZᏒRᏚSᏞLᏟCᏢPᏦKᎩYᏌU" +
  "ⲁaⲃbⲉeⲏhⲓiⲕkⲙmⲛnⲟoⲣpⲥcⲧtⲩyⲭxⲅrꓮAꓐBꓚCꓓDꓰEꓝFꓖGꓧHꓲIꓙJꓗKꓡLꓟMꓠNꓳOꓑPꓣRꓢSꓔTꓴUꓦVꓪWꓫXꓬYꓜZ" +
  "ᗩAᗷBᑕCᗪDᗴEᖴFᕼHᒍJᒪLᗰMᑎNᑭPᖇRᔕSᑌUᐯVᗯW᙭X" +
  // Latin
  "ıiłlŁLøoØOđdĐDħhɑaƅbɡgɩiɪiʟlɴnʀrʏyꜱsʙbɢgʜhɨiʊuʋvɯwʍwʐzɾrɛeɔcɐaǝeƃgɟfɥhɹrʇtʌvʎyſsƒfǀlǃiɱmɲnŋnɓbɗdƙkƭtƴy" +
  "ᴀaᴄcᴅdᴇeꜰfᴊjᴋkᴍmᴏoᴘpᴛtᴜuᴠvᴡwᴢzᴛt" +
  // Punctuation of markup
  "‹<❮<〈<⟨<❬<❰<ᐸ<˂<≺<⋖<《<⟪<«<≪<⪡<⧼<›>❯>〉>⟩>❭>❱>ᐳ>˃>≻>⋗>》>⟫>»>≫>⪢>⧽>" +
  "∕/⁄/⧸/╱/⟋/【[〔[⟦[〖[「[】]〕]⟧]〗]」]♯#⌗#⋕#꞉:∶:︰:ː:";

const twins = (() => {
  const characters = [...lookalikes];
  return new Map(characters.flatMap((one, at) => (at % 2 === 0 ? [[one, characters[at + 1] ?? ""]] : [])));
})();

/** Letters in boxes and circles, and of flags, that have no plain form in Unicode: first code points of their alphabets. */
const alphabets = [0x1f130, 0x1f150, 0x1f170, 0x1f1e6];

const plainForms = new Map<string, string>();

/** The plain character that `character` looks like, lower-case; "" where it is a mark or nothing that is seen. */
function plainForm(character: string): string {
  const known = plainForms.get(character);
  if (known !== undefined) return known;
  const found = findPlainForm(character);
  // A user's text cannot fill the process's memory with them.
  if (plainForms.size < 20_000) plainForms.set(character, found);
  return found;
}

function findPlainForm(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const alphabet = alphabets.find((first) => code >= first && code < first + 26);
  if (alphabet !== undefined) return String.fromCharCode(97 + code - alphabet);
  if (/[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?!\s)\p{Cc}/u.test(character)) return "";
  const [base = ""] = (twins.get(character) ?? character).normalize("NFKD").replace(/[\u0300-\u036F]/g, "");
  const letter = (twins.get(base) ?? base).toLowerCase();
  return letter.length === 1 ? letter : (letter[0] ?? "");
}

/**
 * `text` with every letter as the plain Latin one that it looks like, lower-case, each at the place where it was: the
 * result is as long as `text`, and has "\0" where nothing is seen.
 *
 * For finding what pretends to be something else; what other scripts say is not to be read in it.
 */
export function plainLetters(text: string): string {
  let plain = "";
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (code < 128 && (code > 31 || code === 10 || code === 9)) {
      plain += code >= 65 && code <= 90 ? String.fromCharCode(code + 32) : character;
    } else plain += plainForm(character).padEnd(character.length, "\0");
  }
  return plain;
}

/** Letters that are written in several ways, each followed by the one it is read as. */
const spellings = new Map(
  Object.entries({
    ...{ ı: "i", ł: "l", ø: "o", đ: "d", ð: "d", þ: "th", ß: "ss", æ: "ae", œ: "oe", ə: "e", ŀ: "l" },
    // Arabic letters of Persian and Urdu, and with and without what sits on them
    ...{
      أ: "ا",
      إ: "ا",
      آ: "ا",
      ٱ: "ا",
      ى: "ي",
      ی: "ي",
      ے: "ي",
      ئ: "ي",
      ة: "ه",
      ہ: "ه",
      ھ: "ه",
      ۀ: "ه",
      ک: "ك",
      ؤ: "و",
    },
    ...{
      ς: "σ",
      "’": "'",
      "‘": "'",
      ʼ: "'",
      ʻ: "'",
      "`": "'",
      "´": "'",
      "“": '"',
      "”": '"',
      "„": '"',
      "«": '"',
      "»": '"',
    },
  }),
);
const spelled = new RegExp(`[${[...spellings.keys()].join("")}]`, "gu");

/** Accents of Latin, Greek and Cyrillic letters, vowel signs of Arabic and Hebrew, and what lengthens Arabic words. */
const accents = /[\u0300-\u036F\u0591-\u05C7\u0640\u064B-\u065F\u0670]/g;

/**
 * `text` as its words are compared: lower-case, compatibility forms and accents gone, one spelling for letters that
 * have several, nothing invisible; white space is one space, or "\n" where there was a line break in it.
 */
export function plainWords(text: string): string {
  const folded = normalForm(visibleText(text), "NFKC")
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return normalForm(normalForm(folded, "NFD").replace(accents, ""), "NFC")
    .replace(spelled, (letter) => spellings.get(letter) ?? letter)
    .replace(/\s+/g, (space) => (space.includes("\n") ? "\n" : " "));
}

/** Figures and signs that stand in for letters. */
const figures: Readonly<Record<string, string>> = {
  ...{ "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "8": "b", "9": "g" },
  ...{ "@": "a", $: "s", "!": "i", "|": "l", "€": "e" },
};

/**
 * The ways in which `text` may be meant to be read where letters are disguised: characters written by their numbers,
 * letters of other alphabets, figures for letters. Without those that say what `text` says anyway.
 */
export function undisguised(text: string): string[] {
  const visible = normalForm(visibleText(text), "NFKC");
  const decoded = decodeEscapes(visible);
  const latin = plainLetters(normalForm(decoded, "NFD"))
    .replaceAll("\0", "")
    .replace(/\s+/g, (space) => (space.includes("\n") ? "\n" : " "));
  const letters = latin.replace(/[013457890@$!|€]/g, (sign, at: number) =>
    /[a-z]/.test(latin[at - 1] ?? "") || /[a-z]/.test(latin[at + 1] ?? "") ? (figures[sign] ?? sign) : sign,
  );
  const plain = plainWords(text);
  return [...new Set([latin, letters])].filter((reading) => reading !== plain);
}

/** Only the letters of `text`, without what parts them: for words that are spaced out, hyphenated or cut in two. */
export function joinedLetters(text: string): string {
  return text.replace(/[^a-z]+/g, "");
}

function decodeEscapes(text: string): string {
  if (!/[&\\%]/.test(text)) return text;
  const decode = (whole: string, code: string, base: number) => {
    const point = Number.parseInt(code, base);
    return point > 31 && point < 0x11_0000 ? String.fromCodePoint(point) : whole;
  };
  return text
    .replace(/&#x([0-9a-f]{1,6});?/gi, (whole, code: string) => decode(whole, code, 16))
    .replace(/&#(\d{1,7});?/g, (whole, code: string) => decode(whole, code, 10))
    .replace(/(?:\\u\{?|\\x|%)([0-9a-f]{2,4})\}?/gi, (whole, code: string) => decode(whole, code, 16));
}
