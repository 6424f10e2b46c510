import { plainWords } from "../../text/plain-words.js";

/** The fields of a person that models and programs name in many ways. */
export type PersonalField = "preferred_name" | "pronouns" | "city" | "language";

/** What keys call each field, as `plainWords` writes them; a category "profile" keeps them under the field's name. */
const keys: Readonly<Record<PersonalField, string>> = {
  preferred_name: `name full_name first_name given_name user_name last_name family_name surname legal_name real_name
    vorname nachname prenom nombre nombre_completo primer_nombre nome_completo primeiro_nome nome voornaam naam имя 名字 姓名
    名前 氏名 이름 성명 nickname nick_name nick goes_by called call_me call_name calling_name display_name name_to_use
    use_name name_used chosen_name preferred_first_name preferred_form_of_address form_of_address how_to_address
    address_as known_as alias preferred_nickname what_to_call rufname spitzname anrede surnom nom_d_usage prenom_d_usage
    apodo mote nombre_preferido alcunha apelido nome_preferido nome_social soprannome nome_preferito bijnaam roepnaam
    прозвище обращение 昵称 暱稱 称呼 稱呼 ニックネーム 呼び名 愛称 별명 닉네임 호칭`,
  pronouns: `pronoun preferred_pronouns gender_pronouns personal_pronouns pronoun_preference pronoun_set pronomen pronoms
    pronom pronombres pronombre pronomes pronome pronomi voornaamwoorden местоимения местоимение 代词 代詞 人称代词 代名詞
    대명사`,
  city: `location current_city current_location city_of_residence place_of_residence home_city lives_in residence
    living_in living_place home_location base based_in city_name town current_town moved_to residence_city
    city_and_country place_of_living where_user_lives stadt wohnort wohnsitz ville lieu_de_residence domicile ciudad
    residencia lugar_de_residencia cidade morada residencia_atual citta residenza luogo_di_residenza stad woonplaats город
    место_жительства 城市 居住地 居住城市 都市 居住都市 住まい 도시 거주지`,
  language: `preferred_language native_language primary_language spoken_language languages languages_spoken mother_tongue
    first_language main_language speaks tongue communication_language reply_language response_language answer_language
    language_preference preferred_response_language ui_language interface_language locale sprache muttersprache
    bevorzugte_sprache langue langue_maternelle langue_preferee idioma idioma_preferido idioma_nativo lengua
    lengua_materna lingua lingua_materna lingua_preferita taal moedertaal язык родной_язык 语言 語言 母语 言語 母語 언어
    모국어`,
};

const fields = Object.keys(keys) as PersonalField[];

/** Names of keys → the field that they mean. */
const fieldOfKey: ReadonlyMap<string, PersonalField> = new Map(
  fields.flatMap((field) =>
    [field, ...keys[field].split(/\s+/)].map((key) => [plainWords(key), field] as const),
  ),
);

/** The field of a person that a key in snake case means, whatever it is called; null for every other key. */
export function personalKey(key: string): PersonalField | null {
  return fieldOfKey.get(plainWords(key)) ?? null;
}

/** Natural languages, as they are called in English and by those who speak them. */
const languages =
  `(?:english|german|french|spanish|portuguese|italian|dutch|polish|czech|slovak|hungarian|romanian|bulgarian
  |greek|turkish|arabic|hebrew|persian|farsi|urdu|hindi|bengali|tamil|telugu|punjabi|swahili|russian|ukrainian|swedish
  |norwegian|danish|finnish|estonian|latvian|lithuanian|serbian|croatian|slovenian|chinese|mandarin|cantonese|japanese|korean
  |thai|vietnamese|indonesian|malay|tagalog|catalan|basque|galician|irish|welsh|icelandic
  |englisch|deutsch|franzosisch|spanisch|portugiesisch|italienisch|niederlandisch|polnisch|russisch|turkisch|arabisch
  |chinesisch|japanisch|anglais|allemand|francais|espagnol|portugais|italien|neerlandais|russe|arabe|chinois|japonais
  |ingles|aleman|frances|espanol|castellano|portugues|italiano|neerlandes|ruso|chino|japones
  |alemao|espanhol|holandes|russo|chines|inglese|tedesco|francese|spagnolo|portoghese|olandese|cinese|giapponese
  |engels|duits|frans|spaans|portugees|italiaans|nederlands|russisch|turks|arabisch|chinees
  |(?:по-)?(?:английск|немецк|французск|испанск|португальск|итальянск|русск|украинск|китаиск|японск)\\p{L}*)`.replace(
    /\s+/g,
    "",
  );

/** Languages for machines: somebody's choice of one says nothing of the person. */
const machineLanguages =
  /(?<![\p{L}\p{N}])(?:python|java|javascript|typescript|c\+\+|c#|rust|golang|go|ruby|php|swift|kotlin|scala|perl|haskell|elixir|erlang|clojure|lisp|sql|bash|html|css|matlab|julia|lua|dart|fortran|cobol|r|c|solidity|programming|coding|code|markup|query)(?![\p{L}\p{N}])/u;

/** How sentences about the user begin and go on in one language: `who` is a subject, the others follow it. */
interface Phrases extends Readonly<Partial<Record<PersonalField, string>>> {
  readonly who: string;
  /** Whether no space follows the subject. @default false */
  readonly joined?: boolean;
  /** What may stand between them: adverbs and auxiliaries. @default two words */
  readonly between?: string;
}

const twoWords = "(?:[^ ,.;]+ ){0,2}?";

/** Sentences in the third person, as memories are written. Of relatives and friends none speaks: who lives there is the subject. */
const phrases: readonly Phrases[] = [
  {
    who: "(?:(?:the|this|our) )?(?:user|customer|client|speaker)",
    between:
      "(?:(?:now|currently|still|also|just|recently|has|have|is|was|been|since|permanently|mostly|primarily|usually|always|mainly|would|will) ){0,3}",
    city: "(?:lives?|living|lived|resid(?:es?|ing)|dwells?|based|located|settled|relocat(?:ed|ing|es)|mov(?:ed|es)) (?:[^ ,.;]+ ){0,2}?(?:in|at|to|near|outside|around)|moving (?:back )?(?:in|to|near)|calls? .{1,40} home|makes? (?:his|her|their) home in|(?:has|owns|rents) (?:a|an) (?:[^ ]+ )?(?:flat|apartment|house|home|place) in|'s? (?:current |home |new )?(?:home|hometown|city|town|residence|place of residence|address|location|base) is",
    language: `(?:speaks?|writes?|prefers?|wants?|likes?|chats?|communicat\\p{L}+|understands?|answers?|replies|addressed).{0,40}(?<!\\p{L})${languages}|(?:fluent|native)\\p{L}* .{0,20}${languages}|'s? (?:[^ ]+ )?(?:language|mother tongue|native tongue) is`,
    pronouns: ".{0,40}(?<!\\p{L})pronouns?|(?:uses?|goes by|prefers?) .{0,20}(?:she|he|they|xe|ze|it)\\/",
    preferred_name:
      "'s? (?:full |first |last |given |real |legal )?name is|(?:(?<=(?:is|was|'s) )(?:called|named))|introduced (?:himself|herself|themselves) as|goes? by(?! (?:she|he|they|xe|ze|it)\\/)|(?:prefers?|wants?|likes?|asks?|asked|wishes|would like|should|needs?) (?:to )?(?:be|being) (?:called|addressed as|addressed by|named|referred)|known as|prefers? the (?:nick)?name|'s? (?:nickname|preferred name|chosen name|name to use)|answers to|wants? (?:everyone|people|others|us|you) to call",
  },
  {
    who: "(?:der|die|das) (?:benutzer|nutzer|anwender|kunde|kundin|user)(?:in)?",
    city: "(?:wohnt|lebt|wohnhaft|zog|gezogen|umgezogen|zuhause|zu hause|ansassig) .{0,40}|ist .{0,40} (?:gezogen|umgezogen)|hat .{0,30}wohnung in",
    language: `(?:spricht|schreibt|bevorzugt|mochte|wunscht|versteht) .{0,40}${languages}|.{0,10}(?:muttersprache|sprache)`,
    pronouns: ".{0,40}pronomen",
    preferred_name:
      "(?:mochte|will|wunscht|bevorzugt|zieht) .{0,40}(?:genannt|angesprochen|gerufen|angeredet)|.{0,15}(?:spitzname|rufname|vorname|name) (?:ist|lautet)|heisst|nennt sich",
  },
  {
    who: "(?:l'|le |la )?(?:utilisateur|utilisatrice|usager|usagere|client|cliente)",
    city: "(?:habite|vit|reside|demeure|loge|demenage|emmenage|installee?) (?:.{0,20} )?(?:a|en|au|aux|dans|pres)(?= )|est base",
    language: `(?:parle|ecrit|prefere|souhaite|veut|comprend) .{0,40}${languages}|.{0,10}langue`,
    pronouns: ".{0,40}pronoms?(?!\\p{L})",
    preferred_name:
      "(?:s'appelle|se nomme|.{0,10}(?:pre)?nom est|se fait appeler|(?:prefere|veut|souhaite|aime|demande) .{0,25}(?:appelee?|nommee?|appelle))|.{0,10}surnom",
  },
  {
    who: "(?:el |la )?(?:usuario|usuaria|cliente|clienta)",
    city: "(?:vive|reside|habita|radica|mudo|mudado|mudada|traslado|trasladado) (?:.{0,20} )?(?:en|a|cerca)(?= )",
    language: `(?:habla|escribe|prefiere|quiere|entiende) .{0,40}${languages}|.{0,10}(?:idioma|lengua)`,
    pronouns: ".{0,40}pronombres?",
    preferred_name:
      "(?:prefiere|quiere|pide|gusta) .{0,25}(?:llamen|llame|llamad[oa])|se (?:hace )?llamar?|.{0,10}(?:apodo|nombre (?:preferido|completo|es))",
  },
  {
    who: "(?:[oa] )?(?:usuario|usuaria|utilizador|utilizadora|cliente)",
    city: "(?:mora|vive|reside|habita|mudou(?:-se)?|se mudou) (?:.{0,20} )?(?:em|no|na|nos|nas|para|perto)(?= )",
    language: `(?:fala|escreve|prefere|quer|entende) .{0,40}${languages}|.{0,10}(?:idioma|lingua)`,
    pronouns: ".{0,40}pronomes?",
    preferred_name:
      "(?:prefere|quer|gosta|pede|deseja) .{0,25}(?:chamad[oa]|tratad[oa]|chamem|tratem)|se chama|chama-se|.{0,10}(?:apelido|alcunha)|.{0,5}(?<![\\p{L}])nome (?:d[eoa] |completo |e |é )",
  },
  {
    who: "(?:l'|il |la |lo )?(?:utente|cliente)",
    city: "(?:vive|abita|risiede|trasferit[oa]) (?:.{0,20} )?(?:a|ad|in|nel|nella|vicino)(?= )",
    language: `(?:parla|scrive|preferisce|vuole|capisce) .{0,40}${languages}|.{0,10}lingua`,
    pronouns: ".{0,40}pronomi",
    preferred_name:
      "(?:preferisce|vuole|desidera|chiede) .{0,25}(?:chiamat[oa]|chiami|chiamino)|si (?:fa )?chiama(?:re)?|.{0,10}(?:soprannome|(?<!\\p{L})nome (?:completo |di |e ))",
  },
  {
    who: "(?:de )?(?:gebruiker|gebruikster|klant)",
    city: "(?:woont|leeft|verblijft|verhuisd|verhuisde|gevestigd) (?:.{0,40} )?(?:in|te|naar|bij)(?= )|is .{0,40}verhuisd",
    language: `(?:spreekt|schrijft|verkiest|wil|verstaat) .{0,40}${languages}|.{0,10}(?:moedertaal|taal)(?!\\p{L})`,
    pronouns: ".{0,40}voornaamwoord",
    preferred_name:
      "(?:wil|wordt|heeft|verkiest) .{0,30}(?:genoemd|aangesproken)|heet|.{0,10}(?:bijnaam|roepnaam|naam is)",
  },
  {
    who: "(?:пользователь|пользовательница|пользователя|пользовательницу|клиент|клиентка|клиента|клиентку)",
    city: "(?:живет|проживает|переехала?|поселил\\p{L}*|обосновал\\p{L}*) (?:.{0,30} )?(?:в|во|на|под)(?= )",
    language: `(?:говорит|пишет|предпочитает|понимает|общается) .{0,40}(?:${languages}|язык)|.{0,15}язык`,
    pronouns: ".{0,40}местоимени",
    preferred_name:
      "зовут|(?:просит|хочет|предпочитает|любит) .{0,40}(?:называ|звали|обраща)|.{0,15}прозвище",
  },
  {
    who: "(?:用户|用戶|使用者|客户)",
    joined: true,
    between: ".{0,8}?",
    city: "(?:住在|居住在|居住于|住于|搬到|搬去|搬至|定居|现居|現居)|的?(?:居住)?城市",
    language:
      "(?:说|講|讲|使用|偏好|喜欢用|希望用|母语|母語).{0,12}(?:语|語|文|话)|的(?:母语|母語|语言|語言)",
    pronouns: "(?:代词|代詞)",
    preferred_name:
      "(?:喜欢|希望|想|要|愿意).{0,10}(?:叫|称|稱)|(?:名叫|叫做|叫)|的?(?:名字|姓名|昵称|暱稱|称呼|稱呼)",
  },
  {
    who: "ユーザー|ユーザ|利用者",
    joined: true,
    between: ".{0,30}?",
    city: "(?:に住ん|在住|に引っ越|に暮らし|に居住)",
    language: "(?:語を話|語で話|語を使|語を希望|母語|母国語|言語)",
    pronouns: "代名詞",
    preferred_name: "(?:の名前|という名前|と呼ばれ|と呼んで|ニックネーム|呼び名|愛称)",
  },
  {
    who: "사용자|이용자|고객",
    joined: true,
    between: ".{0,30}?",
    city: "(?:에 살|에서 살|에 거주|로 이사)",
    language: "(?:어를 (?:말|구사|사용|선호)|어로 (?:말|대화)|모국어|언어)",
    pronouns: "대명사",
    preferred_name: "(?:라고 (?:불|부르)|로 불리|이름|별명|호칭|닉네임)",
  },
];

/** "Since 2021", "Currently,": what may stand before the subject. */
const before =
  "^(?:[^,]{1,40}, ?|(?:since|as of|in|from|seit|depuis|desde|dal) [^ ]+ |(?:currently|now|today|nowadays|aktuell|derzeit) )?";

/** Patterns of each field in each language, for one sentence as `plainWords` writes it. */
const sentences: ReadonlyMap<PersonalField, RegExp> = new Map(
  fields.map((field) => {
    const all = phrases.flatMap(({ who, joined = false, between = twoWords, [field]: said }) => {
      if (said === undefined) return [];
      return `(?:${who})${joined ? "" : "(?: |(?='))"}${between}(?:${said})`;
    });
    return [field, new RegExp(`${before}(?:${all.join("|")})`, "u")] as const;
  }),
);

/** Longest statement looked at: as long as a memory is. */
const mostCharacters = 1_000;

/**
 * The field of a user that a sentence in the third person is about; null where it is about none. Told by a table of
 * phrases in eleven languages, so what is put otherwise is not seen.
 *
 * @param speaker who is meant besides "the user": the name of who said it.
 */
export function personalStatement(text: string, speaker?: string | null): PersonalField | null {
  const plain = plainWords(text.slice(0, mostCharacters));
  const name = speaker ? plainWords(speaker).trim() : "";
  const said = plain.split(/[.!?。！？;\n]+/u).map((sentence) => {
    const trimmed = sentence.trim();
    return name !== "" && trimmed.startsWith(name) ? `the user${trimmed.slice(name.length)}` : trimmed;
  });
  const found = fields.find((field) => said.some((sentence) => sentences.get(field)?.test(sentence)));
  return found === "language" && machineLanguages.test(plain) ? null : (found ?? null);
}

/** Whether a value of the key "language" is one for machines. */
export function isMachineLanguage(text: string): boolean {
  return machineLanguages.test(plainWords(text));
}
