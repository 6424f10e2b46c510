import { anyStem, plainWords } from "../text/plain-words.js";
import { onOneLine } from "../text/storable-text.js";

/*
 * What people say to "May I remember this?", in some fifty languages. Stems stand between white space, "_" is a space
 * within one, "*" any ending.
 */

/** To agree, to ask that something be kept: how a clause begins. */
const agreeing = `
yes yeah yep yup yea yess ok okay okey sure certainly absolutely definitely indeed agreed please_do go_ahead go_for_it do_it do_so do_that do_please do_remember
remember save keep_it keep_that keep_this store_it store_that store_this note_it note_that note_down confirmed approved affirmative alright of_course by_all_means sounds_good works_for_me that_works
you_may you_can with_pleasure gladly feel_free that's_right that's_correct that_is_right that_is_correct that's_fine that_is_fine fine_by_me fine_with_me i_agree i_accept i_consent i_approve i_confirm
i_do i_would i'd_like_that i'm_fine_with i_am_fine_with i'm_ok_with i'm_okay_with it's_fine it's_ok it's_okay permission_granted let's_do
ja jawohl jep klar genau einverstanden gern gerne naturlich sicher merk merke speicher speichere behalte richtig passt mach_das mach_es tu_das das_stimmt ich_stimme_zu ich_bin_einverstanden du_darfst sie_durfen in_ordnung
oui ouais d'accord bien_sur volontiers exactement certainement absolument souviens-toi retiens retenez garde gardez enregistre enregistrez memorise memorisez parfait vas-y allez-y je_suis_d'accord j'accepte c'est_bon c'est_ca tu_peux vous_pouvez
=si =si_por_favor =si_gracias =si_claro =si_grazie =si_certo claro vale correcto exacto exactamente de_acuerdo por_supuesto adelante recuerda recuerdalo recuerde guarda guardalo guarde apunta acepto confirmo estoy_de_acuerdo puedes esta_bien desde_luego
sim claro concordo pode isso_mesmo lembra lembre guarde guarda anota aceito confirmo com_certeza esta_bem ta_bom tudo_bem estou_de_acordo
certo certamente esatto esattamente va_bene d'accordo volentieri ricorda ricordalo ricordati salva salvalo memorizza accetto confermo procedi sono_d'accordo puoi certo_che_si
jawel zeker prima natuurlijk graag akkoord klopt onthoud bewaar doe_maar dat_klopt ik_ga_akkoord dat_mag
javisst visst absolut stammer garna okej spara kom_ihag det_stammer jo_tack ja_tack
husk gem_det selvfolgelig selvsagt lagre_det javel det_er_greit ja_takk
kylla joo juu toki selva muista tallenna hyvaksyn tietysti sopii
jah muidugi noustun jata_meelde
tak jasne oczywiscie zgoda zgadzam_sie zapamietaj zapisz pewnie potwierdzam dobrze
ano jiste souhlasim zapamatuj uloz urcite samozrejme suhlasim zapamataj samozrejme jasne hej
igen persze rendben jegyezd egyetertek mentsd jo_lesz
da sigur desigur retine salveaza sunt_de_acord de_acord memoreaza
naravno moze slazem_se zapamti sacuvaj svakako vazi seveda soglasam zapomni_si
taip zinoma sutinku isimink ja_ludzu piekritu
po sigurisht
да ага конечно согласен согласна хорошо верно запомни запомните сохрани сохраните ладно подтверждаю правильно разумеется так_и_есть давай можно
так звичайно згоден згодна добре запам'ятай збережи авжеж
съгласен съгласна запомни може разбира_се запази
ναι βέβαια φυσικά σύμφωνοι συμφωνώ εντάξει θυμήσου αποθήκευσε σωστά
evet tabii elbette olur tamam kabul kaydet hatırla doğru onaylıyorum peki bəli hə ha iya
نعم أجل موافق موافقة طبعا تمام أكيد حسنا تذكر احفظ ايوه صحيح بالتأكيد
بله آره باشه موافقم حتما قبول یادت_باشه ذخیره_کن درسته
ہاں جی ٹھیک_ہے یاد_رکھیں یاد_رکھو
כן בטח בסדר מסכים מסכימה תזכור תזכרי שמור אוקיי נכון
हाँ हां जी ठीक_है बिल्कुल ज़रूर जरूर याद_रख* सहमत सही_है
হ্যাঁ ঠিক_আছে মনে_রেখো মনে_রাখুন অবশ্যই
ஆம் ஆமாம் சரி అవును సరే ಹೌದು ಸರಿ അതെ ശരി
=ใช่ =ใช่ครับ =ใช่ค่ะ =ได้ =ได้ครับ =ได้ค่ะ ตกลง โอเค แน่นอน จำไว้
vâng đúng_vậy được đồng_ý =có =ừ hãy_nhớ lưu_lại tất_nhiên
ya iya baik boleh setuju tentu ingat simpan betul benar
oo opo sige tandaan ndiyo ndio sawa kumbuka yebo
同意 可以 没问题 沒問題 当然 當然 记住 記住 记下 記下 保存 确认 確認 没错 沒錯 好的 =好 =好吧 =好啊 =行 =行啊 =是 =是的 =对 =对的 =對 =對的 =嗯 =成
=はい =ええ =うん =いいです =いいですよ =いいよ お願い もちろん どうぞ 覚えて 記憶して 保存して 承知 了解 その通り そうです そうして オーケー 大丈夫です
=네 =예 =응 =네네 그래 그래요 좋아 좋습니다 동의 물론 기억해 저장해 맞아 맞습니다 부탁 그렇게_해
=right =correct =true =great =perfect =fine =deal =good =exactly =excellent =k =y =yes_please =perfecto =perfeito =perfetto =exact =juist =goed =precis =gerne =gern =stimmt =👍 =✅ =👌 =🙏
`;

/** Before it, what begins a clause and says nothing. */
const fillers =
  "oh ah hm hmm um uh well so and then also please ach na also und bitte pues bueno y por_favor bom entao e allora bon alors et s'il_te_plait och en ну и а 我们 我 那就 那 请 請 それでは では じゃあ 그럼";

/** To refuse, to doubt, to put off. */
const refusing = `
no not never nope nah none nothing neither nor don't dont do_not doesn't didn't won't wouldn't can't cannot isn't wasn't shouldn't haven't hasn't aren't refuse* decline* disagree* deny cancel stop
wrong incorrect false maybe perhaps possibly later unless hardly rather forget unsure
nein nicht nichts nie niemals kein keine keinen keiner keinesfalls nee nö ablehne falsch vielleicht später vergiss lösch*
non ne pas jamais aucun aucune rien n'est n'ai n'en refuse peut-être plus_tard oublie efface faux
nunca jamás tampoco ningún ninguna nada quizás quizá tal_vez luego más_tarde olvida borra falso
não nao nem jamais nenhum nenhuma talvez depois mais_tarde esqueça esquece apaga
mai niente nessun nessuna neanche nemmeno forse più_tardi dimentica cancella
neen niet niets nooit geen misschien vergeet
nej inte aldrig ingen inget kanske senare glöm nei ikke aldri intet måske kanskje glem
ei en_halua en_suostu älä koskaan ehkä mitte ära kunagi
nie nigdy żaden żadna żadne później zapomnij być_może
ne nikdy žádný nechci nechcem možná nem soha talán talan
nu niciodată poate nikad nemoj nije nisam možda nikoli morda nuk
нет не никогда ни ничего нельзя отказ* может_быть возможно потом забудь ні ніколи нічого никога
όχι μη μην δεν ποτέ τίποτα ίσως
hayır değil yok asla hiçbir belki sonra hatırlama kaydetme istemiyorum
لا ليس لم لن أبدا ربما كلا أرفض نه نکن نمی هرگز هیچ شاید نیست نخیر نہیں مت نہ
לא אל אין אף_פעם אולי
नहीं नही मत कभी_नहीं ना शायद न না নয়
இல்லை வேண்டாம் కాదు వద్దు ಇಲ್ಲ ಬೇಡ അല്ല വേണ്ട
ไม่ อย่า
không đừng chưa có_lẽ để_sau
tidak jangan bukan belum mungkin nanti huwag wala hapana usi* sitaki labda cha
不 没 沒 别 別 勿 未 否 非 拒绝 拒絕 也许 也許 取消 忘掉 忘记 忘記
ない ません いいえ いや ダメ だめ 駄目 やめ ではな じゃな とは言 嫌 拒否 たぶん 後で 忘れ 違
아니 않 못 말고 마세요 하지마 하지_마 싫 없 나중에 아마 거절 취소 지_마
`;

/** What a refusal may be of: remembering, wanting, agreeing. */
const about = `
remember* save* saving stor* keep* record* want* agree* consent* accept* approv* say* said merk* speicher* behalt* woll* will zustimm* einverstanden gesagt
retien* souvien* enregistr* memoris* gard* veux voudrais dit accord recuerd* guard* quier* dicho acept* lembr* quero disse aceit* ricord* salv* memorizz* voglio detto
onthoud* bewaar* wil spar* minn* vill husk* lagr* muist* tallen* zapami* zapis* chc* pamat* uloz* jegyez* ment* akar* retin* salv* vreau запомин* запомн* сохран* хочу согла* запам'ят* збер* хоч*
hatirla* kaydet* iste* احفظ تحفظ تتذكر اريد اوافق याद चाहता चाहती ingat simpan mau nho luu muon จำ 记 記 保存 同意 想 要 覚え 記憶 保存 기억 저장 원
`;

/** Refusing words in phrases that refuse nothing. */
const harmless = `
no_problem no_problems no_worries why_not not_a_problem don't_mind don't_forget do_not_forget won't_forget never_forget no_objection no_objections no_doubt rather_yes
kein_problem nicht_vergessen vergiss_nicht vergiss_es_nicht warum_nicht keine_einwände pas_de_problème pas_de_souci pourquoi_pas n'oublie_pas n'oubliez_pas sin_problema no_hay_problema
por_qué_no no_te_olvides no_olvides no_lo_olvides sem_problema sem_problemas por_que_não não_esqueça não_se_esqueça nessun_problema perché_no non_dimenticare geen_probleem waarom_niet
vergeet_niet inga_problem ingen_problem nie_ma_problemu nie_zapomnij dlaczego_nie žádný_problém nincs_gond nicio_problemă nema_problema не_забудь не_забудьте без_проблем почему_бы_и_нет почему_нет
sorun_değil sorun_yok neden_olmasın لا_مشكلة لا_بأس 没问题 沒問題 没错 沒錯 不错 不錯 不客气 别忘了 別忘了 不要忘记 問題ない 問題ありません 間違いない 間違いありません 忘れないで 문제없 문제_없 잊지_마 tidak_apa-apa tidak_masalah không_vấn_đề
`;

const stems = agreeing.split(/\s+/).filter((stem) => stem !== "");
/** Words that agree only where they are all of a clause: 好 begins many others. */
const alone = anyStem(
  stems
    .filter((stem) => stem.startsWith("="))
    .map((stem) => stem.slice(1))
    .join(" "),
  true,
);
const first = anyStem(stems.filter((stem) => !stem.startsWith("=")).join(" "), true);
const filler = `(?:${anyStem(fillers, true)}\\s?){0,3}`;
const agrees = new RegExp(`^${filler}(?:${alone}[的吧啊呀啦嘛哦ねよ요!\\s]{0,3}$|(${first}))`, "u");
const isAbout = new RegExp(`${alone}|${first}|${anyStem(about, true)}`, "u");
const refuses = new RegExp(anyStem(refusing, true), "u");
const refusesFirst = new RegExp(`^${filler}${anyStem(refusing, true)}`, "u");
const harmlessPhrases = new RegExp(anyStem(harmless, true), "gu");
/** Question marks, and endings that ask without one. */
const asks = /[?\u037E\u055E\u061F\u1367]|(?:吗|嗎|呢|か|까요?)[\s.。!！"']*$|\bor\snot[\s.!]*$/u;

/** Longest message that is taken for an answer, in characters. */
const mostCharacters = 4_000;

/**
 * The stretch of the user's `message` that says what was decided, as it stands there; null where `quote` is no evidence
 * of it.
 *
 * It is one or more whole sentences of the message, or all of it, and no question; of an essay of more than 4,000
 * characters nothing is. To approve, it agrees, in words of
 * some fifty languages, and neither it nor what stands beside it refuses or puts off. Case, white space and the marks at
 * either end may differ.
 */
export function consentQuote(message: string, quote: string, decision: "approve" | "refuse"): string | null {
  if (message.length > mostCharacters) return null;
  const sentences = sentencesOf(message);
  const found = wholeSentences(sentences, quote);
  if (found === null) return null;
  const quoted = sentences.slice(found.from, found.to);
  if (quoted.some((sentence) => asks.test(sentence.trim()))) return null;
  if (decision === "approve") {
    const others = [...sentences.slice(0, found.from), ...sentences.slice(found.to)];
    if (!quoted.some(isAgreement) || quoted.some(isRefusal) || others.some(takesBack)) return null;
  }
  return quoted.join("").trim();
}

/** `text` cut after each sentence and line; together they are the whole text. */
function sentencesOf(text: string): string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text);
  return [...segments].map(({ segment }) => segment);
}

/** Which sentences `quote` consists of; null where it is only a part of one, or none of them. */
function wholeSentences(sentences: readonly string[], quote: string): { from: number; to: number } | null {
  const wanted = bare(quote);
  if (wanted === "") return null;
  const said = sentences.map(bare);
  for (let from = 0; from < said.length; from++) {
    let stretch = "";
    for (let to = from; to < said.length && stretch.length < wanted.length; to++) {
      stretch = `${stretch} ${said[to]}`.trim();
      if (stretch === wanted) return { from, to: to + 1 };
    }
  }
  return null;
}

/** The words of `text`, with one space for whatever parts them. */
function bare(text: string): string {
  return plainWords(onOneLine(text))
    .replace(/(?![👍✅👌🙏])[^\p{L}\p{M}\p{N}👍✅👌🙏]+/gu, " ")
    .trim();
}

function clausesOf(sentence: string): string[] {
  const plain = plainWords(onOneLine(sentence)).replace(harmlessPhrases, "");
  // What is quoted is somebody else's.
  const own = plain.replace(/"[^"]{0,2000}"|「[^」]{0,2000}」|『[^』]{0,2000}』/g, " ");
  return own
    .split(/[,，、،;:：…()"。.!！\n]+|\s[-–—]+\s/u)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== "");
}

function isAgreement(sentence: string): boolean {
  return clausesOf(sentence).some((clause) => {
    const [, word] = agrees.exec(clause) ?? [undefined, undefined];
    if (word === undefined) return agrees.test(clause);
    // The shortest words mean other things in other languages: "si", "da", "ya".
    return [...word].length > 2 || !/^[a-z]+$/.test(word) || clause.split(" ").length <= 4;
  });
}

function isRefusal(sentence: string): boolean {
  return refuses.test(plainWords(onOneLine(sentence)).replace(harmlessPhrases, ""));
}

/** Whether another sentence of the message refuses, or denies having agreed. */
function takesBack(sentence: string): boolean {
  const plain = plainWords(onOneLine(sentence)).replace(harmlessPhrases, "");
  return refusesFirst.test(plain) || (refuses.test(plain) && isAbout.test(plain));
}
