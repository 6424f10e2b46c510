import { isUnspaced, plainWords } from "../../text/plain-words.js";
import { onOneLine } from "../../text/storable-text.js";
import type { PersonalField } from "../item/personal-fields.rule.js";
import type { ConsentSubject } from "./consent-policy.rule.js";

/*
 * How people say of themselves, in eleven languages, what a personal field holds; "V" is the value. A pattern begins where
 * a clause does, in letters as `plainWords` writes them.
 */
const patterns: Readonly<Record<PersonalField, readonly string[]>> = {
  preferred_name: [
    "my (?:full |real |first |given |preferred |legal |nick ?)?(?:name|nickname)(?:'s| is)(?: actually| now)? V",
    "(?:(?:please|just|you (?:can|may|should)|everyone|everybody|people|(?:(?:all )?my )?(?:friends|colleagues|family)|they all) ){0,2}calls? me V",
    "(?:from now on,? )?(?:please )?call me V",
    "i(?:'m| am)(?: called| named| known as)? V",
    "i (?:go by|answer to)(?: the name)? V",
    "i(?:'d| would) rather (?:you|people) call(?:ed)? me V|moi,? c'est V",
    "i(?:'d)? (?:prefer|like|want|would like|would prefer) (?:to be|being) (?:called|addressed as) V|i'd rather be called V|i(?:'d| would)? prefer V",
    "(?:bitte )?(?:ich heisse|ich bin (?:die |der )?|mein (?:vor|spitz|ruf)?name (?:ist|lautet)|nenn(?:e|t|en sie)? mich (?:(?:bitte|einfach|lieber|ab jetzt) ){0,2}|man nennt mich) ?V",
    "du kannst mich V nennen",
    "(?:je m'appelle|je me nomme|je suis|mon (?:pre)?nom est|appelle[sz]?-moi|on m'appelle) V",
    "(?:me llamo|mi nombre(?: completo)? es|(?:yo )?soy|llama(?:me|dme)|puedes llamarme|me llaman|me dicen) V",
    "(?:(?:eu )?me chamo|chamo-me|(?:o )?meu nome(?: completo)? e|(?:eu )?sou(?: [oa])?|me cham[ae]|chama-me|pode me chamar)(?: de)? V",
    "(?:mi chiamo|il mio nome e|(?:io )?sono|chiamami|puoi chiamarmi) V",
    "(?:ik heet|mijn (?:voor|bij|roep)?naam is|ik ben|noem (?:me|mij)) V",
    "(?:меня зовут|мое имя(?: -| —)?|зови(?:те)? меня|можете звать меня) V",
    "(?:我的名字(?:是|叫)|我(?:名叫|叫做|叫|是)|(?:请|請)?叫我) ?V",
    "(?:(?:私|わたし|僕|俺)(?:の名前)?は)?Vと(?:申します|言います|いいます|呼んで)|(?:私|わたし|僕|俺)の名前はV",
    "(?:제|내) 이름은 V|(?:저는|나는) V(?:입니다|이에요|예요|이야|라고)|V(?:이)?라고 불러",
  ],
  city: [
    "(?:i|we)(?:'m|'re|'ve| am| are| have)? (?:(?:now|currently|still|just|recently|also|actually|been|permanently) ){0,2}(?:live|living|reside|residing|based|located|settled|moved|relocated)(?: (?:here|back|now|currently|over))?(?: from [^,.;]{1,40})?(?: (?:in|at|to|near|just outside|outside))(?: the)?(?: (?:city|town) of)? V",
    "my (?:home |current |new )?(?:city|hometown|home ?town|town|home|place of residence|residence|location|address|base)(?: is|'s)(?: now| currently)?(?: in)? V",
    "i call V (?:my )?home",
    "(?:my (?:flat|apartment|house|place) is (?:now )?in|home is(?: now)?) V",
    "(?:ich|wir) (?:wohn|leb)en? (?:(?!nicht|nie|kaum|fast)[^ ,.]+ ){1,3}(?:in|bei) V|wir (?:wohnen|leben) (?:in|bei) V|(?:ich bin|wir sind) (?:(?!nicht|nie|fast)[^ ,.]+ ){0,3}nach V (?:gezogen|umgezogen)",
    "nous (?:habitons|vivons)(?: (?:maintenant|actuellement))?(?: (?:a|en|au|aux|pres de|dans))? V|(?:je viens|nous venons) (?:de |d')(?:demenager|emmenager|m'installer|nous installer) (?:a|en|au|aux) V",
    "(?:ahora )?(?:vivimos|residimos|nos mudamos)(?: ahora)? (?:en|a|cerca de) V|(?:acabo de mudarme|acabamos de mudarnos) a V",
    "(?:agora )?(?:moramos|vivemos|nos mudamos)(?: agora)? (?:em|no|na|para) V|acab(?:ei|amos) de (?:me|nos) mudar para V",
    "(?:ora )?(?:viviamo|abitiamo)(?: ora)? (?:a|ad|in) V|(?:mi sono|ci siamo) appena trasferit[oaie] (?:a|ad|in) V",
    "(?:wij|we) (?:wonen|leven)(?: (?:nu|momenteel))? (?:in|te|bij) V|(?:ik ben|wij zijn|we zijn) (?:(?!niet)[^ ,.]+ ){0,3}naar V verhuisd",
    "мы (?:(?:сеичас|теперь) )?(?:живем|переехали) (?:в|во|на) V",
    "我(?:们|們)?(?:现在|現在)?在 ?V(?:住(?!过|過)|生活(?!过|過)|定居)|我(?:们|們)住在 ?V",
    "(?:今年|去年|昨年|先月|先週|最近|[0-9]+年に?)V(?:に引っ越し|に住み始め)|V(?:で一人暮らし|で暮らし)",
    "ich (?:wohne|lebe|bin)(?: (?:jetzt|derzeit|aktuell|zurzeit|nun|noch|immer noch|inzwischen|seit [^ ]+(?: [^ ]+)?))? (?:in|bei) V|(?:jetzt|inzwischen|aktuell|derzeit) (?:wohne|lebe) ich in V|ich bin (?:gerade |jetzt |kurzlich )?(?:von [^ ]+ )?nach V (?:gezogen|umgezogen)|mein wohnort ist V",
    "(?:maintenant )?j'(?:habite|ai (?:demenage|emmenage))(?: (?:maintenant|actuellement|toujours))?(?: (?:a|en|au|aux|pres de|dans))? V|je (?:vis|reside)(?: (?:maintenant|actuellement))? (?:a|en|au|aux|pres de) V",
    "(?:ahora |actualmente )?(?:yo )?(?:vivo|resido|me mude|me he mudado)(?: (?:ahora|actualmente))? (?:en|a|cerca de) V|mi ciudad es V",
    "(?:agora |atualmente )?(?:eu )?(?:moro|vivo|resido|me mudei|mudei-me)(?: (?:agora|atualmente))? (?:em|no|na|nos|nas|para|perto de)(?: [oa])? V|(?:a )?minha cidade e V",
    "(?:ora |adesso |attualmente )?(?:io )?(?:vivo|abito|risiedo|mi sono trasferit[oa])(?: (?:ora|attualmente))? (?:a|ad|in|nel|nella|vicino a) V|la mia citta e V",
    "ik (?:woon|leef)(?: (?:nu|momenteel))? (?:in|te|bij) V|ik ben (?:net |onlangs )?naar V verhuisd|mijn woonplaats is V",
    "я (?:(?:сеичас|теперь) )?(?:живу|проживаю|переехала?) (?:в|во|на|под) V|мои город(?: -| —)? V",
    "我(?:现在|現在|目前)?(?:住在|居住在|搬到了?|定居在?) ?V|我的城市是 ?V",
    "(?:(?:私|わたし|僕|俺)は)?(?:今は?)?V(?:に住んで|在住|に引っ越し|で暮らし)",
    "(?:(?:저는|나는|전|난) )?(?:지금 )?V(?:에|에서) (?:살|거주)|(?:(?:저는|나는) )?V(?:으로|로) 이사했",
  ],
  pronouns: [
    "my (?:preferred )?pronouns are V|my pronoun is V|(?:my )?pronouns: V",
    "i (?:use|go by|prefer)(?: the)?(?: pronouns)? V",
    "V,? please",
    "meine pronomen sind V|ich (?:benutze|verwende|nutze)(?: die pronomen)? V",
    "mes pronoms sont V|j'utilise(?: les pronoms)? V",
    "mis pronombres son V|(?:yo )?uso(?: los pronombres)? V",
    "(?:os )?meus pronomes sao V|(?:eu )?uso(?: os pronomes)? V",
    "i miei pronomi sono V|uso(?: i pronomi)? V",
    "mijn voornaamwoorden zijn V|ik gebruik(?: de voornaamwoorden)? V",
    "мои местоимения(?: -| —|:)? V",
    "我的(?:人称)?代词是 ?V|我的(?:人稱)?代詞是 ?V",
    "(?:私の)?代名詞はV",
    "(?:제|내) 대명사는 V",
  ],
  language: [
    "i(?:'d)? (?:(?:only|mostly|mainly|usually|also|always) )?(?:speak|write|prefer|understand)(?: (?:only|in))?(?: (?:(?!not |no )\\p{L}+(?:,| and|, and) ){1,3}| )V",
    "i(?:'d)? (?:want|prefer|like|would like)(?: you to (?:answer|reply|respond|speak|write)| (?:all )?(?:answers|replies))? (?:me )?in V",
    "my (?:native |first |main |preferred |mother )?(?:language|tongue)(?: is|'s) V|i(?:'m| am) a native V speaker",
    "(?:please )?(?:always )?(?:answer|reply|respond|speak|write|talk|communicate)(?: (?:to|with))?(?: me)?(?: (?:only|always|please))? in V",
    "ich (?:spreche|schreibe|bevorzuge|mochte)(?: (?:nur|lieber|gern|am liebsten))?(?: auf)? V|meine (?:muttersprache|sprache) ist V",
    "(?:bitte )?(?:antworte|antworten sie|schreib|schreibe|sprich)(?: (?:mir|bitte|immer|nur|stets)){0,3} (?:auf|in) V",
    "je (?:parle|prefere)(?: (?:le|l'))? ?V|ma langue(?: maternelle)? est (?:le |l')?V|(?:reponds|repondez|parle|ecris)(?:-moi)?(?: (?:toujours|uniquement))? en V",
    "(?:yo )?(?:hablo|prefiero)(?: el)? V|mi (?:idioma|lengua)(?: \\p{L}+)? es (?:el )?V|(?:responde|respondeme|contesta|contestame|hablame|escribeme)(?: (?:siempre|solo))? en V",
    "(?:eu )?(?:falo|prefiro)(?: o)? V|(?:(?:o )?meu idioma|(?:a )?minha lingua)(?: \\p{L}+)? e (?:o )?V|(?:responda|responde|fala|escreva)(?: (?:sempre|so))? em V",
    "(?:io )?(?:parlo|preferisco)(?: (?:l'|il ?))?V|la mia lingua(?: \\p{L}+)? e (?:l'|il )?V|(?:rispondi|rispondimi|scrivimi)(?: (?:sempre|solo))? in V",
    "ik spreek V|mijn (?:moeder)?taal is(?: het)? V|(?:antwoord|schrijf)(?: (?:altijd|alleen))? in het V",
    "я говорю (?:на |по-)?V|мои (?:роднои )?язык(?: -| —)? V|отвечаи(?:те)?(?: (?:всегда|только))? (?:на |по-)V",
    "我(?:会)?(?:说|講|讲) ?V|我的母(?:语|語)是 ?V|(?:请|請)?(?:始终|总是)?用 ?V ?(?:回答|回复|回覆)",
    "(?:私は)?V(?:を話し|で(?:答え|返事|話し))|(?:私の)?母国?語はV",
    "V(?:로|으로) (?:답|대답|말)|V를 (?:말|해|합니다)|(?:제|내) 모국어는 V",
  ],
};

const greeting =
  "(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|guten tag|bonjour|salut|hola|ola|oi|ciao)(?: there| all| everyone| again)?[,.!]? )?";

/** As plain in a sentence of its own: a label, as in forms, or a greeting. */
const inShort: Readonly<Record<PersonalField, readonly string[]>> = {
  preferred_name: [
    "(?:(?:my |full |first |preferred )?name|(?:vor)?name|(?:pre)?nom|nombre|nome|naam|имя|姓名|名前|이름) ?: ?V",
    `${greeting}(?:(?:it's|this is) )?V here(?:,.*)?`,
    `${greeting}(?:it's|this is) V (?:speaking|again|from [^.,;:]+)(?:,.*)?`,
    "(?:it's|it is|i'm) V,? (?:and )?not [^ ,.]+",
    "(?:私は)?V(?:です|でございます)",
  ],
  city: [
    "(?:(?:my |current |home )?(?:location|city|town|home ?town|residence)|wohnort|stadt|ville|ciudad|cidade|citta|woonplaats|город|居住地|도시) ?: ?V",
    "(?:(?:currently|now|still) )?(?:based|living|located|residing) (?:in|near|outside) V(?: (?:now|currently|at the moment|these days))?",
  ],
  pronouns: [
    "(?:meine |mes |mis |i miei )?(?:pronomen|pronoms|pronombres|pronomes|pronomi|voornaamwoorden|местоимения) ?: ?V",
    "\\(?V\\)?(?: pronouns)?,?(?: (?:btw|by the way|please|for me))?",
  ],
  language: [
    "(?:(?:my |native |preferred )?language|(?:mutter)?sprache|langue|idioma|lengua|lingua|taal|язык|语言|言語|언어) ?: ?V",
    "(?:in |auf |en |em |in het )?V,? (?:please|bitte|s'il (?:te|vous) plait|por favor|per favore|alstublieft)",
  ],
};

/** Before a clause: nothing, or a mark, or a word that joins it to the one before. */
const opening =
  "(?:^|[.!?;:,\\n。、，！(]\\s*|[-–—]\\s|(?<![\\p{L}\\p{M}\\p{N}])(?:and|but|so|because|since|oh|ok|okay|hi|hello|hey|well|yes|yeah|no(?=\\s(?:i|i'm|i've|my)\\s)|actually|btw|by the way|also|remember that|remember,?|note that|that's right|und|aber|ja|nein|hallo|et|mais|oui|bonjour|y|pero|hola|e|mas|oi|ola|sim|ma|ciao|en|maar|и|а|но|привет)\\s(?:that )?)";

/** Suppositions, reported speech and fiction: nobody's plain word. */
const unsure =
  /(?<![\p{L}\p{M}\p{N}])(?:if|unless|wish|pretend\w*|imagin\w*|suppos\w*|hypothetical\w*|let's say|say that|says|(?<!i |already )(?:said|told)|wrote|claims?|maybe|perhaps|might|may be|possibly|jok(?:e|ing)|kidding|character|novel|story|role-?play\w*|translat\w*|used to|wenn|falls|angenommen|vielleicht|sagte|imagine[zr]?|peut-etre|suppose|imagina|quiza|quizas|tal vez|talvez|forse|misschien|если|может быть|допустим)(?![\p{L}\p{M}\p{N}])|(?:^|[.;]\s?)(?:si|se|als|stel) (?!,)|["“”„«»「」『』]|如果|假如|可能|もし|たぶん|만약|아마/u;

/**
 * After a plain word it takes it back: a denial, the past or future, one time only, or a longer value ("Ana's
 * mother"). In Japanese and Korean it is the verb's end.
 */
const takenBack = new RegExp(
  "^(?:'s |s' |い(?:ません|な[いく]|た|まし)|(?:지|진) ?(?:않|못|아니|안)|(?:았|었|고 있지|고 있었))|" +
    "^(?:に|で)?(?:は|も)?(?:ありません|ない|ではない|じゃない)|" +
    "^(?: (?!(?:and|but|because|since|so|where|who|und|aber|weil|et|mais|y|pero|e|ma|en|maar|и|а|но) )[^ .,;:!?]+){0,3} " +
    "(?:not|no more|no longer|any ?more|never|until|till|next (?:week|month|year|summer|winter|spring|fall|autumn)|" +
    "(?:just |only )?(?:this |for )?once|(?:only )?in (?:summer|winter|spring|autumn)|in (?:the|a|an|this|my|our) (?:game|story|novel|book|film|movie|dream|simulation|play)|nicht(?: mehr)?|nachst\\p{L}*|bis|pas|jusqu'\\p{L}*|prochaine?|ya no|hasta|proxim[oa]|" +
    "nao|ate [oa]o?|non|fino|prossim[oa]|niet(?: meer)?|volgende?|не|больше не|до|следующ\\p{L}*|" +
    "(?:on|sur|en|auf|su|no) (?:instagram|facebook|twitter|tiktok|discord|reddit|github|linkedin))(?![\\p{L}\\p{N}])|" +
    "^, ?(?:not|nicht|non|no|pas|nao|niet|нет|не)\\W*$|^(?:以前|不是|没有|沒有|不再|明年)",
  "u",
);

/** Asked to call back; not a name. */
const noName =
  /^(?:back|later|tomorrow|today|tonight|soon|now|asap|when|if|once|again|maybe|any ?time|spater|morgen|plus tard|demain|luego|manana)$/u;

const asks = /[?？؟]\s*$/u;

const mostCharacters = 1_000;

/**
 * Replaces the value in a sentence, so that patterns are compiled once. `plainSentence` removes it from
 * texts.
 */
const placeholder = "\uE000";

/** Patterns for a known value, and for an open one, captured by a group. */
function compiled(field: PersonalField) {
  const all = patterns[field].join("|");
  const withValue = (value: string) => new RegExp(`${opening}(?:${all.replaceAll("V", () => value)})`, "u");
  const short = `^(?:${inShort[field].join("|").replaceAll("V", placeholder)})[.!。]*$`;
  return {
    ...{ known: withValue(placeholder), short: new RegExp(short, "u") },
    open: withValue("([\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}/'-]*)"),
  };
}

const compiledFields = new Map<PersonalField, ReturnType<typeof compiled>>();

function patternsOf(field: PersonalField): ReturnType<typeof compiled> {
  const made = compiledFields.get(field) ?? compiled(field);
  compiledFields.set(field, made);
  return made;
}

/** A sentence that only corrects: "No, it is Bo." */
const correcting = new RegExp(
  `^(?:(?:no|nope|sorry|actually|correction|wait|oops|nein|doch|pardon|non|perdon|desculpa|scusa|nee|нет|простите|不|いいえ|아니요?)[,.!:;]? ?){1,2}(?:(?:it's|it is|i'm|i am|i meant?|that's|make that|es ist|ich bin|c'est|je suis|es|soy|e|sou|sono|het is|ik ben|это|я|是) ?)?${placeholder}[.!。]?$`,
  "u",
);

interface SelfSaid extends Pick<ConsentSubject, "value" | "text"> {
  /** The user corrects what was known: the value alone may be their sentence. @default false */
  readonly correction?: boolean | undefined;
}

/**
 * Whether `words`, whole sentences of a user's message, plainly say what `memory` holds: a sentence in the
 * first person that names the field and has the memory's value. Questions, suppositions and quotations are
 * not.
 *
 * @param field null: a field that only the configuration knows. The sentence must hold all words of the
 *   memory.
 */
export function saidOfSelf(field: PersonalField | null, memory: SelfSaid, words: string): boolean {
  const value = plainSentence(memory.value ?? "");
  return sentencesOf(words.slice(0, mostCharacters)).some((sentence) => {
    // A name may stand in quotation marks; what else does is somebody else's.
    const plain = plainSentence(sentence).replaceAll(`"${value}"`, value);
    if (asks.test(plain) || unsure.test(plain)) return false;
    if (field === null) return holdsAll(plain, memory);
    if (value === "") return namesOpenly(field, plain, memory.text);
    if (field === "preferred_name" && noName.test(value)) return false;
    const filled = plain.replace(wholeWords(value), placeholder);
    const { known, short } = patternsOf(field);
    return (
      stands(known.exec(filled)) ||
      (short.test(filled.trim()) && (field !== "pronouns" || value.includes("/"))) ||
      (memory.correction === true && correcting.test(filled))
    );
  });
}

function sentencesOf(text: string): string[] {
  return [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text)].map(
    ({ segment }) => segment,
  );
}

function plainSentence(text: string): string {
  return onOneLine(plainWords(text).replaceAll(placeholder, " "));
}

function stands(found: RegExpExecArray | null): boolean {
  return found !== null && !takenBack.test(found.input.slice(found.index + found[0].length));
}

function namesOpenly(field: PersonalField, plain: string, text: string): boolean {
  const found = patternsOf(field).open.exec(plain);
  const said = found?.slice(1).find((group) => group !== undefined) ?? "";
  return stands(found) && said.length > 1 && wholeWords(said).test(plainSentence(text));
}

/** Word boundaries, except in scripts without spaces. */
function wholeWords(words: string): RegExp {
  const literal = words.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const edge = (letter: string | undefined, pattern: string) => (isUnspaced(letter ?? "") ? "" : pattern);
  return new RegExp(
    edge(words[0], "(?<![\\p{L}\\p{M}\\p{N}])") + literal + edge(words.at(-1), "(?![\\p{L}\\p{M}\\p{N}])"),
    "gu",
  );
}

const firstPerson =
  /^(?:(?:and|but|so|also|please|note that|remember that) )?(?:i|i'm|i've|i'd|my|we|our|ich|mein\p{L}*|je|j'\p{L}+|mon|ma|mes|yo|mi|mis|eu|meu|minha|io|mio|mia|ik|mijn|я|у меня|мои|моя|мое) |^(?:j'|我|私|僕|俺|저|나|제|내)|^(?:soy|tengo|sou|tenho|sono|ho) /u;

/** Words without content of their own. */
const frame =
  /^(?:the|a|an|user|users|user's|is|are|has|have|was|of|to|at|in|and|that|their|its|named|called|der|die|das|nutzer|benutzer|ist|hat|l'utilisateur|utilisateur|le|la|les|est|el|usuario|es|tiene|o|tem|utente|il|e|ha|de|gebruiker|heeft|пользователь)$/u;

function holdsAll(plain: string, { value, text }: SelfSaid): boolean {
  if (!firstPerson.test(plain)) return false;
  const needed = wordsOf(`${text} ${value ?? ""}`).filter((word) => !frame.test(word));
  const said = wordsOf(plain);
  // Inflection changes endings: "has", "have"; "lives", "live".
  const holds = (word: string) =>
    said.some((other) => other === word || (word.length > 3 && stemOf(other) === stemOf(word)));
  return needed.length > 0 && needed.every(holds);
}

const wordsOf = (text: string) =>
  (plainWords(text).match(/[\p{L}\p{M}\p{N}@][\p{L}\p{M}\p{N}@.'-]*/gu) ?? []).map((word) =>
    word.replace(/[.'-]+$/, ""),
  );
const stemOf = (word: string) => word.replace(/(?:'s|ies|es|s|ed|ing|e|n|t)$/u, "");
