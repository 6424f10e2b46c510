import { plainWords } from "../text/plain-words.js";

/**
 * Words of questions for everything, "What do you know about me?", by text search configuration, else by language.
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
  russian:
    "а в вам вас все всё вы данные есть еще ещё знаешь знаете и известно из какая какие какую кто меня мне мной мое моё моей моих мой моя мои " +
    "о об обо память памяти перечисли пожалуйста покажи покажите помните помнишь пользователе пользователь пользователя про расскажи " +
    "расскажите скажи скажите сохранено сохранил сохранила такая такой тебе тебя ты у факт факты хранишь чего что я информация " +
    "информацию информации запомнил запомнила запомнили воспоминания",
  ukrainian:
    "а в вам вас все ви дані є знаєш знаєте і з й із інформація інформацію мене мені моє моєї мої мій моя хто пам'ятаєш пам'ятаєте " +
    "пам'ять пам'яті покажи покажіть про розкажи розкажіть скажи скажіть така такий тебе тобі ти у факти що я які яка будь ласка",
  polish:
    "a co cos coś dane fakty i informacje ja jaka jakie jestem jeszcze kim kto ma macie masz mi mnie moich moja moje mój na o " +
    "opowiedz pamiec pamięć pamięci pamiętacie pamiętasz pokaż powiedz prosze proszę temat ty użytkowniku użytkownika w wiecie " +
    "wiesz wspomnienia wszystko wymień z zapamiętałaś zapamiętałeś zapisałaś zapisałeś zapisane",
  czech:
    "a co data fakta informace já jaké jsem kdo máš máte mě mi mně moje můj o pamatuješ paměť paměti pověz prosím řekni si tom ty " +
    "ukaž uložené uložil v vše všechno víš víte vzpomínky",
  swedish:
    "allt allting alla användaren är berätta det du en fakta från för har i ihåg information jag känner kommer mig min mina minne " +
    "minnen minns mitt ni och om på säg snälla sparat till uppgifter vad vem vet vilka vilken visa",
  danish:
    "alt brugeren det du er fakta fortæl fra gemt har hukommelse husker hvad hvem hvilke hvilken i information jeg kender mig min mine " +
    "minder mit og om oplysninger på sig til ved venligst vis",
  norwegian:
    "alt brukeren det du er fakta fortell fra har hukommelse husker hva hvem hvilke hvilken i informasjon jeg kjenner lagret meg min " +
    "mine minner mitt og om opplysninger på si til vennligst vet vis",
  finnish:
    "ja kaikki käyttäjästä kerro kuka minä minun minusta minut mitä mitkä muisti muistat muistot näytä olen on sinä sinulla tallennettu " +
    "tallentanut tiedät tiedot tieto tietoa tietoja faktat",
  turkish:
    "anlat anılar bana ben beni benim biliyor biliyorsun biliyorsunuz bilgi bilgiler bilgileri bilgin göster hafıza hafızan hafızanda " +
    "hakkımda hangi hatırlıyor hatırlıyorsun hatırlıyorsunuz her kaydettin kayıtlı kim kimim kullanıcı lütfen mı mi musun ne neler " +
    "şey şeyi söyle tüm var ve",
  arabic:
    "أخبرني أنا أنت أي اعرض البيانات الذاكرة الذكريات المستخدم المعلومات بيانات تتذكر تتذكرين تذكر تعرف تعرفه تعرفها تعرفين تعرفون حفظت " +
    "ذاكرتك ذكريات شيء عرفت عن عندك عني فضلك في قل كل كنت لديك لي ما ماذا معلومات من هل هو هي و يا",
  hebrew:
    "אני את אתה בבקשה הכל הראה זוכר זוכרת זיכרון זכרונות יודע יודעת יש כל לי לך מה מי מידע המשתמש ספר ספרי עלי עליי על עם שאתה שאת של שלי תגיד תגידי",
  hindi:
    "आप आपको और का की के को कौन क्या कुछ जानकारी जानते जानती तुम तुम्हें दिखाओ दिखाइए पता बताइए बताओ बारे मुझे मेरा मेरी मेरे मैं में याद यादें सब हूँ हूं है हैं हो",
  indonesian:
    "aku anda apa beri data dan fakta informasi ingat ingatan kah kamu ketahui memori saja saya semua semuanya siapa simpan tahu tentang " +
    "tolong tunjukkan ceritakan yang",
  vietnamese:
    "ai bạn biết cả cho có của đã điều gì hãy kể ký là lưu mình nghe nhớ những tất thông tin tôi ức về",
  romanian:
    "ai amintești amintiri arată ce cine date despre eu fapte informații îmi îți la memoria mine salvat și spune știi știți sunt te rog tot toate tu",
  hungarian:
    "a adat adatok az egy emlék emlékek emlékszel én és hogy információ információk kérlek ki meg mi milyen minden mindent mit mondd " +
    "mutasd mutass nekem rám rólam tárolsz te tudsz tud vagyok van",
  greek:
    "για γνωρίζεις δεδομένα δείξε εγώ είμαι εμένα έχεις θυμάσαι και με μένα μνήμη μου μνήμες όλα παρακαλώ πες ποια ποιες ποιος " +
    "πληροφορίες σε τα τι το αναμνήσεις ξέρεις",
};

const anyWord = /[\p{L}\p{M}\p{N}]+/gu;

const askingWords: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(words).map(([language, list]) => [language, new Set(plainWords(list).match(anyWord))]),
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

/** A question of emoji alone asks for what they show. */
function pictured(question: string): string {
  const pictures = question.match(/\p{Extended_Pictographic}/gu) ?? [];
  return pictures.map((picture) => `u${picture.codePointAt(0)?.toString(16)}`).join(" ");
}

/** A longer question has words that say what it is about. */
const mostCharacters = 300;

/** The words of `question` that say what it is about, maybe with stop words; none where it asks for everything. */
export function tellingWords(question: string, language: string): string {
  if (question.length > mostCharacters) return question;
  // "List" and "far" are asked with in these places, and about elsewhere.
  const asked = question.replace(/^\W*list\b|\bso far\b/gi, " ");
  const found = plainWords(asked).match(anyWord) ?? [];
  if (found.length === 0) return pictured(question);
  if (wholeQuestions.test(found.join(""))) return "";
  const own = askingWords.get(language);
  // One word may be a name, as Ben and Mia are, unless it asks in the language of the index.
  const lists = found.length === 1 ? (own ? [own] : []) : [...askingWords.values()];
  if (lists.some((list) => found.every((word) => list.has(word)))) return "";
  if (!own) return question;
  return asked.replace(anyWord, (word) => (own.has(plainWords(word)) ? " " : word));
}
