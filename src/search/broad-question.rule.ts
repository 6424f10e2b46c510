/**
 * Words that people ask for everything with, "What do you know about me?", by text search configuration: what is said in
 * such questions of asking, knowing, memory and the user, and the small words around that. Accents are left out.
 *
 * None may be what a question is about: "like" and "work" are not here.
 */
const words: Readonly<Record<string, string>> = {
  english:
    "a about all and any anything are can could d did do does everything facts for from give had has have i " +
    "info information is in it know known knows learned learnt ll m me memories memory my myself of on " +
    "please re recall recalled recorded remember remembered remembers s saved show so stored tell " +
    "that the there things this to u us user users ve was we what whatever whats who you your",
  spanish:
    "a acerca algo algun conoce conoces cual cuales cuentame datos de decir decirme del di dime el en es esta favor guardado " +
    "guardados has hay informacion la las lo los me memoria memorias mi mis muestra muestrame o por puedes que quien " +
    "recuerda recuerdas recuerdos sabe sabes se sobre soy te tienes toda todas todo todos tu un una usuario y yo",
  german:
    "alles an auf aus bekannt bin bitte daten das dein deine dem den der des dich die dir du ein eine erinnern erinnerst " +
    "erinnerung erinnerungen erzahl erzahle es fakten gemerkt gespeichert hast ich ihr in informationen ist kannst kennst " +
    "mein meine mich mir noch nutzer benutzer sag sage sind so uber und von was weiss weisst weist wer wissen wisst zeig " +
    "zeige zu",
  french:
    "a au ce connais connaissez de des dis dites donnees du elle en es est et faits informations je la le les ma mes moi " +
    "mon memoire memoires me montre ne o on ou par peux plait propos qu que quel quelles qui quoi raconte rappelles sais " +
    "savez s si souvenirs souviens suis sur t te toi tout tu un une utilisateur vous as l d c",
  italian:
    "a che chi con conosci cosa cos da dati del della di dimmi e favore gli hai i il in info informazioni io l la le lo " +
    "me memoria memorie memorizzato mi mia mie miei mio mostra mostrami per puoi quello raccontami ricordi ricordo sai " +
    "salvato sono su sul ti tu tutte tutti tutto un una utente",
  portuguese:
    "a acerca algo ao as conhece conheces conte da dados de diga diz do e eu favor guardado guardou ha informacoes lembra " +
    "lembras lembrancas me memoria memorias meu meus mim minha minhas mostra mostre o os por pode qual que quem recorda " +
    "sabe sabes salvo se sobre sou te tem tens tudo tu um uma usuario utilizador voce",
  dutch:
    "aan alles ben dat de een en er feiten gebruiker gegevens geef heb hebt herinner herinnering herinneringen het ik in " +
    "informatie is je jij jou kent kun me mij mijn nog of onthouden opgeslagen over te toon u uit van vertel " +
    "wat weet weten wie zien laat alsjeblieft",
};

const askingWords: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(words).map(([language, list]) => [language, new Set(list.split(" "))]),
);

/** The same question in scripts without spaces, as a whole. */
const wholeQuestions = new RegExp(
  `^(?:${[
    "(?:你|您)(?:都|还)?(?:知道|了解|记得|記得)(?:关于|關於)?我的?(?:什么|什麼|哪些|多少|一切|信息|事)*(?:吗|嗎)?",
    "(?:关于|關於)我(?:你|您)(?:都)?(?:知道|记得|記得)(?:些)?(?:什么|什麼)",
    "(?:你|您)(?:知道|记得|記得)(?:关于|關於)我的(?:什么|什麼|哪些事|一切)",
    "(?:你|您)(?:对|對)我(?:了解|知道)(?:多少|什么|什麼|哪些)",
    "我是(?:谁|誰)",
    "(?:私|僕|俺)(?:について|のことを?|に関して)(?:何を|何か|なにを|全部|すべて)?(?:知って|覚えて|記憶して)(?:いる|る|います|ます)?(?:こと)?(?:は何)?(?:ですか|か|の)?",
    "(?:私|僕|俺)(?:は|って)(?:誰|だれ)(?:ですか)?",
    "(?:나|저|내)에대해(?:서)?(?:무엇을|뭘|뭐|무엇|모두|다)?(?:알고있나요|알고있어|알아|아세요|기억해|기억하나요|기억하세요)(?:요)?",
  ].join("|")})$`,
  "u",
);

const anyWord = /[\p{L}\p{N}]+/gu;

/** The pictures of a question without words, as words: what they show, they ask for. */
function pictured(question: string): string {
  const pictures = question.match(/\p{Extended_Pictographic}/gu) ?? [];
  return pictures.map((picture) => `u${picture.codePointAt(0)?.toString(16)}`).join(" ");
}

/** Longest question that is looked at: a longer one has words that tell something. */
const mostCharacters = 300;

/**
 * The words of `question` that tell what it is about: none where it asks for all that is known. Stop words of the index
 * may be among them.
 *
 * @param language the text search configuration: words to ask with are those of its language. A question of several
 *   such words of another language alone tells nothing either.
 */
export function tellingWords(question: string, language: string): string {
  if (question.length > mostCharacters) return question;
  const bare = question
    .normalize("NFKD")
    .replace(/(?<=\p{Script=Latin})\p{M}+/gu, "")
    .replaceAll("ß", "ss")
    .toLowerCase()
    // "List" and "far" are asked with in these places, and about elsewhere.
    .replace(/^\W*list\b|\bso far\b/g, " ");
  const found = bare.match(anyWord) ?? [];
  if (found.length === 0) return pictured(question);
  if (wholeQuestions.test(found.join("").normalize("NFC"))) return "";
  const own = askingWords.get(language);
  // One word may be a name, as Ben and Mia are, unless it asks in the language of the index.
  const lists = found.length === 1 ? (own ? [own] : []) : [...askingWords.values()];
  if (lists.some((list) => found.every((word) => list.has(word)))) return "";
  if (!own) return question;
  return bare.replace(anyWord, (word) => (own.has(word) ? " " : word));
}
