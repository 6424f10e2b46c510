import { anyStem, plainWords } from "./plain-words.js";

/** Words of addition, in the languages of the index; stems as `anyStem` reads them. */
const besides = `
also as_well besides additionally in_addition on_top_of another second_job side_job part-time_as on_the_side moonlight*
auch ausserdem zusatzlich nebenbei nebenher nebenberuflich ebenfalls obendrein aussi egalement en_plus en_outre
tambien ademas tambem alem_disso anche inoltre sono_pure faccio_pure fa_pure ook daarnaast tevens bovendien
ocksa aven dessutom ogsa desuden myos lisaksi samuti szinten emellett
tez takze rowniez dodatkowo dorabia* oprocz_tego poza_tym ponadto na_boku po_godzinach taky taktez navic tiez tudi takoder de_asemenea si_ca
тоже также вдобавок еще к_тому_же кроме_того помимо подрабатыва* по_совместительству теж також ще до_того_ж крім_того
също επισης παραλληλα ayrica ayni_zamanda bunun_yani_sira ek_is* ikinci_is* yan_is*
a_cote_de_cela par_ailleurs aparte_de_eso a_parte_disso oltre_a_questo
أيضا كذلك بالإضافة إلى_جانب همچنین علاوه_بر גם בנוסף भी इसके_अलावा juga selain_itu cũng
也 还有 另外 此外 同时 同時に ほかに 兼 もやっ もして もしま も始め 副業 또한 겸 부업
`;

const instead = `
now no_longer not_anymore any_more instead these_days nowadays switched switch changed moved moving quit left used_to stopped became rather
jetzt nun nicht_mehr statt stattdessen umgezogen gewechselt gekundigt sondern geandert maintenant plus_maintenant au_lieu demenage change
ahora ya_no en_vez mudado mude cambie agora ja_nao em_vez mudei adesso non_piu invece trasferito cambiato
desormais change_d'avis n'est_plus n'aime_plus sino cambiado he_cambiado bensi nu niet_meer verhuisd veranderd maar_nu
inte_langre utan_nu flyttat bytt ikke_lenger flyttet byttet
teraz juz_nie lecz zmienilem zmienilam przeprowadzilem przeprowadzilam rzucilem rzucilam zamiast
теперь больше_не вместо а_не переехал переехала поменял поменяла сменил сменила передумал передумала тепер більше_не замість
artik yerine degistirdim degistirdi tasindim tasindi biraktim birakti
لم_أعد لم_يعد لم_تعد بدلا بل_أصبح صرت صار أصبحت أصبح انتقلت غيرت तब_से_नहीं अब bây_giờ không_còn sekarang tidak_lagi
现在 不再 改 换 換 搬 今は もう 変わ 変え 引っ越し やめ 辞め 이제 더_이상 바꾸 바꿨 바뀌
`;

/** "ещё" and "ще" say both "besides" and "still". */
const goesOn = new RegExp(
  anyStem("все_еще пока_еще еще_не еще_нет еще_раз все_ще поки_ще ще_не ще_раз"),
  "gu",
);
/** "Not only red but blue too" replaces neither. */
const notOnly = new RegExp(anyStem("sondern_auch sino_tambien lecz_takze lecz_rowniez bensi_anche"), "gu");
const noMore = /[不没沒][^，。,.！!？?]{1,12}了/u;
/** Only at the end of a clause: "too much" adds nothing. */
const too = /(?<![\p{L}\p{N}])too(?=\s*(?:[.!?,;:)]|$))/u;

const saysBesides = new RegExp(`${anyStem(besides, true)}|${too.source}`, "u");
/** At the beginning of a sentence such a word only continues the talk: "Also, my name is Ana." */
const leadsOn = new RegExp(
  `(?:^|[.!?…;]\\s+)(?:(?:and|oh|so|und|et|y|e|en|i|и)\\s+)?${anyStem(besides, true)}(?:[\\s,:]+|$)`,
  "gu",
);
const saysInstead = new RegExp(anyStem(instead, true), "u");

const mostCharacters = 4_000;

/** Whether `text` adds to what was so before, and does not replace it: "also a volunteer firefighter". */
export function comesBesides(text: string): boolean {
  const plain = plainWords(text.slice(0, mostCharacters)).replace(goesOn, " ").replace(leadsOn, " ");
  if (!saysBesides.test(plain)) return false;
  const rest = plain.replace(notOnly, " ");
  return !saysInstead.test(rest) && !noMore.test(rest);
}
