import { findQuote } from "./find-quote.js";
import { anyStem, plainWords } from "./plain-words.js";
import { ownWords } from "./quoted-text.js";

/** Requests to forget, in some twenty-five languages; stems as `anyStem` reads them. */
const forgetting = `
forget unlearn stop_remembering stop_storing stop_keeping stop_tracking don't_remember do_not_remember not_to_remember don't_store do_not_store don't_save do_not_save don't_keep do_not_keep no_longer_remember don't_want_you_to_remember don't_want_you_to_know don't_want_you_knowing don't_want_you_to_store rather_you_not_remember not_remember
vergiss vergesst vergessen_sie merk_dir_nicht nicht_mehr_merken nicht_mehr_speichern
oublie oubliez oublies oublier n'enregistre_plus n'enregistrez_plus ne_retiens_plus ne_te_souviens_plus ne_garde_pas ne_garde_rien ne_gardez_pas ne_gardez_rien
olvida olvide olvides olviden olvidar olvidate olvidalo olvidala olvidalos olvidaras no_recuerdes no_guardes
esquece esqueca esquecas esquecer esquecesse esquecesses nao_lembre nao_guarde
dimentica dimentichi dimenticare dimenticassi dimenticalo dimenticala non_ricordare
vergeet glom unohda zapomnij zapomniec zapomnial zapomniala zapomen zapomente zabudni felejtsd felejtse uita zaboravi pozabi
забудь забудьте забыть забыл_бы не_запоминай не_запоминайте не_помни забувай забудьте забрави
ξεχασε unut unutun unutur unutman* unutabilir
انس انسي انسى تنسى تنسي ان_تنسى فراموش_کن فراموش_کنید תשכח תשכחי שכח
भूल_जा* भूला_दो भुला_दो ভুলে_যাও lupakan quen_di ลืม
忘记 忘記 忘掉 忘了吧 忘了这 忘了那 忘了它 都忘了 全忘了 请忘了 不要记 不要再记 不要記 别记 别再记 別再記 別記 忘れて 覚えておかない 覚えないで 覚えなくて 잊어 기억하지_마
`;

/** Requests to delete, which people also make of other things than memories. */
const deleting = `
delete remove erase wipe scrub get_rid_of discard clear_what off_your_records purge from_your_memory from_memory
losche loschen losch loschst entferne entfernst entfernen streiche streich
efface effacez effacer effaces supprime supprimez supprimes supprimer enleve enleves retire
borra borre borres borrar borralo borrala elimina elimine elimines eliminar eliminalo eliminala quita quites quitalo
apaga apague apagues apagar remova exclua excluir
cancella cancelli cancellare cancellalo elimina rimuovi
verwijder verwijderen wis_uit wissen
radera ta_bort slet slett fjern poista unusta kustuta
usun usunac skasuj wykasuj wymaz smaz smazat odstran vymaz torold sterge obrisi izbrisi
удали удалите удалить сотри сотрите стереть убери уберите видали видаліть изтрий
διαγραψε σβησε sil silin silebilir silmeni silmenizi siler_misin siler_misiniz hafizandan_cikar
احذف احذفي تحذف امسح امسحي يمكنك_حذف يمكنك_مسح الرجاء_حذف الرجاء_مسح ارجو_حذف ارجو_مسح حذف_کن حذف_کنید پاک_کن پاک_کنید תמחק תמחקי מחק
हटा_दो हटा_दीजिए हटाइए हटाएं मिटा_दो मिटा_दीजिए मिटाइए মুছে hapus xoa ลบ
删除 刪除 删掉 刪掉 削除 消去 消して 삭제 지워
`;

/** Phrases with such words that request nothing, or the contrary. */
const contrary = `
don't_forget do_not_forget never_forget won't_forget can't_forget cannot_forget didn't_forget i_will_forget i'll_forget we_forget they_forget people_forget try_to_forget tried_to_forget trying_to_forget how_do_i_delete how_do_i_remove how_do_you_delete how_can_i_delete how_can_i_remove how_to_delete how_to_remove i_want_to_forget i_need_to_forget i_forget i_always_forget i_often_forget i_never_forget forget_about_it forget_it don't_delete do_not_delete don't_remove do_not_remove before_i_forget did_you_forget do_you_forget you_always_forget you_often_forget you_keep_forgetting lest_i_forget i_had_to_delete i_had_to_remove we_had_to_delete we_had_to_remove
nicht_vergessen vergiss_nicht vergiss_es_nicht vergiss_es nicht_loschen losche_nicht n'oublie_pas n'oubliez_pas ne_supprime_pas ne_efface_pas laisse_tomber oublies_toujours avant_d'oublier ai_oublie as_oublie a_oublie avons_oublie avez_oublie ont_oublie ai_efface ai_supprime no_te_olvides no_olvides no_lo_olvides no_borres
se_me_olvida se_olvida nao_esqueca nao_se_esqueca nao_esquece nao_apague non_dimenticare non_cancellare vergeet_niet glom_inte glem_ikke nie_zapomnij не_забудь не_забудьте не_забывай не_удаляй unutma jangan_lupa
我忘 他忘 她忘 们忘 經常忘 经常忘 总是忘 常忘 よく忘れ انت_تنسى قبل_ان_انسى 别忘 別忘 不要忘 不要删 不要刪 忘れないで 消さないで 削除しないで 잊지 삭제하지
`;

const everything = `
everything anything all_memories all_my_data all_my_memories all_you_know all_of_it all_data my_data your_memory_of_me alles tout todo tudo tutto allt alt wszystko vsechno все_что все,_что все_данные her_seyi كل_شيء 一切 全部 所有 すべて 全て 全部 모두 모든 전부
`;

/** German requests with participles ("kannst du bitte … vergessen") or with "nicht" at the end of a clause. */
const german =
  "(?<=(?<!\\p{L})(?:kannst|konntest|konnen|konnten|wurdest|mochte|bitte|sollst|solltest|musst) [^.!?;]{0,80})(?<!\\p{L})vergessen(?!\\p{L})" +
  "|(?<=(?<!\\p{L})dass (?:du|sie|ihr) [^.!?;]{0,80})(?<!\\p{L})vergisst(?!\\p{L})" +
  "|(?<!\\p{L})(?:merke? dir|speichere?) [^,.!?;]{1,60}? nicht(?!\\p{L})";
const asks = new RegExp(`${anyStem(`${forgetting} ${deleting}`, true)}|${german}`, "gu");
const asksToUnlearnAll = new RegExp(`${anyStem(forgetting, true)}|${german}`, "gu");
const asksToUnlearn = new RegExp(`${anyStem(forgetting, true)}|${german}`, "u");
const asksNot = new RegExp(anyStem(contrary, true), "gu");

/** Before such a word: negates it, or makes it something that others do. */
const deniedBefore = new RegExp(
  `(?:${anyStem(
    `not don't dont doesn't didn't won't can't cannot mustn't shouldn't never ever nicht nie niemals kein* ne pas jamais rien no
     nunca jamas nao non mai niet nooit geen inte aldrig ikke aldri nie nigdy ne nikdy nikada не никогда нельзя лишь_бы_не لا لن لم
     started_to starting_to starts_to began_to begins_to tend_to tends_to used_to likely_to afraid_to helps help helped helping`,
    true,
  )}|(?<!\\p{L})(?:want|wants|need|needs|told|tell|asked|ask)s? (?!you(?!\\p{L}))[^ ]+(?: [^ ]+)? to)(?: [^ ]+){0,3} ?'?$|n'$`,
  "u",
);

const deniedAfter = new RegExp(
  `^(?: (?!(?:that|dass|que|dat|att|at|che|wo|wer|was|wie|ou|qui|hvor|var|dove|chi)(?!\\p{L}))[^ ]+){0,3} ${anyStem(
    "nicht nie niemals pas jamais niet nooit inte aldrig ikke aldri mai",
  )}`,
  "u",
);

/** In Japanese the same form begins a longer statement: "I forgot my umbrella and …". */
const goesOn =
  /忘れて(?!$|[、。!！?？\s]|くだ|下さ|ほし|欲し|くれ|もら|いただ|頂|ね|よ|も?いい|も?大丈夫|って)/gu;

const joint =
  /[.!?;,:。！？、，؛،؟\n]|(?<!\p{L})(?:so|and|but|because|und|aber|weil|et|mais|car|y|pero|porque|e|ma|en|maar)(?!\p{L})/u;
const all = new RegExp(anyStem(everything, true), "gu");

const thatClause = new RegExp(`^,? ?${anyStem("that dass que qu'* che dat att at ze что що че ότι")}`, "u");

const saysWhat = new RegExp(
  `^ ?${anyStem("that dass wo wer was wie welche* where what how which who que qu'* ou che dove dat waar att at ze gdzie что где как кто ότι")}`,
  "u",
);

/** "About" anything but the user: such a request is not for everything. */
const aboutOther = new RegExp(
  `${anyStem(
    "about regarding concerning uber sur sobre acerca_de riguardo su sul sulla over om про обо об о o hakkinda",
  )} ?(?!${anyStem(
    "me myself us mich mir uns moi nous mim nosotros nos noi mij ons mig oss mnie nas mne мне меня нас",
  )}|mi\\W*$)(?=[\\p{L}\\p{N}])|(?:关于|關於)(?!我(?!的)|我的一切)`,
  "u",
);

const mostCharacters = 4_000;

function requestIn(text: string): string {
  const plain = plainWords(text.slice(0, mostCharacters)).replace(asksNot, " ").replace(goesOn, " ");
  return plain.replace(asksToUnlearnAll, (word, ...rest) => {
    const at = rest.findLast((each) => typeof each === "number") as number;
    const before =
      plain
        .slice(Math.max(0, at - nearCharacters), at)
        .split(joint)
        .at(-1) ?? "";
    const [after = ""] = plain.slice(at + word.length, at + word.length + nearCharacters).split(joint);
    return deniedBefore.test(before) || deniedAfter.test(after) ? " " : word;
  });
}

const nearCharacters = 80;

/** Whether `text`, but for what it quotes, asks to forget something ("some") or all. Knows some twenty-five languages. */
export function asksToForget(text: string): "some" | "all" | null {
  const plain = requestIn(ownWords(text));
  if (plain.search(asks) < 0) return null;
  return plain.split(/[.!?;。！？؛؟\n]+/u).some(asksForAll) ? "all" : "some";
}

function asksForAll(sentence: string): boolean {
  const words = [...sentence.matchAll(asks)];
  if (words.length === 0) return false;
  if (words.some(({ 0: word, index }) => thatClause.test(sentence.slice(index + word.length)))) return false;
  return [...sentence.matchAll(all)].some(({ index }) => !aboutOther.test(sentence.slice(index)));
}

const clauseEnds = /(?<=[,;:.!?，、；：。！？،؛؟\n])|(?=\s[–—-]\s)/u;
const sentenceEnd = /[.!?。！？؟\n]\s*$/u;

/** A reason or a second request, which is not part of what to forget. */
const reasons =
  /(?=\s(?:because|but|(?:as|since|cause|'cause) (?:i|my|we)|so (?:you|please|forget|just)|and (?:remember|note|keep|save)|weil|denn|aber|car|parce que|puisque|mais|porque|pero|pois|mas|perch[eé]|omdat|maar|eftersom|men|bo|poniewa[zż]|ale|потому что|так как|но|çünkü|ama)\s)|(?=\s(?:و?لأن|لكن)\p{L}*\s)/iu;

const smallWords = new RegExp(
  anyStem(`
    please pls kindly that this it these those all of you can could would will should now then again just also ok and so but i want like d to
    bitte das dies diese es mal doch wieder du kannst konntest und ich mochte dass s'il te plait vous cela ca le la les tu peux et je veux que
    por favor eso esto lo puedes y quiero per favore questo puoi e isso voce pode quero пожалуйста это этого и lutfen bunu
    请 請 这件事 這件事 这事 这个 這個 那个 那個 吧 了 你 把 它 ください ことを こと それを それ を は من_فضلك هذا ذلك
  `),
  "gu",
);
const anyLetter = /[\p{L}\p{N}]/u;

/** Clauses that match `words`; one that says nothing else comes with the clause before it. */
function askingClauses(text: string, words: RegExp): string[] {
  const clauses = text.slice(0, mostCharacters).split(clauseEnds);
  return clauses.flatMap((clause, at) => {
    if (requestIn(clause).search(words) < 0) return [];
    const before = clauses[at - 1] ?? "";
    const more = requestIn(clause).replace(asks, " ").replace(smallWords, " ");
    const next = clauses[at + 1] ?? "";
    if (!sentenceEnd.test(clause) && saysWhat.test(plainWords(next))) return [clause + next];
    return [anyLetter.test(more) || sentenceEnd.test(before) ? clause : before + clause];
  });
}

/** Whether `quote` is what a clause of `text` asks to forget. Verbs of deleting do not count. */
export function isToBeForgotten(text: string, quote: string): boolean {
  // Most verbs of deleting are about other things than memories.
  return askingClauses(text, asksToUnlearn).some((clause) => {
    if (findQuote(clause, quote) === null) return false;
    const holding = clause.split(reasons).filter((part) => findQuote(part, quote) !== null);
    return holding.length === 0 || holding.some((part) => requestIn(part).search(asksToUnlearn) >= 0);
  });
}

/** Whether `quote` is outside of every clause of `asking` that asks to forget. */
export function isSaidBeside(asking: string, quote: string): boolean {
  const clauses = askingClauses(asking, asks);
  return clauses.length > 0 && clauses.every((clause) => findQuote(clause, quote) === null);
}
