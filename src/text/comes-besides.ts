import { anyStem, plainWords } from "./plain-words.js";

/** Words that say that something comes besides another, in the languages of the index; stems as `anyStem` reads them. */
const besides = `
also as_well besides additionally in_addition on_top_of another second_job side_job part-time_as on_the_side moonlight*
auch ausserdem zusatzlich nebenbei nebenher nebenberuflich ebenfalls obendrein aussi egalement en_plus en_outre
tambien ademas tambem alem_disso anche inoltre sono_pure faccio_pure fa_pure ook daarnaast tevens bovendien
ocksa aven dessutom ogsa desuden myos lisaksi samuti szinten emellett
tez takze rowniez dodatkowo dorabia* taky taktez navic tiez tudi takoder de_asemenea si_ca
тоже также вдобавок еще к_тому_же кроме_того помимо подрабатыва* по_совместительству теж також ще до_того_ж крім_того
също επισης ayrica
أيضا كذلك همچنین גם भी juga cũng 也 同时 同時に ほかに 兼 또한 겸
`;

/** Words that say that something takes another's place. */
const instead = `
now no_longer not_anymore any_more instead switched switch changed moved moving quit left used_to stopped became rather
jetzt nun nicht_mehr statt stattdessen umgezogen gewechselt gekundigt maintenant plus_maintenant au_lieu demenage change
ahora ya_no en_vez mudado mude cambie agora ja_nao em_vez mudei adesso non_piu invece trasferito cambiato
nu niet_meer verhuisd veranderd inte_langre flyttat ikke_lenger flyttet teraz juz_nie теперь больше_не вместо переехал
现在 不再 改 今は もう 이제
`;

/** What goes on, or is not so yet: "ещё" and "ще" say both "besides" and "still". */
const goesOn = new RegExp(
  anyStem("все_еще пока_еще еще_не еще_нет еще_раз все_ще поки_ще ще_не ще_раз"),
  "gu",
);
/** At the end of a clause: "too much" tells of nothing else. */
const too = /(?<![\p{L}\p{N}])too(?=\s*(?:[.!?,;:)]|$))/u;

const saysBesides = new RegExp(`${anyStem(besides, true)}|${too.source}`, "u");
/** At the beginning of a sentence such a word leads on in the talk: "Also, my name is Ana." */
const leadsOn = new RegExp(
  `(?:^|[.!?…;]\\s+)(?:(?:and|oh|so|und|et|y|e|en|i|и)\\s+)?${anyStem(besides, true)}(?:[\\s,:]+|$)`,
  "gu",
);
const saysInstead = new RegExp(anyStem(instead, true), "u");

/** Longest text looked at, in characters. */
const mostCharacters = 4_000;

/** Whether `text` tells of something besides what was so before, and not in its place: "also a volunteer firefighter". */
export function comesBesides(text: string): boolean {
  const plain = plainWords(text.slice(0, mostCharacters)).replace(goesOn, " ").replace(leadsOn, " ");
  return saysBesides.test(plain) && !saysInstead.test(plain);
}
