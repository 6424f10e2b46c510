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
