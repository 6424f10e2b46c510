/** The fields of a person that models and programs name in many ways. */
export type PersonalField = "preferred_name" | "pronouns" | "city" | "language";

const anyLanguage =
  `(?:english|german|french|spanish|portuguese|italian|dutch|polish|czech|slovak|hungarian|romanian|bulgarian
  |greek|turkish|arabic|hebrew|persian|farsi|urdu|hindi|bengali|tamil|telugu|punjabi|swahili|russian|ukrainian|swedish
  |norwegian|danish|finnish|estonian|latvian|lithuanian|serbian|croatian|slovenian|chinese|mandarin|cantonese|japanese|korean
  |thai|vietnamese|indonesian|malay|tagalog|catalan|basque|galician|irish|welsh|icelandic
  |englisch|deutsch|franzosisch|spanisch|portugiesisch|italienisch|niederlandisch|polnisch|russisch|turkisch|arabisch
  |chinesisch|japanisch|anglais|allemand|francais|espagnol|portugais|italien|neerlandais|russe|arabe|chinois|japonais
  |ingles|aleman|frances|espanol|castellano|portugues|italiano|neerlandes|ruso|chino|japones
  |alemao|espanhol|holandes|russo|chines|inglese|tedesco|francese|spagnolo|portoghese|olandese|cinese|giapponese
  |engels|duits|frans|spaans|portugees|italiaans|nederlands|russisch|turks|arabisch|chinees
  |(?:по-)?(?:английск|немецк|французск|испанск|португальск|итальянск|русск|украинск|китаиск|японск)(?:и|ии|ого|ом))`.replace(
    /\s+/g,
    "",
  );

/** Words of a list, "_" for a space, each whole. */
const whole = (words: string) => `(?:${words.trim().replace(/\s+/g, "|").replaceAll("_", " ")})(?!\\p{L})`;

const and = whole("and or und oder et ou y o e of и или");

/** What follows a language that is meant as such, and not as what a thing is like: "Portuguese food", "English tea". */
const afterLanguage =
  whole(`and or but over to with at in for as when because than from on by during since while if
  rather not instead though both only too also more most best better well very every now here a language speaker
  und oder als mit zu zum im auf bei et ou avec au a_la y o e con en em com op met thuis of и или с в на язык\\p{L}*
  \\p{L}+ly \\p{L}+mente`);
const notOfAThing =
  `(?!\\p{L})(?: ${and} ${anyLanguage}(?!\\p{L}))*` +
  `(?= ?(?:$|[(),;:/&–—]| - )| (?!${and} ${anyLanguage})${afterLanguage})`;

const languages = `(?<!\\p{L})${anyLanguage}${notOfAThing}`;

/** Verbs of learning or teaching a language: they do not say which one to talk in. */
const learning =
  `(?<!\\p{L})(?:learn|study|studi|teach|practi[cs]|improv|master|brush|pick(?:ing)? up|tak(?:e|ing) up|get(?:ting)? better
  |lern|leren|leert|appren|etudi|enseign|ameliorer|pratiqu|perfection|aprend|estud|ensen|ensin|pratic|mejorar|melhorar
  |perfeccion|aperfei|dominar|impar|insegn|migliorar|perfezion|изуч|выуч|учи)`.replace(/\n\s+/g, "");
const unlearned = `(?:(?!${learning}).){0,40}`;

/** Before a language that is not an adjective: "prefers l'anglais", but not "le cinéma français". */
const beforeLanguage =
  `(?:le|el|o|il|lo|en|em|in|y|e|et|un peu de?|un poco de|um pouco de|parler|ecrire|hablar|falar|parlare
  |escribir|escrever|scrivere|bien|bem|bene|solo|so|\\p{L}+ment|\\p{L}+mente)`.replace(/\n\s+/g, "");
const objectLanguage = `(?:(?:${unlearned} )?${beforeLanguage} |${unlearned}l')?${languages}`;

/** How sentences about the user begin and continue in one language: `who` is the subject. */
export interface Phrases extends Readonly<Partial<Record<PersonalField, string>>> {
  readonly who: string;
  /** Whether no space follows the subject. @default false */
  readonly joined?: boolean;
  /** Adverbs and auxiliaries between them. @default two words */
  readonly between?: string;
}

const states =
  whole(`need fear peace harmony poverty luxury style debt silence solitude isolation exile hiding quickly well
  fast nicely together with winter summer spring autumn the_(?:moment|past|present|dark|summer|winter)`);
const parts =
  whole(`team department group office division company role position field sector industry project board
  back_?end front_?end cloud plan diet meeting time_?zone`);
/** A house or a part of a company, without a place. */
const nowhere =
  `(?:the|his|her|their|its|this) (?:[^ ,.;]+ ){0,2}?${parts}|(?:an?|another|one|his|her|their) ` +
  `(?![^,.;]*(?<!\\p{L})(?:in|near|outside|at|of|around|close to|called|named) (?!need|fear|debt|(?:an?|two|three|four|\\d+) ))`;
const place = `(?!${states}|${nowhere})`;

const notAJob = `(?!(?:the )?(?:night|day|early|late|morning) shift)(?!${whole(`python java javascript typescript c\\+\\+ c# rust golang go ruby php swift kotlin scala linux windows
  macos android ios aws azure gcp postgres\\p{L}* mysql react vue angular kubernetes docker github gitlab slack notion
  management sales marketing engineering finance accounting hr remote part-time full-time freelanc\\p{L}*
  (?:mon|tues|wednes|thurs|fri|satur|sun)days?`)})`;

/** After "is called": a name, not a caller, an hour or a reason. */
const aName = `(?!${whole(`by to up in on at for out back off away before after when whenever every again upon as into a an his
  her their not too only once twice if because during between from often missing unknown misspelled spelled hard easy
  difficult today tomorrow tonight late later early first_thing`)})`;

export const twoWords = "(?:[^ ,.;]+ ){0,2}?";

/** Up to `most` characters without anybody else, whose name, city or language it would be. */
const nobodyElse = (words: string, most: number) =>
  `(?:(?!${words.trim().replace(/\s+/g, "|")}).){0,${most}}?`;
const othersInChinese = `女儿 女兒 儿子 兒子 孩子 姐 妹 哥 弟 妈 媽 母亲 母親 爸 父亲 父親 妻子 老婆 太太 丈夫 老公 朋友 同事 老板 老闆 男友 女友 邻居
  鄰居 爷 爺 奶 外公 外婆 叔 姨 姑 舅 侄 宠物 寵物 猫 貓 狗 公司 团队 團隊 项目 項目 养了 養了 一只 一隻 一个 一個`;
const othersInJapanese = `猫 犬 ペット 妹 姉 兄 弟 母 父 娘 息子 妻 夫 子供 子ども 友人 友達 同僚 上司 彼女 彼氏 祖母 祖父 叔父 叔母 隣人 会社 チーム
  プロジェクト 店 学校 車 船`;
const othersInKorean = `고양이 강아지 개의 반려 딸 아들 누나 언니 오빠 형의 동생 어머니 엄마 아버지 아빠 아내 남편 친구 동료 상사 할머니
  할아버지 이모 삼촌 회사 팀 프로젝트 가게 학교`;

/** Sentences in the third person, as memories are written. None is about relatives or friends. */
export const phrases: readonly Phrases[] = [
  {
    who: "(?:(?:the|this|our) )?(?:user|customer|client|speaker)",
    between:
      "(?:(?:now|currently|still|also|just|recently|has|have|is|was|been|since|permanently|mostly|primarily|usually|always|mainly|would|will) ){0,3}",
    city: `(?:lives?|living|lived|resid(?:es?|ing)|dwells?|based|located|settled) (?:[^ ,.;]+ ){0,4}?(?:in|at|near|outside|around) ${place}|(?:relocat(?:ed|ing|es)|mov(?:ed|es|ing)) (?:(?:back|over|out|away|down|up|here|recently|permanently|from [^,.;]{1,30}?) )?(?:in|to|near) ${place}${notAJob}|calls? (?:(?!(?:from|at|on|when|every|her|his|their)(?!\\p{L}))[^ ,.;]+ ){1,4}home|makes? (?:his|her|their) home in|(?:has|owns|rents) (?:a|an) (?:(?!holiday|summer|winter|weekend|vacation|second|beach)[^ ]+ )?(?:flat|apartment|house|home|place) in ${place}|'s? (?:current |home |new )?(?:home|hometown|city|town|residence|place of residence|address|location|base) is (?:now |currently )?(?!(?:a|an|full|on|under|being|very|too|not|so|always|often|strong|small|big|old|new)(?!\\p{L}))`,
    language: `(?:speaks?|writes?|prefers?|wants?|likes?|chats?|communicat\\p{L}+|understands?|answers?|replies|addressed)${unlearned}${languages}|(?:a |an )?(?:fluent|native)\\p{L}* (?:.{0,20} )?${languages}|'s? (?:[^ ]+ )?(?:language|mother tongue|native tongue)(?: is|:)`,
    pronouns:
      "'s? (?:[^ ]+ )?pronouns? ?(?:are|is|:)|(?:uses?|using|prefers?|has|wants?|goes by|asks? for).{0,40}(?<!\\p{L})pronouns?(?!\\p{L})|(?:uses?|goes by|prefers?) .{0,20}(?:she|he|they|xe|ze|it)\\/",
    preferred_name: `'s? (?:full |first |last |given |real |legal )?name is ${aName}|(?:(?<=(?:is|was|'s) )(?:called|named)) ${aName}|introduced (?:himself|herself|themselves) as|goes? by (?!(?:she|he|they|xe|ze|it)\\/|(?:train|bus|car|bike|bicycle|boat|ferry|plane|tram|metro|taxi|subway|foot|air|rail|feel|the (?:book|rules?|train|bus))(?!\\p{L}))|(?:prefers?|wants?|likes?|asks?|asked|wishes|would like|should|needs?) (?:to )?(?:be|being) (?:(?:called|addressed as|named|referred to as) ${aName}|addressed by)|known as ${aName}|prefers? the (?:nick)?name|'s? (?:nickname|preferred name|chosen name|name to use)|answers to (?!the(?!\\p{L}))${aName}|wants? (?:everyone|people|others|us|you) to call (?:him|her|them|the user) ${aName}`,
  },
  {
    who: "(?:der|die|das) (?:benutzer|nutzer|anwender|kunde|kundin|user)(?:in)?",
    city: "(?:wohnt|lebt|wohnhaft|zuhause|zu hause|ansassig) (?:.{0,30} )?(?:in|im|bei|nahe|nahe bei|am|an der|auf) (?!(?:angst|frieden|scheidung|trennung|armut|einer (?:wg|beziehung|partnerschaft|ehe))(?!\\p{L}))|(?:zog|gezogen|umgezogen) .{0,40}|ist .{0,40} (?:gezogen|umgezogen)|hat .{0,30}wohnung in",
    language: `(?:spricht|schreibt|bevorzugt|mochte|wunscht|versteht) ${unlearned}${languages}|.{0,10}(?:muttersprache|sprache)`,
    pronouns: ".{0,40}pronomen",
    preferred_name:
      "(?:mochte|will|wunscht|bevorzugt|zieht) .{0,40}(?<!\\p{L})(?:genannt|angesprochen|gerufen|angeredet)|.{0,15}(?:spitzname|rufname|vorname|name) (?:ist|lautet)|heisst(?! [^.]{1,40} willkommen)|nennt sich",
  },
  {
    who: "(?:l'|le |la )?(?:utilisateur|utilisatrice|usager|usagere|client|cliente)",
    city: "(?:habite|vit|reside|demeure|loge|demenage|emmenage|installee?) (?:.{0,20} )?(?:a|en|au|aux|dans|pres) (?!(?:credit|couple|paix|colocation|concubinage|autarcie|deux|famille)(?!\\p{L}))|est base",
    language: `(?:parle|ecrit|prefere|souhaite|veut|comprend) ${objectLanguage}|.{0,10}langue`,
    pronouns: ".{0,40}pronoms?(?!\\p{L})",
    preferred_name:
      "(?:s'appelle|se nomme|.{0,10}(?:pre)?nom est|se fait appeler|(?:prefere|veut|souhaite|aime|demande) .{0,25}(?:appelee?|nommee?|appelle))|.{0,10}surnom",
  },
  {
    who: "(?:el |la )?(?:usuario|usuaria|cliente|clienta)",
    city: "(?:vive|reside|habita|radica|mudo|mudado|mudada|traslado|trasladado) (?:.{0,20} )?(?:en|a|cerca) (?!(?:pareja|paz|armonia|familia|soledad)(?!\\p{L}))",
    language: `(?:habla|escribe|prefiere|quiere|entiende) ${objectLanguage}|.{0,10}(?:idioma|lengua)`,
    pronouns: ".{0,40}pronombres?",
    preferred_name:
      "(?:prefiere|quiere|pide|gusta) .{0,25}(?:llamen|llame|llamad[oa])|se (?:hace )?llamar?|.{0,10}(?:apodo|nombre (?:preferido|completo|es))",
  },
  {
    who: "(?:[oa] )?(?:usuario|usuaria|utilizador|utilizadora|cliente)",
    city: "(?:mora|vive|reside|habita|mudou(?:-se)?|se mudou) (?:.{0,20} )?(?:em|no|na|nos|nas|para|perto) (?!(?:paz|familia|casal|uniao|harmonia)(?!\\p{L}))",
    language: `(?:fala|escreve|prefere|quer|entende) ${objectLanguage}|.{0,10}(?:idioma|lingua)`,
    pronouns: ".{0,40}pronomes?",
    preferred_name:
      "(?:prefere|quer|gosta|pede|deseja) .{0,25}(?:chamad[oa]|tratad[oa]|chamem|tratem)|se chama|chama-se|.{0,10}(?:apelido|alcunha)|.{0,5}(?<![\\p{L}])nome (?:d[eoa] |completo |e |é )",
  },
  {
    who: "(?:l'|il |la |lo )?(?:utente|cliente)",
    city: "(?:vive|abita|risiede|trasferit[oa]) (?:.{0,20} )?(?:a|ad|in|nel|nella|vicino) (?!(?:pace|coppia|affitto|famiglia|armonia)(?!\\p{L}))",
    language: `(?:parla|scrive|preferisce|vuole|capisce) ${objectLanguage}|.{0,10}lingua`,
    pronouns: ".{0,40}pronomi",
    preferred_name:
      "(?:preferisce|vuole|desidera|chiede) .{0,25}(?:chiamat[oa]|chiami|chiamino)|si (?:fa )?chiama(?:re)?|.{0,10}(?:soprannome|(?<!\\p{L})nome (?:completo |di |e ))",
  },
  {
    who: "(?:de )?(?:gebruiker|gebruikster|klant)",
    city: "(?:woont|leeft|verblijft|verhuisd|verhuisde|gevestigd) (?:.{0,40} )?(?:in|te|naar|bij) (?!(?:stilte|vrede|angst|weelde|harmonie|armoede)(?!\\p{L}))|is .{0,40}verhuisd",
    language: `(?:spreekt|schrijft|verkiest|wil|verstaat) ${unlearned}${languages}|.{0,10}(?:moedertaal|taal)(?!\\p{L})`,
    pronouns: ".{0,40}voornaamwoord",
    preferred_name:
      "(?:wil|wordt|heeft|verkiest) .{0,30}(?:genoemd|aangesproken)|heet(?! [^.]{1,40} welkom)|.{0,10}(?:bijnaam|roepnaam|naam is)",
  },
  {
    who: "(?:пользователь|пользовательница|пользователя|пользовательницу|клиент|клиентка|клиента|клиентку)",
    city: "(?:живет|проживает|переехала?|поселил\\p{L}*|обосновал\\p{L}*) (?:.{0,30} )?(?:в|во|на|под) (?!(?:страхе|браке|мире|гармонии|достатке|бедности)(?!\\p{L}))",
    language: `(?:говорит|пишет|предпочитает|понимает|общается) ${unlearned}(?:${languages}|(?<!\\p{L})по-\\p{L}+ски|(?<!\\p{L})язык)|.{0,15}язык`,
    pronouns: ".{0,40}местоимени",
    preferred_name:
      "зовут|(?:просит|хочет|предпочитает|любит) .{0,40}(?:называ|звали|обраща)|.{0,15}прозвище",
  },
  {
    who: "(?:用户|用戶|使用者|客户)",
    joined: true,
    between: nobodyElse(othersInChinese, 8),
    city: "(?:住在|居住在|居住于|住于|搬到|搬去|搬至|定居|现居|現居)|的?(?:居住)?城市",
    language:
      "(?:说|講|讲|使用|偏好|喜欢用|希望用|母语|母語).{0,12}(?:语|語|文|话)|的(?:母语|母語|语言|語言)",
    pronouns: "(?:代词|代詞)",
    preferred_name:
      "(?:喜欢|希望|想|要|愿意).{0,10}(?:叫(?!外卖|外賣|车|車|一|醒|停|人|出租)|称|稱)|(?:名叫|叫做|叫(?!外卖|外賣|车|車|一|醒|停|人|出租))|的?(?:名字|姓名|昵称|暱稱|称呼|稱呼)",
  },
  {
    who: "ユーザー|ユーザ|利用者",
    joined: true,
    between: nobodyElse(othersInJapanese, 30),
    city: "(?:に住ん|在住|に引っ越|に暮らし|に居住)",
    language: "(?:語を話|語で話|語を使|語を希望|母語|母国語|言語)",
    pronouns: "代名詞",
    preferred_name: "(?:の名前|という名前|と呼ばれ|と呼んで|ニックネーム|呼び名|愛称)",
  },
  {
    who: "사용자|이용자|고객",
    joined: true,
    between: nobodyElse(othersInKorean, 30),
    city: "(?:에 살|에서 살|에 거주|로 이사)",
    language: "(?:어를 (?:말|구사|사용|선호)|어로 (?:말|대화)|모국어|언어)",
    pronouns: "대명사",
    preferred_name: "(?:라고 (?:불|부르)|로 불리|이름|별명|호칭|닉네임)",
  },
];

/** "The name of the user", not "the name of the user's dog". */
export const possessed: Readonly<Record<PersonalField, string>> = {
  preferred_name:
    "(?:nick|first |full |last |preferred )?name|(?:vor|spitz|ruf)?name|(?:pre|sur)?nom|nombre|apodo|nome(?: completo)?|apelido|soprannome|(?:voor|bij|roep)?naam|имя",
  pronouns: "pronouns|pronomen|pronoms|pronombres|pronomes|pronomi|voornaamwoorden|местоимения",
  city: "(?:home )?(?:city|town)|hometown|(?:place of )?residence|wohnort|wohnsitz|ville|lieu de residence|ciudad|cidade|citta|woonplaats|город",
  language:
    "(?:(?:native|first|preferred|main|mother|primary) )?(?:language|tongue)|(?:mutter)?sprache|langue(?: maternelle| preferee)?|lengua(?: materna)?|idioma(?: \\p{L}+)?|lingua(?: \\p{L}+)?|(?:moeder)?taal|(?:роднои )?язык",
};

export const ofUser =
  " (?:of |van |de |do |da |del |des |der |dell')?(?:(?:the|this|de|la|el|l'|lo|o|a) ?)?(?:user|customer|client|nutzers|nutzerin|benutzers|benutzerin|utilisateur|utilisatrice|usuario|usuaria|utilizador|utilizadora|utente|gebruiker|пользователя|пользовательницы)(?!['\\p{L}]) (?:is|ist|lautet|est|es|e|are|sind|sont|son|sao|sono|zijn|[—–-])";
