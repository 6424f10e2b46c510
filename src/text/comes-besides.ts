import { anyStem, plainWords } from "./plain-words.js";

/** Words that say that something comes besides another, in the languages of the index; stems as `anyStem` reads them. */
const besides = `
also as_well besides additionally in_addition on_top_of another second_job side_job part-time_as on_the_side
auch ausserdem zusatzlich nebenbei nebenberuflich ebenfalls aussi egalement en_plus tambien ademas tambem alem_disso
anche inoltre ook daarnaast tevens ocksa aven dessutom ogsa desuden myos lisaksi samuti szinten emellett
tez takze rowniez taky taktez tiez tudi takoder de_asemenea si_ca тоже также вдобавок также_работает теж також също επισης ayrica
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

const saysBesides = new RegExp(anyStem(besides, true), "u");
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
  const plain = plainWords(text.slice(0, mostCharacters)).replace(leadsOn, " ");
  return saysBesides.test(plain) && !saysInstead.test(plain);
}
