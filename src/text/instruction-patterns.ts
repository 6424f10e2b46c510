/**
 * A language a line: to ignore or forget (as orders are formed) | instructions | which ones: previous, yours,
 * the system's | all, any | forms of the first that are only orders. "_" is a space within a stem, "*" any
 * ending.
 */
export const overrideWords = `
en | ignore disregard forget override bypass neglect discard overlook pay_no_attention_to do_not_follow don't_follow stop_following set_aside throw_out abandon | instruction* prompt* guideline* directive* commands command rule rules restriction* directions orders training guidance safeguard* constraints | previous prior preceding above earlier former your system original initial existing foregoing given_to_you you_were_given you_have_received you_received you_got so_far before | all any every these those
de | ignoriere ignorieren_sie ignoriert missachte missachten_sie vergiss vergesst vergessen_sie ubergehe verwirf beachte_nicht | anweisung* vorgabe* regel regeln instruktion* befehl* richtlinie* prompt* weisung* | vorherig* vorher zuvor bisherig* fruher* obig* vorig* vorangegangen* vorhergehend* dein deine deinen system* ursprunglich* | alle aller allen samtliche* jede jegliche
fr | ignore ignores ignorez ignorer oublie oubliez oublier neglige negligez ne_tiens_pas_compte ne_tenez_pas_compte fais_abstraction faites_abstraction | instruction* consigne* regle regles directive* ordres prompt* invite* | precedent* anterieur* ci-dessus ton tes vos votre initial* d'origine recues | toute toutes tous tout
es | ignora ignore ignoren ignorad ignorar olvida olvide olviden olvidate olvidar desestima desestime descarta descarte omite omita haz_caso_omiso haga_caso_omiso no_hagas_caso pasa_por_alto | instruccion* indicacion* regla reglas ordenes directriz directrices prompt* consignas | anterior* previ* tus tu sistema original* hasta_ahora | todas todos cualquier toda
pt | ignora ignore ignorem ignorar esquece esqueca esquecam esquecer desconsidere desconsidera desconsiderar despreze descarte nao_siga | instruc* orientac* regra regras diretriz diretrizes comandos ordens prompt* | anterior* previ* seu suas tuas teu sistema acima original* ate_agora | todas todos qualquer quaisquer toda
it | ignora ignori ignorate ignorare dimentica dimentichi dimenticate dimenticare trascura tralascia scarta non_tenere_conto non_seguire | istruzion* indicazion* regola regole direttiv* comandi ordini prompt* | precedent* anterior* tue tuoi sistema sopra finora ricevut* original* | tutte tutti tutta ogni qualsiasi
ca | ignora ignoreu oblida oblideu | instruccion* indicacion* regles ordres | anterior* previ* | totes tots
gl | ignora esquece | instrucion* indicacion* regras | anterior* | todas todos
ro | ignora ignorati uita uitati nu_tine_cont nu_lua_in_seama | instructiun* indicatii* reguli regulile comenzi* ordine* | anterioar* preceden* de_mai_sus tale | toate tuturor orice
nl | negeer negeert vergeet let_niet_op | instructie* aanwijzing* regels opdracht* richtlijn* prompt* bevelen | vorige voorgaande eerdere bovenstaande jouw systeem* | alle elke al
af | ignoreer vergeet | instruksie* opdragte reels | vorige | alle
sv | ignorera glom bortse strunta_i | instruktion* anvisning* regler* order* riktlinje* | tidigare foregaende ovanstaende dina system* ursprungliga | alla varje
da | ignorer glem se_bort_fra overse | instruktion* instruksjon* instruks* anvisning* regler* ordre* retningslinj* | tidligere forrige foregaende foregaaende ovenstaende ovenfor dine | alle
is | hunsadu hunsa gleymdu | fyrirmael* leidbeining* reglu* skipun* | fyrri adur ofangreind* | oll ollum allar
fi | unohda unohtakaa jata_huomiotta jata_huomioimatta ohita sivuuta ala_noudata | ohje* maarays* maarayks* saannot kehot* kask* | aiemm* aikaisem* edellis* edeltav* ylla* jarjestelm* | kaikki kaikista
et | ignoreeri ignoreerige unusta unustage eira | juhis* juhend* reegl* kasud kaske* | eelnev* varasem* eelmis* | koiki koik
lt | ignoruok* pamirsk* nepaisyk* | instrukcij* nurodym* taisykl* | ankstesn* | visas visus visu
lv | ignore ignorejiet aizmirsti aizmirstiet neievero | instrukcij* noradijum* norad* noteikum* | ieprieks* | visus visas
pl | zignoruj* ignoruj* zapomnij* pomin pomincie nie_zwracaj_uwagi | instrukc* polece* regul* wytyczn* rozkaz* zasad* | poprzedni* wczesniejsz* powyzsz* twoj* swoj* dotychczasow* systemow* | wszystki* wszelki* kazd*
cs | ignoruj* zapomen* pomin nevsimej neber_v_uvahu | instrukc* pokyn* pravidl* prikaz* | predchoz* predesl* drivejs* vyse svych tvych dosavadn* | vsechn* veske*
sk | ignoruj* zabudni* vynechaj* | instrukc* pokyn* pravidl* prikaz* | predchadzajuc* predosl* skors* vyssie | vsetk*
sl | prezri* ignoriraj* pozabi* ne_upostevaj* | navodil* ukaz* pravil* | prejsnj* zgornj* predhodn* dosedanj* | vsa vse vseh
sh | zanemari* ignoriraj* ignorisi* zaboravi* | uputstv* instrukcij* upute uputa naredb* pravila naloge | prethodn* ranij* gornj* dosadasnj* tvoj* | sve svih svaki
hu | hagyd_figyelmen hagyja_figyelmen hagyj_figyelmen felejtsd felejtse ne_vedd_figyelembe | utasitas* szabaly* parancs* iranyelv* | korabbi elozo fenti eddigi | osszes minden valamennyi
sq | injoro* harro* | udhezim* instruksion* rregull* | meparshm* | gjitha
tr | yok_say* goz_ardi_et* gormezden_gel* unut unutun dikkate_alma* | talimat* yonerge* kurallar* komut* emirler* | onceki yukaridaki sistem* | tum butun her | yok_say yok_sayin goz_ardi_et goz_ardi_edin gormezden_gel gormezden_gelin dikkate_alma dikkate_almayin
az | gormemezliye_vur* unut nezere_alma* | telimat* gosteris* qaydalar* | evvelki | butun
uz | e'tiborsiz_qoldir* unut* | ko'rsatma* buyruq* qoidalar* | oldingi avvalgi | barcha
id | abaikan lupakan jangan_ikuti | instruksi* perintah* aturan* arahan* petunjuk* | sebelumnya terdahulu di_atas sistem* kamu | semua seluruh segala
tl | huwag_pansinin balewalain kalimutan | tagubilin* utos* panuto* patakaran* tuntunin* instruksyon* | nakaraan* nauna* dating* sa_itaas | lahat
vi | bo_qua quen_di hay_quen phot_lo | huong_dan* chi_dan* chi_thi* lenh quy_tac* menh_lenh | truoc* ben_tren o_tren cua_ban he_thong | tat_ca moi
sw | puuza sahau usifuate | maagizo maelekezo amri kanuni | yaliyotangulia awali yaliyopita hapo_juu zilizopita | yote zote
zu | ziba unganaki khohlwa | imiyalelo imiyalo iziyalezo | yangaphambili edlule | yonke zonke
ha | yi_watsi yi_biris manta | umarnin umarni umurni | baya na_baya | duk
eu | ez_ikusi jaramonik ahaztu | jarraibide* argibide* agindu* arau* | aurreko* lehengo* | guztiak guztiei
cy | anwybydd* | cyfarwyddiad* gyfarwyddiad* rheolau | blaenorol* | pob holl
ga | dean_neamhaird | treoracha* teagasc* | roimhe* | gach
eo | ignoru forgesu | instrukcio* regulojn | antaua* | ciujn
ru | игнорируй* проигнорируй* забудь* отбрось* не_обращай* не_следуй* отмени* пренебреги* | инструкц* указани* правил* команд* распоряжен* приказ* предписан* промпт* сообщени* | предыдущ* прежн* предшеств* выше* твои* свои* систем* ранее | все всех всю любые
uk | ігноруй* проігноруй* забудь* відкинь* не_зважай* | інструкц* вказівк* правил* команд* наказ* | попередн* колишн* вище твої системн* | усі всі всіх усіх будь-які
be | ігнаруй* забудзь* | інструкц* указан* правіл* | папярэдн* | усе ўсе
bg | игнорирай* забрави* пренебрегни* не_обръщай* | инструкц* указани* правила* команд* заповед* нареждан* | предишн* предходн* горн* досегашн* твоите | всичк*
mk | игнорирај* заборави* занемари* игнориши* | инструкци* инструкциј* упатств* упутств* правила* наредб* | претходн* раниј* | сите сва све свих
kk | елеме* ұмыт* | нұсқау* ережелер* бұйрық* | алдыңғы бұрынғы | барлық
mn | үл_тоомсорло* март* | заавар* заавр* тушаал* | өмнөх* | бүх
el | αγνόησ* αγνοήσ* ξέχασ* ξεχάσ* παράβλεψ* | οδηγί* εντολ* κανόν* κανον* | προηγούμεν* παραπάνω πρότερ* | όλες όλους όλα κάθε
ka | უგულებელყ* დაივიწყ* ნუ_მიაქცევ* | ინსტრუქცი* მითითებ* ბრძანებ* წეს* | წინა | ყველა
hy | անտեսի* անտեսե* մոռացի* մոռացե* | հրահանգ* ցուցում* կանոն* | նախորդ* նախկին* | բոլոր
ar | تجاهل انس_ انسى اهمل لا_تتبع | تعليمات اوامر قواعد توجيهات | سابق اعلاه قبل نظام | جميع كل كافة
fa | نادیده_بگیر نادیده_بگیرید فراموش_کن بی‌توجه توجه_نکن | دستور دستورالعمل قوانین راهنما | قبلی پیشین بالا | همه تمام کلیه
ur | نظرانداز نظر_انداز بھول_جا | ہدایات احکامات قواعد | پچھلی پچھلے سابقہ پہلے گزشتہ | تمام سب
he | התעלם התעלמו התעלמי תתעלם שכח | הוראות הנחיות כללים פקודות | קודמות קודמים לעיל שלך מערכת | כל
hi | अनदेखा नज़रअंदाज़ नजरअंदाज भूल_जा* भुला_दो उपेक्षा | निर्देश* आदेश* नियम* हिदायत* | पिछल* पहले* पूर्व* ऊपर* | सभी सारे सब
mr | दुर्लक्ष विसर* बेवास्ता बिर्स* | सूचना* निर्देश* नियम* निर्देशन* | मागील* आधीच्या* पूर्वीच्या* अघिल्ल* | सर्व सबै
bn | উপেক্ষা ভুলে_যাও ভুলে_যান অগ্রাহ্য | নির্দেশ* আদেশ* নিয়ম* | আগের* পূর্ব* | সব সমস্ত সকল
pa | ਨਜ਼ਰਅੰਦਾਜ਼ ਅਣਡਿੱਠ* ਭੁੱਲ* | ਹਦਾਇਤ* ਨਿਰਦੇਸ਼* ਹੁਕਮ* | ਪਿਛਲ* ਪਹਿਲ* | ਸਾਰੀਆਂ ਸਾਰੇ ਸਭ
gu | અવગણ* ભૂલી_જા* | સૂચના* નિર્દેશ* | અગાઉન* પહેલાન* પાછલ* | બધી તમામ
ta | புறக்கணி* மறந்து* | வழிமுறை* அறிவுறுத்தல்* கட்டளை* விதி* | முந்தைய* முன்* | அனைத்து எல்லா*
te | విస్మరించ* పట్టించుకోవద్దు మర్చిపో* | సూచన* ఆదేశ* నియమ* | మునుపటి* గత* ముందు* | అన్ని
kn | ನಿರ್ಲಕ್ಷಿಸ* ಮರೆತು* | ಸೂಚನೆ* ನಿರ್ದೇಶನ* | ಹಿಂದಿನ* | ಎಲ್ಲಾ ಎಲ್ಲ
ml | അവഗണിക്ക* മറക്ക* | നിർദ്ദേശ* നിർദേശ* | മുൻ* മുമ്പ* | എല്ലാ
si | නොසලකා අමතක | උපදෙස්* නියෝග* | පෙර* කලින්* | සියලු
th | ละเว้น เพิกเฉย ไม่ต้องสนใจ อย่าสนใจ ลืม | คำสั่ง คำแนะนำ กฎ | ก่อนหน้า ด้านบน ที่ผ่านมา | ทั้งหมด ทุก
lo | ບໍ່ສົນໃຈ ລະເວັ້ນ ລືມ | ຄຳສັ່ງ ຄຳແນະນຳ | ກ່ອນໜ້າ | ທັງໝົດ
km | មិនអើពើ បំភ្លេច កុំខ្វល់ | ការណែនាំ សេចក្តីណែនាំ បញ្ជា | មុន | ទាំងអស់
my | လျစ်လျူရှု မေ့ | ညွှန်ကြားချက် | ယခင် အရင် | အားလုံး
am | ችላ | መመሪያ | ቀዳሚ የቀድሞ ያለፉ | ሁሉ
zh | 忽略 忽視 忽视 无视 無視 忘记 忘記 忘掉 不要理会 不要理會 不理会 抛开 跳过 不要遵守 别管 | 指令 指示 提示 规则 規則 说明 命令 设定 | 之前 以前 先前 此前 上述 上面 以上 前面 你的 系统 系統 原先 | 所有 全部 一切 任何
ja | 無視 忘れ 破棄 従わ | 指示 命令 プロンプト ルール 規則 指令 | 以前 これまで 今まで 上記 前の 先ほど 先程 システム あなた 従来 | すべて 全て あらゆる | 無視してください 無視して下さい 無視しろ 無視せよ 無視しなさい 忘れてください 忘れろ
ko | 무시 잊 | 지시 명령 프롬프트 규칙 지침 | 이전 앞선 위의 기존 지금까지 시스템 당신의 | 모든 모두 | 무시하세요 무시하라 무시하십시오 무시해라 잊으세요 잊어라`;

/** Words that may precede an order, in languages whose orders look like statements. */
export const openers =
  "please and then now also or but must should just por favor y ahora et maintenant veuillez bitte und jetzt e ora agora und nu en och og i oraz a prosze teraz и пожалуйста теперь а и тепер 请 請 lutfen";

export const promptNames = `
system_prompt* system-prompt* system-message* system-instruction* systemprompt* system_message system_instruction* prompt_del_sistema prompt_de_sistema prompt_do_sistema prompt_di_sistema prompt_systeme invite_systeme instructions_systeme systeemprompt* системн*_промпт* системн*_подсказк* sistem_istemi* sistem_komut* prompt_he_thong prompt_sistem promptul_de_sistem jarjestelmakehot* systemovy_prompt prompt_systemowy 系统提示 系統提示 システムプロンプト 시스템_프롬프트 سیستم_پرامپت موجه_النظام सिस्टम_प्रॉम्प्ट`;

export const showWords = `
reveal print repeat show output leak disclose display share dump expose recite zeig zeige verrate verrat nenne ausgeben montre montrez revele revelez affiche affichez donne donnez muestra muestrame muestre revela revele imprime dime mostre mostra rivela stampa toon onthul geef visa avsloja vis pokaz ujawnij wypisz покажи раскрой выведи сообщи goster acikla yazdir tunjukkan tampilkan ungkapkan hien_thi tiet_lo paljasta nayta arata dezvaluie zobraz odhal 显示 顯示 透露 输出 告诉我 展示 泄露 教えて 明かし 出力 見せて 表示 보여 공개 출력 알려 اظهر اكشف اعرض दिखा* बता*`;

/** "You are now …". */
export const becomeWords = `
du_bist_jetzt du_bist_ab_jetzt du_bist_nun ab_jetzt_bist_du tu_es_maintenant tu_es_desormais vous_etes_maintenant vous_etes_desormais desormais_tu_es ahora_eres a_partir_de_ahora_eres agora_voce_e voce_agora_e a_partir_de_agora_voce sei_ora ora_sei d'ora_in_poi_sei je_bent_nu vanaf_nu_ben_je du_ar_nu du_er_na jestes_teraz teraz_jestes od_teraz_jestes ты_теперь теперь_ты отныне_ты ти_тепер тепер_ти sen_artik artik_sen simdi_sen 你现在是 你現在是 从现在起你 从现在开始你 あなたは今から 今からあなた これからあなた 이제_너는 이제부터_너는 이제_당신은 지금부터_당신은 انت_الان अब_तुम अब_आप bay_gio_ban_la kamu_sekarang_adalah sekarang_kamu_adalah`;

/** "Do not tell the user", a language a line: two groups of stems that stand in one sentence, in this order. */
export const hideWords = `
sag sage verrate erzahl erzahle erwahne informiere teile | dem_nutzer_nicht dem_benutzer_nicht dem_nutzer_nichts den_nutzer_nicht dem_anwender_nicht
ne_dis ne_dites ne_revele ne_revelez ne_mentionne ne_mentionnez n'informe n'informez | l'utilisateur a_l'utilisateur
no_le_digas no_digas no_le_diga no_informes no_menciones no_reveles | usuario usuaria
nao_diga nao_conte nao_informe nao_revele nao_mencione | usuario usuaria
non_dire non_dirlo non_informare non_rivelare non_menzionare | utente all'utente l'utente
vertel zeg | de_gebruiker_niet de_gebruiker_niets niet_aan_de_gebruiker
beratta saga sag fortell fortael | inte_anvandaren anvandaren_inte ikke_brukeren ikke_brugeren inte_for_anvandaren
nie_mow nie_informuj nie_ujawniaj nie_wspominaj | uzytkownik*
не_говори не_говорите не_сообщай не_рассказывай не_упоминай не_раскрывай не_кажи не_повідомляй | пользовател* користувач*
kullaniciya | soyleme soylemeyin bahsetme
不要告诉 别告诉 不要告訴 不要向 | 用户 用戶 使用者
ユーザーに ユーザには | 言わないで 伝えないで 教えないで 知らせないで 話さないで
사용자에게 | 말하지_마 알리지_마 말하지_말 알리지_말
لا_تخبر | المستخدم
उपयोगकर्ता_को | मत_बता* न_बता*
jangan_beri_tahu jangan_beritahu jangan_katakan | pengguna
dung_noi khong_noi dung_cho | nguoi_dung`;

/*
 * Patterns for text as `plainWords` writes it: lower-case, one space or "\n" between words. Every repetition is bounded,
 * and "." crosses lines, so that none takes more than linear time.
 */

/** Wordings that the lists of languages do not have. */
const overrides: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|your|system)\b.{0,40}\b(?:instruction|prompt|rule|message|guideline|direction|restriction|training)s?\b/s,
  /\b(?:ignore|disregard|forget)\s(?:everything|all|anything|whatever)\b.{0,30}\b(?:above|before|previously|you\swere\stold|said\sso\sfar)\b/s,
  /\b(?:do|does)\snot\sapply\sany\s?more\b|\b(?:instructions?|rules|guidelines|restrictions|system\sprompt)\b.{0,30}\b(?:no\slonger\sappl(?:y|ies)|are\s(?:void|cancell?ed|lifted|revoked|suspended|obsolete))\b/s,
  /\b(?:instead\sof|rather\sthan)\s(?:following\s)?your\s(?:\w{1,20}\s)?(?:instructions|rules|guidelines|prompt)\b/s,
];

const takeovers: readonly RegExp[] = [
  /\b(?:your|hidden|initial|original)\s(?:system\s|developer\s)?prompt\b|\byour\s(?:system\s|hidden\s|secret\s)(?:instructions?|message)\b/,
  /(?:^|[.!?:;\n"]\s?)the\s(?:system|developer)\sprompt\s(?:is|says|must|tells|states|has|was|allows|contains|reads)\b/,
  /\byou\s(?:must|should|are\snow|will|shall)\s(?:now\s|always\s|never\s)?(?:obey|reveal|comply|execute)\b/,
  /\byou\sare\snow\s(?:in|no\slonger|free|dan)\b/,
  /\byou\s(?:now\s)?have\sno\s(?:more\s)?(?:restrictions|filters|guidelines|rules)\b/,
  /\b(?:pretend|imagine|act\sas\sif)\s(?:to\sbe|that\syou|you)\b.{0,40}\b(?:no|without|unrestricted|free|not\sbound)\b.{0,30}\b(?:rules?|restrictions?|limits?|filters?|guidelines?|ai|model)\b/s,
  /\b(?:enter|enable|activate|switch\sto|turn\son)\s(?:the\s)?(?:developer|debug|god|jailbreak|dan|admin|sudo|maintenance|root|unrestricted)\smode\b/,
  /\b(?:reveal|print|repeat|show|output|leak|disclose|recite)\b.{0,30}\byour\s(?:\w{1,20}\s)?(?:prompt|instructions?|rules|context|tools?|memory|configuration)\b/s,
  /\b(?:do\snot|don't|never)\s(?:tell|inform|mention|reveal|show|notify|alert)\b.{0,30}\b(?:the\s)?(?:user|human|operator|customer)s?\b.{0,40}\b(?:this|that|about|of|it)\b/s,
  /\bwithout\s(?:telling|informing|notifying|alerting)\sthe\s(?:user|human|operator|customer)\b|\b(?:keep|hide)\s(?:this|it|that)\s(?:\w{1,20}\s)?from\sthe\s(?:user|human|customer)\b/,
  /\b(?:new|updated|revised|real)\s(?:system\s)?instructions?\s?:/,
];

/** A persona, which a user may ask for: "you are now my tutor". */
export const personas: readonly RegExp[] = [
  /\byou\s(?:must|should|are\snow|will|shall)\s(?:now\s|always\s|never\s)?(?:act|pretend|follow)\b/,
  /\byou\sare\snow\s(?:an?|the|called|named|my)\b/,
];

const markers: readonly RegExp[] = [
  /(?:^|[\n"'.!?;])\s?(?:#{1,6}\s?)?(?:\*\*)?\[?(?:system|assistant|developer|human)\]?(?:\*\*)?\s?:\s?(?:\*\*\s?)?\S/,
  /<\|?\s?(?:im_start|im_end|im_sep|system|assistant|user|endoftext|begin_of_text|start_header_id|eot_id|tool_call)\s?\|?>/,
  /\[\/?inst\]|<<\/?sys>>|<\s?\/?\s?(?:system|instructions?|tool_call|function_calls?|invoke|memory)\b[^>]{0,200}>/,
  /["'](?:tool_calls?|function_call|tool_use)["']\s?:/,
  /\{\s?["'](?:name|function|tool)["']\s?:\s?["'][\w.-]{1,80}["']\s?,\s?["'](?:arguments|args|parameters|input)["']\s?:/,
];

const secrets =
  "(?:conversations?|chats?|histor(?:y|ies)|transcripts?|memor(?:y|ies)|passwords?|passcodes?|api[ _-]?keys?|tokens?|secrets?|credentials|prompts?|passwort\\w{0,4}|kennwort|contrasena\\w?|mots?\\sde\\spasse|senhas?|parole?|пароли?|密码|パスワード|비밀번호|sifre\\w{0,6}|hasl[oa]|wachtwoord\\w{0,2}|losenord)";
const elsewhere = "(?:https?:\\/\\/|www\\.|[\\w.+-]{1,60}@[\\w-]{1,60}\\.\\w)";
const send =
  "(?:send|post|upload|forward|exfiltrate|submit|transmit|leak|e-?mail|schicke?|sende|envia|envie|envoie|envoyez|invia|manda|отправь|отправьте|gonder|wyslij|stuur|skicka|发送|發送)";

const exfiltration: readonly RegExp[] = [
  new RegExp(`(?<![\\p{L}\\p{N}])${send}(?![a-z]).{0,60}${secrets}.{0,60}${elsewhere}`, "su"),
  new RegExp(`${secrets}.{0,60}${elsewhere}.{0,20}(?:送|보내|gonder|发)`, "su"),
  /\b(?:ask|request|get|obtain|collect|extract)\b.{0,30}\b(?:the\s)?(?:user|customer|human)(?:'s|s|\sfor)?\b.{0,30}\b(?:passwords?|passcodes?|pin|api[ _-]?keys?|credentials|credit\scard|card\snumber|cvv|one-time\scode|secrets?)\b/s,
  /!\[[^\][]{0,200}\]\(\s?https?:\/\/[^)]{0,300}[?&{]/,
  /\b(?:curl|wget)\s(?:-\w{1,20}\s){0,5}["']?https?:\/\//,
];

/** Apply to every text that a model is shown. */
export const always: readonly RegExp[] = [...overrides, ...takeovers, ...markers, ...exfiltration];

const otherUsers =
  "(?:(?:ander(?:e[nr]?)|aller?)\\s(?:be)?(?:nutzer|kunden|anwender)\\p{L}{0,5}|(?:autres|tous\\sles)\\s(?:utilisateur|client)\\p{L}{0,5}" +
  "|(?:otros|demas|todos\\slos|outros|demais|todos\\sos)\\s(?:usuarios|clientes|utilizadores)|(?:altri|tutti\\sgli)\\s(?:utenti|clienti)" +
  "|(?:andere|alle)\\s(?:gebruikers|klanten)|(?:других|всех|остальных)\\s(?:пользователеи|клиентов)|(?:其他|别的|所有)(?:用户|客户)|他のユーザー|다른\\s?(?:사용자|고객))";
const theirData =
  "(?:daten|nachrichten|gesprache|erinnerungen|passworter|gesagt|donnees|messages|conversations|souvenirs|mots\\sde\\spasse|ont\\sdit" +
  "|datos|mensajes|conversaciones|recuerdos|contrasenas|dijeron|dicho|dados|mensagens|conversas|senhas|disseram|dati|messaggi|conversazioni|hanno\\sdetto" +
  "|gegevens|berichten|gesprekken|gezegd|данные|сообщения|пароли|сказали|数据|消息|密码|说|データ|メッセージ|言った|데이터|메시지|말)";
const passwordOf =
  "(?:passwort|kennwort|contrasena|mot\\sde\\spasse|senha|password|wachtwoord|пароль)\\s(?:des|der|del|de\\sla|de|du|do|da|dell|van)?\\s?(?:l'|de\\s)?";

/** What no user's own rule may be about. */
export const misuse: readonly RegExp[] = [
  /\b(?:other|another|all|every|any|different)\s(?:users?|customers?|clients?|accounts?|tenants?)(?:'s?)?\s(?:\w{1,20}\s){0,3}(?:data|messages?|memor(?:y|ies)|conversations?|chats?|passwords?|e-?mails?|records?|details|information)\b/,
  /\b(?:data|messages?|memor(?:y|ies)|conversations?|chats?|passwords?|e-?mails?|records?)\s(?:of|from|about)\s(?:the\s)?(?:other|another|all|every|any|different)\s(?:users?|customers?|clients?|accounts?|tenants?)\b/,
  /\bwhat\s(?:the\s)?other\s(?:users?|customers?|clients?)\s(?:said|say|wrote|write|told|asked?)\b/,
  /\b(?:reveal|print|show|tell|give|output|include|share|repeat|read|leak|use)\b.{0,40}\b(?:api[ _-]?keys?|secret\skeys?|credentials|access\stokens?|private\skeys?|environment\svariables|(?:your|its|the\s(?:admin\w{0,10}|root|system|database)(?:'s)?|admin|root|system)\s(?:\w{1,20}\s)?(?:passwords?|secrets?))\b/s,
  /\bpasswords?\sof\s(?:the\s)?(?:admin|administrator|root|owner|operator|system|database)\b/,
  /\b(?:ignore|disregard|disobey|override|bypass|(?:never|not|don't|stop)\s(?:obey|obeying|follow|following))\b.{0,30}\b(?:system|developer)(?:'s?)?\s(?:messages?|prompts?|instructions?|rules)\b/s,
  /\b(?:call|invoke|execute|trigger|run)\b.{0,30}(?:\b(?:tools?|shell|terminal)\b|\b[a-z]{2,20}_[a-z_]{2,30}\b)/s,
  /\buse\s(?:the|your)\s(?:[\w.-]{1,30}\s){1,3}tools?\b/,
  /\b(?:run|execute)\s(?:the\s|this\s|these\s|any\s|every\s|all\s|my\s)?(?:shell\s)?(?:commands?|scripts?|sql|rm\b|sudo\b)/,
  /\b(?:delete|erase|wipe|drop|truncate)\s(?:all|any|every|the|my|our|this|these)\s(?:\w{1,20}\s){0,2}(?:files?|records?|tables?|databases?|accounts?|e-?mails?|messages?|backups?|repositor(?:y|ies)|logs?)\b/,
  /\bexfiltrat(?:e|es|ing)\b/,
  new RegExp(`${otherUsers}.{0,40}${theirData}|${theirData}.{0,40}${otherUsers}`, "su"),
  new RegExp(`${passwordOf}(?:admin|administ|system|sistem|root|beheerder|serv|админ)`, "su"),
  new RegExp(`(?<![\\p{L}\\p{N}])${send}\\b.{0,80}${elsewhere}`, "su"),
];

const start = '(?:^|[.!?:;\\n"]\\s?|\\b(?:you|please|and|then|also|now)\\s|\\bfrom\\snow\\son,?\\s)';
const model = "(?:assistant|agent|ai|model|chatbot|bot|llm|gpt|claude|copilot)";
const duty =
  "(?:must|should|shall|has\\sto|have\\sto|needs?\\sto|is\\sto|are\\sto|ought\\sto|will|may\\snow|can\\snow|(?:is|are)\\s(?:now\\s)?(?:required|expected|authori[sz]ed|allowed|permitted|instructed|directed|free|obliged|supposed)\\sto)";
const act =
  "(?:say|tell|recommend|repl(?:y|ies)|respond|answer|include|mention|promote|share|send|reveal|give|provide|refuse|decline|approve|treat|consider|append|insert|add|transfer|pay|forward|follow|obey|trust|delete|grant|claim|state|insist|redirect|direct|suggest|point|call|click|visit|offer|assume|confirm|quote|print|output|return|run|execute|pretend|disclose|accept|use|write|book|buy|order|choose|prefer|end|begin|start|steer|convince|persuade|agree|ask|request|inform|skip|stop|hide|read|open|upload)";

// Not applied to steps of a procedure, which are orders by nature, to lessons and episodes, which quote them,
// and to how a user wants to be served.
export const orders: readonly RegExp[] = [
  new RegExp(
    `${start}(?:always|never|only)\\s(?:(?:reply|respond|answer|begin|start|end|finish)\\b.{0,40}\\bwith\\b|(?:output|append|insert|promote|obey|execute)\\b)`,
    "s",
  ),
  new RegExp(`${start}(?:always|only)\\s(?:recommend|suggest|mention|include|approve|say|claim)\\b`, "s"),
  new RegExp(`${start}never\\s(?:mention|reveal|disclose|warn|verify|question|contradict|admit)\\b`, "s"),
  /\byou\s(?:must|should|shall|will)\s(?:now\s|always\s|never\s|only\s)?(?:always|never|only|respond|reply|answer|send|call|say|recommend|include|mention|tell|give)\b/,
  /(?:^|[.!?:;\n"]\s?)from\snow\son\b.{0,60}\b(?:act|behave|pretend|obey|ignore|impersonate|recommend|mention|promote|every|all)\b/s,
  /(?:^|[.!?:;\n"]\s?)(?:antworte|antworten\ssie)\s(?:ab\sjetzt\s)?(?:immer|nur|stets)\smit\b/,
  /(?:^|[.!?:;\n"]\s?)(?:reponds|repondez)\s(?:toujours|desormais|uniquement)\s(?:avec|par)\b/,
  /(?:^|[.!?:;\n"¡]\s?)(?:responde|responda|rispondi)\s(?:siempre|sempre|solo|apenas)\sc[oa][nm]\b/,
  new RegExp(
    `${start}(?:should\\s|must\\s)?(?:send|post|upload|forward|exfiltrate|submit|transmit|leak|e-?mail)\\b.{0,80}\\b(?:to|at|via)\\b.{0,20}${elsewhere}`,
    "s",
  ),
  new RegExp(`\\b(?:the|any|every|all|an?)\\s${model}s?\\s${duty}\\s(?:\\w{1,20}\\s){0,2}${act}\\b`, "s"),
  new RegExp(`\\b(?:the|every|an?)\\s${model}\\s(?:always|never|only|automatically)\\s\\w{2,20}s\\b`),
  new RegExp(
    `\\b(?:when(?:ever)?|if|each\\stime|every\\stime|any\\s?time|as\\ssoon\\sas|once|in\\scase)\\b[^.!?]{2,80}(?:,|\\sthen)\\s(?:(?:please|always|just|simply|only|then|first|also)\\s){0,2}${act}\\b(?!\\s(?:is|was|are)\\b)`,
    "s",
  ),
  /\b(?:all|any|every|each|the|your|future|subsequent|its)\s(?:\w{1,20}\s){0,2}(?:answer|repl(?:y|ie)|response|output|summar(?:y|ie)|recommendation)s?\s(?:[\w-]{1,20}\s){0,6}?(?:must|should|shall|has\sto|have\sto|needs?\sto|(?:is|are)\sto)\s/s,
  /\b(?:correct|right|only|best|official|proper|expected|approved|standard)\s(?:answer|reply|response)\s(?:to|for|when|if)\b.{0,30}\b(?:any|every|all|questions?|asked|anyone|such|inquir|requests?)\b/s,
  new RegExp(
    `\\b(?:admin(?:istrator)?s?|developers?|openai|anthropic|google|microsoft|the\\s(?:company|vendor|operator|owner|security\\steam|system)|management|it\\sdepartment|compliance)\\b.{0,40}\\b(?:requires?|wants?|instructs?|orders?|has\\s\\w{4,12}ed|have\\s\\w{4,12}ed|expects?|says?|asks?)\\b.{0,30}\\b(?:${model}s?|you)\\b`,
    "s",
  ),
  /\b(?:dear|attention|hey|hello|hi|note\s(?:to|for)|(?:message|reminder|memo|notice|instructions?|for)\s(?:to|for|any|all))\s(?:the\s|any\s|all\s|every\s)?(?:ai|assistant|language\smodel|llm|chatbot|agent|gpt|claude|model|copilot)s?\b.{0,30}[:,—-]/s,
  /(?:^|[.!?:;\n"]\s?)(?:please\s|now\s|then\s|first,?\s)?(?:tell|inform|ask|convince|persuade|advise|instruct|remind|urge|direct|push|nudge|steer|encourage)\s(?:the\s|every\s|all\s|any\s)?(?:users?|customers?|humans?|clients?|readers?|people|visitors?|anyone|everyone|them|him|her)\b/,
  /(?:^|[.!?:;\n"]\s?)(?:please\s|now\s|then\s)?(?:recommend|promote|advertise|endorse|praise)\s(?!ed\b)\S{1,40}/,
  /(?:^|[.!?:;\n"]\s?)(?:please\s|now\s|then\s)?(?:transfer|wire|pay|refund|delete|erase|wipe|approve|grant|download|install|visit|click|open|forward|escalate)\s(?:all|any|every|the|this|these|that|it|\$|€|£|\d|here|on|https?)/,
  /(?:^|[.!?:;\n"]\s?)(?:remember|be\ssure|make\ssure|don't\sforget|never\sfail|take\scare)\s(?:to\s|that\s(?:you|the\sassistant|every|all)\s)(?:always\s|never\s)?\w/,
  /\bit\sis\s(?:important|essential|critical|mandatory|necessary|vital|crucial|imperative)\s(?:that|to|for)\b.{0,40}\b(?:answers?|assistants?|agents?|ai|you|replies|responses?|recommend|mention|say)\b/s,
  /\b(?:no\s(?:confirmation|approval|verification|permission|consent)\s(?:is\s)?(?:needed|required|necessary)|without\s(?:asking|confirming\swith|consulting)\sthe\suser|(?:no\sneed|not\snecessary|unnecessary)\sto\s(?:ask|confirm|verify|check)\b|pre-?approved\b.{0,30}\b(?:payments?|transfers?|purchases?|actions?|requests?))/s,
];

/** The same words joined, split or reversed; for text as `joinedLetters` gives it. */
export const joined: readonly RegExp[] = [
  /(?:ignor[ei]|disregard|forget|overr[iy]de|bypass)[a-z]{0,14}(?:previous|prior|preceding|above|earlier|your|system|developer|allthe|allof|anyof|any|all)[a-z]{0,14}(?:instruct[il]on|prompt|gu[il]del[il]ne|d[il]rect[il]ve|rules|command)/,
  /(?:reveal|print|show|output|leak|disclose)[a-z]{0,10}(?:your[a-z]{0,8}(?:instruct[il]ons|prompt)|the(?:hidden|system)prompt)/,
  /(?:snoitcurtsni|tpmorp|selur|senilediug)[a-z]{0,14}(?:suoiverp|roirp|ruoy|evoba|lla|metsys|reilrae)[a-z]{0,14}(?:erongi|dragersid|tegrof|edirrevo)/,
  /(?:ignorier|vergiss|missacht)[a-z]{0,12}(?:all|vorher|bisher|dein)[a-z]{0,16}(?:anweisung|regeln|vorgaben)/,
  /(?:ignor[ea]|ignorez|oublie|olvida|esqueca|dimentica)[a-z]{0,10}(?:tout|tod|tutt|las|les|as|le)[a-z]{0,12}(?:instrucc?ion|instrucoes|istruzioni|consignes|reglas|regras|regole)[a-z]{0,12}(?:anterior|precedent|previ)/,
];
